"""How each MPI is told which network its messages shall use.

What the user asked for is what every kind of message must use: what would bypass it (collectives and one-sided
messages over RDMA of their own) is switched off with it. The programs count the bytes of every device beside that.
"""

from collections.abc import Mapping
from types import MappingProxyType

from assay.launch.command import Layout, Site
from assay.model.machine import card_of, device_of
from assay.model.toolchain import Mpi

_NEW_OPEN_MPI = 5
#: Provider of libfabric that a network may name, `cxi/cxi0` -> the variable that takes the name of its card. Those
#: of Omni-Path take a number, which only the driver can tell: they choose the card, and the counters tell it.
PROVIDERS: Mapping[str, str] = MappingProxyType(
    {"cxi": "FI_CXI_DEVICE_NAME", "efa": "FI_EFA_IFACE", "opx": "", "psm2": ""}
)


def is_port(network: str) -> bool:
    """Whether the device is a port of an RDMA adapter (`mlx5_0:1`), no interface (`eth0`)."""
    return ":" in network


def _provider(network: str) -> str:
    return network.rpartition("/")[0]


def uses_prrte(mpi: Mpi) -> bool:
    """Whether an Open MPI is one that PRRTE launches: version 5, and whatever comes after it."""
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
    """Environment of the ranks. An MPICH uses UCX or libfabric, as it was built: both are told."""
    found = _variables(mpi, network) if network else {}
    if mpi.kind == "cray" and found:  # it has a variable of its own, and takes TCP by way of another provider
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
    """Environment of ranks that a scheduler's own launcher starts, which takes no options of an MPI."""
    if layout.mpi is None:
        return {}
    asked = {f"OMPI_MCA_{name}": value for name, value in mca_parameters(layout.mpi, layout.network).items()}
    return asked | network_variables(layout.mpi, layout.network)


def control_interface(layout: Layout, site: Site) -> str:
    """Interface for the launcher's own messages: the same, so that no other is touched, where this host has it."""
    ours = site.host in layout.hosts and not is_port(layout.network) and not _provider(layout.network)
    return layout.network if ours else ""


def _libfabric_tcp(interface: str) -> dict[str, str]:
    return {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": interface}
