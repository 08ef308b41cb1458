"""What the native programs write: records that keep the schema, whatever they are asked."""

import json
import subprocess

import pytest
from tests.native_programs import ProgramOutput, start

from assay.catalogue import benchmarks
from assay.model.record import End, Header, Series, Verdict
from assay.model.toolchain import Build
from assay.model.traffic import Traffic

pytestmark = pytest.mark.native

QUICK = ("--seconds", "0.05")
SMALL = ("--elements", "20000")


def stream(build: Build, *arguments: str) -> ProgramOutput:
    return start(build.programs["stream"], *QUICK, *SMALL, *arguments)


def memcpy(build: Build, *arguments: str) -> ProgramOutput:
    return start(build.programs["memcpy"], *QUICK, *arguments)


def test_a_case_is_a_header_then_warm_up_and_samples_of_each_kernel_then_verdict_and_end(build: Build) -> None:
    result = stream(build)
    assert result.exit_code == 0
    assert isinstance(result.records[0], Header)
    phases = [(series.kernel, series.phase) for series in result.series]
    assert phases == [
        (kernel, phase) for kernel in benchmarks.get("stream").kernels for phase in ("warmup", "measured")
    ]
    assert isinstance(result.records[-2], Verdict)
    assert result.records[-1] == End("complete")
    traffic = result.records[-3]
    assert isinstance(traffic, Traffic)
    (host,) = traffic.hosts
    assert (traffic.payload, host.interfaces) == (0.0, {})  # it passes no messages
    assert host.boot_id == result.header.ranks[0].boot_id
    assert 0 < host.own_s <= host.cpus * traffic.seconds
    assert host.used_s >= host.own_s - 0.02 * host.cpus  # the kernel counts it in ticks


def test_samples_last_a_hundred_times_the_clocks_resolution_and_overhead(build: Build) -> None:
    for result in (memcpy(build, "--bytes", "1"), stream(build, "--elements", "100")):
        clock = result.header.clock
        assert clock.resolution_s > 0
        assert clock.overhead_s > 0
        for series in result.series:
            if series.phase == "measured":
                assert sorted(series.seconds)[len(series.seconds) // 2] >= 100 * max(
                    clock.resolution_s, clock.overhead_s
                )
                assert series.iterations > 1


def test_starts_ascend_over_the_whole_case(build: Build) -> None:
    starts = [start_s for series in stream(build).series for start_s in series.start_s]
    assert starts == sorted(starts)
    assert starts[0] > 0


def test_cases_run_in_the_order_given_each_with_its_own_axes(build: Build) -> None:
    result = memcpy(build, "--buffers", "cold", "--pool", "1M", "--case", "b", "--bytes", "4K", "--case", "a/x=1")
    assert result.exit_code == 0
    headers = [record for record in result.records if isinstance(record, Header)]
    assert [header.case for header in headers] == ["b", "a/x=1"]
    assert headers[0].params == {"bytes": 4096, "buffers": "cold", "offset": 0, "pool": 2**20}
    assert headers[1].params["bytes"] == 2**20


def test_a_case_that_cannot_start_ends_as_failed_and_the_next_one_runs(build: Build) -> None:
    result = stream(build, "--case", "vast", "--elements", "100T", "--case", "small")
    assert result.exit_code == 4
    assert [end.status for end in result.ends] == ["failed", "complete"]
    assert isinstance(result.records[0], End)
    assert "more memory than may be used" in result.ends[0].reason
    assert result.header.case == "small"
    assert "stream: vast: " in result.words


@pytest.mark.parametrize("stores", ["ordinary", "non-temporal"])
def test_work_counts_streams_bytes_and_the_write_allocate_of_ordinary_stores(build: Build, stores: str) -> None:
    result = stream(build, "--stores", stores)
    if result.exit_code == 1 and "no non-temporal stores" in result.ends[0].reason:
        pytest.skip("this machine's compiler has no non-temporal stores")
    allocate = 8 if stores == "ordinary" else 0
    of_element = {
        "copy": (16, {}),
        "scale": (16, {"flops": 1}),
        "add": (24, {"flops": 1}),
        "triad": (24, {"flops": 2}),
    }
    for kernel, (moved, operations) in of_element.items():
        amounts = {"bytes": moved, "traffic_bytes": moved + allocate, **operations}
        assert result.header.work[kernel] == {name: 20000 * amount for name, amount in amounts.items()}


