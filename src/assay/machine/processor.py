"""Facts of the processor, from the kernel and from archspec; of its frequency scaling and idle states."""

import re
from collections.abc import Collection
from pathlib import Path

from assay.machine import files
from assay.model.facts import Fact, unavailable
from assay.model.machine import Topology

_CPUINFO = "/proc/cpuinfo"
_CPU0 = "sys/devices/system/cpu/cpu0"
#: Names of the same fields in /proc/cpuinfo on x86, Arm, Power, RISC-V and IBM Z.
_MODEL = ("model name", "cpu model", "cpu", "uarch")
_VENDOR = ("vendor_id", "CPU implementer", "mvendorid")
_FLAGS = ("flags", "Features", "features", "isa")
#: Vector extensions; `asimd` is Arm's Neon. x86 has its own expression, because Arm's word for its matrix
#: extension is a memory encryption on x86.
_VECTOR_X86 = re.compile(r"sse2|sse4_2|avx\w*|fma|fma4|amx\w*")
_VECTOR = re.compile(r"asimd|asimddp|sve\w*|sme\w*|altivec|vsx|vx|vxe2?|bf16|i8mm")  # codespell:ignore sme
#: Replacements for some of the kernel's words.
_SMT = {"notsupported": "not supported", "notimplemented": "not implemented", "forceoff": "off for good"}
_MHZ = 10**6
_CPU = "sys/devices/system/cpu"
#: The reason for unknown frequencies if firmware or a hypervisor controls them.
_NO_POLICY = f"the kernel drives no frequency (no policy in /{_CPU}/cpufreq)"


def facts(root: Path, topology: Topology, architecture: str, microarchitecture: Fact) -> dict[str, Fact]:
    """The section `processor`.

    Args:
        root: `/`, or a test folder.
        topology: topology for the counts.
        architecture: output of `uname -m`.
        microarchitecture: see `guess`.
    """
    info = files.fields(files.text(root / "proc/cpuinfo"))
    return {
        "model": _model(info),
        "vendor": _named(info, *_VENDOR),
        "microarchitecture": microarchitecture,
        "architecture": Fact(architecture, source="uname"),
        "family": _named(info, "cpu family", "CPU architecture"),
        "model number": _named(info, "model", "CPU part"),
        "stepping": _named(info, "stepping", "CPU revision"),
        "microcode": _named(info, "microcode"),
        "vector instructions": _vector(info),
        **counts(topology, "topology"),
        "SMT": files.fact(root, "sys/devices/system/cpu/smt/control", lambda content: _SMT.get(content, content)),
        **_frequencies(root, info),
    }


def counts(topology: Topology, source: str) -> dict[str, Fact]:
    """Numbers of packages, cores, threads, and cpus that may be used."""
    return {
        "packages": Fact(len(topology.packages), source=source),
        "cores": Fact(len(topology.cores), source=source),
        "threads": Fact(sum(len(core.cpus) for core in topology.cores), source=source),
        "cpus that may be used": Fact(len(topology.allowed_cpus), source=source),
    }


def guess() -> Fact:
    """The microarchitecture that archspec infers from vendor and instruction sets.

    Unavailable if the processor has instructions of a later microarchitecture: then a hypervisor hides features
    that archspec looks for, or archspec is older than the processor.
    """
    import archspec.cpu  # noqa: PLC0415 (reads a large table)
    from archspec.cpu.detect import detected_info  # noqa: PLC0415

    try:
        host, features = archspec.cpu.host(), set(detected_info().features)
    except (OSError, ValueError, KeyError, AttributeError, IndexError) as error:  # an unusual /proc/cpuinfo
        return unavailable(f"archspec cannot tell: {error}")
    generic = ", which knows only the generic level here" if host.vendor == "generic" else ""
    later = () if generic else newer_instructions(str(host.name), features)
    if later:
        return unavailable(f"newer than {host.name}, which archspec infers: it has {', '.join(later)}")
    return Fact(str(host.name), source=f"archspec{generic}", guessed=True)


def newer_instructions(name: str, features: Collection[str]) -> tuple[str, ...]:
    """Those of the `features` that only successors of a microarchitecture have, by archspec's table."""
    from archspec.cpu import TARGETS  # noqa: PLC0415

    inferred = TARGETS[name]
    successors = (each for each in TARGETS.values() if inferred in each.ancestors)
    later = {feature for each in successors for feature in each.features} - set(inferred.features)
    return tuple(sorted(later.intersection(features)))


def _named(info: dict[str, str], *names: str) -> Fact:
    value = next((info[name] for name in names if info.get(name)), None)
    return Fact(value, source=_CPUINFO) if value else unavailable(f"{_CPUINFO} has no line '{names[0]}'")


def _model(info: dict[str, str]) -> Fact:
    model = _named(info, *_MODEL)
    if model.known or "CPU part" not in info:
        return model
    name = f"implementer {info.get('CPU implementer', 'unknown')}, part {info['CPU part']}"
    return Fact(name, source=f"{_CPUINFO}, where Arm gives numbers and no name")


