"""`assay`, typed as `python tests/impatient.py`, that takes the machine as it is.

Beside other tests no machine becomes quiet: to wait for that, and to repeat what they disturbed, takes most of the
time of a run and shows nothing of what is tested.
"""

from assay.cli import main
from assay.run import ledger

ledger._LONGEST_WAIT_S = 0.0
ledger._FEWEST_REPEATS = 0
ledger._REPEATED_SHARE = 0.0

if __name__ == "__main__":
    main()
