"""The set-up works where little is installed, and says what is missing where less is."""

import hashlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from urllib.error import URLError

import pytest

ROOT = Path(__file__).parents[2]


def load(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    specification = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load("bootstrap")
    monkeypatch.setattr(module, "OWN", tmp_path / ".bootstrap")
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    return module


def program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def wheel(bootstrap: ModuleType, script: str) -> bytes:
    """A wheel of uv that holds a script in place of the program."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"uv-{bootstrap.VERSION}.data/scripts/uv", script)
    return content.getvalue()


def test_a_python_that_is_only_a_name_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path, "python3.13", "echo 'not installed' >&2; exit 127")
    program(tmp_path, "python3", f'exec {sys.executable} "$@"')
    (tmp_path / "dirname").symlink_to(shutil.which("dirname") or "/usr/bin/dirname")
    done = subprocess.run(
        ["/bin/sh", str(ROOT / "tools" / "bootstrap")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "usage: tools/bootstrap run|test" in done.stderr


def test_the_python_that_is_asked_for_comes_first(tmp_path: Path) -> None:
    program(tmp_path, "python3", "echo wrong >&2")
    (tmp_path / "dirname").symlink_to(shutil.which("dirname") or "/usr/bin/dirname")
    done = subprocess.run(
        ["/bin/sh", str(ROOT / "tools" / "bootstrap")],
        env={"PATH": str(tmp_path), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "usage: tools/bootstrap run|test" in done.stderr


def test_where_every_python_is_too_old_the_message_names_it_and_the_remedy(tmp_path: Path) -> None:
    program(tmp_path, "python3", 'case "$1" in --version) echo "Python 3.9.2" ;; *) exit 1 ;; esac')
    (tmp_path / "dirname").symlink_to(shutil.which("dirname") or "/usr/bin/dirname")
    done = subprocess.run(
        ["/bin/sh", str(ROOT / "tools" / "bootstrap"), "run"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "the newest here is Python 3.9.2" in done.stderr
    assert "apt install python3" in done.stderr


def test_a_uv_that_is_new_enough_is_taken_from_the_path(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    old = program(tmp_path / "bin", "uv", "echo 'uv 0.1.3 (abc)'")
    assert bootstrap.find_uv() is None
    old.write_text("#!/bin/sh\necho 'uv 99.0.1'\n")
    assert bootstrap.find_uv() == str(old)


def test_without_pip_the_wheel_is_fetched_and_its_hash_is_checked(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = wheel(bootstrap, f"#!/bin/sh\necho 'uv {bootstrap.VERSION}'\n")
    name = "uv-for-tests.whl"
    pages = {
        "https://pypi.org/simple/uv/": f'<a href="../../files/{name}#sha256=0">{name}</a>'.encode(),
        f"https://pypi.org/files/{name}#sha256=0": content,
    }
    monkeypatch.setattr(bootstrap, "download", pages.__getitem__)
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "x86_64")
    monkeypatch.setitem(bootstrap.WHEELS, "x86_64", (name, hashlib.sha256(content).hexdigest()))
    bootstrap.without_pip()
    assert bootstrap.version(str(bootstrap.OWN / "bin" / "uv")) >= bootstrap.OLDEST
    monkeypatch.setitem(bootstrap.WHEELS, "x86_64", (name, "0" * 64))
    with pytest.raises(ValueError, match="not the file that is pinned"):
        bootstrap.without_pip()


def test_each_way_is_tried_and_each_failure_told(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_venv(*command: str) -> None:
        raise subprocess.CalledProcessError(1, command, stderr="ensurepip is not available\n")

    def no_network(_address: str) -> bytes:
        raise URLError("no route to host")

    monkeypatch.setattr(bootstrap, "call", no_venv)
    monkeypatch.setattr(bootstrap, "download", no_network)
    assert bootstrap.fetch_uv() is None
    told = capsys.readouterr().err
    assert told.count("ensurepip is not available") == 2
    assert "no route to host" in told
    assert "next: let this machine reach pypi.org" in told


def test_the_environment_of_the_caller_cannot_redirect_the_set_up(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    environment = bootstrap.environment()
    assert "VIRTUAL_ENV" not in environment
    assert environment["HTTPS_PROXY"] == "http://proxy:3128"
    assert environment["UV_PYTHON_DOWNLOADS"] == "never"


def test_the_set_up_compiles_bytecode_even_where_python_may_not_write_it(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    said = tmp_path / "said"
    monkeypatch.setattr(bootstrap, "find_uv", lambda: str(program(tmp_path / "bin", "uv", f'echo "$@" > {said}')))
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    program(tmp_path / ".venv" / "bin", "python", f'exec {sys.executable} "$@"')
    source = tmp_path / "src" / "assay" / "module.py"
    source.parent.mkdir(parents=True)
    source.write_text("value = 1\n")
    assert bootstrap.make_environment("run") == 0
    assert "--compile-bytecode" in said.read_text().split()
    assert Path(importlib.util.cache_from_source(str(source))).is_file()


def test_the_pinned_uv_is_one_that_the_set_up_accepts(bootstrap: ModuleType) -> None:
    assert tuple(map(int, bootstrap.VERSION.split(".")))[:2] >= bootstrap.OLDEST
    assert all(name.startswith(f"uv-{bootstrap.VERSION}-") for name, _digest in bootstrap.WHEELS.values())


def test_missing_packages_are_only_named_where_they_cannot_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = load("test_packages")
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, "g++", "")
    program(tmp_path, "clang++", "")
    packages.main()
    told = capsys.readouterr().err
    assert "tests want ccache, chromium-headless-shell" in told
    assert "sudo apt install ccache chromium-headless-shell" in told
    assert "clang" not in told


def test_a_browser_of_another_name_does_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = load("test_packages")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "chromium-headless-shell" in packages.missing()
    program(tmp_path, "google-chrome", "")
    assert "chromium-headless-shell" not in packages.missing()


def test_missing_packages_are_installed_by_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    packages = load("test_packages")
    log = tmp_path / "calls"
    program(tmp_path, "apt-get", f'echo "$@" >> {log}')
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    packages.main()
    update, install = log.read_text().splitlines()
    assert update.startswith("update")
    assert {"g++", "clang", "chromium-headless-shell"} <= set(install.split())
    assert "still missing" in capfd.readouterr().err


def test_make_without_a_verb_says_what_there_is() -> None:
    done = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    assert {"run", "test", "lint", "docs", "bench", "clean"} <= set(
        re.findall(r"^make (\w+)", done.stdout, re.MULTILINE)
    )


def test_no_module_is_larger_than_a_reader_can_hold() -> None:
    sources = [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "native").rglob("*.[ch]pp"),
        *(ROOT / "tests").rglob("*.py"),
    ]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert {path: length for path, length in lengths.items() if length > 420} == {}


def test_every_script_of_the_bench_is_run_by_make_and_explained() -> None:
    makefile, page = ((ROOT / name).read_text() for name in ("Makefile", "bench/README.md"))
    scripts = [path.name for path in (ROOT / "bench").glob("*.py")]
    assert [name for name in scripts if f"bench/{name}" not in makefile or f"`{name}`" not in page] == []
