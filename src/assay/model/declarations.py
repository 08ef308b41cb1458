"""What topics say of ranks that share a problem, and of programs of one rank."""

from collections.abc import Mapping

from assay.model.declaration import ParamValue
from assay.model.placement import Placement

#: Prefix of an MPI program that runs as one rank without mpiexec: else Open MPI starts a daemon next to it, and
#: binds its threads by rules of its own.
ONE_RANK = ("env", "OMPI_MCA_ess_singleton_isolated=1", "OMPI_MCA_hwloc_base_binding_policy=none")


#: An axis, and its level at which ranks pass no messages.
_COUPLING, INDEPENDENT = "coupling", "independent"


def works_together(params: Mapping[str, ParamValue]) -> bool:
    """Whether the ranks share one problem; else each has its own, and the rate is the sum over the ranks."""
    return params.get(_COUPLING) != INDEPENDENT


def sharing_ranks(params: Mapping[str, ParamValue], placement: Placement) -> int:
    """How many ranks share one problem."""
    return len(placement.rank_cpus) if works_together(params) else 1
