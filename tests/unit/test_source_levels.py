"""Rows of a publication at levels of factors: met where a run has the level, else refused with what to vary."""

import shlex
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import EPYC_7601, described, simulated_run
from tests.unit.test_levels_of_runs import at_second
from tests.unit.test_like import given

from assay import plan as planning
from assay import references, store, studies
from assay.analyse import analyse, source_levels
from assay.analyse.source_levels import has, lacking, own
from assay.cli import assay
from assay.compare.runs import between, unjudged
from assay.model.conclusion import Judged
from assay.model.facts import Fact
from assay.model.imported import StatedFactor
from assay.model.machine import Device
from assay.model.plan import Factor, Study
from assay.model.run import Run
from assay.report import repetition
from assay.simulation import Law

NAME = "epyc-7601"
PML = Factor("OMPI_MCA_pml", ("ucx", "yalla"), "variable")
#: The same under names that say nothing, set by commands; the second one makes the simulated machine slower.
ANY = Factor("pml", ("a", "b"), "commands", commands={"a": "pml ucx", "b": "pml yalla"})
SLOWER, EQUAL = (Law(commands={"pml ucx": 1.0, "pml yalla": speed}) for speed in (0.94, 1.0))
#: Two levels by commands, whose names are words of the source for two of its MPIs.
TWO = Factor(
    "pml",
    ("openmpi-ucx", "openmpi-mxm"),
    "commands",
    commands={"openmpi-ucx": "pml ucx", "openmpi-mxm": "pml yalla"},
)
SECOND_MPI = f"assay run like:{NAME} --mpi hpcx --mpi openmpi-ucx"
MXM_AGAINST_UCX, DIE = "1.17 µs with MXM", "memory die interleaving"


def study_of(benchmark: str, pattern: str = "") -> Study:
    """The rows of the reference of one benchmark, or of one pattern of messages."""
    study = studies.get(f"like:{NAME}")
    kept = tuple(
        each for each in study.measure if each.benchmark == benchmark and each.axes.get("pattern", "") == pattern
    )
    return msgspec.structs.replace(study, measure=kept)


def latencies(folder: Path, *factors: Factor, law: Law | None = None, launches: int = 2) -> Run:
    shape, options = given(NAME)
    options = msgspec.structs.replace(options, hosts=("n1", "n2"), factors=factors, launches=launches)
    study = study_of("pt2pt", "latency")
    return store.load(simulated_run(folder, law, description=shape, study=study, options=options))


def source() -> Run:
    return store.load(store.find(NAME))


def met(run: Run) -> dict[str, dict[str, str]]:
    """Printed latency -> levels of the figure of the run that it is compared with."""
    pairs = between(run, source()).pairs
    return {f"{1e6 * (each.b.median or 0):.2f}": each.a.factors for each in pairs if each.b.metric == "latency"}


def concluded(run: Run, says: str) -> Judged:
    found = analyse(
        msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, reference=NAME))
    ).repetition
    assert found
    return next(each for each in found.conclusions if says in each.conclusion.says)


def test_a_run_that_varies_nothing_meets_the_row_of_the_source_s_default_only(tmp_path: Path) -> None:
    run = latencies(tmp_path)
    assert met(run) == {"1.07": {}}
    told = [why for why in unjudged(between(run, source())).values() if " needs mpi " in f" {why}"]
    assert len(told) == 2
    commands = [f"assay run like:{NAME} --vary OMPI_MCA_pml=ucx,yalla", SECOND_MPI]
    assert all(any(why.endswith(each) for why in told) for each in commands)
    states = [why for why in unjudged(between(run, source())).values() if "needs c-states " in why]
    varied = "--vary 'c-states=enabled:cpupower idle-set -E|disabled:cpupower idle-set -D 0'"
    assert [why.endswith(varied) for why in states] == [True] * 4
    repeated = analyse(run).repetition
    assert repeated
    reasons = [row.reason for row in repeated.rows if row.factors.get("mpi") == "Open MPI with MXM"]
    assert reasons == [next(why for why in told if why.endswith(commands[0]))]
    judged = concluded(run, MXM_AGAINST_UCX)
    assert (judged.truth, judged.doubt) == ("cannot be told", "level")
    assert judged.command == f"assay run like:{NAME} --mpi hpcx --mpi openmpi-mxm --mpi openmpi-ucx"
    assert "--mpi openmpi-ucx (your site gives the names after --mpi: " in repetition.decides(judged, (run,))
    rows = [repetition.reason(row, run) for row in repeated.rows if " --mpi " in row.reason]
    assert ["assay list mpis" in each for each in rows] == [True]
    others = [repetition.reason(row, run) for row in repeated.rows if " --mpi " not in row.reason]
    assert not any("assay list mpis" in each for each in others)


