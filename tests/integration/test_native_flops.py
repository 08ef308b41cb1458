"""flops: what it counts, right results in every width, and what it says of a width that is not there."""

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.native_programs import ProgramOutput, start
from tests.planted_programs import planted

from assay.catalogue import benchmarks
from assay.model.record import End, Header, Verdict
from assay.model.toolchain import Build

pytestmark = pytest.mark.native

QUICK = ("--seconds", "0.01", "--max-samples", "10")
AXES = {axis.name: axis.values for axis in benchmarks.get("flops").axes}
#: flops of one turn of each mix, as published.
FLOPS = dict(zip([f"mix-{module}" for module in range(1, 9)], (14, 7, 17, 15, 29, 29, 12, 30), strict=True))


def flops(build: Build, *arguments: str) -> ProgramOutput:
    return start(build.programs["flops"], *QUICK, *arguments)


def every(axis: str, *more: str) -> list[str]:
    """A case for each value of an axis."""
    return [word for value in AXES[axis] for word in ("--case", str(value), f"--{axis}", str(value), *more)]


def flops_of(result: ProgramOutput) -> dict[str, float]:
    """Of each case that began, in one iteration."""
    headers = [record for record in result.records if isinstance(record, Header)]
    return {header.case: header.work["arithmetic"]["flops"] for header in headers}


def lacks(result: ProgramOutput) -> list[str]:
    return [end.reason for end in result.ends if end.status != "complete"]


@pytest.mark.parametrize("precision", AXES["format"])
@pytest.mark.parametrize("width", AXES["width"])
def test_results_of_every_mix_are_right_or_what_lacks_is_named(build: Build, precision: str, width: str) -> None:
    result = flops(
        build,
        "--cpus",
        str(min(os.sched_getaffinity(0))),
        "--format",
        precision,
        "--width",
        width,
        *every("mix"),
    )
    assert all(reason.startswith("there are no ") for reason in lacks(result))
    verdicts = [record for record in result.records if isinstance(record, Verdict)]
    assert len(verdicts) + len(lacks(result)) == len(AXES["mix"])
    assert all(verdict.passed for verdict in verdicts)
    if width == "scalar":
        assert set(lacks(result)) <= {reason for reason in lacks(result) if "fused" in reason}


def test_flops_are_those_of_all_cores_and_lanes(build: Build) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    work = {}
    for count in range(1, len(cpus) + 1):
        work[count] = flops_of(flops(build, "--cpus", ",".join(map(str, cpus[:count])), *every("mix")))
    for mix, in_a_turn in FLOPS.items():
        assert work[1][mix] % in_a_turn == 0
    if len(cpus) == 2:
        assert work[2] == {mix: 2 * amount for mix, amount in work[1].items()}


def test_a_wider_register_holds_more_numbers(build: Build) -> None:
    for precision, bits in (("fp64", 64), ("fp32", 32)):
        amounts = flops_of(flops(build, "--format", precision, *every("width")))
        for width, amount in amounts.items():
            if width != "scalar":
                assert amount == int(width) // bits * amounts["scalar"]


def test_the_clock_counts_adds_of_one_core(build: Build) -> None:
    work = flops(build).header.work
    assert set(work) == {"clock", "loaded-clock", "arithmetic"}
    assert work["clock"] == {"cycles": 2**18}
    assert set(work["loaded-clock"]) == {"cycles"}


@pytest.mark.long  # it compiles all mixes and widths anew
def test_a_width_that_the_build_lacks_fails_and_says_why(build: Build, near_path: Path) -> None:
    (program,) = planted(build.toolchain, near_path, "flops", [("int main(", "int main(")])
    result = start(program, *QUICK, *every("width", "--mix", "add"), "--case", "fused", "--mix", "fma")
    assert result.exit_code in (0, 1)
    for case, end in zip((*AXES["width"], "fused"), result.ends, strict=True):
        if end != End("complete"):
            what = "fused operations" if case == "fused" else f"{case}-bit vectors"
            assert end.status == "failed"
            assert end.reason.startswith(f"there are no {what}: ")
            assert "built" in end.reason
    assert result.ends[0] == End("complete")
    if os.uname().machine == "x86_64":
        assert [end.status for end in result.ends] == ["complete", "complete", "failed", "failed", "failed"]
        assert "\n  next: " in result.words


def loops(program: str) -> Iterator[list[str]]:
    """Instructions of each innermost loop, as GNU's objdump writes those of x86."""
    result = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True
    )
    for function in result.stdout.split("\n\n"):
        code = re.findall(r"^ +([0-9a-f]+):\s+(.*)", function, re.MULTILINE)
        at = {address: index for index, (address, _) in enumerate(code)}
        jumps = [(index, re.match(r"j\w+\s+([0-9a-f]+)", words)) for index, (_, words) in enumerate(code)]
        for end, jump in jumps:
            if jump and at.get(jump[1], end) < end:
                body = [words for _, words in code[at[jump[1]] : end]]
                if not any(words.startswith("j") for words in body):
                    yield body


@pytest.mark.skipif(platform.machine() != "x86_64", reason="it reads instructions of x86-64")
def test_no_value_in_flight_waits_in_memory(build: Build) -> None:
    arithmetic = re.compile(r"v?(fn?m|add|sub|mul)\w*[ps][ds] .*mm")
    ours = [body for body in loops(build.programs["flops"]) if sum(map(bool, map(arithmetic.match, body))) >= 10]
    assert len(ours) > 50
    stored = re.compile(r"v?mov\w+ +%[xyz]mm\d+,.*\(%rsp\)")
    assert [body for body in ours if any(map(stored.match, body))] == []


@pytest.mark.long  # it compiles all mixes and widths anew
def test_wrong_operations_are_failed_verdicts(build: Build, near_path: Path) -> None:
    faults = (
        ("x = Vector::add(x,", "x = Vector::subtract(x,"),
        ("x = Vector::subtract(x, of.minus);", "x = Vector::subtract(x, of.plus);"),
        ("flops::keep_all<sizeof...(chain)>(x);", "flops::keep_all<sizeof...(chain)>(x); sum += 1;"),
        ("for (; done < turns; ++done) {", "for (; done < turns / 2; ++done) {"),
    )
    programs = planted(build.toolchain, near_path, "flops", faults)
    # What is added and taken away again ends where it began: there only the last two show.
    for mix, caught in (("mix-2", programs), ("add", programs[2:])):
        for program in caught:
            result = start(program, *QUICK, "--mix", mix)
            assert result.exit_code == 1, program
            assert result.ends == [End("failed", "the results are wrong")]
