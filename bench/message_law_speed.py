"""Time by size of messages: how long a fit takes, how often it invents a break, how often it misses a step.

Use: message_law_speed.py [CURVES]   (1,000 when not given)
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray

from assay.analyse.messages import pieces

NOISES = (0.01, 0.02)
STEP = 1.2
#: Edges of a curve without a break.
_ONE_PIECE = 2
DRAWS = 400
POWERS = np.array([0.0, *(2.0**power for power in range(23))])
DENSE = np.array(sorted({0.0, *(float(int(2 ** (step / 2.6))) for step in range(58))}))


def curves(rng: np.random.Generator, sizes: NDArray[np.float64], count: int, noise: float) -> NDArray[np.float64]:
    """Times of one piece each, shape (curves, sizes)."""
    start, rate = 10 ** rng.uniform(-7, -4, (count, 1)), 10 ** rng.uniform(8, 10.5, (count, 1))
    times: NDArray[np.float64] = (start + sizes / rate) * np.exp(noise * rng.standard_normal((count, sizes.size)))
    return times


def found(sizes: NDArray[np.float64], times: NDArray[np.float64]) -> list[int]:
    """Edges of the pieces."""
    return pieces.edges(sizes, times, pieces.scatter(sizes, times))


def main(count: int) -> None:
    """Print what was counted and how long a curve took."""
    for noise in NOISES:
        rng = np.random.default_rng(1)
        invented = sum(len(found(POWERS, row)) > _ONE_PIECE for row in curves(rng, POWERS, count, noise))
        missed = 0
        for row in curves(rng, POWERS, count, noise):
            at = int(rng.integers(pieces.FEWEST, POWERS.size - pieces.FEWEST + 1))
            row[at:] *= STEP
            missed += at not in found(POWERS, row)
        print(
            f"{noise:.0%} of noise: a break invented in {invented}, a step of 20 % not at its place in {missed}, "
            f"of {count} curves each"
        )
    for sizes in (POWERS, DENSE):
        (row,) = curves(np.random.default_rng(2), sizes, 1, 0.01)
        row[sizes > POWERS[10]] *= STEP
        draws = row * np.exp(0.01 * np.random.default_rng(3).standard_normal((DRAWS, sizes.size)))
        begin = time.perf_counter()
        off = pieces.scatter(sizes, row)
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
