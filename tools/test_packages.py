"""Programs that some tests need and PyPI does not carry: install them where allowed, else say what is missing.

As root on a machine with apt-get they are installed. Elsewhere nothing is touched: the tests that need them are
skipped with the reason, except where CI is set, which makes each skip a failure.
"""

import os
import shutil
import subprocess
import sys

#: Program -> Debian packages that bring it and what the tests need beside it.
PACKAGES = {
    "g++": ("g++",),
    "clang++": ("clang", "libomp-dev"),
    "chromium": ("chromium", "fonts-dejavu-core"),
}


def main() -> None:
    """Say what is missing; install it as root with apt-get."""
    absent = missing()
    if not absent:
        return
    packages = sorted({package for program in absent for package in PACKAGES[program]})
    say(f"tests want {', '.join(absent)}, which PyPI does not carry")
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"installing {' '.join(packages)} with apt-get")
        install(packages)
        absent = missing()
    if absent:
        say(f"still missing: {', '.join(absent)}; the tests that need them will be skipped")
        say(f"next: sudo apt install {' '.join(packages)}, or the like of your distribution")


def missing() -> list[str]:
    """Names of the programs that are not on PATH."""
    return [program for program in PACKAGES if not shutil.which(program)]


def install(packages: list[str]) -> None:
    """Install Debian packages; what apt-get says goes to stderr."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", *command], stdout=sys.stderr, env=environment, check=False)


def say(text: str) -> None:
    """Tell the user."""
    print(f"assay: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
