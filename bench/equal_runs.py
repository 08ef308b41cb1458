"""How often two equal runs are called different, and how often plain differences are not: simulated and real runs.

Run as `python bench/equal_runs.py [PAIRS]` from the root of the tree (1,000 by default) for simulated runs, or
as `python bench/equal_runs.py --runs FOLDER` for all pairs of the equal runs of one machine in a folder, first
without earlier runs, then with all other runs as earlier ones.

Simulated pairs are of 1 to 268 figures with 6 or 10 launches, with a standard deviation between runs of 0.5 to 2 %
that figures have in common wholly, half, or not at all; with normal, heavy-tailed and skewed launches, and with a
launch that was disturbed; without earlier runs, and with 3, 5 and 8 of them. A pair counts if any of its figures
carries a claim: at most 5 % may. Then come equal levels in the blocks of one run, and differences: figures whose
intervals are disjoint, with a factor of 1.1 or more, must be called.
"""

import argparse
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.equal_runs import Figures, Setting, called, claims, equal, equal_levels

from assay import store
from assay.compare.runs import against

_PAIRS = 1000


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="?", default=_PAIRS)
    parser.add_argument("--runs", type=Path, help="folder of equal runs of one machine")
    given = parser.parse_args()
    if given.runs:
        _print_real(given.runs)
        return
    figures = Figures()
    _print("equal runs", list(equal(figures, given.pairs)))
    _print("equal levels in the blocks of a run", list(equal_levels(figures, given.pairs)))
    for blocks in (False, True):
        sure, plain = called(figures, given.pairs, blocks=blocks)
        kind = "levels in 6 blocks" if blocks else "two runs of 6 launches"
        print(f"{kind}: {sure} of {plain} figures with disjoint intervals and a factor of 1.1 or more are called")


def _print(what: str, found: Sequence[tuple[Setting, tuple[bool, bool]]]) -> None:
    print(f"{what}: any claim, a claim beyond 5 %")
    _line("all", [claimed for _, claimed in found])
    for name in Setting._fields:
        for value in sorted({_class(getattr(setting, name)) for setting, _ in found}):
            _line(f"{name} {value}", [claimed for own, claimed in found if _class(getattr(own, name)) == value])


def _class(value: object) -> str:
    """A value, or the range of a continuous one."""
    if isinstance(value, float) and value not in {0.0, 0.005, 0.01, 0.02, 0.5, 1.0}:
        return "0.5 to 1 %" if value < 0.01 else "1 to 2 %"  # noqa: PLR2004 (classes)
    return f"{value:3}" if isinstance(value, int) else str(value)


def _line(name: str, found: Sequence[tuple[bool, bool]]) -> None:
    counts = [sum(each[at] for each in found) for at in (0, 1)]
    shares = ", ".join(f"{count} ({100 * count / len(found):.1f} %)" for count in counts)
    print(f"  {name:22} {len(found):5} pairs: {shares}", flush=True)


def _print_real(folder: Path) -> None:
    runs = [store.load(folder / each.id) for each in store.listing(folder)]
    for words in ("without earlier runs", "with the others as earlier runs"):
        found, figures = [], []
        for base, run in itertools.combinations(runs, 2):
            earlier = [each for each in runs if each not in (base, run)] if words.startswith("with the") else []
            (compared,) = against([run], base, earlier=earlier)
            judged = [pair.comparison for pair in compared.pairs]
            found.append(claims(judged))
            figures += judged
        tested = [each for each in figures if each.p is not None]
        sure = sum(each.is_claim for each in figures)
        print(f"{words}: {sure} claims among {len(tested):,} tested figures")
        _line("pairs of runs", found)


if __name__ == "__main__":
    main()