@pytest.mark.parametrize("elements", [1, 7, 8, 9, 63, 1000, 1001])
@pytest.mark.parametrize("stores", ["ordinary", "non-temporal"])
def test_any_length_is_right_also_one_that_no_vector_divides(build: Build, elements: int, stores: str) -> None:
    result = start(build.programs["stream"], "--seconds", "0.004", "--elements", str(elements), "--stores", stores)
    if result.exit_code == 1 and "no non-temporal stores" in result.ends[0].reason:
        pytest.skip("this machine's compiler has no non-temporal stores")
    assert result.ends == [End("complete")]


@pytest.mark.parametrize(
    ("size", "offset", "copied"), [(1, -3, 1), (1, 0, 1), (1, 3, 4), (4096, -3, 4093), (4096, 3, 4099)]
)
@pytest.mark.parametrize("buffers", ["hot", "cold"])
def test_memcpy_copies_size_and_offset_but_at_least_a_byte(
    build: Build, buffers: str, size: int, offset: int, copied: int
) -> None:
    result = memcpy(build, "--buffers", buffers, "--pool", "64K", "--bytes", str(size), "--offset", str(offset))
    assert result.ends == [End("complete")]
    assert result.header.work == {"memcpy": {"bytes": copied}}


def test_a_block_larger_than_its_pool_is_copied_whole(build: Build) -> None:
    assert memcpy(build, "--buffers", "cold", "--pool", "1", "--bytes", "3M").ends == [End("complete")]


def test_sampling_stops_for_the_reason_that_it_names(build: Build) -> None:
    def stop(*arguments: str) -> tuple[str, int]:
        command = (build.programs["memcpy"], "--bytes", "64K", *arguments)
        series: Series = start(*command).series[-1]
        return series.stop, len(series.seconds)

    reason, count = stop("--precision", "1e9", "--min-samples", "12")
    assert reason == "precision"
    assert count >= 12  # and as many more as make 20 ms
    assert stop("--precision", "1e-12", "--max-samples", "17", "--seconds", "30") == ("samples", 17)
    assert stop("--precision", "1e-12", "--max-samples", "1M", "--seconds", "0.02")[0] == "time"


def test_help_names_every_axis_and_describe_is_json(build: Build) -> None:
    for program, path in build.programs.items():
        result = subprocess.run([path, "--help"], capture_output=True, text=True, check=True)
        described = subprocess.run([path, "--describe"], capture_output=True, text=True, check=True).stdout
        assert result.stderr == ""
        declared = json.loads(described)
        if program == "start":  # it measures nothing itself
            assert declared["name"] == program
            continue
        assert declared["measures"] in result.stdout
        assert all(f"--{axis['name']} " in result.stdout for axis in declared.get("axes", ()))
        assert declared["program"] == program


def test_the_work_of_a_header_is_the_one_described(build: Build) -> None:
    for program, small in (("stream", SMALL), ("memcpy", ("--bytes", "1K"))):
        path = build.programs[program]
        described = json.loads(subprocess.run([path, "--describe"], capture_output=True, check=True).stdout)[
            "work"
        ]
        work = start(path, *QUICK, *small).header.work
        assert {kernel: set(amounts) for kernel, amounts in work.items()} == {
            kernel: set(amounts) for kernel, amounts in described.items()
        }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--colour", "red"), "'--colour' is not known"),
        (("--stores", "fast"), "known: ordinary, non-temporal"),
        (("--elements", "many"), "'many' is no value of --elements"),
        (("--elements", "0"), "the least is 1"),
        (("--elements",), "without its value"),
        (("--memory", "far"), "'far' is no memory policy"),
        (("--case", "a", "--case", "a"), "stands twice"),
        (("--cpus", "0,0"), "stands twice"),
        (("--cpus", "0-"), "no list of cpus"),
    ],
)
def test_what_is_not_understood_is_refused_by_name_before_anything_runs(
    build: Build, arguments: tuple[str, ...], words: str
) -> None:
    result = start(build.programs["stream"], *arguments)
    assert result.exit_code == 2
    assert result.records == ()
    assert words in result.words
    assert "\n  next: " in result.words
