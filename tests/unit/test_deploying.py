"""Programs reach hosts that lack them, are checked by hash there, and what goes wrong is told host by host."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from assay import toolchain
from assay.cli.support import hosts
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Build, Toolchain
from assay.toolchain import deploying

#: Stands in for ssh: each host is a folder that has the place of the cache.
FAKE_SSH = """#!/bin/sh
host=$1; shift
case "$host" in down*) echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255 ;; esac
exec sh -c "$(printf '%s' "$*" | sed "s#{cache}#{root}/$host#g")"
"""
PROGRAM = '#!/bin/sh\n[ "$1" = --describe ] && echo "{}"\n'


def program(path: Path, text: str = PROGRAM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def built(*paths: Path) -> Build:
    return Build(
        key="k",
        toolchain=Toolchain("gcc", "g++", "12", ()),
        target="t",
        sources="s",
        programs={path.name: str(path) for path in paths},
        sha256={path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths},
        openmp=True,
        built="now",
    )


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Programs of two folders, as those of a toolchain with an MPI are."""
    return built(program(tmp_path / "cache" / "one" / "stream"), program(tmp_path / "cache" / "two" / "pt2pt"))


@pytest.fixture
def reach(tmp_path: Path) -> deploying.Reach:
    fake = program(tmp_path / "ssh", FAKE_SSH.format(cache=tmp_path / "cache", root=tmp_path / "hosts"))
    return lambda host: (str(fake), host)


def test_programs_are_copied_once_and_found_again(build: Build, reach: deploying.Reach, tmp_path: Path) -> None:
    sentences: list[str] = []
    toolchain.deploy([build], ["n1", "n2"], reach, sentences.append)
    assert sorted(sentences) == ["n1: 2 programs copied, all checked", "n2: 2 programs copied, all checked"]
    for copy in (
        tmp_path / "hosts" / host / place for host in ("n1", "n2") for place in ("one/stream", "two/pt2pt")
    ):
        assert copy.read_text() == PROGRAM
        assert copy.stat().st_mode & 0o777 == 0o755
    sentences.clear()
    toolchain.deploy([build], ["n1"], reach, sentences.append)
    assert sentences == ["n1: has them already"]
    assert sorted(path.name for path in (tmp_path / "hosts" / "n1").iterdir()) == ["one", "two"]


def test_a_program_that_is_another_one_there_is_replaced(
    build: Build, reach: deploying.Reach, tmp_path: Path
) -> None:
    other = program(tmp_path / "hosts" / "n1" / "one" / "stream", "#!/bin/sh\nexit 3\n")
    toolchain.deploy([build], ["n1"], reach)
    assert other.read_text() == PROGRAM


def test_a_program_that_does_not_start_there_is_named_with_what_it_says(
    reach: deploying.Reach, tmp_path: Path
) -> None:
    complaint = "#!/bin/sh\necho 'error while loading shared libraries: libmpi.so.40' >&2; exit 127\n"
    build = built(program(tmp_path / "cache" / "two" / "pt2pt", complaint))
    with pytest.raises(UnfitEnvironmentError) as caught:
        toolchain.deploy([build], ["n1"], reach)
    assert caught.value.why == "n1: cannot start pt2pt: error while loading shared libraries: libmpi.so.40"


def test_hosts_that_fail_are_told_apart_from_those_that_do_not(
    build: Build, reach: deploying.Reach, tmp_path: Path
) -> None:
    sentences: list[str] = []
    with pytest.raises(UnfitEnvironmentError) as caught:
        toolchain.deploy([build], ["n1", "down1", "down2"], reach, sentences.append)
    assert caught.value.exit_code == 4
    assert "2 of 3 hosts" in caught.value.what
    assert "down2: ssh: connect to host down2 port 22: No route to host" in caught.value.why
    assert len(sentences) == 1
    assert (tmp_path / "hosts" / "n1" / "one" / "stream").exists()


def test_a_copy_that_is_torn_is_seen(build: Build, tmp_path: Path) -> None:
    """A host whose tar ends well and writes something else."""
    tear = '\ncase "$*" in *"tar -xf"*) for f in {root}/"$host"/*/*; do echo torn >> "$f"; done ;; esac\n'
    script = FAKE_SSH.replace("exec sh", "sh") + tear
    fake = program(tmp_path / "ssh", script.format(cache=tmp_path / "cache", root=tmp_path / "hosts"))
    with pytest.raises(UnfitEnvironmentError, match="cannot run") as caught:
        toolchain.deploy([build], ["n1"], lambda host: (str(fake), host))
    assert "stream is another one than here" in caught.value.why


def test_the_archive_holds_the_folder_and_no_owner(build: Build, tmp_path: Path) -> None:
    (tmp_path / "cache" / "one" / "manifest.json").write_text("{}")
    first = deploying.shipments([build])[0]
    with tarfile.open(fileobj=io.BytesIO(deploying.archive(first))) as tar:
        assert tar.getnames() == ["manifest.json", "stream"]
        assert {(entry.uid, entry.uname) for entry in tar} == {(0, "")}


def test_builds_that_share_programs_send_them_once(build: Build) -> None:
    assert deploying.shipments([build, build]) == deploying.shipments([build])
    assert len(deploying.shipments([build])) == 2


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "it's", "new\nline", "back`tick", "ex!clamation"])
def test_a_folder_that_a_shell_may_read_as_something_else_is_refused(tmp_path: Path, name: str) -> None:
    build = built(program(tmp_path / name / "stream"))
    with pytest.raises(UsageError) as caught:
        toolchain.deploy([build], ["n1"], lambda host: ("false", host))
    assert "ASSAY_CACHE" in caught.value.remedy


def test_what_a_host_lacks_is_what_it_does_not_list_with_the_same_hash() -> None:
    shipment = deploying.Shipment("/c/one", {"stream": "aa", "latency": "bb"})
    assert deploying.missing_programs(shipment, "aa  stream\nbb  latency\n") == ()
    assert deploying.missing_programs(shipment, "aa  stream\ncc  latency\n") == ("latency",)
    assert deploying.missing_programs(shipment, "motd: welcome\n") == ("stream", "latency")
    assert deploying.failing_programs("aa  stream\nrefused  stream\n") == ("stream",)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("node[01-03,20]", ("node01", "node02", "node03", "node20")),
        ("b,a b", ("b", "a")),
        ("n[1-2]-ib user@h 10.0.0.1", ("n1-ib", "n2-ib", "user@h", "10.0.0.1")),
        (None, ()),
    ],
)
def test_nodes_are_named_as_node_sets_in_the_order_given(text: str | None, nodes: tuple[str, ...]) -> None:
    assert hosts.read(None, None, text) == nodes


@pytest.mark.parametrize("text", ["node[", "node[3-1]", "-oProxyCommand=x", "a;b", "*", "@group", "", "a/b"])
def test_what_is_no_host_never_reaches_ssh(text: str) -> None:
    with pytest.raises(UsageError, match="not a set of nodes"):
        hosts.read(None, None, text)
