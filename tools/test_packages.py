"""Programs that some tests need and PyPI does not carry: install them where allowed, else say what is missing.

As root on a machine with apt-get they are installed. Elsewhere nothing is touched: the tests that need them are
skipped with the reason, except where CI is set, which makes each skip a failure.

The guest of tests/cluster is made of two Debian packages that are only unpacked, into build/guest: nobody wants a
kernel installed by a test.
"""

import ctypes
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

#: Program or library -> Debian packages that bring it and what the tests need beside it.
PACKAGES = {
    "g++": ("g++",),
    "ccache": ("ccache",),
    "clang++": ("clang", "libomp-dev"),
    "chromium-headless-shell": ("chromium-headless-shell", "fonts-dejavu-core"),
    "qemu-system-x86_64": ("qemu-system-x86",),
    "mpicxx.openmpi": ("libopenmpi-dev", "openmpi-bin"),
    "hpcc": ("hpcc",),
    "mpicxx.mpich": ("libmpich-dev", "mpich"),
    # The lab: a cluster on one machine.
    "slurmctld": ("slurm-wlm",),
    "munged": ("munge",),
    "sshd": ("openssh-server", "openssh-client"),
    "tc": ("iproute2",),
    # Libraries, by file name: two kinds of BLAS in addition to that of PyPI.
    "libopenblas.so.0": ("libopenblas0-pthread",),
    "libblis.so.4": ("libblis4-pthread",),
    # OpenCL on the processor, and what its programs are built with.
    "libpocl.so.2": ("pocl-opencl-icd",),
    "libOpenCL.so": ("ocl-icd-opencl-dev",),
}
#: Program -> others that do as well.
OTHERS = {"chromium-headless-shell": ("chromium", "chromium-browser", "google-chrome")}
GUEST = Path(__file__).resolve().parents[1] / "build" / "guest"
#: File in `GUEST` -> Debian package that brings it, and where in it.
UNPACKED = {
    "vmlinuz": ("linux-image-cloud-amd64", "boot/vmlinuz-*"),
    "busybox": ("busybox-static", "bin/busybox"),
}


def main() -> None:
    """Report what is missing; install it as root with apt-get, and unpack what only needs to be there."""
    install_missing()
    if platform.machine() == "x86_64":  # the guest runs programs of this machine's compiler
        unpack_missing()


def install_missing() -> None:
    """Install missing programs for the whole machine."""
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
    """Libraries that cannot be loaded, and programs that are neither on PATH nor in Debian's folders for root."""
    places = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"

    def is_there(name: str) -> bool:
        return is_loadable(name) if ".so" in name else bool(shutil.which(name, path=places))

    return [name for name in PACKAGES if not any(map(is_there, (name, *OTHERS.get(name, ()))))]


def is_loadable(name: str) -> bool:
    """Whether this machine's loader finds a library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def install(packages: list[str]) -> None:
    """Install Debian packages; apt-get's output goes to stderr."""
    update()
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Without manual pages: indexing them takes 8 s.
    options = ["-q", "-y", "--no-install-recommends", "-o", "Dpkg::Options::=--path-exclude=/usr/share/man/*"]
    command = ["apt-get", "install", *options, *packages]
    subprocess.run(command, stdout=sys.stderr, env=environment, check=False)


@cache
def update() -> None:
    """Update apt's lists, once."""
    subprocess.run(["apt-get", "update", "-q"], stdout=sys.stderr, check=False)


def unpack_missing() -> None:
    """Unpack files of packages that are not installed; this needs apt, but not root."""
    absent = [name for name in UNPACKED if not (GUEST / name).exists()]
    if absent and all(map(shutil.which, ("apt-get", "apt-cache", "dpkg-deb"))):
        say(f"unpacking {', '.join(UNPACKED[name][0] for name in absent)} into {GUEST}")
        if os.geteuid() == 0:
            update()
        for name in absent:
            unpack(name)
        absent = [name for name in absent if not (GUEST / name).exists()]
    if absent:
        say(f"still missing: {', '.join(absent)} in {GUEST}; the tests of placement on many nodes will be skipped")
        say("next: on Debian, sudo apt update, then tools/test_packages.py again")


def unpack(name: str) -> None:
    """Extract one file from the newest package; it stays missing if that fails."""
    package, pattern = UNPACKED[name]
    with tempfile.TemporaryDirectory() as scratch:
        fetch = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "-q", newest(package)]
        subprocess.run(fetch, cwd=scratch, stdout=sys.stderr, check=False)
        for archive in Path(scratch).glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", archive, scratch], check=False)
        for found in Path(scratch).glob(pattern):
            GUEST.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, GUEST / name)


def newest(package: str) -> str:
    """The kernel package to which an empty package refers, else the package itself."""
    depends = subprocess.run(["apt-cache", "depends", package], capture_output=True, text=True, check=False)
    match = re.search(r"Depends: (linux-image-\d\S+)", depends.stdout)
    return match[1] if match else package


def say(text: str) -> None:
    """Print a message for the user."""
    print(f"assay: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
