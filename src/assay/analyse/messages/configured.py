"""What is set on the way of messages: the variables of their MPI, and the device with its frames."""

from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence
from assay.analyse.messages import link, place
from assay.model import roles
from assay.model.machine import Device
from assay.model.result import Estimate
from assay.model.transport import Transport

#: Part of the library's name -> variable that moves its eager limit, between nodes and inside one.
_EAGER = {
    "Open MPI": ("OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_vader_eager_limit"),
    "Intel": ("I_MPI_EAGER_THRESHOLD", "I_MPI_SHM_EAGER_THRESHOLD"),
    "": ("UCX_RNDV_THRESH", "UCX_RNDV_THRESH"),
}
#: How Open MPI passes messages, a word of `btl` -> its variable between nodes; UCX where it takes the card itself.
_BTL_EAGER = {"tcp": "OMPI_MCA_btl_tcp_eager_limit", "openib": "OMPI_MCA_btl_openib_eager_limit"}


def settings(evidence: Evidence, estimate: Estimate) -> Transport:
    """Of the MPI that passed the messages: its library and the variables that can change its ways."""
    headers = (case.header for launch in evidence.run.launches for case in launch.cases)
    return next((each.mpi for each in headers if each.case == estimate.case), Transport())


def eager_variable(evidence: Evidence, estimate: Estimate) -> str:
    """What moves the eager limit of the MPI that passed the messages."""
    # Only Open MPI has `btl`, where a command line of another tool tells no more.
    library = settings(evidence, estimate).library or ("Open MPI" if "btl" in estimate.factors else "")
    names = next(names for word, names in _EAGER.items() if word in library)
    if not place.between(estimate):
        return names[1]
    if names != _EAGER["Open MPI"]:
        return names[0]
    found, told = _device(evidence, estimate), _btl(estimate)
    chosen = next((variable for word, variable in _BTL_EAGER.items() if word in told), "")
    own = "btl" in estimate.factors or (found is not None and found.kind == "infiniband")  # the card, not TCP
    return chosen or (_EAGER[""][0] if own else names[0])


def is_tcp(evidence: Evidence, estimate: Estimate) -> bool:
    """Whether they are known to pass by TCP: by program, what the MPI was told, a source, counters."""
    told = roles.by_sockets(estimate) or "tcp" in _btl(estimate) or is_ethernet(evidence)
    carried = _device(evidence, estimate) if link.carrier(estimate) else None
    return told or (carried is not None and carried.kind == "network")  # who goes past the kernel is not counted


def is_ethernet(evidence: Evidence) -> bool:
    """Whether a source says that its network is Ethernet; TCP may pass over InfiniBand, too."""
    imported = evidence.run.imported
    said = imported.facts.get("network", {}).get("link") if imported else None
    return "Ethernet" in str(said and said.value)


def mtu(evidence: Evidence, estimate: Estimate) -> int | None:
    """Of the device that carried the messages, else what segments between nodes fill; None where neither is known.

    0 where the device has no frames.
    """
    found = _device(evidence, estimate)
    if found is None:
        known = segment(evidence, estimate.case) if place.between(estimate) else 0
        return link.mtu_for(known, estimate) if known else None
    fact = found.facts.get("mtu")
    return int(fact.value) if fact and isinstance(fact.value, int) else 0


def segment(evidence: Evidence, case: str) -> int:
    """Most bytes of a message in a segment, as the ends of a case's connection agreed; 0 where none were told."""
    headers = (each.header for launch in evidence.run.launches for each in launch.cases)
    return next((each.mpi.segment_bytes for each in headers if each.case == case and each.mpi.segment_bytes), 0)


def _device(evidence: Evidence, estimate: Estimate) -> Device | None:
    """What carried the messages, else what was asked for."""
    machine = machine_of(estimate, evidence.run.machines)
    name = link.carrier(estimate) or (link.asked(estimate, evidence.run.plan) if place.between(estimate) else "")
    return link.device(machine, name, estimate) if machine else None


def _btl(estimate: Estimate) -> list[str]:
    """What Open MPI was told to pass messages by; empty where it chose."""
    return estimate.factors.get("btl", "").split(",")
