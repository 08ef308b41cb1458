"""Make `.venv` from the lock file, with a uv that is here or is fetched; no root, nothing outside this folder.

Usage: tools/bootstrap run|test|packages. `run` installs what users need, `test` all that tests, lint and docs need
too; `packages` installs what tests need and PyPI does not carry (tools/test_packages.py).
Everything is said on stderr. Proxies and certificates are taken from the usual variables of the environment.
"""

import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = ROOT / ".bootstrap"
VERSION = "0.13.8"
#: Oldest uv whose reading of the lock file is trusted.
OLDEST = (0, 9)
#: A second MPI, for tests. Its wheel has programs of the same names as that of Open MPI: it gets its own folder.
MPICH = ROOT / "build" / "mpich"
#: Statically linked wheels: they run with every C library, old or new, glibc or musl.
WHEELS = {
    "x86_64": (
        f"uv-{VERSION}-py3-none-musllinux_1_1_x86_64.whl",
        "29451c60f5e8b07403e0a175d5229efc36b0289b34143ff4aaa499a5dd52553a",
    ),
    "aarch64": (
        f"uv-{VERSION}-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
        "0b3e8b1a4f5e405e31e2ff33de8af4744831e9f7338539671efbd8c3c94e791d",
    ),
}
CHOICES = {
    "run": ("--no-default-groups", "--inexact", "--no-extra", "parquet"),
    "test": ("--all-groups", "--no-group", MPICH.name),
}


def main() -> int:
    """Make the environment, or install the packages; return the exit code."""
    if len(sys.argv) != 2 or sys.argv[1] not in {*CHOICES, "packages"}:  # noqa: PLR2004 (one word)
        say("usage: tools/bootstrap run|test|packages")
        return 2
    if sys.argv[1] == "packages":
        return subprocess.run([sys.executable, str(ROOT / "tools" / "test_packages.py")], check=False).returncode
    return make_environment(sys.argv[1])


def make_environment(choice: str) -> int:
    """Let uv make `.venv`; return the exit code."""
    uv = find_uv() or fetch_uv()
    if uv is None:
        return 4
    command = [
        uv,
        "sync",
        "--quiet",
        "--locked",
        "--compile-bytecode",
        "--all-extras",
        "--no-extra",
        "mkl",  # installing it means accepting a licence
        *CHOICES[choice],
        "--python",
        sys.executable,
    ]
    say(f"making {ROOT / '.venv'} with Python {platform.python_version()} and {uv}")
    code = subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode
    if not code:
        compile_sources()
    return code or (add_mpich(uv) if choice == "test" else 0)


def compile_sources() -> None:
    """Compile the sources of Assay: where Python may not write, as in images, each command would do it again."""
    python = ROOT / ".venv" / "bin" / "python"
    command = (str(python), "-m", "compileall", "-q", "-j", "0", str(ROOT / "src" / "assay"))
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def add_mpich(uv: str) -> int:
    """Put the locked wheel of MPICH into its folder, unless it is there; return uv's exit code."""
    export = (uv, "export", "--quiet", "--locked", "--only-group", MPICH.name, "--no-emit-project", "--no-header")
    locked = subprocess.run(export, cwd=ROOT, env=environment(), check=False, stdout=subprocess.PIPE)
    wanted = MPICH / "locked.txt"
    if locked.returncode or (wanted.exists() and wanted.read_bytes() == locked.stdout):
        return locked.returncode
    say(f"making {MPICH}")
    shutil.rmtree(MPICH, ignore_errors=True)
    MPICH.mkdir(parents=True)
    install = (uv, "pip", "install", "--quiet", "--require-hashes", "--target", str(MPICH), "--requirement", "-")
    done = subprocess.run(
        (*install, "--python", sys.executable), cwd=ROOT, env=environment(), check=False, input=locked.stdout
    )
    if not done.returncode:
        wanted.write_bytes(locked.stdout)
    return done.returncode


