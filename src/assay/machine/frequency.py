"""Facts of frequency scaling and idle states."""

from pathlib import Path

from assay.machine import files
from assay.model.facts import Fact, unavailable

_CPU = "sys/devices/system/cpu"
#: The reason for unknown frequencies if firmware or a hypervisor controls them.
NO_POLICY = f"the kernel drives no frequency (no policy in /{_CPU}/cpufreq)"


def facts(root: Path) -> dict[str, Fact]:
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
        return unavailable(NO_POLICY)
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
