"""What HPL's input and output call the ways in which a panel is passed on."""

#: HPL's number -> level of the axis `broadcast`; HPL passes panels along two rings too, ours along one.
BROADCASTS = {0: "ring", 1: "modified-ring", 2: "ring", 3: "modified-ring", 4: "long", 5: "long"}
#: Level -> number; HPL has none for the last two.
NUMBERS = {"ring": 0, "modified-ring": 1, "long": 4, "library": 6, "shared": 7}
