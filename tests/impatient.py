"""`assay` that takes the machine as it is, typed as `python tests/impatient.py`.

Beside other tests no machine becomes quiet: to wait for that, and to repeat what they disturbed, takes most of the
time of a run and shows nothing of what is tested.
"""

import sys

from assay.cli import main
from assay.run import ledger

#: The command.
ASSAY = (sys.executable, __file__)
#: Attribute of the ledger of a run -> its value for who does not wait.
IMPATIENCE = {"_LONGEST_WAIT_S": 0.0, "_FEWEST_REPEATS": 0, "_REPEATED_SHARE": 0.0}

if __name__ == "__main__":
    for name, value in IMPATIENCE.items():
        setattr(ledger, name, value)
    main()
