"""A conclusion about the best of several figures names which one was taken."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay import store
from assay.analyse import analyse
from assay.model.conclusion import Choice, Judged
from assay.report import repetition

GALLERY = Path(__file__).parents[2] / "docs/gallery"


def judged(name: str, begin: str) -> Judged:
    found = analyse(store.load(GALLERY / f"{name}.tar.xz")).repetition
    assert found
    return next(each for each in found.conclusions if each.conclusion.says.startswith(begin))


def test_each_operand_has_the_size_at_which_it_was_the_best() -> None:
    run = store.load(GALLERY / "like-vtpcc.tar.xz")
    analysis = analyse(run)
    figures = {each.id: each for each in analysis.estimates}
    assert analysis.repetition
    measured = [each for each in analysis.repetition.conclusions if each.quantity]
    assert len(measured) >= 10
    for each in measured:
        assert len(each.choices) == len(each.conclusion.quantity.operands)
        shown = repetition.chosen(each)
        assert shown in repetition.figures(each)
        for choice, name in zip(each.choices, each.of, strict=True):
            # A rate that follows from a time has the id of that time's case, and another metric.
            known = [one for one in figures.values() if one.case in name or name in one.id or one.id in name]
            assert choice.params.keys() == {"bytes"}
            assert any(one.params["bytes"] == choice.params["bytes"] for one in known), name


def test_what_is_alike_is_not_named() -> None:
    """One size, one placement, one pattern: nothing was chosen."""
    found = judged("like-hpcdiy-gbe", "Gigabit Ethernet has only about 118 MB/s")
    assert found.quantity
    assert found.choices == ()
    assert repetition.chosen(found) == ""


@pytest.mark.parametrize(
    ("choices", "shown"),
    [
        ((Choice("pt2pt", {"bytes": 65536}),), "64 KiB"),
        ((Choice("pt2pt", {"bytes": 65536}), Choice("pt2pt", {"bytes": 65536})), "64 KiB"),
        ((Choice("pt2pt", {"bytes": 2**20}), Choice("pt2pt", {"bytes": 65536})), "1 MiB against 64 KiB"),
        ((Choice("pt2pt", {"bytes": 2**20}), Choice("tcp", {"bytes": 2**20})), "pt2pt 1 MiB against tcp 1 MiB"),
        ((Choice("hpl", {"n": 10000}), Choice("hpl")), "n 10,000"),
        ((Choice("stream", placement="one-core", hosts=("n3",)), Choice("stream")), "one core, n3"),
        ((Choice("weather", {"nodes": 8}),), "8 nodes"),
        (
            (
                Choice("stream", memory="bind:1", hosts=("n1",)),
                Choice("stream", memory="first-touch", hosts=("n1",)),
            ),
            "bind:1 against first-touch, n1",
        ),
        (
            (Choice("stream", memory="bind:1", hosts=("n1",)), Choice("stream", memory="bind:0", hosts=("n2",))),
            "bind:1, n1 against bind:0, n2",
        ),
        ((Choice("stream", memory="first-touch", hosts=("n1",)),), "n1"),
        ((), ""),
    ],
)
def test_a_choice_is_said_once(choices: tuple[Choice, ...], shown: str) -> None:
    found = replace(judged("like-hpcdiy-gbe", "Gigabit Ethernet"), choices=choices)
    assert repetition.chosen(found) == shown


@pytest.mark.parametrize(
    "begin", ["memory of the same socket is up to 30", "whether memory of the other socket is"]
)
def test_where_one_side_was_chosen_by_its_memory_both_name_theirs(begin: str) -> None:
    analysis = analyse(store.load(GALLERY / "like-epyc-7601.tar.xz"))
    assert analysis.repetition
    found = next(each for each in analysis.repetition.conclusions if each.conclusion.says.startswith(begin))
    figures = {each.id: each.placement for each in analysis.estimates}
    a, b = (figures[name] for name in found.of)
    assert a.memory != b.memory
    assert a.hosts == b.hosts
    assert repetition.chosen(found) == f"{a.memory} against {b.memory}, {a.hosts[0]}"
