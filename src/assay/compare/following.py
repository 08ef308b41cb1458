"""The next runs of levels of whole runs: the block that decides what the blocks so far leave open."""

from assay.compare.sides import Side, Sides
from assay.model.text import cli, joined, text
from assay.report.summary import Action


def following(sides: Sides) -> list[Action]:
    """Return for each level the runs that can decide what was seen, and how many blocks of them; none of runs."""
    lacks = [
        (side, max((lack.more or 0 for pair in of.pairs if (lack := pair.comparison.lack)), default=0))
        for side, of in zip(sides.sides[1:], sides.compared, strict=True)
        if side.blocks
    ]
    return [
        Action(
            next_block(sides, side),
            text(
                "{count} more block of two runs can decide what was seen.|"
                "{count} more blocks of two runs can decide what was seen.",
                count=more,
            ),
        )
        for side, more in lacks
        if more
    ]


def next_block(sides: Sides, side: Side) -> str:
    """Return the commands of one more block of a level and the base; it begins as fewer blocks began."""
    base = sides.sides[0]
    begun = [each.run.info.started < base.blocks[number].run.info.started for number, each in side.blocks.items()]
    both = (side, base) if 2 * sum(begun) <= len(begun) else (base, side)
    return joined(
        "; then ",
        (
            cli("run", each.run.plan.study, "--level", f"{sides.factor}={each.run.plan.levels[sides.factor]}")
            for each in both
        ),
    )
