"""What ends all that a run left behind on a host: processes that carry its id, whoever their parent is now."""

import msgspec

from assay import launch
from assay.launch.command import Command, Layout, Site

#: Seconds that one may take: to connect, to look, to wait for what was asked to end.
LIMIT_S = 30.0

_LINES = (
    "found() {",
    'for file in $(grep -lF "ASSAY_RUN=$1" /proc/[0-9]*/environ 2>/dev/null); do',
    "pid=${file#/proc/}; pid=${pid%/environ};",
    r"""tr '\0' '\n' 2>/dev/null <"$file" | grep -qxF "ASSAY_RUN=$1" && echo "$pid";""",
    "done; };",
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


def commands(site: Site, hosts: tuple[str, ...]) -> dict[str, Command]:
    """Host -> what ends there, typed at the site, all that its run left behind.

    Raises:
        UnfitEnvironmentError: nothing here reaches a host.
    """
    return {host: _command(site, host) for host in dict.fromkeys(hosts)}


def _command(site: Site, host: str) -> Command:
    layout = Layout((host,), ((),))
    words = ("sh", "-c", SCRIPT, "sweep", site.run)
    # What sweeps is no part of the run: it would end itself.
    outside = msgspec.structs.replace(site, run="")
    return launch.select(layout, outside).translate(layout, outside, words, {"ASSAY_RUN": ""})
