"""What of a page is made while its runs are still analysed: it needs their records alone."""

from concurrent.futures import Future, ThreadPoolExecutor

from assay.model.run import Run
from assay.report import raw, vega
from assay.report.plotters import Plotters

#: About so many cases are drawn in one chart: 52 charts of 5,796 cases of messages, 7 of 127.
_CASES_A_CHART = 100


class Ahead:
    """Plotters that have begun, the library and raw samples in the page's form. To be closed.

    Args:
        runs: of the page.
    """

    def __init__(self, *runs: Run) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._packed: dict[str, Future[tuple[bytes, str]]] = {}
        self.plotters = Plotters(sum(len(run.plan.cases) for run in runs) // _CASES_A_CHART)
        self.library = self._pool.submit(vega.library)

    def packed(self, run: Run) -> "Future[tuple[bytes, str]]":
        """Its samples as `raw.pack` has them; the first who asks begins it."""
        if run.path not in self._packed:
            self._packed[run.path] = self._pool.submit(raw.pack, run)
        return self._packed[run.path]

    def close(self) -> None:
        """End all of it; once more does no harm."""
        self.plotters.close()
        self._pool.shutdown(cancel_futures=True)
