"""Published systems: what Assay concludes from their figures is what their authors print."""

from functools import cache
from pathlib import Path

import pytest

from assay import references, store
from assay.analyse import analyse
from assay.analyse.estimates import Measured
from assay.analyse.imported import measured
from assay.compare.runs import between, within
from assay.model.compared import Compared
from assay.model.errors import UsageError
from assay.model.imported import case_of
from assay.model.result import Estimate
from assay.model.run import Run
from assay.report import verdicts

SYSTEMS = ("cs-pccluster2", "epyc-7601", "hpcdiy-gbe", "hpcdiy-numa", "hpcdiy-qdr", "leo", "sci", "vtpcc")


@cache
def run(name: str) -> Run:
    return store.load(store.find(name))


@cache
def figures(name: str) -> dict[str, Estimate]:
    return {each.id: each for each in analyse(run(name)).estimates}


def ratios(compared: Compared, metric: str) -> dict[object, float]:
    return {
        pair.a.params.get("bytes"): pair.comparison.ratio for pair in compared.pairs if pair.a.metric == metric
    }


def test_the_systems_of_the_five_studies_come_with_assay() -> None:
    assert references.names() == SYSTEMS


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_figure_says_where_it_stands_and_in_which_unit(name: str) -> None:
    published = references.get(name)
    ids = [f"{case_of(t, f).id}/{f.kernel}/{f.metric}" for t in published.tables for f in t.figures]
    assert len(set(ids)) == len(ids)
    assert all(table.where and table.tool and table.source for table in published.tables)
    assert all(figure.printed for table in published.tables for figure in table.figures)
    assert published.facts["processor"]["model"].source == published.sources[0].name


def test_a_figure_stands_against_what_its_source_states() -> None:
    figures_of = figures("epyc-7601")
    rate, peak = (figures_of[f"hpl/all/first-touch/rate/{metric}"] for metric in ("rate", "theoretical peak"))
    assert rate.limit
    assert rate.limit.value == peak.median
    assert peak.limit is None
    assert rate.exceeds is None  # turbo exceeds the nominal clock
    memory = figures_of["stream/all/first-touch/triad/bandwidth"].limit
    assert memory
    assert memory.value == pytest.approx(16 * 8 * 2400e6)
    assert all(each.limit is None for each in figures("leo").values())


def test_infiniband_has_28_times_the_bandwidth_and_no_significance_is_claimed() -> None:
    compared = between(run("hpcdiy-qdr"), run("hpcdiy-gbe"))
    assert ratios(compared, "bandwidth")[4194304] == pytest.approx(3402.54 / 118.62)
    assert int(ratios(compared, "bandwidth")[4194304]) == 28
    assert {pair.comparison.verdict for pair in compared.pairs} == {"inconclusive"}
    assert {verdicts.word(pair.comparison) for pair in compared.pairs} == {"not testable without samples"}
    assert {(pair.comparison.confidence, pair.comparison.launches) for pair in compared.pairs} == {(None, (0, 0))}
    assert any(each.name == "network: link" for each in compared.differences)


def test_the_far_socket_costs_0_6_us() -> None:
    pairs = within(run("hpcdiy-qdr"), analyse(run("hpcdiy-qdr"))).pairs
    costs = {
        pair.a.params["bytes"]: (pair.a.median or 0.0) - (pair.b.median or 0.0)
        for pair in pairs
        if (pair.comparison.level, pair.comparison.base) == ("one-core:far-nic@2", "one-core:near-nic@2")
        and pair.a.metric == "latency"
    }
    assert costs[0] == pytest.approx(0.59e-6)
    assert all(0.5e-6 < cost < 0.8e-6 for size, cost in costs.items() if isinstance(size, int) and size <= 64)


def test_leo_is_3_times_sci_and_25_and_35_times_fast_ethernet() -> None:
    against_sci = between(run("leo"), run("sci"))
    assert ratios(against_sci, "bandwidth")[None] == pytest.approx(3, rel=0.01)
    assert 1 / ratios(against_sci, "latency")[0] == pytest.approx(1.5)
    inside = {each.estimate.factors["network"]: each.estimate for each in measured_of("leo", "bandwidth")}
    assert (inside["SCI"].median or 0.0) / (inside["Fast Ethernet"].median or 1.0) == 25
    slow = {each.estimate.factors["network"]: each.estimate for each in measured_of("leo", "latency")}
    assert (slow["Fast Ethernet"].median or 0.0) / (slow["SCI"].median or 1.0) == pytest.approx(35, rel=0.05)


