"""Remedies keep what the user chose, and the first page gives a reason with each."""

import msgspec
import pytest
from tests.unit.report_example import example

from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.model.text import cli, joined, listed, text
from assay.report import remedies
from assay.report.summary import Action, summary

CHOSEN = ("--toolchain", "clang", "--budget=5m", "--vary", "flags=-O3|-O2")


def given(*options: str) -> Run:
    run = example().run
    command = ("assay", "run", run.info.study, *options)
    return msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, command=command))


def test_a_remedy_keeps_toolchains_factors_budget_and_the_folder_of_runs_and_nothing_else() -> None:
    run = given("--seed", "3", *CHOSEN, "--launches", "2", "--runs", "elsewhere")
    study = run.info.study
    kept = f"assay run {study} --toolchain clang --budget=5m --vary 'flags=-O3|-O2' --runs elsewhere"
    assert remedies.typed(cli("run", study, "--launches", "6"), run) == f"{kept} --launches 6"
    again = text("repeat it: `{command}`", command=cli("run", study))
    assert remedies.typed(again, run) == f"repeat it: `{kept}`"
    assert remedies.typed(cli("show", run.info.id, "--json"), run) == f"assay show elsewhere/{run.info.id} --json"
    assert remedies.resumed(run) == f"{run.info.id} --runs elsewhere"


def test_a_repeat_keeps_the_chosen_values_and_a_run_on_other_nodes_has_no_budget_of_few_nodes() -> None:
    chosen = (
        "--set",
        "hpl.n=2000",
        "--set=pt2pt.window=4",
        "--budget",
        "3m",
        "--level",
        "nps=4",
        "--blas",
        "blis",
    )
    run = given("--hosts", "n[1-2]", *chosen)
    study = run.info.study
    kept = "--set hpl.n=2000 --set=pt2pt.window=4"
    more = "--level nps=4 --blas blis"
    again = remedies.typed(cli("run", study, "--launches", "6"), run)
    assert again == f"assay run {study} --hosts 'n[1-2]' {kept} --budget 3m {more} --launches 6"
    elsewhere = cli("run", study, "--hosts", "n1,n2,n3")
    assert remedies.typed(elsewhere, run) == f"assay run {study} {kept} {more} --hosts n1,n2,n3"
    # a sentence about another order than the one chosen for two nodes needs that one
    needed = {"hpl.n": "10000", "pt2pt.window": "4"}
    assert remedies.typed(elsewhere, run, (), needed) == (
        f"assay run {study} --set=pt2pt.window=4 {more} --hosts n1,n2,n3"
    )
    assert remedies.typed(elsewhere, given("--set", "n=2000,10000"), (), needed) == (
        f"assay run {study} --set n=2000,10000 --hosts n1,n2,n3"
    )


def test_a_value_or_a_level_of_a_remedy_replaces_the_one_of_the_run() -> None:
    run = given("--set", "hpl.n=2000", "--set", "hpl.nb=128", "--level", "nps=4", "--level", "os=rocky9")
    study = run.info.study
    assert remedies.typed(cli("run", study, "--set", "hpl.n=4000"), run) == (
        f"assay run {study} --set hpl.nb=128 --level nps=4 --level os=rocky9 --set hpl.n=4000"
    )
    assert remedies.typed(cli("run", study, "--level", "nps=1"), run) == (
        f"assay run {study} --set hpl.n=2000 --set hpl.nb=128 --level os=rocky9 --level nps=1"
    )


@pytest.mark.parametrize("parts", [["a", "b"], ["a", "b", "c"]])
def test_a_list_in_words_stays_one(parts: list[str]) -> None:
    for made in (listed(parts), joined(", ", parts)):
        assert remedies.typed(text("it needs {x}", x=made), given(*CHOSEN)) == f"it needs {made}"
    command = cli("run", given().info.study)
    asked = remedies.typed(listed([*parts, command]), given("--level", "nps=4"))
    assert asked == f"{', '.join(parts)} and {command} --level nps=4"


@pytest.mark.parametrize(
    "typed", [cli("resume", "last"), cli("run", "other", "--launches", "6"), text("plug it in"), "plug it in", ""]
)
def test_what_is_no_repeat_of_the_run_stays_as_it_is(typed: str) -> None:
    assert remedies.typed(typed, given(*CHOSEN)) == typed


def test_a_remedy_that_varies_something_itself_gets_no_second_factor() -> None:
    run = given(*CHOSEN)
    typed = cli("run", run.info.study, "--vary", "memory=first-touch,interleave")
    assert remedies.typed(typed, run) == typed


