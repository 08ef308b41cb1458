import re
from pathlib import Path

import pytest
from tests.simulation import described

from assay import studies
from assay.catalogue import benchmarks
from assay.model.errors import UsageError
from assay.plan import Options, make

OWN = """
title = "Own"
question = "Is node 1 slow?"
[[measure]]
benchmark = "stream"
placements = ["all:numa:1"]
"""


def written(folder: Path, text: str) -> str:
    path = folder / "own.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", studies.names())
def test_every_stored_study_loads_and_names_benchmarks_that_exist(name: str) -> None:
    study = studies.get(name)
    assert study.question.endswith("?")
    for measure in study.measure:
        assert benchmarks.get(measure.benchmark).name == measure.benchmark
        assert measure.why


def test_the_stored_studies_are_these() -> None:
    node = {
        "caches",
        "compilers",
        "dgemm",
        "flops",
        "himeno",
        "hpcg",
        "hpl",
        "hpl-grid",
        "hpl-processors",
        "interleave",
        "linpack",
        "memory",
        "nas",
        "mxp",
        "node",
        "numa",
        "one-two-two",
        "quick",
        "weather",
    }
    assert set(studies.names()) == node | {
        "collectives",
        "multi-pair",
        "netpipe",
        "network",
        "node-pairs",
        "one-sided",
    }


def test_network_asks_for_two_threads_of_a_core_and_says_why_there_are_none() -> None:
    threads = make("network", studies.get("network"), described("pack:1 core:2 pu:2"), Options(seed=1))
    assert "pair:same-core" in {case.placement.label for case in threads.studied if case.benchmark == "pt2pt"}
    single = make("network", studies.get("network"), described("pack:1 core:2 pu:1"), Options(seed=1))
    assert "pair:same-core" not in {case.placement.label for case in single.cases}
    (why,) = (left.reason for left in single.left_out if left.request == "pt2pt at pair:same-core")
    assert why == "this machine has one hardware thread per core"


@pytest.mark.parametrize("study", ["collectives", "multi-pair"])
def test_ranks_on_all_cores_have_one_name(study: str) -> None:
    options = Options(seed=1, hosts=("n1", "n2"))
    plan = make(study, studies.get(study), described("pack:1 core:4 pu:1"), options)
    labels = {case.placement.label.partition("@")[0] for case in plan.studied}
    assert {"spread:2", "spread:3", "all"} <= labels
    assert "spread:4" not in labels


def test_a_users_own_study_is_found_by_its_path(tmp_path: Path) -> None:
    study = studies.get(written(tmp_path, OWN))
    assert study.measure[0].placements == ("all:numa:1",)
    assert (study.launches, study.precision, study.budget_s) == (6, 0.01, None)


def test_an_unknown_study_is_refused_with_a_near_match() -> None:
    with pytest.raises(UsageError) as caught:
        studies.get("quik")
    assert caught.value.what == "there is no study 'quik'"
    assert caught.value.why.startswith("did you mean 'quick'?")


def test_an_unknown_key_is_refused_by_name_with_its_file_and_a_near_match(tmp_path: Path) -> None:
    path = written(tmp_path, OWN.replace("placements", "placement"))
    with pytest.raises(UsageError) as caught:
        studies.get(path)
    assert caught.value.what == f"unknown key 'measure[0].placement' in {path}"
    assert caught.value.why == "did you mean 'placements'?"


def test_an_unknown_key_at_the_top_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown key 'budget' in") as caught:
        studies.get(written(tmp_path, "budget = 60\n" + OWN))
    assert caught.value.why == "did you mean 'budget_s'?"


@pytest.mark.parametrize(
    ("text", "what", "why"),
    [
        ("title = ", "cannot read study", "Invalid value"),
        ("title = 'a'\nquestion = 'b'\nmeasure = []", "asks for nothing", "no \\[\\[measure\\]\\]"),
        ("title = 'a'\nquestion = 'b'\nmeasure = 3", "cannot be used", "Expected `array`, got `int`"),
        (OWN.replace('"Own"', "3"), "cannot be used", "Expected `str`, got `int` at 'title'"),
        (OWN.replace('question = "Is node 1 slow?"', ""), "cannot be used", "missing required field `question`"),
        (OWN + "weight = 0", "cannot be used", "Expected `float` > 0.0 at 'measure\\[0\\].weight'"),
        (OWN.replace('["all:numa:1"]', '"all"'), "cannot be used", "at 'measure\\[0\\].placements'"),
    ],
)
def test_a_broken_study_says_what_is_wrong(tmp_path: Path, text: str, what: str, why: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        studies.get(written(tmp_path, text))
    assert re.search(why, caught.value.why)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.toml")
    with pytest.raises(UsageError) as caught:
        studies.get(missing)
    assert caught.value.what == f"cannot read study '{missing}'"
    assert caught.value.why == "No such file or directory"


def test_netpipe_goes_three_bytes_beside_each_size_by_three_programs_inside_and_between_nodes() -> None:
    plan = make("netpipe", studies.get("netpipe"), described(), Options(seed=1, hosts=("n1", "n2")))
    found: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for case in plan.studied:
        key = case.benchmark, case.placement.label
        found.setdefault(key, set()).add((int(case.params["bytes"]), int(case.params["offset"])))
        assert case.params.get("pattern", "latency") == "latency"
    powers = tuple(2**power for power in range(24))
    wanted = {(size, 0) for size in powers} | {(size, offset) for size in powers[2:] for offset in (-3, 3)}
    places = [(name, place) for name in ("pt2pt", "tcp") for place in ("pair", "pair:other-node")]
    assert found == dict.fromkeys([*places, ("memcpy", "one-core")], wanted)


def test_sizes_from_nothing_on_are_measured_where_nothing_has_a_time() -> None:
    options = Options(seed=1, hosts=("n1", "n2"), messages="0:16M")
    plan = make("network", studies.get("network"), described(), options)
    least: dict[tuple[str, str], tuple[int, int]] = {}
    for case in plan.studied:
        if "pattern" in case.params and not case.params["gap"]:
            key, size = (case.benchmark, str(case.params["pattern"])), int(case.params["bytes"])
            low, high = least.get(key, (size, size))
            least[key] = min(low, size), max(high, size)
    assert least == {
        ("pt2pt", "latency"): (0, 2**24),
        ("pt2pt", "bandwidth"): (1, 2**24),
        ("pt2pt", "bidirectional"): (1, 2**24),
        ("tcp", "latency"): (1, 2**24),
        ("tcp", "bandwidth"): (1, 2**24),
    }
