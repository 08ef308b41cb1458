"""This node: the program is started directly, it places itself."""

from assay.launch.command import Command, Sampling
from assay.model.placement import Placement
from assay.model.plan import Case, Plan, PlannedLaunch
from assay.model.units import format_cpu_list

#: What must not come in from outside: OpenMP runtimes that pin threads themselves, or let them sleep between
#: parallel regions, would work against the programs' own placement.
_ENVIRONMENT = {"OMP_PROC_BIND": "false", "OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "active"}
#: The probe runs hand-overs in samples of some µs: more of them tell no more about which state the cores are in.
_PROBE_SAMPLES = ("--min-samples", "10", "--max-samples", "50")


class Local:
    """Starts the program itself, on the node where Assay runs."""

    name = "local"

    def fits(self, plan: Plan) -> bool:
        """One node, and that is this one."""
        return len(plan.hosts) == 1

    def translate(
        self, plan: Plan, launch: PlannedLaunch, cases: tuple[Case, ...], program: str, sampling: Sampling
    ) -> Command:
        """The command that runs `cases`, which share a placement, with the executable `program`."""
        del plan, launch  # one process on one node needs neither
        argv = [program, *_placed(cases[0].placement), "--precision", f"{sampling.precision:g}"]
        argv += ["--min-samples", str(sampling.min_samples)]
        argv += ["--max-samples", str(sampling.max_samples)]
        for case in cases:
            argv += ["--case", case.id]
            for axis, value in case.params.items():
                argv += [f"--{axis}", f"{value}"]
            argv += ["--seconds", f"{sampling.seconds[case.id]:.3f}"]
        return Command(tuple(argv), dict(_ENVIRONMENT))

    def probe(self, plan: Plan, program: str, seconds: float) -> Command:
        """The command that measures the hand-over between the plan's probe cpus for `seconds`."""
        argv = (program, "--cpus", cpu_list(plan.probe_cpus), *_PROBE_SAMPLES, "--seconds", f"{seconds:.3f}")
        return Command(argv, dict(_ENVIRONMENT))


launcher = Local()


def cpu_list(cpus: tuple[int, ...]) -> str:
    """The kernel's list form where it keeps the order of the threads, else every cpu in thread order."""
    return format_cpu_list(cpus) if cpus == tuple(sorted(cpus)) else ",".join(map(str, cpus))


def _placed(placement: Placement) -> tuple[str, ...]:
    return ("--cpus", cpu_list(placement.cpus), "--memory", str(placement.memory))