def test_nodes_are_reached_as_they_were_whatever_is_measured_there() -> None:
    run = given("--hosts", "n[1-2]", "--ssh-config", "my config", "--launcher=srun", "--budget", "5m")
    way = "--ssh-config 'my config' --launcher=srun"
    own = cli("run", run.info.study, "--vary", "UCX_TLS=default,tcp", "--hosts", "n1,n2")
    assert remedies.typed(own, run) == own.replace(run.info.study, f"{run.info.study} {way}")
    again = remedies.typed(cli("run", run.info.study, "--launches", "6"), run)
    assert again == f"assay run {run.info.study} --hosts 'n[1-2]' {way} --budget 5m --launches 6"


def test_a_remedy_that_varies_something_keeps_nodes_networks_and_mpis() -> None:
    place = ("--hosts", "n[1-2]", "--network", "a=eth0,b=eth1", "--mpi", "mpich", "--ssh-config", "conf")
    run = given(*place, "--vary", "stores=ordinary,non-temporal", "--launches", "3")
    kept = "--hosts 'n[1-2]' --network a=eth0,b=eth1 --mpi mpich --ssh-config conf"
    study = run.info.study
    assert (
        remedies.typed(cli("run", study, "--vary", "tcp.nodelay=on,off"), run)
        == f"assay run {study} {kept} --vary tcp.nodelay=on,off"
    )
    assert remedies.typed(cli("run", "multi-pair", "--hosts", "n1,n2"), run) == (
        "assay run multi-pair --network a=eth0,b=eth1 --mpi mpich --ssh-config conf --hosts n1,n2"
    )
    assert remedies.typed(cli("run", "caches"), run) == "assay run caches --hosts 'n[1-2]' --ssh-config conf"


def test_the_rest_of_a_run_and_a_look_at_its_nodes_are_reached_as_it_was() -> None:
    run = given("--hosts", "n[1-2]", "--ssh-config", "conf", "--launcher", "srun")
    rest = f"assay run --resume {run.info.id}"
    assert (
        remedies.typed(cli("resume", run.info.id, "--confirm"), run)
        == f"{rest} --ssh-config conf --launcher srun --confirm"
    )
    assert remedies.typed(cli("doctor", "--hosts", "n1,n2"), run) == "assay doctor --ssh-config conf --hosts n1,n2"
    assert remedies.typed(cli("doctor"), run) == "assay doctor"
    assert remedies.resumed(run).endswith("--ssh-config conf --launcher srun")


def test_a_study_of_a_file_is_named_by_its_path() -> None:
    run = example().run
    path = f"my studies/{run.info.study}.toml"
    run = msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, command=("assay", "run", path)))
    assert remedies.typed(cli("run", run.info.study, "--launches", "6"), run) == f"assay run '{path}' --launches 6"


def test_without_options_a_remedy_stays_as_it_is() -> None:
    run = given("--launches", "2")
    assert (
        remedies.typed(cli("run", run.info.study, "--launches", "6"), run)
        == f"assay run {run.info.study} --launches 6"
    )


def finding(number: int, severity: str, remedy: str) -> Finding:
    return msgspec.structs.replace(
        example().analysis.findings[0],
        id=f"made {number}",
        claim=f"claim {number}",
        severity=severity,
        status="observed",
        next=remedy,
    )


def steps(*findings: Finding, run: Run | None = None) -> tuple[Action, ...]:
    here = example()
    analysis: Analysis = msgspec.structs.replace(here.analysis, findings=findings)
    return summary(run or here.run, analysis).next


def test_the_rest_of_the_run_comes_first_then_remedies_of_problems_then_of_advice_each_with_its_reason() -> None:
    rest, *found = steps(finding(1, "advice", "bind it"), finding(2, "problem", "plug it in"))
    assert rest.do == f"assay run --resume {example().run.info.id}"
    assert found[:2] == [Action("plug it in", "claim 2"), Action("bind it", "claim 1")]


def test_what_a_fact_offers_is_a_step_only_where_there_is_no_other() -> None:
    run = example().run
    assert run.ending
    whole = msgspec.structs.replace(
        run,
        ending=msgspec.structs.replace(run.ending, status="complete"),
        plan=msgspec.structs.replace(run.plan, launches=6),
    )
    fact = finding(1, "fact", "measure it again")
    assert Action("measure it again", "claim 1") in steps(fact, run=whole)
    assert [step.do for step in steps(fact, finding(2, "advice", "bind it"), run=whole)] == ["bind it"]


def test_the_same_remedy_stands_once() -> None:
    found = steps(
        *(finding(number, "advice", f"do {number}") for number in range(8)), finding(9, "advice", "do 0")
    )
    assert [step.do for step in found][1:9] == [f"do {number}" for number in range(8)]


def test_more_launches_are_advised_only_where_there_were_fewer_than_six() -> None:
    run = example().run
    few = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, launches=3))
    many = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, launches=6))
    assert any("--launches 6" in step.do for step in steps(run=few))
    assert not any("--launches 6" in step.do for step in steps(run=many))
