"""Shell scripts that list or end all processes of a run on a host: they are found by the run's id."""

from pathlib import Path

import msgspec

from assay import launch
from assay.launch.command import Command, Layout, Site

#: Time limit in seconds: to connect, to search, to wait for processes to end.
LIMIT_S = 30.0


def _script(name: str) -> str:
    """A script after the function that finds processes, in one line, so that every login shell passes it on."""
    files = (Path(__file__).with_name(each) for each in ("found.sh", name))
    return " ".join(line for file in files for line in file.read_text("utf-8").splitlines())


#: For any POSIX shell on Linux. A process belongs to the run by the environment with which it was started;
#: `grep -lF` also finds longer ids with the same start, so whole variables are compared after it. Processes get
#: SIGTERM, and after 3 s SIGKILL, as do those that they start meanwhile. It prints `PID COMMAND` of each and fails
#: if one remains.
SCRIPT = _script("sweep.sh")
#: Prints `RANK STATE` of each rank of the run: its number given by its launcher, its state as in proc(5).
LOOK = _script("look.sh")


def commands(site: Site, hosts: tuple[str, ...], script: str = SCRIPT) -> dict[str, Command]:
    """Host -> command that ends all processes of the site's run there, or lists them with another script.

    Raises:
        UnfitEnvironmentError: no launcher reaches a host.
    """
    return {host: _command(site, host, script) for host in dict.fromkeys(hosts)}


def _command(site: Site, host: str, script: str) -> Command:
    layout = Layout((host,), ((),))
    words = ("sh", "-c", script, "sweep", site.run)
    # The script itself must not carry the run's id, or it would end itself.
    outside = msgspec.structs.replace(site, run="")
    return launch.select(layout, outside).translate(layout, outside, words, {"ASSAY_RUN": ""})
