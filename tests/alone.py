"""What `make test` says of tests that failed beside the others and passed when run alone."""

from collections.abc import Sequence


def told(attempt: int, passed: Sequence[str], failed: int) -> list[str]:
    """Lines for the end of an attempt; none before the second one, if there is one.

    Args:
        attempt: 1: all tests; 2: those that failed, alone; 0: not of `make test`.
        passed: names of the tests that passed in it.
        failed: number of tests that failed in it.
    """
    if attempt == 1 and not failed:
        return ["0 tests passed only when run alone"]
    if attempt == 2:
        names = sorted(set(passed))
        tests = "test" if len(names) == 1 else "tests"
        return [f"{len(names)} {tests} passed only when run alone{':' if names else ''}", *names]
    return []
