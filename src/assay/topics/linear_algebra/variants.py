"""HPL's numbers of the broadcasts of a panel, in its input and output."""

#: HPL's number -> level of the axis `broadcast`. HPL's numbers 2 and 3 use two rings, Assay's levels one.
BROADCASTS = {0: "ring", 1: "modified-ring", 2: "ring", 3: "modified-ring", 4: "long", 5: "long"}
#: Level -> HPL's number; the last two are Assay's own.
NUMBERS = {"ring": 0, "modified-ring": 1, "long": 4, "library": 6, "shared": 7}
