"""The numbers of runs on simulated machines are those that were reviewed: see `tests/pinned_figures.py`."""

from pathlib import Path

import pytest
from tests.pinned_figures import RUNS, differences, kept, made, numbers


@pytest.mark.parametrize("name", RUNS)
def test_numbers_change_only_where_a_change_meant_it(tmp_path: Path, name: str) -> None:
    found = list(differences(kept()[name], numbers(made(RUNS[name], tmp_path))))
    assert not found, "\n".join(("where it is meant: `make pinned`, and review what changed:", *found[:20]))


def test_the_kept_numbers_are_of_these_runs() -> None:
    assert kept().keys() == RUNS.keys()


def test_a_number_that_changed_is_named_with_its_part() -> None:
    before = {"a": "1 2 3", "b": "5 6", "c": "7"}
    after = {"a": [1.0, 2.0, 3.0001], "b": [5.0], "c": [8.0], "new": [1.0]}
    assert list(differences(before, after)) == ["b: 1 numbers, they were 2", "c: 8, it was 7"]
