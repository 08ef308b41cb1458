"""The analysis of a run, as pure functions. Nothing here measures, reads a file or prints."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from assay.analyse import imported, repetition, states, strata
from assay.analyse.comparisons import pairs
from assay.analyse.curves import RunEstimates
from assay.analyse.effort import effort
from assay.analyse.estimates import Measured, measure
from assay.analyse.evidence import Evidence
from assay.analyse.findings import findings, tested
from assay.analyse.flaws import flaw
from assay.analyse.launches import CaseAttempt, yields
from assay.analyse.limits import bound
from assay.analyse.models import models
from assay.analyse.noise import noise
from assay.analyse.outcomes import mark_invalid, outcomes
from assay.analyse.predictions import expectations, predictions
from assay.analyse.trials import trials
from assay.catalogue import topics
from assay.model import record
from assay.model.plan import Case
from assay.model.result import RESULT_SCHEMA, Analysis
from assay.model.run import Run


def analyse(run: Run, given: Mapping[str, float] = {}) -> Analysis:
    """Return the whole analysis of a run.

    Args:
        run: as it was stored.
        given: limits that the user states, by name of the law, in SI units, e.g. `memory-bandwidth` in B/s.
    """
    return conclude(examine(run, given))


def examine(run: Run, given: Mapping[str, float] = {}) -> Evidence:
    """Return the evidence of a run, before rules are applied; see `analyse`."""
    (found,) = examine_together([run], [states.border(run)], given)
    return found


def examine_together(
    runs: Sequence[Run], borders: Sequence[float | None], given: Mapping[str, float] = {}
) -> list[Evidence]:
    """Return the evidence of runs that are compared: which benchmarks states explain is decided by all together.

    Args:
        runs: as they were stored.
        borders: of the states of their machines, see `states.border`; runs of one machine share one.
        given: see `analyse`.
    """
    attempts = [yields(run, border) for run, border in zip(runs, borders, strict=True)]
    explained = strata.explained(*((run.plan.cases, of) for run, of in zip(runs, attempts, strict=True)))
    return [
        _evidence(run, border, of, explained, given)
        for run, border, of in zip(runs, borders, attempts, strict=True)
    ]


def _evidence(
    run: Run,
    border: float | None,
    attempts: Mapping[str, Sequence[CaseAttempt]],
    explained: Collection[str],
    given: Mapping[str, float],
) -> Evidence:
    ended = imported.outcomes(run.imported) if run.imported else outcomes(run, attempts)
    found = (
        imported.apart(imported.measured(run, run.imported))
        if run.imported
        else measure(run, attempts, ended, explained)
    )
    measured = bound(run, found, given)
    known = RunEstimates(run, tuple(measured))
    known = known.with_models(models(known))
    return Evidence(
        run=run,
        measured=tuple(measured),
        pairs=tuple(pairs(run, measured, measure(run, attempts, ended, explained, "control"))),
        models=known.models,
        predictions=predictions(known),
        outcomes=mark_invalid(ended, tuple(each.estimate for each in measured)),
        noise=noise(run, attempts, border, measured),
        trials=trials(run),
        effort=None if run.imported else effort(run, attempts),
        members=() if run.imported else tuple(_members(run, measured)),
    )


def _members(run: Run, measured: Sequence[Measured]) -> Iterator[tuple[str, Measured]]:
    return chain.from_iterable(each.members(run, measured) for each in topics.modules("members").values())


def conclude(evidence: Evidence) -> Analysis:
    """Apply the rules; return their findings together with the evidence."""
    run = evidence.run
    found = findings(evidence)
    return Analysis(
        schema=RESULT_SCHEMA,
        run=run.info.id,
        study=run.plan.study,
        status=run.ending.status if run.ending else "incomplete",
        estimates=tuple(each.estimate for each in evidence.measured),
        members=tuple(each.estimate for _, each in evidence.members),
        models=evidence.models,
        comparisons=tuple(pair.comparison for pair in evidence.pairs),
        findings=found,
        tested=tested(evidence, found),
        outcomes=evidence.outcomes,
        noise=evidence.noise,
        effort=evidence.effort,
        repetition=repetition.of(evidence),
        flaw=flaw(evidence),
        predictions=evidence.predictions,
        profiles=tuple(
            chain.from_iterable(each.profiles(evidence, found) for each in topics.modules("profiles").values())
        ),
    )


def expected(run: Run, cases: Sequence[Case]) -> tuple[record.Prediction, ...]:
    """Predict the figures of cases that were not launched yet."""
    return expectations(examine(run), cases) if cases else ()
