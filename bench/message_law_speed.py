"""Fit of message time by size: how often it invents a break, how often it misses a step, how long it takes.

Use: message_law_speed.py [CURVES]   (1,000 if not given)
"""

import sys
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.topics.messages import pieces, scatter

#: Edges of a curve without a break.
_ONE_PIECE = 2
DRAWS = 400
POWERS = np.array([0.0, *(2.0**power for power in range(23))])
DENSE = np.array(sorted({0.0, *(float(int(2 ** (step / 2.6))) for step in range(58))}))
Samples = NDArray[np.float64]


class Kind(NamedTuple):
    """Curves to count: sizes, relative standard deviation of a time, factor of the step, launches to a time."""

    sizes: int
    noise: float
    step: float
    launches: int | None = None


KINDS = (
    Kind(24, 0.01, 1.2),
    Kind(24, 0.02, 1.2),
    Kind(24, 0.05, 1.5),
    *(
        Kind(sizes, noise, step, launches)
        for sizes in (8, 12)
        for noise, step in ((0.01, 1.2), (0.05, 3.0))
        for launches in (None, 3)
    ),
)


def spread(count: int) -> Samples:
    """`count` sizes up to 4 MiB, shape (count,)."""
    return POWERS if count == POWERS.size else np.geomspace(1, POWERS[-1], count)


def curves(rng: np.random.Generator, sizes: Samples, count: int, noise: float) -> Samples:
    """Times of one piece each, shape (curves, sizes)."""
    start, rate = 10 ** rng.uniform(-7, -4, (count, 1)), 10 ** rng.uniform(8, 10.5, (count, 1))
    times: Samples = (start + sizes / rate) * np.exp(noise * rng.standard_normal((count, sizes.size)))
    return times


def found(sizes: Samples, times: Samples, launches: float | None) -> list[int]:
    """Edges of the pieces."""
    return pieces.edges(sizes, times, scatter.weighed(sizes, times, launches))


def counted(kind: Kind, count: int) -> tuple[int, int]:
    """Curves of one piece with an invented break, and curves with a step that is not found at its place."""
    rng = np.random.default_rng(1)
    sizes = spread(kind.sizes)
    noise = kind.noise if kind.launches else None
    invented = sum(len(found(sizes, row, noise)) > _ONE_PIECE for row in curves(rng, sizes, count, kind.noise))
    missed = 0
    for row in curves(rng, sizes, count, kind.noise):
        at = int(rng.integers(pieces.FEWEST, sizes.size - pieces.FEWEST + 1))
        row[at:] *= kind.step
        missed += at not in found(sizes, row, noise)
    return invented, missed


def main(count: int) -> None:
    """Print the counts and the time of a curve."""
    for kind in KINDS:
        invented, missed = counted(kind, count)
        known = ", which launches tell" if kind.launches else ""
        print(
            f"{kind.sizes} sizes, {kind.noise:.0%} of noise{known}: a break invented in {invented}, "
            f"a step of x{kind.step:g} not at its place in {missed}, of {count} curves each"
        )
    for sizes in (POWERS, DENSE):
        (row,) = curves(np.random.default_rng(2), sizes, 1, 0.01)
        row[sizes > POWERS[10]] *= 1.2
        draws = row * np.exp(0.01 * np.random.default_rng(3).standard_normal((DRAWS, sizes.size)))
        begin = time.perf_counter()
        off = scatter.weighed(sizes, row)
        cut = pieces.edges(sizes, row, off)
        middle = time.perf_counter()
        pieces.refit(sizes, draws, cut, off)
        end = time.perf_counter()
        print(
            f"{sizes.size} sizes: {1e3 * (middle - begin):.0f} ms for the breaks, "
            f"{1e3 * (end - middle):.0f} ms for {DRAWS} draws"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