def _vector(info: dict[str, str]) -> Fact:
    line = next((name for name in _FLAGS if name in info), None)
    if line is None:
        return unavailable(f"{_CPUINFO} lists no instruction sets")
    pattern = _VECTOR_X86 if line == "flags" else _VECTOR
    names = [name for name in dict.fromkeys(info[line].split()) if pattern.fullmatch(name)]
    return Fact(names, source=_CPUINFO) if names else unavailable(f"{_CPUINFO} lists no vector instructions")


def _frequencies(root: Path, info: dict[str, str]) -> dict[str, Fact]:
    return {
        "nominal frequency": _nominal(root, info),
        "lowest frequency": _of_driver(root, "cpuinfo_min_freq"),
        "highest frequency": _of_driver(root, "cpuinfo_max_freq"),
        "frequency now": _now(root, info),
    }


def _frequency(root: Path, name: str, hertz: int = 1000) -> Fact:
    return files.fact(root, name, lambda content: int(content) * hertz or None, "Hz")


def _of_driver(root: Path, name: str) -> Fact:
    if not (root / _CPU0 / "cpufreq").exists():
        return unavailable(_NO_POLICY)
    return _frequency(root, f"{_CPU0}/cpufreq/{name}")


def _nominal(root: Path, info: dict[str, str]) -> Fact:
    """The frequency without boost, from the driver, the firmware (CPPC), or the processor's name."""
    for name, hertz in ((f"{_CPU0}/cpufreq/base_frequency", 1000), (f"{_CPU0}/acpi_cppc/nominal_freq", _MHZ)):
        found = _frequency(root, name, hertz)
        if found.known:
            return found
    written = re.search(r"@ ([\d.]+)\s*GHz", info.get("model name", ""))
    if written:
        return Fact(float(written[1]) * 1e9, "Hz", f"the name in {_CPUINFO}")
    return unavailable("neither the frequency driver, nor ACPI, nor the processor's name gives it")


def _now(root: Path, info: dict[str, str]) -> Fact:
    if "cpu MHz" in info:
        return Fact(float(info["cpu MHz"]) * _MHZ, "Hz", f"{_CPUINFO}, first cpu")
    return _of_driver(root, "scaling_cur_freq")


def scaling_facts(root: Path) -> dict[str, Fact]:
    """The section `frequency`."""
    return {
        "driver": _of_policies(root, "scaling_driver"),
        "governor": _of_policies(root, "scaling_governor"),
        "energy preference": _of_policies(root, "energy_performance_preference"),
        "boost": _boost(root),
        "idle driver": files.fact(root, f"{_CPU}/cpuidle/current_driver", str),
        "idle governor": _idle_governor(root),
        **_idle_states(root),
    }


def _of_policies(root: Path, name: str) -> Fact:
    """The common value of all frequency policies, or all values."""
    policies = files.entries(root / _CPU / "cpufreq", "policy*")
    if not policies:
        return unavailable(_NO_POLICY)
    values = sorted({value for policy in policies if (value := files.text(policy / name))})
    if not values:
        return unavailable(f"the frequency driver has no {name}")
    return Fact(values[0] if len(values) == 1 else values, source=f"/{_CPU}/cpufreq/policy*/{name}")


def _boost(root: Path) -> Fact:
    """Whether cores may run above the nominal frequency."""
    turbo = files.fact(root, f"{_CPU}/intel_pstate/no_turbo", lambda content: int(content) == 0)
    boost = files.fact(root, f"{_CPU}/cpufreq/boost", lambda content: int(content) != 0)
    known = [fact for fact in (turbo, boost) if fact.known]
    return known[0] if known else unavailable("no frequency driver tells whether cores may boost")


def _idle_governor(root: Path) -> Fact:
    governor = files.fact(root, f"{_CPU}/cpuidle/current_governor", str)
    return governor if governor.known else files.fact(root, f"{_CPU}/cpuidle/current_governor_ro", str)


def _idle_states(root: Path) -> dict[str, Fact]:
    """Idle states of the first cpu: their names, the times that they take to wake up, and which are disabled."""
    folder = f"{_CPU}/cpu0/cpuidle"
    states = [
        (files.text(state / "name") or "?", files.text(state / "latency") or "", files.text(state / "disable"))
        for state in files.entries(root / folder, "state*")
    ]
    if not states:
        return {"idle states": unavailable(f"/{folder}: no idle states")}
    facts: dict[str, list[str] | list[int]] = {
        "idle states": [name for name, _, _ in states],
        "wake-up times, µs": [int(latency) if latency.isdecimal() else 0 for _, latency, _ in states],
        "disabled idle states": [name for name, _, disabled in states if disabled not in {"0", None}],
    }
    return {name: Fact(values, source=f"/{folder}") for name, values in facts.items() if values}
