"""`python -m assay`: the command line, for interpreters whose `assay` is not on PATH."""

from assay.cli import main

if __name__ == "__main__":
    main()
