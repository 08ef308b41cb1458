"""Flux's own launcher: a job inside the instance that Assay runs in. Flux orders the hosts itself."""

from assay.launch.remote import StepLauncher

launcher = StepLauncher(
    "flux",
    "flux",
    (
        *("flux", "run", "--exclusive", "--nodes={hosts}", "--tasks-per-node={each}", "--requires=host:{names}"),
        "-ocpu-affinity=off",
    ),
    prrte=("-opmi=pmix",),
)
