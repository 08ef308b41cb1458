"""How much slower nodes are, beside a plain computation from the definitions in docs/findings.md."""

import math
import statistics
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
import scipy
from tests.unit.report_example import estimate

from assay.analyse.estimates import LaunchMedian, Measured
from assay.model.placed import Placed
from assay.model.role_words import Role
from assay.topics.health.slowness import Crowd, crowds, slow

HOSTS = ("n1", "n2", "n3", "n4", "n5")
Table = list[list[float | None]]


def crowd(table: Table, role: Role = "memory-rate") -> Crowd:
    """A figure by its excess of each host in each block, in logarithms."""
    values = [[np.nan if each is None else each for each in row] for row in table]
    return Crowd(role, HOSTS[: len(table)], {}, np.array(values, dtype=np.float64))


def known(row: Sequence[float | None]) -> list[float]:
    return [each for each in row if each is not None]


class Plain:
    """The factors of one table of excesses, host by host."""

    def __init__(self, table: Table) -> None:
        rows = [known(row) for row in table]
        self.middles = [statistics.median(row) if row else None for row in rows]
        self.counts = [len(row) for row in rows]
        squares = [sum((each - statistics.mean(row)) ** 2 for each in row) if row else 0.0 for row in rows]
        usual = statistics.median(s / (len(row) - 1) for s, row in zip(squares, rows, strict=True) if len(row) > 1)
        # A node's own variance has its launches less one as degrees of freedom, the nodes' usual one four more.
        self.free = [max(count - 1, 0) + 4 for count in self.counts]
        self.variances = [(4 * usual + s) / free for s, free in zip(squares, self.free, strict=True)]
        self.spread = statistics.median(abs(each) for each in self.middles if each is not None)

    def factors(self, tests: int) -> list[tuple[float, float, float] | None]:
        found: list[tuple[float, float, float] | None] = []
        for middle, count, free, variance in zip(
            self.middles, self.counts, self.free, self.variances, strict=True
        ):
            if middle is None or count < 2:
                found.append(None)
                continue
            half = scipy.stats.t.ppf(1 - 0.01 / tests, free) * math.sqrt(math.pi / 2 * variance / count)
            found.append((math.exp(middle), math.exp(middle - half), math.exp(middle + half)))
        return found


def medians_of(tables: Sequence[Table]) -> Table:
    """The median over several figures of each host in each block."""
    return [
        [statistics.median(values) if (values := known(cells)) else None for cells in zip(*rows, strict=True)]
        for rows in zip(*tables, strict=True)
    ]


def expected(singles: Sequence[tuple[Table, Role]]) -> list[tuple[str, int, tuple[float, float, float], float]]:
    """Host, number of figures, factor with its ends, and border, of each slow node in each group of figures."""
    roles = list(dict.fromkeys(role for _, role in singles))
    by_role = {role: [table for table, own in singles if own == role] for role in roles}
    groups = [([table], role) for table, role in singles]
    groups += [(tables, role) for role, tables in by_role.items() if len(tables) > 1]
    groups += [([table for table, _ in singles], roles[0])] if len(roles) > 1 else []
    plain = [Plain(medians_of(tables)) for tables, _ in groups]
    usual = {role: statistics.median(Plain(table).spread for table in tables) for role, tables in by_role.items()}
    tests = sum(count >= 2 for each in plain for count in each.counts)
    found = []
    for (tables, role), each in zip(groups, plain, strict=True):
        spread = max(each.spread, usual[role] if len(tables) == 1 else 0.0)
        border = math.exp(max(math.log(1.03), 6 * spread))
        for host, factor in zip(HOSTS, each.factors(tests), strict=False):
            if factor and factor[1] > border:
                found.append((host, len(tables), factor, border))
    return found


