"""Jobs of batch schedulers: scripts and commands word for word, answers as the schedulers print them."""

import json
import shlex
import subprocess
from pathlib import Path

import msgspec
import pytest

from assay.launch import batch
from assay.launch.batch import Job, Queue, Status
from assay.model.errors import UnfitEnvironmentError, UsageError

JOB = Job(
    name="assay network",
    command=("/opt/assay", "run", "network", "--run-id", "a b"),
    folder="/project/work",
    output="/scratch/me/job.out",
    nodes=2,
    seconds=3725,
    queue="short",
    account="proj",
    options=("--constraint=a&b",),
)
LEAST = Job("n", ("true",), "/f", "/f/o", 1, 60)

SLURM = """\
#!/bin/sh
#SBATCH '--job-name=assay network'
#SBATCH --nodes=2
#SBATCH --exclusive
#SBATCH --time=1:02:05
#SBATCH --signal=B:TERM@60
#SBATCH --no-requeue
#SBATCH --partition=short
#SBATCH --account=proj
#SBATCH --chdir=/project/work
#SBATCH --output=/scratch/me/job.out
#SBATCH '--constraint=a&b'

cd /project/work || exit
exec /opt/assay run network --run-id 'a b'
"""

PBS = """\
#!/bin/sh
#PBS -Nassay-network
#PBS -lselect=2:ncpus=64
#PBS -lplace=scatter:excl
#PBS -lwalltime=1:02:05
#PBS -rn
#PBS -V
#PBS -joe
#PBS -o/scratch/me/job.out
#PBS -S/bin/sh
#PBS -qshort
#PBS -Aproj
#PBS '--constraint=a&b'

cd /project/work || exit
exec /opt/assay run network --run-id 'a b'
"""

FLUX = """\
#!/bin/sh
#flux: '--job-name=assay network'
#flux: --nodes=2
#flux: --exclusive
#flux: --time-limit=3725s
#flux: --queue=short
#flux: --bank=proj
#flux: --cwd=/project/work
#flux: --output=/scratch/me/job.out
#flux: '--constraint=a&b'

cd /project/work || exit
exec /opt/assay run network --run-id 'a b'
"""


@pytest.mark.parametrize(("name", "script"), [("slurm", SLURM), ("pbs", PBS), ("flux", FLUX)])
def test_a_job_becomes_a_script(name: str, script: str) -> None:
    assert batch.get(name).script(msgspec.structs.replace(JOB, cpus=64)) == script


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("slurm", "#SBATCH --nodelist=n1,n2"),
        ("pbs", "#PBS -lselect=1:host=n1+1:host=n2"),
        ("flux", "#flux: --requires=host:n1,n2"),
    ],
)
def test_a_job_may_name_its_nodes(name: str, line: str) -> None:
    named = msgspec.structs.replace(LEAST, nodes=2, hosts=("n1", "n2"))
    assert line in batch.get(name).script(named).splitlines()


@pytest.mark.parametrize("name", batch.names())
def test_what_the_user_left_open_is_left_to_the_site(name: str) -> None:
    script = batch.get(name).script(LEAST)
    assert not any(
        word in script for word in ("--partition", "--account", "PBS -q", "PBS -A", "--queue", "--bank")
    )


@pytest.mark.parametrize("name", batch.names())
def test_no_option_smuggles_a_line_into_the_script(name: str) -> None:
    with pytest.raises(UsageError, match="not an option of a job"):
        batch.get(name).script(msgspec.structs.replace(LEAST, account="a\nrm -rf ~"))


@pytest.mark.parametrize("name", batch.names())
def test_the_command_takes_the_shells_place_and_gets_its_words_whole(name: str, tmp_path: Path) -> None:
    words = ("sh", "-c", 'echo $$; printf "%s|" "$@"', "-", "a b", "$HOME", "it's")
    script = tmp_path / "job.sh"
    script.write_text(batch.get(name).script(Job("n", words, str(tmp_path), "/o", 1, 60)))
    with subprocess.Popen(["sh", script], stdout=subprocess.PIPE, text=True) as shell:
        printed, _ = shell.communicate()
    assert printed == f"{shell.pid}\na b|$HOME|it's|"


