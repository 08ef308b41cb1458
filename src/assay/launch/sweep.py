"""Shell scripts that list or end all processes of a run on a host: they are found by the run's id."""

import msgspec

from assay import launch
from assay.launch.command import Command, Layout, Site

#: Time limit in seconds: to connect, to search, to wait for processes to end.
LIMIT_S = 30.0

_FOUND = (
    "found() {",
    'for file in $(grep -lF "ASSAY_RUN=$1" /proc/[0-9]*/environ 2>/dev/null); do',
    "pid=${file#/proc/}; pid=${pid%/environ};",
    r"""tr '\0' '\n' 2>/dev/null <"$file" | grep -qxF "ASSAY_RUN=$1" && echo "$pid";""",
    "done; };",
)
_LINES = (
    *_FOUND,
    'left=$(found "$1");',
    '[ -n "$left" ] || exit 0;',
    r"""for pid in $left; do echo "$pid $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"; done;""",
    "kill -TERM $left 2>/dev/null;",
    "for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do",
    'left=$(found "$1"); [ -n "$left" ] || exit 0; sleep 0.2;',
    "done;",
    "for _ in 1 2 3 4 5 6 7 8 9 10; do",
    'kill -KILL $left 2>/dev/null; sleep 0.2; left=$(found "$1"); [ -n "$left" ] || exit 0;',
    "done;",
    "exit 1",
)
#: For any POSIX shell on Linux, in one line, so that every login shell passes it on. A process belongs to the run
#: by the environment with which it was started; `grep -lF` also finds longer ids with the same start, so whole
#: variables are compared after it. Processes get SIGTERM, and after 3 s SIGKILL, as do those that they start
#: meanwhile. The script prints `PID COMMAND` of each and fails if one remains.
SCRIPT = " ".join(_LINES)
#: Prints `RANK STATE` of each rank of the run: its number given by its launcher, its state as in proc(5).
LOOK = " ".join(
    (
        *_FOUND,
        'for pid in $(found "$1"); do',
        r"""rank=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -nE""",
        "'s/^(OMPI_COMM_WORLD_RANK|PMI_RANK|PMIX_RANK|SLURM_PROCID)=//p' | head -n 1);",
        r"""[ -n "$rank" ] && echo "$rank $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status")";""",
        "done;",
        "true",
    )
)


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
