"""Levels that a command sets: run before each launch that has them, and put back when the session ends."""

import shlex
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from assay.launch.command import Command, Executor
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Case, Plan
from assay.store import RunDirectory

_LIMIT_S = 60.0


def commands(plan: Plan, cases: Iterable[Case]) -> dict[str, tuple[str, ...]]:
    """Factor -> command that sets the level of these cases, which have it in common."""
    levels = {name: level for case in cases for name, level in case.factors.items()}
    return {
        factor.name: tuple(shlex.split(factor.commands[levels[factor.name]]))
        for factor in plan.factors
        if factor.commands and factor.name in levels
    }


class Levels:
    """Sets the levels of launches and remembers what has to be put back."""

    def __init__(self, plan: Plan, directory: RunDirectory, executor: Executor) -> None:
        self._plan = plan
        self._directory = directory
        self._executor = executor
        self._touched = False

    def set(self, cases: Iterable[Case], launch: str) -> dict[str, tuple[str, ...]]:
        """Run what the cases of a launch need, each command logged; factor -> what was run.

        Raises:
            UnfitEnvironmentError: a command cannot be started, fails, or does not end.
        """
        wanted = commands(self._plan, cases)
        for name, argv in wanted.items():
            self._touched = True
            self._run(argv, f"{launch}.{name}", f"cannot set the level of '{name}'")
        return wanted

    def restore(self) -> None:
        """Run the command of the first level of each factor, the machine's usual state, if any was ever set.

        Raises:
            UnfitEnvironmentError: the first one that failed, after all were tried.
        """
        if not self._touched:
            return
        failed: list[UnfitEnvironmentError] = []
        with _deaf():
            for factor in (factor for factor in self._plan.factors if factor.commands):
                usual = tuple(shlex.split(next(iter(factor.commands.values()))))
                try:
                    self._run(
                        usual, f"restore.{factor.name}", f"'{factor.name}' was not put back to its usual state"
                    )
                except UnfitEnvironmentError as error:
                    failed.append(error)
        self._touched = False
        if failed:
            raise failed[0]

    def _run(self, argv: tuple[str, ...], log: str, what: str) -> None:
        typed = shlex.join(argv)
        remedy = f"try it, it may need root: {typed}"
        try:
            outcome = self._executor.execute(Command(argv, {}), _LIMIT_S)
        except UnfitEnvironmentError as error:
            raise UnfitEnvironmentError(what, why=f"`{typed}`: {error.why}", remedy=remedy) from error
        ended = "ended at its time limit" if outcome.exit_code is None else f"exit {outcome.exit_code}"
        said = outcome.stdout + outcome.stderr
        self._directory.log(f"{log}.out", f"$ {typed}\n{ended}\n".encode() + said)
        if outcome.exit_code != 0:
            last = said.decode(errors="replace").strip().splitlines()[-1:]
            raise UnfitEnvironmentError(what, why=": ".join([f"`{typed}`", ended, *last]), remedy=remedy)


@contextmanager
def restoring(levels: Levels) -> Iterator[Levels]:
    """Levels that are put back however the block ends."""
    try:
        yield levels
    finally:
        levels.restore()


@contextmanager
def _deaf() -> Iterator[None]:
    """An impatient second Ctrl-C, or another request to end, waits until the machine is as it was."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