@pytest.mark.parametrize("name", batch.names())
def test_the_prologue_runs_first_in_a_shell_that_has_modules_and_ends_the_job_where_it_fails(
    name: str, tmp_path: Path
) -> None:
    job = Job(
        "n", ("sh", "-c", "echo $LOADED"), str(tmp_path), "/o", 1, 60, prologue=("export LOADED=gcc", "true")
    )
    text = batch.get(name).script(job)
    assert text.startswith("#!/bin/bash -l\n")
    assert subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout == "gcc\n"
    fails = batch.get(name).script(msgspec.structs.replace(job, prologue=("false", "export LOADED=gcc")))
    failed = subprocess.run(["bash", "-c", fails], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (1, "")


@pytest.mark.parametrize(
    ("name", "submit", "status"),
    [
        (
            "slurm",
            (
                "sbatch --parsable --job-name=n --nodes=1 --exclusive --time=0:01:00 --signal=B:TERM@60 "
                "--no-requeue --chdir=/f --output=/f/o job.sh"
            ),
            [
                "squeue --noheader --states=all --jobs=7 '--Format=State:|,Reason:|,exit_code:'",
                "sacct --noheader --parsable2 --allocations --jobs=7 --format=State,ExitCode",
            ],
        ),
        ("pbs", "qsub job.sh", ["qstat -x -f -F json 7"]),
        (
            "flux",
            "flux batch job.sh",
            ["flux jobs -n '--format={status}|{exception.note}|{returncode}' 7"],
        ),
    ],
)
def test_the_commands(name: str, submit: str, status: list[str]) -> None:
    scheduler = batch.get(name)
    assert shlex.join(scheduler.submit("job.sh", LEAST)) == submit
    assert [shlex.join(argv) for argv in scheduler.status("7")] == status


def test_no_variable_of_slurm_overrules_what_is_asked_of_a_job() -> None:
    words = [line.removeprefix("#SBATCH ") for line in SLURM.splitlines() if line.startswith("#SBATCH ")]
    submit = shlex.join(batch.get("slurm").submit("job.sh", JOB))
    assert submit == f"sbatch --parsable {' '.join(words)} job.sh"


@pytest.mark.parametrize(
    ("name", "printed", "job_id"),
    [
        ("slurm", "1234\n", "1234"),
        ("slurm", "Welcome! 3 nodes are down.\n1234;cluster\n", "1234"),
        ("pbs", "123.pbs-server.site\n", "123.pbs-server.site"),
        ("flux", "ƒ2aXyzV\n", "ƒ2aXyzV"),
        ("flux", "f2aXyzV\n", "f2aXyzV"),
    ],
)
def test_the_id_is_read(name: str, printed: str, job_id: str) -> None:
    assert batch.get(name).job_id(printed) == job_id


@pytest.mark.parametrize("name", batch.names())
def test_without_an_id_what_was_printed_is_told(name: str) -> None:
    with pytest.raises(UsageError, match="gave no job id") as refused:
        batch.get(name).job_id("\nno account of yours may use this queue\n")
    assert refused.value.why == "no account of yours may use this queue"


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        ("PENDING|Resources|0\n", Status("queued", "PENDING", "Resources")),
        ("RUNNING|None|0\n", Status("running", "RUNNING")),
        ("COMPLETING|None\n", Status("running", "COMPLETING")),
        ("COMPLETED|None\n", Status("complete", "COMPLETED")),
        ("FAILED|NonZeroExitCode|33280\n", Status("failed", "FAILED", "NonZeroExitCode, exit code 130", 130)),
        ("TIMEOUT|TimeLimit\n", Status("timed-out", "TIMEOUT", "TimeLimit")),
        ("NODE_FAIL|None\n", Status("failed", "NODE_FAIL", "node failure")),
        ("COMPLETED|0:0\n", Status("complete", "COMPLETED")),
        ("FAILED|5:0\n", Status("failed", "FAILED", "exit code 5", 5)),
        ("CANCELLED by 1000|0:15\n", Status("cancelled", "CANCELLED by 1000", "signal 15")),
        ("OUT_OF_MEMORY|0:125\n", Status("failed", "OUT_OF_MEMORY", "signal 125")),
        ("", None),
    ],
)
def test_slurm_tells_how_a_job_stands(printed: str, status: Status | None) -> None:
    assert batch.get("slurm").read(printed) == status