def drawn(seed: int, sizes: tuple[int, int]) -> Table:
    """Excesses of hosts of which one or two are slow; some launches are missing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.004, sizes)
    values[0] += rng.choice([0.0, 0.05, 0.2])
    values[-1] += rng.choice([0.0, 0.03, 0.06])
    table = cast("Table", values.tolist())
    for row, column in rng.integers(0, sizes, (3, 2)).tolist():
        table[row][column] = None
    return table


@pytest.mark.parametrize("seed", range(12))
def test_slow_nodes_are_those_of_a_plain_computation(seed: int) -> None:
    roles: tuple[Role, ...] = ("memory-rate", "memory-rate", "flop-rate")
    sizes = (4 + seed % 2, 3 + seed % 4)
    singles = [(drawn(100 * seed + at, sizes), role) for at, role in enumerate(roles[: 1 + seed % 3])]
    found = slow([crowd(table, role) for table, role in singles])
    every = [(host, each) for host, own in found.items() for each in own]
    shown = [(host, len(each.crowds), tuple(each.factor), each.border) for host, each in every]
    wanted = expected(singles)
    assert len(shown) == len(wanted)
    for one in wanted:
        (same,) = (each for each in shown if each[:2] == one[:2] and math.isclose(each[2][0], one[2][0]))
        assert same[2] == pytest.approx(one[2], rel=1e-6)
        assert same[3] == pytest.approx(one[3])
    for own in found.values():
        order = [(len(each.crowds) > 1, each.border / each.factor.lo) for each in own]
        assert order == sorted(order)  # single figures first, the clearest before the others


def test_some_of_them_are_slow() -> None:
    seeds = [slow([crowd(drawn(100 * seed, (4, 4)))]) for seed in range(12)]
    assert 0 < sum(map(bool, seeds)) < 12


def rate_of(
    host: str, values: Sequence[float], *, metric: str = "bandwidth", hosts: tuple[str, ...] = ()
) -> Measured:
    place = Placed("all", hosts or (host,), ((0,),), "first-touch", None)
    made = estimate("stream/all/x", "triad", 1.0, placement=place, metric=metric)
    launches = tuple(LaunchMedian(at, None, value) for at, value in enumerate(values) if value >= 0)
    return Measured(made, launches)


def test_a_crowd_is_the_time_of_each_node_over_the_median_of_all_in_the_same_block() -> None:
    rates = {"n1": (8.0, 4.0, 1.0), "n2": (4.0, 4.0, 1.0), "n3": (2.0, 1.0, -1.0), "n4": (4.0, 2.0, 1.0)}
    figures = [rate_of(host, values) for host, values in rates.items()]
    traffic = [rate_of(host, (1.0, 1.0, 1.0), metric="traffic") for host in rates]
    pair = rate_of("n1", (1.0, 1.0, 1.0), hosts=("n1", "n2"))
    (found,) = crowds([*figures, *traffic, pair])
    assert (found.role, found.hosts) == ("memory-rate", ("n1", "n2", "n3", "n4"))
    assert {each.metric for each in found.estimates.values()} == {"bandwidth"}
    # The third block has only three nodes: none has a usual value.
    log2 = math.log(2)
    wanted = [[-log2, -log2 / 2], [0, -log2 / 2], [log2, 1.5 * log2], [0, log2 / 2]]
    assert found.excess[:, :2] == pytest.approx(np.array(wanted))
    assert np.isnan(found.excess[:, 2]).all()
    assert not crowds(figures[:3])
    times = [rate_of(host, values) for host, values in rates.items()]
    slower: Any = [Measured(each.estimate, each.launches) for each in times]
    assert len(crowds(slower)) == 1
    stopped = [*figures[:3], rate_of("n4", (0.0, 2.0, 1.0))]
    assert np.isnan(crowds(stopped)[0].excess[:, 0]).all()


def test_times_count_as_they_are_and_two_launches_are_enough() -> None:
    times = {
        "n1": (2e-7, 2.2e-7),
        "n2": (1e-7, 1e-7),
        "n3": (1e-7, 1.1e-7),
        "n4": (1e-7, 1e-7),
        "n5": (1e-7, 1.1e-7),
    }
    figures = [
        Measured(
            estimate(
                "latency/one-core/x",
                "chase",
                1.0,
                placement=Placed("x", (host,), ((0,),), "first-touch", None),
                metric="latency",
                better="lower",
                unit="s",
            ),
            tuple(LaunchMedian(at, None, value) for at, value in enumerate(values)),
        )
        for host, values in times.items()
    ]
    (found,) = crowds(figures)
    assert found.excess[0] == pytest.approx([math.log(2), math.log(2.2 / 1.1)])
    table = [[0.7, 0.7], [0.0, 0.001], [0.001, 0.0], [0.0, 0.0]]
    assert slow([crowd(cast("Table", table))]).keys() == {"n1"}
    assert not slow([crowd(cast("Table", [[0.7, None], *table[1:]]))])