def measured_of(name: str, metric: str) -> list[Measured]:
    published = run(name)
    assert published.imported
    return [
        each
        for each in measured(published, published.imported)
        if each.estimate.metric == metric and each.estimate.factors
    ]


def test_epyc_carries_twice_as_much_both_ways_and_half_of_it_from_the_far_socket() -> None:
    by_place = {
        (each.params.get("pattern"), each.placement.label): each.median or 0.0
        for each in figures("epyc-7601").values()
        if each.metric == "bandwidth"
    }
    one, both = (by_place[pattern, "one-core:near-nic@2"] for pattern in ("bandwidth", "bidirectional"))
    assert (one, both) == (12.4e9, 24.7e9)
    assert both / one > 1.8  # the link is duplex
    assert by_place["multi-bandwidth", "all:numa:1@2"] / by_place["multi-bandwidth", "all:numa:4@2"] < 0.6
    assert by_place[None, "half"] > by_place[None, "all"]


#: What the sources state besides: benchmark and metric -> values, as printed, and the words beside them.
STATED = {
    "epyc-7601": {
        ("pt2pt", "smallest gain by C-states"): ["2 % printed as 2 to 9 %"],
        ("pt2pt", "largest gain by C-states"): ["9 % printed as 2 to 9 %"],
        ("hpl", "nodes at which it is fastest"): ["16 nodes at least"],
        ("weather", "nodes at which it is fastest"): ["8 nodes level", "8 nodes falls beyond"],
        ("stream", "share of bandwidth"): ["50 % about", "25 % about"],
        ("wrf", "rate of version 3.8.1 over that of 3.9.1"): ["0 % none was measured"],
        ("weather", "rate of ranks over that of ranks with threads"): ["0 % nearly none"],
        ("weather", "gain over EPYC 7551"): ["3 % weather stands in", "2 %", "3 %"],
        ("clock", "gain over EPYC 7551"): ["10 %"],
    },
    "leo": {
        ("hpl", "speed-up of 12 processors"): ["3 less than"],
        ("nwchem-c60h60", "gain over the cluster SCI"): ["5.5 about"],
        ("flops_plain", "tests above the ratio of the clocks"): ["7 tests of 8"],
        ("flops_plain", "gain of 1 GHz over 500 MHz"): ["2 about"],
        ("linpack_fortran", "gain of the best compiler over the worst"): ["0 % practically none"],
        ("pt2pt", "size of the fastest messages"): ["8 KiB", "64 KiB"],
    },
    "cs-pccluster2": {
        ("tcp", "gain by jumbo frames"): ["0 % more than", "0 % hardly any"],
        ("pt2pt", "gain by jumbo frames"): ["0 % not much"],
    },
}
STATES = [
    pytest.param(name, *which, says, id=f"{name}: {which[1]}")
    for name, all_ in STATED.items()
    for which, says in all_.items()
]


@pytest.mark.parametrize(("name", "benchmark", "metric", "says"), STATES)
def test_references_hold_what_their_sources_state_besides(
    name: str, benchmark: str, metric: str, says: list[str]
) -> None:
    figures = [
        f"{figure.printed} {figure.remark}"
        for table in references.get(name).tables
        for figure in table.figures
        if (table.benchmark, figure.metric) == (benchmark, metric)
    ]
    assert len(figures) == len(says)
    assert all(found.startswith(said) for found, said in zip(figures, says, strict=True)), figures


def test_references_hold_the_facts_of_their_systems() -> None:
    epyc, numa = references.get("epyc-7601").facts, references.get("hpcdiy-numa").facts
    assert epyc["system"]["nodes of the EPYC 7551 system"].value == 4
    assert numa["memory"]["cpus of node 1"].value == "8 9 10 11 12 13 14 15"
    disabled = [t.factors["c-states"] for t in references.get("epyc-7601").tables if "c-states" in t.factors]
    assert set(disabled) == {"enabled", "disabled", "not stated"}


def test_an_unknown_reference_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no reference 'hpcdiy'"):
        references.get("hpcdiy")


def test_a_directory_of_the_same_name_is_taken_for_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a run directory"):
        store.load(tmp_path / "leo.toml")