@pytest.mark.parametrize("factor", [PML, ANY], ids=["a variable", "commands"])
def test_one_level_of_a_run_meets_one_row(tmp_path: Path, factor: Factor) -> None:
    """UCX of HPC-X is not Open MPI with UCX: one figure was in both rows."""
    ucx, mxm = ({factor.name: level} for level in factor.levels)
    run = latencies(tmp_path, factor, law=EQUAL)
    assert met(run) == {"1.07": ucx, "1.17": mxm}
    told = [why for why in unjudged(between(run, source())).values() if "Open MPI with UCX" in why]
    assert [why.endswith(SECOND_MPI) for why in told] == [True]


def test_the_authors_order_of_both_is_judged_on_the_run(tmp_path: Path) -> None:
    holds = concluded(latencies(tmp_path / "slower", TWO, law=SLOWER, launches=6), MXM_AGAINST_UCX)
    equal = concluded(latencies(tmp_path / "equal", TWO, law=EQUAL, launches=6), MXM_AGAINST_UCX)
    assert (holds.truth, holds.blocks) == ("holds", 6)
    assert holds.quantity
    assert holds.quantity.value == pytest.approx(1 / 0.94, rel=0.01)
    assert equal.truth != "holds"


@pytest.mark.parametrize(
    ("levels", "wanted"),
    [
        (("hpcx-2.2", "openmpi-ucx", "openmpi-mxm"), ("hpcx-2.2", "openmpi-ucx", "openmpi-mxm")),
        (("default", "yalla"), ("default", "", "yalla")),
        (("ucx", "yalla"), ("ucx", "", "yalla")),
        (("openmpi-ucx", "openmpi-mxm"), ("", "openmpi-ucx", "openmpi-mxm")),
        (("gcc", "clang"), ("", "", "")),
    ],
)
def test_levels_are_known_by_words_in_their_names(levels: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    run = source()
    plan = msgspec.structs.replace(run.plan, factors=(Factor("mpi", levels, "mpi"),))
    found = own(run, msgspec.structs.replace(run, plan=plan, imported=None))
    names = ("HPC-X", "Open MPI with UCX", "Open MPI with MXM")
    assert tuple(found.get(("mpi", name), ("", ""))[1] for name in names) == wanted


def test_levels_whose_names_say_nothing_are_refused_with_the_known_words() -> None:
    run = source()
    plan = msgspec.structs.replace(run.plan, factors=(Factor("c-states", ("p", "q"), "commands"),))
    mine = msgspec.structs.replace(run, plan=plan, imported=None)
    assert own(run, mine) == {}
    assert not has(run, mine, "c-states", "enabled")
    why, _ = lacking(run, mine, "c-states", ("disabled",))
    assert all(word in why for word in ("disabled", "off", "idle-set -D"))
    assert StatedFactor("x", {"y": ("z",)}).words("unknown") == ("unknown",)


STATED = [(name, factor) for name in references.names() for factor in references.get(name).factors]


@pytest.mark.parametrize(("name", "factor"), STATED)
def test_each_printed_command_for_a_level_is_one_that_plans(
    name: str, factor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any table of the configuration."""
    reference = store.load(store.find(name))
    plain = msgspec.structs.replace(reference, imported=None)
    monkeypatch.chdir(tmp_path)
    for level in source_levels.stated(reference)[factor].levels or ("largest",):
        _, command = lacking(reference, plain, factor, (level,))
        if command.options[0] == "--mpi":  # what is installed has the names of the site
            continue
        typed = shlex.split(command.replace("DEVICE", "eth0"))  # the reader's own interface
        assert typed[:2] == ["assay", "run"]
        assert CliRunner().invoke(assay, ["plan", *typed[2:]]).exit_code == 0


@pytest.mark.parametrize(
    ("kind", "network", "named"), [("network", "eth7", "eth7"), ("infiniband", "mlx5_0", "DEVICE")]
)
def test_a_command_for_frames_names_the_interface_of_the_run_s_network(
    kind: Literal["network", "infiniband"], network: str, named: str
) -> None:
    reference = store.load(store.find("cs-pccluster2"))
    machine = msgspec.structs.replace(described(), devices=(Device(network, kind, {}),))
    plan = msgspec.structs.replace(reference.plan, network=network)
    run = msgspec.structs.replace(reference, imported=None, plan=plan, machines={"n1": machine})
    _, command = lacking(reference, run, "mtu", ("largest", "smallest"))
    assert command.options == (
        "--vary",
        f"mtu=1500:ip link set {named} mtu 1500|9000:ip link set {named} mtu 9000",
    )


@pytest.mark.parametrize(("rates", "named"), [((1e8, 1e9), "eth1"), ((1e9, 1e8), "eth0"), ((1e9, 1e9), "DEVICE")])
def test_of_two_networks_the_fastest_is_named(rates: tuple[float, float], named: str) -> None:
    """The devices are in the factor then; a name that only contains the word is left as it is."""
    reference = store.load(store.find("cs-pccluster2"))
    assert reference.imported
    devices = {name: f"eth{at}" for at, name in enumerate(("a", "b"))}
    cards = tuple(
        Device(name, "network", {"speed": Fact(rate, "bit/s")})
        for name, rate in zip(devices.values(), rates, strict=True)
    )
    machine = msgspec.structs.replace(described(), devices=cards)
    networks = Factor("network", ("a", "b"), "network", devices=devices)
    plan = msgspec.structs.replace(reference.plan, network="", factors=(networks,))
    run = msgspec.structs.replace(reference, imported=None, plan=plan, machines={"n1": machine})
    mtu = msgspec.structs.replace(
        reference.imported.factors["mtu"], vary="mtu=1:env UCX_NET_DEVICES=x ip DEVICE 1|2:ip DEVICE 2"
    )
    imported = msgspec.structs.replace(reference.imported, factors={"mtu": mtu})
    source = msgspec.structs.replace(reference, imported=imported)
    _, command = lacking(source, run, "mtu", ("largest", "smallest"))
    assert command.options[1] == f"mtu=1:env UCX_NET_DEVICES=x ip {named} 1|2:ip {named} 2"


def test_the_usual_level_is_asked_for_where_commands_set_levels() -> None:
    """The first level of a source is set again at the end; nothing is set again of a variable."""
    reference = store.load(store.find(NAME))
    plain = msgspec.structs.replace(reference, imported=None)
    told = {
        factor: repetition.offered(lacking(reference, plain, factor, (level,))[1], plain)
        for factor, level in (("c-states", "disabled"), ("mpi", "Open MPI with MXM"))
    }
    assert {factor: "your usual level first" in said for factor, said in told.items()} == {
        "c-states": True,
        "mpi": False,
    }


@pytest.fixture(scope="module")
def modes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Run]]:
    """Mode of the BIOS -> runs; channel interleaving presents 8 memory nodes, die interleaving 2."""
    folder = tmp_path_factory.mktemp("modes")
    shapes = {
        "channel": EPYC_7601,
        "die": "pack:2 numa:1(memory=64GB) l3:8(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1",
    }
    study = study_of("stream")
    kept = tuple(each for each in study.measure if {*each.placements} <= {"all", "half"})
    study = msgspec.structs.replace(study, measure=kept)
    return {
        mode: [
            store.load(
                simulated_run(
                    folder,
                    Law(node_traffic=30e9 if mode == "channel" else 108e9),
                    description=shape,
                    study=study,
                    options=planning.Options(levels={"interleave": mode}, launches=2),
                    seed=seed + len(mode),
                )
            )
            for seed in (20, 40)
        ]
        for mode, shape in shapes.items()
    }


def test_a_run_at_a_level_of_the_bios_meets_the_row_of_this_level_only(modes: dict[str, list[Run]]) -> None:
    found = analyse(modes["die"][0]).repetition
    assert found
    rows = {row.factors["interleave"]: row for row in found.rows if "interleave" in row.factors}
    assert {level: row.ours and row.ours.value for level, row in rows.items()} == {
        "memory channel": None,
        "memory die": 2,
        "memory socket": None,
    }
    assert rows["memory socket"].reason.endswith(f"assay run like:{NAME} --level interleave=socket")
    assert concluded(modes["die"][0], DIE).truth == "holds"
    assert concluded(modes["channel"][0], DIE).doubt == "level"


def test_runs_of_both_modes_in_turn_judge_what_each_presents(modes: dict[str, list[Run]], tmp_path: Path) -> None:
    order = [modes[mode][at] for mode, at in (("channel", 0), ("die", 0), ("die", 1), ("channel", 1))]
    paths = [stored(at_second(run, second), tmp_path) for second, run in enumerate(order)]
    answer = CliRunner().invoke(assay, ["compare", "--factor", "interleave", *paths], env={"COLUMNS": "200"})
    assert answer.exit_code == 0, answer.output
    lines = " ".join(answer.output.split())
    assert "3 conclusions of epyc-7601: 2 hold, 0 do not hold, 1 cannot be told." in lines
    assert "memory nodes" in lines


def stored(run: Run, folder: Path) -> str:
    """A copy of a run that began at another time."""
    path = folder / run.info.id
    path.mkdir()
    for each in Path(run.path).iterdir():
        if each.is_file():
            (path / each.name).write_bytes(each.read_bytes())
        else:
            (path / each.name).symlink_to(each)
    (path / "run.json").write_bytes(msgspec.json.encode(run.info))
    return str(path)