def environment() -> dict[str, str]:
    """The caller's environment, without variables that send uv to another one or let it fetch a Python."""
    inherited = {key: value for key, value in os.environ.items() if key not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    return {**inherited, "UV_PROJECT_ENVIRONMENT": ".venv", "UV_PYTHON_DOWNLOADS": "never"}


def find_uv() -> str | None:
    """A uv that is new enough: on PATH, or from an earlier call."""
    for candidate in (shutil.which("uv"), str(OWN / "bin" / "uv")):
        if candidate and version(candidate) >= OLDEST:
            return candidate
    return None


def version(uv: str) -> tuple[int, ...]:
    """Major and minor version; (0,) if it does not start."""
    try:
        done = subprocess.run([uv, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return (0,)
    match = re.match(r"uv (\d+)\.(\d+)", done.stdout)
    return tuple(map(int, match.groups())) if match and done.returncode == 0 else (0,)


def fetch_uv() -> str | None:
    """Fetch the pinned uv into `.bootstrap`, with pip or without; print why and return None if neither works."""
    failures = []
    ways = {"pip of this Python": with_pip, "pip in a new environment": with_venv, "https alone": without_pip}
    for name, way in ways.items():
        shutil.rmtree(OWN, ignore_errors=True)
        say(f"fetching uv {VERSION} ({name})")
        failure = attempt(way)
        uv = OWN / "bin" / "uv"
        if not failure and version(str(uv)) >= OLDEST:
            return str(uv)
        failures.append(f"{name}: {failure or 'it does not start here'}")
    say(f"cannot fetch uv {VERSION}, which makes the Python environment")
    for failure in failures:
        say(f"  why:  {failure}")
    say("  next: let this machine reach pypi.org (HTTPS_PROXY, SSL_CERT_FILE are kept), or put uv on PATH")
    return None


def attempt(way: Callable[[], None]) -> str:
    """Try one method; return why it failed, or an empty text."""
    try:
        way()
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        return lines[-1] if lines else f"exit code {error.returncode}"
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        return str(error)
    return ""


def with_pip() -> None:
    """Install it with this Python's pip, which takes half as long as a separate environment."""
    call(sys.executable, *pip_install(), "--target", str(OWN))


def with_venv() -> None:
    """Install it with pip into a separate environment: a Python without pip may have what venv needs."""
    call(sys.executable, "-m", "venv", str(OWN))
    call(str(OWN / "bin" / "python"), *pip_install())


def without_pip() -> None:
    """Extract the program from its wheel; only a wheel with a known hash."""
    name, digest = WHEELS[platform.machine()]
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
    page = f"{index.rstrip('/')}/uv/"
    match = re.search(rf'href="([^"]*{re.escape(name)}[^"]*)"', download(page).decode())
    if not match:
        raise ValueError(f"{page} does not list {name}")
    wheel = download(urllib.parse.urljoin(page, match[1]))
    if hashlib.sha256(wheel).hexdigest() != digest:
        raise ValueError(f"{name} is not the file that is pinned in {__file__}")
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        content = archive.read(f"uv-{VERSION}.data/scripts/uv")
    target = OWN / "bin" / "uv"
    target.parent.mkdir(parents=True)
    target.write_bytes(content)
    target.chmod(0o755)


def pip_install() -> tuple[str, ...]:
    """Pip's arguments for the pinned uv."""
    return ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"uv=={VERSION}")


def call(*command: str) -> None:
    """Run a command quietly; CalledProcessError carries its output."""
    subprocess.run(command, check=True, capture_output=True, text=True)


def download(address: str) -> bytes:
    """The content of an address; urllib uses the proxies and certificates of the environment."""
    with urllib.request.urlopen(address, timeout=120) as answer:  # noqa: S310 (an index that the user may choose)
        content: bytes = answer.read()
    return content


def say(text: str) -> None:
    """Print a message for the user."""
    print(text if text.startswith("  ") else f"assay: {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
