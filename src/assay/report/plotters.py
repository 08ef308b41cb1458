"""Charts drawn in parallel: in separate processes for a page with many charts.

Drawing a chart holds the interpreter's lock, so threads alone would not help. Each plotter is a process. It reads
one specification a line and answers with its SVG, as JSON, until its input ends.
"""

import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, cast

import msgspec

from assay.model.text import encoded
from assay.report import vega
from assay.report.charts.theme import Spec, chart
from assay.report.section import Figure

#: A plotter takes a second to start, a chart 30 ms to draw: fewer charts are drawn in this process.
_CHARTS_EACH = 12
_MOST = 4


class Plotters:
    """The processes that draw the charts of a page while its other parts are made. Close it after use.

    Args:
        charts: their approximate number; the processes start at once.
        apart: at least one process, also for few charts, so that they do not use the memory of this process.
    """

    def __init__(self, charts: int, *, apart: bool = False) -> None:
        wanted = max(apart, min(_MOST, len(os.sched_getaffinity(0)) - 1, charts // _CHARTS_EACH))
        self._started = [process for _ in range(wanted) if (process := _started())]
        self._idle = SimpleQueue[subprocess.Popen[bytes]]()
        for process in self._started:
            self._idle.put(process)
        self._pool = ThreadPoolExecutor(max(1, len(self._started)))

    def draw(self, figure: Figure, *, twice: bool = True) -> "Future[vega.Drawn]":
        """Draw the figure; `twice` also draws the version for phones."""
        draw = self._svg if self._started else vega.plain
        return self._pool.submit(vega.drawn, figure, twice=twice, draw=draw)

    def close(self) -> None:
        """Stop drawing; the processes end."""
        self._pool.shutdown(cancel_futures=True)
        for process in self._started:
            with suppress(OSError), process:  # leaving it closes its input, which ends it
                pass
        vega.forget_drawings()

    def _svg(self, spec: Spec) -> str:
        """The chart drawn by an idle process; by this one if that has ended."""
        process = self._idle.get()  # there are as many as threads
        try:
            return _asked(process, spec)
        except (OSError, msgspec.DecodeError):
            return vega.plain(spec)
        finally:
            self._idle.put(process)


def _started() -> "subprocess.Popen[bytes] | None":
    command = [sys.executable, "-P", "-m", "assay.report.plotters"]
    with suppress(OSError):
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None


def _asked(process: "subprocess.Popen[bytes]", spec: Spec) -> str:
    asked, answer = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    asked.write(encoded(spec) + b"\n")
    asked.flush()
    return msgspec.json.decode(answer.readline(), type=str)


def _serve() -> None:
    vega.engine_drawn(chart([], [{"mark": "point"}], height=1))  # starts the engine
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(msgspec.json.encode(vega.plain(msgspec.json.decode(line))) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
