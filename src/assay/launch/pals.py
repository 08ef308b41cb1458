"""PALS, the launcher of HPE Cray systems inside PBS: an mpiexec with its own options. Hosts are in order."""

from assay.launch.remote import StepLauncher

launcher = StepLauncher(
    "pals",
    "pbs",
    ("mpiexec", "--np={size}", "--ppn={each}", "--hosts={names}", "--cpu-bind=none"),
    variable="--env",
)
