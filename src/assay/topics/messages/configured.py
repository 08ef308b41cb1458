"""Settings of the transport of messages: variables of the MPI, and the device with its frames."""

from assay.analyse.evidence import Evidence
from assay.analyse.messages import place
from assay.model import roles
from assay.model.machine import Device
from assay.model.result import Estimate
from assay.model.transport import Transport
from assay.topics.messages import link

#: Part of the library's name -> variable that sets its eager limit, between nodes and inside one.
_EAGER = {
    "Open MPI": ("OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_vader_eager_limit"),
    "Intel": ("I_MPI_EAGER_THRESHOLD", "I_MPI_SHM_EAGER_THRESHOLD"),
    "": ("UCX_RNDV_THRESH", "UCX_RNDV_THRESH"),
}
#: Transport of Open MPI, a word of `btl` -> its variable between nodes; else UCX drives the card.
_BTL_EAGER = {"tcp": "OMPI_MCA_btl_tcp_eager_limit", "openib": "OMPI_MCA_btl_openib_eager_limit"}


def settings(evidence: Evidence, estimate: Estimate) -> Transport:
    """Return the library of the MPI that passed the messages, and its variables that can change the transport."""
    headers = (case.header for launch in evidence.run.launches for case in launch.cases)
    return next((each.mpi for each in headers if each.case == estimate.case), Transport())


def eager_variable(evidence: Evidence, estimate: Estimate) -> str:
    """Return the variable that sets the eager limit of the MPI that passed the messages."""
    # Only Open MPI has `btl`, and a command line of another tool may state no library.
    library = settings(evidence, estimate).library or ("Open MPI" if "btl" in estimate.factors else "")
    names = next(names for word, names in _EAGER.items() if word in library)
    if not place.between(estimate):
        return names[1]
    if names != _EAGER["Open MPI"]:
        return names[0]
    found, words = _device(evidence, estimate), _btl(estimate)
    chosen = next((variable for word, variable in _BTL_EAGER.items() if word in words), "")
    own = "btl" in estimate.factors or (found is not None and found.kind == "infiniband")  # the card, not TCP
    return chosen or (_EAGER[""][0] if own else names[0])


def is_tcp(evidence: Evidence, estimate: Estimate) -> bool:
    """Whether messages are known to pass by TCP: by program, options of the MPI, a source, or counters."""
    stated = roles.by_sockets(estimate) or "tcp" in _btl(estimate) or is_ethernet(evidence)
    carried = _device(evidence, estimate) if link.carrier(estimate) else None
    # Counters of a network interface do not include traffic that bypasses the kernel.
    return stated or (carried is not None and carried.kind == "network")


def is_ethernet(evidence: Evidence) -> bool:
    """Whether a source states that its network is Ethernet; TCP can also pass over InfiniBand."""
    imported = evidence.run.imported
    link_fact = imported.facts.get("network", {}).get("link") if imported else None
    return "Ethernet" in str(link_fact and link_fact.value)


def mtu(evidence: Evidence, estimate: Estimate) -> int | None:
    """Return the MTU of the device that carried the messages, else from the segments between nodes, or None.

    0 if the device has no frames.
    """
    found = _device(evidence, estimate)
    if found is None:
        known = segment(evidence, estimate.case) if place.between(estimate) else 0
        return link.mtu_for(known, estimate) if known else None
    return int(found.number("mtu") or 0)


def segment(evidence: Evidence, case: str) -> int:
    """Return the segment size in bytes that both ends of a case's connection agreed on; 0 if it is unknown."""
    headers = (each.header for launch in evidence.run.launches for each in launch.cases)
    return next((each.mpi.segment_bytes for each in headers if each.case == case and each.mpi.segment_bytes), 0)


def _device(evidence: Evidence, estimate: Estimate) -> Device | None:
    """The device that carried the messages, else the requested one."""
    machine = evidence.machine(estimate)
    name = link.carrier(estimate) or (link.asked(estimate, evidence.run.plan) if place.between(estimate) else "")
    return link.device(machine, name, estimate) if machine else None


def _btl(estimate: Estimate) -> list[str]:
    """The transports that Open MPI was told to use; empty if it chose."""
    return estimate.factors.get("btl", "").split(",")
