"""The parts of a page that are made during the analysis of its runs: they need the records only."""

from concurrent.futures import Future, ThreadPoolExecutor

from assay.model.run import Run
from assay.report import raw, vega
from assay.report.plotters import Plotters

#: About so many cases make one chart: 5,796 cases of messages make 52 charts, 127 make 7.
_CASES_A_CHART = 100


class Ahead:
    """The plotters, the chart library and the raw samples in the form of the page. Close it after use.

    Args:
        runs: of the page.
    """

    def __init__(self, *runs: Run) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._packed: dict[str, Future[tuple[bytes, str]]] = {}
        charts = sum(len(run.plan.cases) for run in runs) // _CASES_A_CHART
        self.plotters = Plotters(charts, apart=any(map(raw.is_large, runs)))
        self.library = self._pool.submit(vega.library)

    def packed(self, run: Run) -> "Future[tuple[bytes, str]]":
        """Return the samples of a run as `raw.pack` makes them; the first call starts the work."""
        if run.path not in self._packed:
            self._packed[run.path] = self._pool.submit(raw.pack, run)
        return self._packed[run.path]

    def close(self) -> None:
        """Stop all work; a second call does nothing."""
        self.plotters.close()
        self._pool.shutdown(cancel_futures=True)
