"""jsrun of IBM's Job Step Manager: a resource set of all cpus on each host of an allocation of LSF."""

from assay.launch.remote import StepLauncher

launcher = StepLauncher(
    "jsrun",
    "lsf",
    (
        *("jsrun", "--nrs={hosts}", "--rs_per_host=1", "--tasks_per_rs={each}"),
        *("--cpu_per_rs=ALL_CPUS", "--gpu_per_rs=ALL_GPUS", "--bind=none"),
    ),
    variable="-E",
)
