"""What `assay compare` and `assay report` share: runs and references beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.model.run import Run
    from assay.report.several.together import Together

#: More systems than these make no page that anybody reads.
MOST = 50


def together(runs: Sequence[Run], given: Mapping[str, float] = {}) -> Together:
    """The runs with what may be said of each, and their curves beside each other; the base of ratios first.

    Raises:
        UsageError: the same run is named twice, or there are too many.
    """
    from assay.analyse import conclude, examine
    from assay.analyse.several import beside
    from assay.model.errors import UsageError
    from assay.report.several import together as sides

    names = [run.info.id for run in runs]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise UsageError(f"'{twice}' is named twice", why="each system stands once beside the others")
    if len(runs) > MOST:
        raise UsageError(f"{len(runs)} runs are more than {MOST}", why="nobody can tell so many curves apart")
    evidence = [examine(run, given) for run in runs]
    return sides.together([(each.run, conclude(each)) for each in evidence], beside(evidence))
