"""Facts of the system: kernel, firmware, virtualisation, container."""

import os
import re
from pathlib import Path

from assay.machine import files, memory
from assay.model.facts import Fact, unavailable
from assay.model.private import COMMAND_LINE, kernel_facts

_DMI = "sys/class/dmi/id"
_NO_DMI = f"the firmware gives no DMI table (no /{_DMI})"
_CLOCK = "sys/devices/system/clocksource/clocksource0"
_VULNERABILITIES = "sys/devices/system/cpu/vulnerabilities"
#: Word in DMI's vendor or product -> hypervisor.
_PRODUCTS = {
    "kvm": "KVM", "qemu": "QEMU", "vmware": "VMware", "virtualbox": "VirtualBox", "xen": "Xen", "bochs": "Bochs",
    "virtual machine": "Hyper-V", "google compute engine": "KVM (Google)", "openstack": "KVM (OpenStack)",
    "bhyve": "bhyve", "parallels": "Parallels", "apple virtualization": "Apple",
}  # fmt: skip
_CLOCKS = {"kvm-clock": "KVM", "hyperv_clocksource": "Hyper-V", "xen": "Xen"}
_CONTAINERS = (
    ("run/.containerenv", "Podman"),
    (".dockerenv", "Docker"),
    (".singularity.d", "Apptainer"),
    ("run/systemd/container", "systemd"),
)
_OFED = "usr/bin/ofed_info"
_VERBS = ("usr/lib64/libibverbs.so.*", "usr/lib/*/libibverbs.so.*")
_TUNED = "etc/tuned/active_profile"


def facts(root: Path) -> dict[str, Fact]:
    """The section `system`."""
    return {
        "host name": files.fact(root, "proc/sys/kernel/hostname", str),
        "operating system": _operating_system(root),
        "kernel": files.fact(root, "proc/sys/kernel/osrelease", str),
        "kernel version": files.fact(root, "proc/sys/kernel/version", str),
        **_command_line(root),
        "C library": libc(),
        "product": _product(root),
        "firmware": _firmware(root),
        "virtualisation": _virtualisation(root),
        "container": _container(root),
        "cgroup": _cgroup(root),
        "clock source": files.fact(root, f"{_CLOCK}/current_clocksource", str),
        "isolated cpus": _isolated(root),
        "boot id": files.fact(root, "proc/sys/kernel/random/boot_id", str),
    }


def _command_line(root: Path) -> dict[str, Fact]:
    whole = files.fact(root, "proc/cmdline", str)
    return kernel_facts(str(whole.value), whole.source) if whole.known else {COMMAND_LINE: whole}


def mitigations(root: Path) -> dict[str, Fact]:
    """The section `mitigations`: each vulnerability that the kernel knows, and its mitigation."""
    names = [path.name for path in sorted(files.entries(root / _VULNERABILITIES))]
    found = {
        name.replace("_", " "): files.fact(
            root, f"{_VULNERABILITIES}/{name}", lambda content: content.split("\n")[0]
        )
        for name in names
    }
    return found or {"mitigations": unavailable(f"/{_VULNERABILITIES}: no such file or directory")}


def libc() -> Fact:
    """The C library of this interpreter."""
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        version = None
    return Fact(version, source="confstr") if version else unavailable("the C library does not name its version")


def _operating_system(root: Path) -> Fact:
    def pretty(content: str) -> str | None:
        lines = (line.partition("=") for line in content.splitlines())
        return {name: value.strip("\"'") for name, _, value in lines}.get("PRETTY_NAME")

    return files.fact(root, "etc/os-release", pretty)


def _product(root: Path) -> Fact:
    words = [files.text(root / _DMI / name) for name in ("sys_vendor", "product_name")]
    named = " ".join(word for word in words if word)
    return Fact(named, source=f"/{_DMI}") if named else unavailable(_NO_DMI)


