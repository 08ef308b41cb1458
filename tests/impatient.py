"""`assay` that takes the machine as it is, typed as `python tests/impatient.py`.

Beside other tests no machine becomes quiet: to wait for that, and to repeat what they disturbed, takes most of the
time of a run and shows nothing of what is tested. Nor do the charts of its page: they are not drawn.
"""

import sys
from types import ModuleType

from assay.cli import main
from assay.launch import remote
from assay.run import ledger

#: The command.
ASSAY = (sys.executable, __file__)
#: Attribute of a run's ledger -> its value without waiting.
IMPATIENCE = {"_LONGEST_WAIT_S": 0.0, "_FEWEST_REPEATS": 0, "_REPEATED_SHARE": 0.0}


class Undrawn(ModuleType):
    """Replaces vl_convert, which needs a CPU second to draw the first chart of a process."""

    @staticmethod
    def get_vegalite_versions() -> list[str]:
        return ["6.none"]

    @staticmethod
    def vegalite_to_svg(*_: object, **__: object) -> str:
        return '<svg viewBox="0 0 1 1"></svg>'

    @staticmethod
    def javascript_bundle(*_: object, **__: object) -> str:
        return ""


if __name__ == "__main__":
    sys.modules["vl_convert"] = Undrawn("vl_convert")
    for name, value in IMPATIENCE.items():
        setattr(ledger, name, value)
    # A lost node is noticed within 12 s; meanwhile its partner spins.
    remote._SSH = tuple(word.replace("AliveInterval=10", "AliveInterval=4") for word in remote._SSH)
    main()
