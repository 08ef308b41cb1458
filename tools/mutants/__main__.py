"""Put small faults into three rooms, one at a time, and count those that no test near them finds.

Usage: python -m tools.mutants [--sample N] [--seed S] [--jobs J] [--near SECONDS] [--again] [FILE ...]

A fault is near a test that runs its line. Faults that change nothing (`equivalent.toml` says why) are not counted.
"""

import argparse
import json
import math
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.mutants.near import Near
from tools.mutants.operators import Mutant, mutants
from tools.mutants.runner import Trial, Verdict, load_shared, run

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("analyse", "run", "topics")
BUILD = ROOT / "build" / "mutants"
#: At most this share of the faults may survive.
_MOST = 0.08
#: The 97.5 % quantile of the normal distribution.
_NORMAL = 1.959964


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share.

    Source: E. B. Wilson, Probable Inference, Journal of the American Statistical Association 22, 1927.
    """
    z2 = _NORMAL**2
    middle, spread = count + z2 / 2, _NORMAL * math.sqrt(count * (of - count) / of + z2 / 4)
    return max(0.0, (middle - spread) / (of + z2)), min(1.0, (middle + spread) / (of + z2))


def main() -> int:
    """Run a sample of faults, print what became of them, and return the exit code."""
    options = _options()
    every = _every(options.files)
    equivalent = _equivalent(every, complete=not options.files)
    drawn = random.Random(options.seed).sample(every, min(options.sample or len(every), len(every)))  # noqa: S311
    kept = BUILD / f"seed-{options.seed}.json"
    if options.again:
        drawn = _again(drawn, kept)
    near = Near(ROOT, BUILD / "coverage", BUILD / "times.xml", options.near)
    load_shared()
    tried = [each for each in drawn if _key(each) not in equivalent]
    verdicts = dict(_judged(tried, near, options.jobs))
    survivors = [each for number, each in enumerate(tried) if verdicts[number].fate == "survived"]
    kept.write_text(json.dumps([_key(each) for each in survivors]))
    same = [each for each in drawn if _key(each) in equivalent]
    for each in same:
        print(f"changes nothing: {each.file}:{each.line}: {each.change}  ({equivalent[_key(each)]})")
    for each in survivors:
        print(f"survived: {each.file}:{each.line}: {each.change}")
    fates = Counter(each.fate for each in verdicts.values())
    decided = len(tried) - fates["undecided"]
    share, (lo, hi) = len(survivors) / max(1, decided), wilson(len(survivors), max(1, decided))
    print(
        f"{len(drawn)} of {len(every)} faults, seed {options.seed}: {fates['killed']} found by a failing test, "
        f"{fates['timed out']} by tests that did not end, {len(same)} change nothing, "
        f"{fates['undecided']} undecided "
        f"(the machine was too busy for their tests), {len(survivors)} survived"
    )
    print(f"{100 * share:.1f} % survived [{100 * lo:.1f}, {100 * hi:.1f}]; less than {100 * _MOST:.0f} % may")
    return int(share >= _MOST)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sample", type=int, default=300, help="number of faults, drawn by chance; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--jobs", type=int, default=2, help="faults at the same time")
    parser.add_argument("--near", type=float, default=30.0, help="seconds of tests for a fault, at most")
    parser.add_argument("--again", action="store_true", help="only those that survived with this seed before")
    parser.add_argument("files", nargs="*", help="files with faults; all of the rooms without")
    return parser.parse_args()


def _every(files: Sequence[str]) -> list[Mutant]:
    """Every fault of the files, else of the rooms."""
    paths = [ROOT / each for each in files] or sorted(
        path for room in ROOMS for path in (ROOT / "src" / "assay" / room).rglob("*.py")
    )
    return [fault for path in paths for fault in mutants(path.relative_to(ROOT).as_posix(), path.read_bytes())]


def _key(fault: Mutant) -> str:
    """A name of a fault that stays when lines move."""
    return f"{fault.file}: {fault.change}"


def _equivalent(every: Sequence[Mutant], *, complete: bool) -> dict[str, str]:
    """Key -> why the fault changes nothing; an entry without a fault is refused."""
    rows = tomllib.loads((Path(__file__).parent / "equivalent.toml").read_text())["equivalent"]
    reasons = {f"{row['file']}: {row['change']}": str(row["reason"]) for row in rows}
    gone = reasons.keys() - {_key(each) for each in every} if complete else ()
    if gone:
        sys.exit("tools/mutants/equivalent.toml names what is no fault any more:\n" + "\n".join(sorted(gone)))
    return reasons


def _again(drawn: Sequence[Mutant], kept: Path) -> list[Mutant]:
    wanted = set(json.loads(kept.read_text()))
    return [each for each in drawn if _key(each) in wanted]


def _judged(tried: Sequence[Mutant], near: Near, jobs: int) -> Iterator[tuple[int, Verdict]]:
    """Yield the verdict on each fault.

    What does not pass without the fault, too, does not find it: a test that fails is left out then, and where all
    tests together do not end, nothing is decided.
    """
    sources = {each.file: (ROOT / each.file).read_bytes() for each in tried}
    unfit, fit = set[str](), set[str]()
    numbers = list(range(len(tried)))
    while numbers:
        trials = {number: _trial(number, tried[number], sources, near, unfit) for number in numbers}
        doubted = dict[tuple[str, ...], list[Verdict]]()
        for verdict in run(trials.values(), jobs):
            _show(verdict, tried[verdict.key])
            if verdict.fate == "survived" or verdict.test in fit:
                yield verdict.key, verdict
            else:
                tests = (verdict.test,) if verdict.test else trials[verdict.key].tests
                doubted.setdefault(tests if verdict.fate == "timed out" else tests[:1], []).append(verdict)
        every = list(doubted)
        controls = [Trial(at, "", b"", tests, _seconds(tests, near)) for at, tests in enumerate(every)]
        numbers = []
        for control in run(controls, jobs):
            tests, verdicts = every[control.key], doubted[every[control.key]]
            passed = control.fate == "survived"
            (fit if passed else unfit).update(tests[:1] if len(tests) == 1 else ())
            for verdict in verdicts:
                if passed:
                    yield verdict.key, verdict
                elif verdict.test:
                    numbers.append(verdict.key)
                else:
                    yield verdict.key, verdict._replace(fate="undecided")


def _seconds(tests: Sequence[str], near: Near) -> float:
    return sum(near.seconds.get(test, 1.0) for test in tests)


def _trial(number: int, fault: Mutant, sources: dict[str, bytes], near: Near, unfit: set[str]) -> Trial:
    tests = near.of(fault.file, fault.line, unfit)
    source = fault.applied(sources[fault.file])
    return Trial(number, str(ROOT / fault.file), source, tuple(tests), _seconds(tests, near))


def _show(verdict: Verdict, fault: Mutant) -> None:
    print(
        f"{verdict.fate:9} {fault.file}:{fault.line}: {fault.change}  {verdict.test}", file=sys.stderr, flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
