"""What a user chooses for one run."""

import msgspec

from assay.model.plan import Factor
from assay.model.resource import GivenFolder


class Options(msgspec.Struct, frozen=True):
    """The user's choices for one run; None leaves a choice to the study.

    Attributes:
        seed: random seed of the order in the blocks; None: drawn at random.
        launches: launches of each case.
        precision: wanted relative half-width of the interval of a launch's median.
        budget_s: seconds.
        toolchains: names; with several, the toolchain is a factor.
        mpis: names; with several, the MPI is a factor of benchmarks that pass messages.
        blas: names or paths, as the user gives them; `libraries` and `factors` hold their meaning.
        factors: further factors.
        hosts: nodes that may be used; empty: the machine itself.
        networks: name -> device for messages; with several, the network is a factor.
        kernels: host -> boot id, if known: hosts of one kernel are one machine.
        refine: rounds in which curves get more sizes where they bend.
        full: whether the largest problems that fit into memory follow, in one launch, beyond the budget.
        messages: sizes of messages, as `1:4M`, that replace the study's own; empty: no change.
        values: `AXIS=VALUE,VALUE` or `BENCHMARK.AXIS=...`, values that replace the study's own.
        nic_nodes: network -> NUMA node of its card, if the machine does not report it or reports it wrongly; the
            empty name for all networks.
        confirm: whether experiments for candidate findings follow.
        confirm_s: seconds for them, beyond the budget.
        libraries: role -> shared library that programs load if it is not varied.
        lacking: file of a library -> optional functions that it does not have.
        programs: names of the third-party programs that are installed here.
        sweeps: numbers of ranks, threads and nodes of `scale:NAME`: `ranks=1,2,4`.
        absent: application -> why it cannot be started here, and what installs it.
        folders: folders for programs that write into one; with several each rank gets the next one.
        no_folder: why one of them cannot be used, with the next command; empty if all can.
        prefixes: application -> folder that is searched before PATH for its programs.
        peers: folders with programs of others, which the user named.
        levels: factor -> level of the whole run; see Plan.
    """

    seed: int | None = None
    launches: int | None = None
    precision: float | None = None
    budget_s: float | None = None
    toolchains: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    factors: tuple[Factor, ...] = ()
    mpis: tuple[str, ...] = ()
    blas: tuple[str, ...] = ()
    networks: dict[str, str] = {}
    kernels: dict[str, str] = {}
    messages: str = ""
    values: tuple[str, ...] = ()
    refine: int | None = None
    full: bool = False
    nic_nodes: dict[str, int] = {}
    confirm: bool = False
    confirm_s: float | None = None
    libraries: dict[str, str] = {}
    lacking: dict[str, frozenset[str]] = {}
    programs: frozenset[str] = frozenset()
    sweeps: tuple[str, ...] = ()
    absent: dict[str, str] = {}
    folders: tuple[GivenFolder, ...] = ()
    no_folder: str = ""
    prefixes: dict[str, str] = {}
    peers: tuple[str, ...] = ()
    levels: dict[str, str] = {}
