"""What looks at, or ends, all processes of a run on a host: they carry its id, whoever their parent is now."""

import msgspec

from assay import launch
from assay.launch.command import Command, Layout, Site

#: Seconds that one may take: to connect, to look, to wait for what was asked to end.
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
#: For any POSIX shell on Linux, in one line, which every login shell passes on. A process is of the run by the
#: environment that it was started with; `grep -lF` finds longer ids that begin alike, too, so whole variables are
#: compared after it. Those found are asked to end, for 3 s, then killed, with those that they start meanwhile. It
#: prints `PID COMMAND` of each and fails where one stays.
SCRIPT = " ".join(_LINES)
#: Prints `RANK STATE` of each rank of the run: its number as its launcher told it, its state as proc(5) has it.
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
    """Host -> what ends there, typed at the site, all that its run left behind; or what looks at it.

    Raises:
        UnfitEnvironmentError: nothing here reaches a host.
    """
    return {host: _command(site, host, script) for host in dict.fromkeys(hosts)}


def _command(site: Site, host: str, script: str) -> Command:
    layout = Layout((host,), ((),))
    words = ("sh", "-c", script, "sweep", site.run)
    # What sweeps is no part of the run: it would end itself.
    outside = msgspec.structs.replace(site, run="")
    return launch.select(layout, outside).translate(layout, outside, words, {"ASSAY_RUN": ""})
