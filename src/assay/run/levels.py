"""Levels that a command sets: on every node before a launch; the usual state is restored when the run stops."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from assay.launch.command import Executor, Outcome
from assay.launch.starter import Starter
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Case, Plan
from assay.run.process import signals_held
from assay.store import RunDirectory

_LIMIT_S = 60.0


def commands(plan: Plan, cases: Iterable[Case]) -> dict[str, tuple[str, ...]]:
    """Factor -> command that sets the common level of these cases."""
    levels = {name: level for case in cases for name, level in case.factors.items()}
    return {
        factor.name: tuple(shlex.split(factor.commands[levels[factor.name]]))
        for factor in plan.factors
        if factor.commands and factor.name in levels
    }


class Levels:
    """Sets the levels of launches and remembers the nodes that must be restored.

    Levels set by an earlier part of the run are restored as well: it may have been killed, or have lost a node.
    """

    def __init__(self, plan: Plan, directory: RunDirectory, starter: Starter, executor: Executor) -> None:
        self._plan = plan
        self._directory = directory
        self._starter = starter
        self._executor = executor
        self._touched: dict[str, None] = {}
        hosts = {case.id: case.placement.hosts for each in (plan, *plan.trials) for case in each.cases}
        for each in directory.run.launches:
            if each.launch.prepared:
                self._touched |= dict.fromkeys(hosts.get(each.launch.cases[0], ()))

    def set(self, cases: tuple[Case, ...], launch: str) -> dict[str, tuple[str, ...]]:
        """Run the commands for the cases of a launch on each of its nodes, and log them; factor -> command.

        Raises:
            UnfitEnvironmentError: a command cannot be started on a node, fails, or does not end.
        """
        wanted = commands(self._plan, cases)
        hosts = cases[0].placement.hosts
        for name, argv in wanted.items():
            self._touched |= dict.fromkeys(hosts)
            starts = tuple(self._starter.on_host(host, argv) for host in hosts)
            what = f"cannot set the level of '{name}'"
            try:
                outcomes = self._executor.execute_together(starts, _LIMIT_S)
            except UnfitEnvironmentError as error:
                raise _failure(what, argv, error.why) from error
            self._log(f"{launch}.{name}.out", argv, dict(zip(hosts, outcomes, strict=True)))
            for host, outcome in zip(hosts, outcomes, strict=True):
                if outcome.exit_code != 0:
                    raise _failure(f"{what} on {host}", argv, _last(outcome))
        return wanted

    def restore(self) -> UnfitEnvironmentError | None:
        """Run the command of each factor's first level, the machine's usual state, on nodes where one was set.

        Every node is tried, even if others fail: the returned error names those that were not restored.
        """
        touched, self._touched = tuple(self._touched), {}
        failed: dict[str, UnfitEnvironmentError] = {}
        with signals_held():
            for factor in (factor for factor in self._plan.factors if factor.commands and touched):
                usual = tuple(shlex.split(next(iter(factor.commands.values()))))
                what = f"'{factor.name}' was not put back to its usual state"
                outcomes: dict[str, Outcome] = {}
                for host in touched:
                    try:
                        outcomes[host] = self._executor.execute(self._starter.on_host(host, usual), _LIMIT_S)
                    except UnfitEnvironmentError as error:
                        failed.setdefault(host, _failure(f"{what} on {host}", usual, error.why))
                    else:
                        if outcomes[host].exit_code != 0:
                            failed.setdefault(host, _failure(f"{what} on {host}", usual, _last(outcomes[host])))
                self._log(f"restore.{factor.name}.out", usual, outcomes)
        first = next(iter(failed.values()), None)
        if first is None or len(failed) == 1:
            return first
        others = ", ".join(list(failed)[1:])
        return UnfitEnvironmentError(first.what, why=f"{first.why}; nor on {others}", remedy=first.remedy)

    def _log(self, name: str, argv: tuple[str, ...], outcomes: dict[str, Outcome]) -> None:
        parts = (
            f"{host}: $ {shlex.join(argv)}\n{_ended(each)}\n".encode() + each.stdout + each.stderr
            for host, each in outcomes.items()
        )
        self._directory.log(name, b"".join(parts))


@contextmanager
def levels_restored(levels: Levels) -> Iterator[Levels]:
    """Restore levels however the block ends; an error of the block comes before an error of the restoration."""
    try:
        yield levels
    except UnfitEnvironmentError as error:
        if also := levels.restore():
            why = "; ".join(filter(None, (error.why, f"{also.what}: {also.why}")))
            raise UnfitEnvironmentError(error.what, why=why, remedy=error.remedy) from error
        raise
    finally:
        if failed := levels.restore():
            raise failed


def _failure(what: str, argv: tuple[str, ...], why: str) -> UnfitEnvironmentError:
    typed = shlex.join(argv)
    return UnfitEnvironmentError(what, why=f"`{typed}`: {why}", remedy=f"try it there, it may need root: {typed}")


def _ended(outcome: Outcome) -> str:
    return "ended at its time limit" if outcome.exit_code is None else f"exit {outcome.exit_code}"


def _last(outcome: Outcome) -> str:
    """How a command ended, and the last line of its output."""
    lines = (outcome.stdout + outcome.stderr).decode(errors="replace").strip().splitlines()
    return ": ".join([_ended(outcome), *lines[-1:]])