@pytest.mark.parametrize(
    ("job", "status"),
    [
        ({"job_state": "Q", "comment": "Not Running: no nodes"}, Status("queued", "Q", "Not Running: no nodes")),
        ({"job_state": "R"}, Status("running", "R")),
        ({"job_state": "E"}, Status("running", "E")),
        ({"job_state": "F", "Exit_status": 0, "comment": "Job run at noon"}, Status("complete", "F")),
        ({"job_state": "F", "Exit_status": 5}, Status("failed", "F", "exit code 5", 5)),
        ({"job_state": "F", "Exit_status": 130, "comment": "n1"}, Status("failed", "F", "n1", 130)),
        ({"job_state": "F", "Exit_status": 271}, Status("cancelled", "F", "exit code 271", 271)),
        ({"job_state": "F", "Exit_status": -29}, Status("timed-out", "F", "exit code -29", -29)),
        ({"job_state": "F"}, Status("cancelled", "F")),
    ],
)
def test_pbs_tells_how_a_job_stands(job: dict[str, object], status: Status) -> None:
    printed = json.dumps({"timestamp": 1, "Jobs": {"1.s": {"Job_Name": "n", **job}}})
    assert batch.get("pbs").read(printed) == status


def test_pbs_does_not_know_every_job() -> None:
    assert batch.get("pbs").read("") is None
    assert batch.get("pbs").read('{"timestamp": 1}') is None


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        ("SCHED||\n", Status("queued", "SCHED")),
        ("RUN||\n", Status("running", "RUN")),
        ("COMPLETED||0\n", Status("complete", "COMPLETED")),
        ("FAILED||5\n", Status("failed", "FAILED", "exit code 5", 5)),
        ("CANCELED|by user|-128\n", Status("cancelled", "CANCELED", "by user")),
        (
            "TIMEOUT|resource allocation expired|142\n",
            Status("timed-out", "TIMEOUT", "resource allocation expired", 142),
        ),
        ("", None),
    ],
)
def test_flux_tells_how_a_job_stands(printed: str, status: Status | None) -> None:
    assert batch.get("flux").read(printed) == status


PBSNODES = {
    "timestamp": 1699630815,
    "pbs_version": "2022.1.1.20220926110806",
    "pbs_server": "polaris-pbs-01",
    "nodes": {
        "x3006c0s13b1n0": {
            "Mom": "x3006c0s13b1n0.hsn",
            "state": "free",
            "pcpus": 64,
            "resources_available": {
                "arch": "linux",
                "host": "x3006c0s13b1n0",
                "ncpus": 64,
                "vnode": "x3006c0s13b1n0",
            },
        },
        "cn1[0]": {"state": "down", "resources_available": {"host": "cn1", "mem": "0b", "vnode": "cn1[0]"}},
        "cn1[1]": {"state": "down", "resources_available": {"host": "cn1", "vnode": "cn1[1]"}},
    },
}


@pytest.mark.parametrize(
    ("name", "command", "printed", "queues"),
    [
        (
            "slurm",
            "sinfo --noheader '--format=%P|%D'",
            "Welcome to ours\nlab*|2\nbig|16\nslurm_load_partitions: Unable to contact slurm controller\n",
            (Queue("lab", 2), Queue("big", 16, usual=False)),
        ),
        ("pbs", "pbsnodes -a -F json", json.dumps(PBSNODES), (Queue("", 2),)),
        ("pbs", "pbsnodes -a -F json", "cn1\n     state = free\n", ()),
        (
            "flux",
            "flux resource list --states=all -n -o '{queue}|{nnodes}'",
            "Welcome to ours\nbatch|101\ndebug,batch|8\n|1\n",
            (Queue("", 110), Queue("batch", 109, usual=False), Queue("debug", 8, usual=False)),
        ),
        ("flux", "flux resource list --states=all -n -o '{queue}|{nnodes}'", "|4\n", (Queue("", 4),)),
    ],
)
def test_queues_and_their_nodes_are_read(name: str, command: str, printed: str, queues: tuple[Queue, ...]) -> None:
    scheduler = batch.get(name)
    assert shlex.join(scheduler.queues) == command
    assert scheduler.read_queues(printed) == queues
    assert scheduler.read_queues("") == ()


def test_the_scheduler_that_is_there_is_found_by_its_program() -> None:
    assert batch.find_scheduler(lambda program: "/bin/qsub" if program == "qsub" else None).name == "pbs"
    with pytest.raises(UnfitEnvironmentError) as refused:
        batch.find_scheduler(lambda _: None)
    assert refused.value.why == "none on the path: flux, qsub, sbatch"


def test_an_unknown_scheduler_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError) as refused:
        batch.get("nonesuch")
    assert refused.value.why == "known: flux, pbs, slurm"