def _firmware(root: Path) -> Fact:
    """The BIOS: `Dell Inc. 1.4.8 (05/21/2018)`. Its profile is in no file; the user states it."""
    version, vendor, date = (files.text(root / _DMI / f"bios_{name}") for name in ("version", "vendor", "date"))
    if not version:
        found = files.fact(root, f"{_DMI}/bios_version", str)
        return found if (root / _DMI).exists() else unavailable(_NO_DMI)
    named = " ".join(filter(None, (vendor, version, f"({date})" if date else "")))
    return Fact(named, source=f"/{_DMI}/bios_*")


def _virtualisation(root: Path) -> Fact:
    """The hypervisor, with its name if known. Only x86 has a flag that excludes a hypervisor."""
    info = files.fields(files.text(root / "proc/cpuinfo"))
    flags = info.get("flags", "").split()
    named = _hypervisor(root)
    if "hypervisor" in flags:
        return named or Fact("a hypervisor that names itself nowhere", source="flag hypervisor in /proc/cpuinfo")
    if flags:
        return Fact("none", source="no flag hypervisor in /proc/cpuinfo")
    return named or unavailable("nothing names a hypervisor, and this architecture has no flag that excludes one")


def _hypervisor(root: Path) -> Fact | None:
    kind = files.text(root / "sys/hypervisor/type")
    if kind:
        return Fact(kind.capitalize(), source="/sys/hypervisor/type")
    product = " ".join(files.text(root / _DMI / name) or "" for name in ("sys_vendor", "product_name")).lower()
    for word, name in _PRODUCTS.items():
        if word in product:
            return Fact(name, source=f"/{_DMI}")
    clocks = (files.text(root / _CLOCK / "available_clocksource") or "").split()
    for clock, name in _CLOCKS.items():
        if clock in clocks:
            return Fact(name, source=f"clock source {clock}")
    tree = files.text(root / "proc/device-tree/hypervisor/compatible")
    return Fact(tree.removeprefix("linux,").upper(), source="/proc/device-tree") if tree else None


def _container(root: Path) -> Fact:
    for name, kind in _CONTAINERS:
        if (root / name).exists():
            return Fact(kind, source=f"/{name}")
    return Fact("none", source="none of " + ", ".join(f"/{name}" for name, _ in _CONTAINERS))


def _cgroup(root: Path) -> Fact:
    """Version of the cgroup hierarchy that limits memory, and the path of this process in it."""
    groups = memory.cgroup_memberships(root)
    for controllers, path in groups:
        if "memory" in controllers.split(","):
            return Fact(f"v1 {path}", source="/proc/self/cgroup")
    unified = [path for controllers, path in groups if not controllers]
    return Fact(f"v2 {unified[0]}", source="/proc/self/cgroup") if unified else unavailable("no /proc/self/cgroup")


def _isolated(root: Path) -> Fact:
    name = "sys/devices/system/cpu/isolated"
    content = files.text(root / name)
    return files.fact(root, name, str) if content is None else Fact(content or "none", source=f"/{name}")


def installed(root: Path) -> dict[str, Fact]:
    """What decides how messages pass and clocks are set, if installed: `OFED`, `rdma-core`, `tuned profile`."""
    match = re.search(r"(?:MLNX_)?OFED(?:_LINUX|_internal)?-\d[\w.-]*", files.text(root / _OFED) or "")
    found = {"OFED": Fact(match[0].rstrip(".-"), source=f"/{_OFED}")} if match else {}
    for name in _VERBS:
        for path in files.entries(root, name):  # libibverbs.so.1.14.39.0 is of rdma-core 39.0
            if of_package := re.fullmatch(r"libibverbs\.so\.\d+\.\d+\.(\d+\.\d+)", path.name):
                found["rdma-core"] = Fact(of_package[1], source=f"/{path.relative_to(root)}")
    tuned = files.fact(root, _TUNED, str)
    return found | ({"tuned profile": tuned} if tuned.known else {})
