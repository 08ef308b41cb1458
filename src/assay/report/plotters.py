"""Charts drawn beside the work: of a page with many, in processes of their own.

Drawing a chart keeps the interpreter's lock, so that threads alone draw none sooner. Each plotter is a process; it
reads a specification a line and answers with its SVG, as JSON, until its input ends.
"""

import os
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, cast

import msgspec

from assay.model.text import encoded
from assay.report import vega
from assay.report.section import Figure, Spec

#: A plotter takes half a second to start, a chart a tenth of that to draw: fewer charts are drawn here.
_CHARTS_EACH = 12
_MOST = 4


class Plotters:
    """Draws the charts of a page while its other parts are made. To be closed.

    Args:
        charts: about how many there will be.
    """

    def __init__(self, charts: int) -> None:
        wanted = min(_MOST, len(os.sched_getaffinity(0)), charts // _CHARTS_EACH)
        self._apart = wanted > 1
        self._pool = ThreadPoolExecutor(wanted if self._apart else 1)
        self._own = threading.local()
        self._started: list[subprocess.Popen[bytes]] = []

    def draw(self, figure: Figure, *, twice: bool = True) -> "Future[vega.Drawn]":
        """The figure drawn, `twice` for a phone too."""
        return self._pool.submit(vega.drawn, figure, twice=twice, draw=self._svg if self._apart else vega.plain)

    def close(self) -> None:
        """Draw no more; the processes end."""
        self._pool.shutdown(cancel_futures=True)
        for process in self._started:
            with suppress(OSError), process:  # leaving it closes its input, which ends it
                pass

    def _svg(self, spec: Spec) -> str:
        """Drawn by this thread's process; here where that cannot be started or has ended."""
        try:
            if not hasattr(self._own, "pipes"):
                self._own.pipes = self._start()
            asked, answer = self._own.pipes
            asked.write(encoded(spec) + b"\n")
            asked.flush()
            return msgspec.json.decode(answer.readline(), type=str)
        except (OSError, msgspec.DecodeError):
            return vega.plain(spec)

    def _start(self) -> tuple[IO[bytes], IO[bytes]]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "assay.report.plotters"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._started.append(process)
        return cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)


def _serve() -> None:
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(msgspec.json.encode(vega.plain(msgspec.json.decode(line))) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
