"""Options and variables that tell each MPI which network to use.

Every kind of message must use the requested network: what would bypass it (collectives and one-sided messages with
their own RDMA) is switched off. In addition the programs count the bytes of every device.
"""

from collections.abc import Mapping
from types import MappingProxyType

from assay.launch.command import Layout, Site
from assay.model.machine import card_of, device_of
from assay.model.toolchain import Mpi

_NEW_OPEN_MPI = 5
#: libfabric provider that a network may name, as in `cxi/cxi0` -> variable for the name of the card. The providers
#: of Omni-Path need a number that only the driver knows: they choose the card, and the counters show which one.
PROVIDERS: Mapping[str, str] = MappingProxyType(
    {"cxi": "FI_CXI_DEVICE_NAME", "efa": "FI_EFA_IFACE", "opx": "", "psm2": ""}
)


def is_port(network: str) -> bool:
    """Whether the device is a port of an RDMA adapter (`mlx5_0:1`), not an interface (`eth0`)."""
    return ":" in network


def _provider(network: str) -> str:
    return network.rpartition("/")[0]


def uses_prrte(mpi: Mpi) -> bool:
    """Whether PRRTE launches this Open MPI: version 5 or later."""
    return int(mpi.version.split(".")[0]) >= _NEW_OPEN_MPI


def mca_parameters(mpi: Mpi, network: str) -> dict[str, str]:
    """MCA parameters of Open MPI; none for other families."""
    if mpi.kind != "openmpi" or not network:
        return {}
    own = {"coll": "^hcoll,ucc"}
    if provider := _provider(network):
        return {"pml": "cm", "mtl": "ofi", "mtl_ofi_provider_include": provider, "osc": "^ucx"} | own
    if is_port(network):
        return {"pml": "ucx", "osc": "ucx"} | own
    devices = f"self,{'sm' if uses_prrte(mpi) else 'vader'},tcp"
    return {"pml": "ob1", "btl": devices, "btl_tcp_if_include": network, "osc": "^ucx"} | own


def network_variables(mpi: Mpi, network: str) -> dict[str, str]:
    """Environment of the ranks. An MPICH uses UCX or libfabric, as it was built: variables of both are set."""
    found = _variables(mpi, network) if network else {}
    if mpi.kind == "cray" and found:  # it has its own variable, and uses TCP through another provider
        provider = {"tcp": "tcp;ofi_rxm"}.get(found["FI_PROVIDER"], found["FI_PROVIDER"])
        return found | {"FI_PROVIDER": provider, "MPICH_OFI_USE_PROVIDER": provider}
    return found


def _variables(mpi: Mpi, network: str) -> dict[str, str]:
    if provider := _provider(network):
        card = {PROVIDERS[provider]: card_of(device_of(network))} if PROVIDERS[provider] else {}
        fabrics = {"I_MPI_FABRICS": "shm:ofi"} if mpi.kind == "intel" else {}
        return fabrics | {"FI_PROVIDER": provider} | card
    port = is_port(network)
    if mpi.kind == "openmpi":
        return {"UCX_NET_DEVICES": network} if port else {}
    if mpi.kind == "intel":
        device = {"FI_PROVIDER": "mlx", "UCX_NET_DEVICES": network} if port else _libfabric_tcp(network)
        return {"I_MPI_FABRICS": "shm:ofi"} | device
    if port:
        adapter = {"FI_PROVIDER": "verbs;ofi_rxm", "FI_VERBS_DEVICE_NAME": network.partition(":")[0]}
        return {"UCX_NET_DEVICES": network} | adapter
    return {"UCX_NET_DEVICES": network, "UCX_TLS": "tcp,sm,self"} | _libfabric_tcp(network)


def step_variables(layout: Layout) -> dict[str, str]:
    """Environment of ranks started by a scheduler's launcher, which has no options for an MPI."""
    if layout.mpi is None:
        return {}
    parameters = {f"OMPI_MCA_{name}": value for name, value in mca_parameters(layout.mpi, layout.network).items()}
    return parameters | network_variables(layout.mpi, layout.network)


def control_interface(layout: Layout, site: Site) -> str:
    """Interface for the launcher's own messages: the requested one, if it is an interface and this host has it."""
    ours = site.host in layout.hosts and not is_port(layout.network) and not _provider(layout.network)
    return layout.network if ours else ""


def _libfabric_tcp(interface: str) -> dict[str, str]:
    return {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": interface}
