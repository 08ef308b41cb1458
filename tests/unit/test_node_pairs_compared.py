"""Two runs of `node-pairs` are compared pair by pair, and each pair is exported."""

import csv
import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.findings import findings
from assay.compare.gates import gate
from assay.compare.runs import between
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Law
from assay.topics.interchange.exports import csv_, json_, junit

HOSTS = tuple(f"n{number:02}" for number in range(8))
#: A node that everybody knows to be slow, and a pair of others, in whatever round they meet.
KNOWN = {"n06": 0.6}
NEW = ("n01", "n02")
#: Latency; bandwidth and message rate, one pair at a time and all at once. Comparisons are of the first of each.
METRICS = 5
PAIRS = len(HOSTS) * (len(HOSTS) - 1) // 2


@cache
def measured(*, new: bool, seed: int) -> Run:
    law = Law(slow_hosts=KNOWN, slow_paths={NEW: 1.4} if new else {})
    options = Options(hosts=HOSTS, launches=6)
    with TemporaryDirectory() as folder:
        return store.load(simulated_run(Path(folder), law, study="node-pairs", options=options, seed=seed))


def test_a_new_slow_pair_behind_a_known_slow_node_is_named_and_no_other() -> None:
    compared = between(measured(new=True, seed=2), measured(new=False, seed=1))
    judged = gate([compared], 0.15)
    assert len(judged.figures) == 3 * PAIRS
    failed = [each.pair for each in judged.of("failed") if each.pair]
    assert {pair.a.placement.hosts for pair in failed} == {NEW}
    assert {pair.a.metric for pair in failed} == {"latency", "bandwidth"}
    assert all(pair.a.params == pair.b.params and "round" not in pair.a.params for pair in failed)


def test_equal_runs_have_no_slower_pair() -> None:
    compared = between(measured(new=False, seed=3), measured(new=False, seed=1))
    assert not [pair for pair in compared.pairs if pair.comparison.is_claim]


def test_each_pair_is_the_median_of_its_launches_and_a_measurand_without_its_round() -> None:
    evidence = examine(measured(new=True, seed=2))
    assert len(evidence.members) == METRICS * PAIRS
    by_hosts: dict[tuple[str, ...], set[str]] = {}
    for _, each in evidence.members:
        by_hosts.setdefault(each.estimate.placement.hosts, set()).add(each.estimate.measurand.key)
        assert each.estimate.launches == len(each.launches) == 6
        assert each.estimate.value
        assert each.estimate.value.has_interval
    assert len(by_hosts) == PAIRS
    assert len(set.union(*by_hosts.values())) == METRICS
    of_round = {name: each for name, each in evidence.estimates.items() if each.benchmark == "pairs"}
    for name, estimate in of_round.items():
        slowest = min(each.estimate.merit for group, each in evidence.members if group == name)
        assert estimate.merit == pytest.approx(slowest, rel=0.02)
    assert findings(evidence)  # rules still see rounds


def test_each_pair_is_in_csv_json_and_junit() -> None:
    run = measured(new=True, seed=2)
    analysis = analyse(run)
    rows = list(csv.DictReader(io.StringIO("".join(map(str, csv_.export.figures(run, analysis))))))
    assert len([row for row in rows if len(row["hosts"].split()) == 2]) == METRICS * PAIRS
    document = json.loads("".join(map(str, json_.export.figures(run, analysis))))
    assert len(document["members"]) == METRICS * PAIRS
    suites = ET.fromstring("".join(map(str, junit.export.figures(run, analysis))).partition("\n")[2])  # noqa: S314 (our own)
    named = [case.get("name", "") for case in suites.iter("testcase")]
    assert sum("/pair=n01,n02" in name for name in named) == METRICS
