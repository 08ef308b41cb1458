"""tcp: every pattern passes the right bytes over sockets, by the interface asked for and no other."""

import itertools
import socket
from pathlib import Path

import pytest
from tests.mpi_ranks import (
    COUNTED,
    FIRST,
    MULTI,
    PAIR,
    QUICK,
    Axes,
    build_with,
    cases,
    command,
    complete,
    counted,
    environment,
    path,
    run,
)
from tests.native_programs import start

from assay.catalogue import benchmarks
from assay.model.record import Header
from assay.model.toolchain import Build

pytestmark = [pytest.mark.native, pytest.mark.parametrize("built", FIRST, indirect=True)]


@pytest.fixture
def built(request: pytest.FixtureRequest) -> Build:
    return build_with(request.param)


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_its_metrics_are_those_of_pt2pt(built: Build) -> None:
    assert Path(path(built, "tcp")).exists()
    assert benchmarks.get("tcp").metrics == benchmarks.get("pt2pt").metrics


def test_every_pattern_buffer_and_way_of_waiting_passes_the_right_bytes(built: Build) -> None:
    wanted: list[Axes] = [
        {"pattern": pattern, "buffers": buffers, "waiting": waiting, "bytes": 1000, "window": 5, "pool": "64K"}
        for pattern, buffers, waiting in itertools.product(
            (*PAIR, *MULTI), ("hot", "rotating", "cold"), ("blocking", "polling")
        )
    ]
    complete(run(built, "tcp", 2, *QUICK, *cases(*wanted)), len(wanted))


def test_every_size_arrives_however_much_more_than_the_buffers_of_the_sockets_it_is(built: Build) -> None:
    wanted: list[Axes] = [
        {"pattern": each, "bytes": size, "window": 3} for each in PAIR for size in (1, 1449, 65_537, 4_194_304)
    ]
    small = {"send-buffer": "8K", "receive-buffer": "8K"}
    wanted += [{"pattern": each, "bytes": 1_000_000, "window": 3, **small} for each in PAIR]
    wanted += [{"bytes": size, "offset": offset} for size in (1, 4096) for offset in (-3, 3)]
    wanted += [{"pattern": "bandwidth", "bytes": 100, "window": 4, "nodelay": "off"}]
    complete(run(built, "tcp", 2, *QUICK, *cases(*wanted)), len(wanted))


@pytest.mark.parametrize(("pattern", "ranks", "work"), COUNTED)
def test_messages_of_all_pairs_and_both_directions_are_counted_and_carried(
    built: Build, pattern: str, ranks: int, work: dict[str, float]
) -> None:
    traffic = counted(built, "tcp", pattern, ranks, work)
    (host,) = traffic.hosts
    assert host.interfaces["lo"].sent > traffic.payload  # headers too


def test_one_host_is_one_by_loopback_where_no_interface_is_asked_for(built: Build) -> None:
    result = run(built, "tcp", 2, *QUICK)
    assert result.header.mpi.addresses == "127.0.0.1 -> 127.0.0.1"
    if has_ipv6():
        result = run(built, "tcp", 2, *QUICK, "--family", "ipv6")
        complete(result, 1)
        assert result.header.mpi.addresses == "::1 -> ::1"


def test_segments_are_as_long_as_was_asked_for_and_the_header_says_how_long(built: Build) -> None:
    wanted: list[Axes] = [{"pattern": each, "bytes": 5000, "window": 3, "segment": 1460} for each in PAIR]
    result = run(built, "tcp", 2, *QUICK, *cases(*wanted))
    complete(result, len(wanted))
    for header in (each for each in result.records if isinstance(each, Header)):
        assert header.params["segment"] == 1460
        assert 1460 - 40 < header.mpi.segment_bytes <= 1460  # less the options of TCP: 1448 with time stamps
    usual = run(built, "tcp", 2, *QUICK)
    complete(usual, 1)
    assert usual.header.mpi.segment_bytes > 1460  # what the interface of loopback takes


def test_the_interface_that_was_asked_for_is_used(built: Build) -> None:
    result = run(built, "tcp", 2, *QUICK, "--network", "lo")
    complete(result, 1)
    assert result.header.mpi.addresses == "127.0.0.1 -> 127.0.0.1"
    assert result.header.mpi.network == "lo"


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        ("--network none0", 2, "there is no network interface 'none0'"),
        ("--network mlx5_0:1", 2, "there is no network interface 'mlx5_0:1'"),
        ("--send-buffer 1G", 4, "net.core.wmem_max"),
        ("--receive-buffer 1G", 4, "net.core.rmem_max"),
        ("--segment 10", 2, "Linux takes 88 to 32767"),
        ("--bytes 0", 2, "the least is 1"),
        ("--nodelay perhaps", 2, "known: on, off"),
    ],
)
def test_what_cannot_be_had_ends_on_all_ranks_in_words(
    built: Build, arguments: str, exit_code: int, words: str
) -> None:
    result = start(*command(built, "tcp", 2, *QUICK, *arguments.split()), environment=environment())
    assert result.exit_code == exit_code
    assert words in result.words
    assert result.words.count("\n  next: ") == 1
    assert not any(isinstance(record, Header) for record in result.records)


@pytest.mark.parametrize(("ranks", "words"), [(3, "3 ranks are here"), (4, "cannot be had with 4 ranks")])
def test_numbers_of_ranks_that_make_no_pair_are_refused(built: Build, ranks: int, words: str) -> None:
    result = run(built, "tcp", ranks)
    assert result.exit_code == 2
    assert words in result.words


def test_a_case_that_cannot_be_had_leaves_the_next_one_alone(built: Build) -> None:
    result = run(built, "tcp", 2, *QUICK, "--case", "vast", "--send-buffer", "1G", "--case", "plain")
    assert [end.status for end in result.ends] == ["failed", "complete"]
