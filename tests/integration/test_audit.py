"""`assay audit` by real launchers: what they start, what is wrong with it, and a line that is mended."""

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.impatient import ASSAY

from assay import toolchain
from assay.model.toolchain import Mpi


@pytest.fixture
def mpich() -> Mpi:
    found = [mpi for mpi in toolchain.find_mpis() if mpi.kind == "mpich" and mpi.launcher]
    if not found:
        pytest.skip("no MPICH; next: sudo apt install libmpich-dev mpich")
    return found[0]


def audit(words: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ASSAY, "audit", *words], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cpus are needed")
def test_a_hybrid_rank_on_one_core_is_found_and_the_line_mends_it(mpich: Mpi) -> None:
    line = ("--mpi", mpich.name, "--", mpich.launcher, "-n", "1", "-bind-to", "core:1", "env", "A=1", "true")
    done = audit(line, OMP_NUM_THREADS="2")
    assert done.returncode == 4, done.stderr
    assert re.search(r"rank 0 on \S+ has 2 threads on 1 core \(cpus \d+\)", done.stderr)
    mended = shlex.split(done.stderr.rpartition("next: ")[2])
    assert mended == [mpich.launcher, "-n", "1", "-bind-to", "core:2", "env", "A=1", "true"]
    again = audit((*line[:3], *mended), OMP_NUM_THREADS="2")
    assert again.returncode == 0, again.stdout + again.stderr


def test_ranks_of_one_host_pass_messages_and_are_told_as_json(mpich: Mpi) -> None:
    done = audit(("--json", "--mpi", mpich.name, "--", mpich.launcher, "-n", "2", "true"), OMP_NUM_THREADS="1")
    told = json.loads(done.stdout)
    assert [(each["rank"], each["size"], each["messages"]) for each in told["ranks"]] == [
        (0, 2, "ok"),
        (1, 2, "ok"),
    ]
    assert {each["single_copy"] for each in told["ranks"]} != {""}


def test_what_starts_nothing_is_told(tmp_path: Path) -> None:
    assert audit(("--", "no-such-launcher", "-n2")).returncode == 2
    absent = audit(("--", "sh", "-n2", "./absent"))
    assert (absent.returncode, "there is no program './absent'" in absent.stderr) == (2, True)
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\necho '[0] something went wrong' >&2\nexit 3\n")
    silent.chmod(0o755)
    done = audit(("--", str(silent), "-n2", "true"))
    assert done.returncode == 4
    assert "no rank began" in done.stderr
    assert "something went wrong" in done.stderr


def test_ranks_that_begin_and_say_no_more_are_told_though_their_launcher_stays(tmp_path: Path) -> None:
    stays = tmp_path / "stays"
    stays.write_text("""#!/bin/sh
trap '' TERM
echo '{"type":"began","host":"n1"}'
echo '[1,1]<stdout>:{"type":"began","host":"n2"}'
sleep 600
""")
    stays.chmod(0o755)
    began_s = time.monotonic()
    done = audit(("--", str(stays), "-n2", "true"))
    assert done.returncode == 4
    assert "2 ranks began and wait for the others: n1, n2" in " ".join(done.stderr.split())
    assert time.monotonic() - began_s < 60
