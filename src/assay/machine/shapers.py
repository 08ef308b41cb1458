"""Interfaces whose rate the kernel limits below that of their wire: the traffic shapers that `tc` shows."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.facts import Fact

#: Folders of system programs that a user's PATH may lack.
_ELSEWHERE = ("/usr/sbin", "/sbin")
_PATIENCE_S = 5.0
_BITS = 8
#: Queueing disciplines that limit the sending rate -> option with the rate, in B/s.
_RATES = {"tbf": "rate", "netem": "rate", "cake": "bandwidth"}


def live() -> dict[str, Fact]:
    """Interface -> limit of its sending rate; empty if there is no shaper, or `tc` is missing."""
    program = shutil.which("tc", path=os.pathsep.join([os.environ.get("PATH", ""), *_ELSEWHERE]))
    if program is None:
        return {}
    try:
        done = subprocess.run(
            [program, "-j", "qdisc", "show"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse(done.stdout) if done.returncode == 0 else {}


def parse(shown: str) -> dict[str, Fact]:
    """The same from the output of `tc -j qdisc show`; empty if that cannot be parsed."""
    try:
        disciplines = json.loads(shown)
    except ValueError:
        return {}
    return dict(_shaped(disciplines)) if isinstance(disciplines, list) else {}


def _shaped(disciplines: list[Any]) -> Iterator[tuple[str, Fact]]:
    """The limits of root disciplines only: others may limit a part of the traffic."""
    for each in disciplines:
        if not isinstance(each, dict) or not each.get("root"):
            continue
        kind, name, options = each.get("kind"), each.get("dev"), each.get("options")
        rate = options.get(_RATES.get(str(kind), "")) if isinstance(options, Mapping) else None
        rate = rate.get("rate") if isinstance(rate, Mapping) else rate  # netem nests it one level deeper
        if isinstance(name, str) and isinstance(rate, int) and rate > 0:
            yield name, Fact(rate * _BITS, "bit/s", f"tc qdisc show dev {name} ({kind})")
