"""Check whether nodes can be measured together; each node is compared with the first that answered."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from assay.machine.node import Node
from assay.machine.rules import NODE
from assay.model.facts import Check, State, Verdict
from assay.model.machine import device_of
from assay.model.units import format_size

_CLOCKS_S = 1.0
#: MPIs keep messages inside a node in shared memory, a few MiB for each rank.
_LEAST_SHM, _ENOUGH_SHM = 2**24, 2**26
#: Placeholder in remedies for the nodes in question; `{host}` is the first of them.
HOSTS = "{hosts}"
_SHOWN = 3
_REACHED = "what runs there is started from here"
#: Prefixes of UCX's transports for RDMA adapters.
_RDMA = ("rc", "dc", "ud")


class Requirements(msgspec.Struct, frozen=True):
    """The requirements of every node.

    Attributes:
        assay: output of `assay --version` here.
        sha256: path -> hash of the programs that are built here; empty if there are none.
        mpis: path of an MPI program -> its MPI.
        launchers: path of a launcher -> its MPI.
        networks: name -> device for messages; empty: all interfaces that are up.
        build: the command that copies the programs to nodes.
        cpus: host -> number of cpus of the job, from its scheduler; empty if unknown.
        whole: the command that requests whole nodes; empty if unknown.
    """

    assay: str = ""
    sha256: dict[str, str] = {}
    mpis: dict[str, str] = {}
    launchers: dict[str, str] = {}
    networks: dict[str, str] = {}
    build: str = "assay build"
    cpus: dict[str, int] = {}
    whole: str = ""


class NodeReply(NamedTuple):
    """A node's answer, or why there is none.

    Attributes:
        node: facts of the node; None if it did not answer.
        why: error message in that case.
        asked_s: our clock before the query and after the answer, Unix time.
    """

    node: Node | None
    why: str = ""
    asked_s: tuple[float, float] = (0.0, 0.0)


class _Compared(NamedTuple):
    """A node, with the others for comparison."""

    host: str
    node: Node
    asked_s: tuple[float, float]
    first: str
    nodes: Mapping[str, Node]
    wanted: Requirements

    @property
    def model(self) -> Node:
        return self.nodes[self.first]


def examine(
    answers: Mapping[str, NodeReply], wanted: Requirements, reach: str = "ssh {host} true"
) -> dict[str, tuple[Check, ...]]:
    """Host -> its checks.

    Args:
        answers: host -> its answer.
        wanted: requirements of every node.
        reach: the command that shows why a node cannot be reached.
    """
    nodes = {host: answer.node for host, answer in answers.items() if answer.node}
    first = next(iter(nodes), "")
    found: dict[str, tuple[Check, ...]] = {}
    for host, answer in answers.items():
        if answer.node is None:
            found[host] = (Verdict("problem", answer.why, reach).check("reached", _REACHED),)
        else:
            seen = _Compared(host, answer.node, answer.asked_s, first, nodes, wanted)
            reached = Verdict("ok", "answers").check("reached", _REACHED)
            found[host] = (reached, *(each.check(_JUDGES[each.name](seen)) for each in NODE))
    return found


def clock_offset_s(reported: tuple[float, float], asked: tuple[float, float]) -> float:
    """Seconds by which a node's clock is certainly ahead of ours; negative if behind, 0 if they may be equal.

    Its answer began after our query and ended before we received it; the difference includes the connection.
    """
    ahead, behind = reported[1] - asked[1], reported[0] - asked[0]
    return ahead if ahead > 0 else min(behind, 0.0)


def _clock(seen: _Compared) -> Verdict:
    gap = clock_offset_s(seen.node.clock_s, seen.asked_s)
    if abs(gap) > _CLOCKS_S:
        found = f"{abs(gap):.1f} s {'ahead of' if gap > 0 else 'behind'} this machine"
        return Verdict("warning", found)
    return Verdict("ok", f"within {_CLOCKS_S:g} s of this machine")


def _kernel(seen: _Compared) -> Verdict:
    if seen.node.kernel != seen.model.kernel:
        return Verdict("warning", f"{seen.node.kernel}; {seen.first} has {seen.model.kernel}")
    return Verdict("ok", seen.node.kernel)


def _boot_id(seen: _Compared) -> Verdict:
    same = [host for host, node in seen.nodes.items() if node.boot_id == seen.node.boot_id]
    if len(same) > 1:
        return Verdict("warning", f"one kernel: {_first_names(same)}")
    return Verdict("ok", "a machine of its own")


def _assay(seen: _Compared) -> Verdict:
    if seen.node.assay == seen.wanted.assay:
        return Verdict("ok", seen.node.assay)
    version = seen.node.assay or "is not there"
    return Verdict("warning", f"{version}; here: {seen.wanted.assay}")


def _programs(seen: _Compared) -> Verdict:
    if not seen.wanted.sha256:
        return Verdict("unknown", "nothing is built here yet (assay build)")
    other = [path for path, digest in seen.wanted.sha256.items() if seen.node.programs.get(path) != digest]
    if other:
        absent = sum(path not in seen.node.programs for path in other)
        what = "lacks" if absent else "has another"
        return Verdict(
            "problem", f"{what} {_first_names([PurePath(path).name for path in other])}", seen.wanted.build
        )
    return Verdict("ok", f"the same {len(seen.wanted.sha256)} as here")


def _mpi(seen: _Compared) -> Verdict:
    if not seen.wanted.mpis:
        return Verdict("unknown", "no program is built with an MPI here yet (assay build --mpi openmpi)")
    refused = {path: why for path, why in seen.node.refuses.items() if path in seen.node.programs}
    if refused:
        path, why = next(iter(refused.items()))
        return Verdict("problem", f"{seen.wanted.mpis[path]} does not start: {why or 'no message'}")
    started = [mpi for path, mpi in seen.wanted.mpis.items() if path in seen.node.starts]
    if not started:
        return Verdict("unknown", "its programs are not there")
    return Verdict("ok", f"{', '.join(started)} starts")


def _launcher(seen: _Compared) -> Verdict:
    absent = [path for path in seen.wanted.launchers if path not in seen.node.files]
    if absent:
        return Verdict("problem", f"{seen.wanted.launchers[absent[0]]} has no {absent[0]} there")
    if not seen.wanted.launchers:
        return Verdict("ok", "the scheduler starts programs there")
    return Verdict("ok", ", ".join(seen.wanted.launchers))


def _lockable(seen: _Compared) -> Verdict:
    limit = seen.node.lockable
    size = format_size(int(limit) * 1024) if limit.isdecimal() else limit or "not reported"
    ports = [name for name in seen.node.interfaces if ":" in name]
    if limit != "unlimited" and ports:
        return Verdict("warning", f"{size}, with {_first_names(ports)}")
    return Verdict("ok", size)


def _ucx(seen: _Compared) -> Verdict:
    wanted = set(map(device_of, seen.wanted.networks.values()))
    ports = sorted(name for name in _up(seen.node) if ":" in name and (not wanted or name in wanted))
    if not ports:
        return Verdict("ok", "no port of an RDMA adapter is in use")
    known = seen.node.transports
    if not known:
        return Verdict("unknown", "ucx_info is not there, or UCX is not used")
    bare = [port for port in ports if not any(each.startswith(_RDMA) for each in known.get(port, ()))]
    if not bare:
        # For a requested network Assay sets this variable itself, whatever the shell has.
        own = {"UCX_NET_DEVICES": "all"} if wanted else {}
        if barred := _barred(seen.node.variables | own, ports):
            return Verdict("warning", f"{barred} keeps UCX from {_first_names(ports)}", "unset it, or correct it")
        return Verdict("ok", f"{', '.join(known[ports[0]])} on {ports[0]}")
    others = sorted({each for transports in known.values() for each in transports})
    if not seen.node.verbs:
        why, remedy = "this user may not open /dev/infiniband/uverbs*", "in a container: --device /dev/infiniband"
    elif not any(each.startswith(_RDMA) for each in others):
        why, remedy = "its part for RDMA (libuct_ib) is not there", "install it, or load an MPI whose UCX has it"
    else:
        why, remedy = "it cannot use this one", "on {host}: UCX_LOG_LEVEL=debug ucx_info -d"
    found = f"UCX reaches {_first_names(bare)} by {_first_names(others)} alone: {why}"
    return Verdict("warning", found, remedy)


def _barred(variables: Mapping[str, str], ports: Sequence[str]) -> str:
    """The variable that keeps UCX from usable ports, with its value; empty if none does; `^` excludes names."""
    for name, allowed in (("UCX_TLS", ("all", "ib", *_RDMA)), ("UCX_NET_DEVICES", ("all", *ports))):
        value = variables.get(name, "^")
        if not value.startswith("^") and not any(
            word.strip("\\").startswith(allowed) for word in value.split(",")
        ):
            return f"{name}={value}"
    return ""


def _interfaces(seen: _Compared) -> Verdict:
    own = seen.node.interfaces
    if wanted := tuple(map(device_of, seen.wanted.networks.values())):
        absent = [device for device in wanted if device not in own]
        down = [device for device in wanted if device in own and not own[device].up]
        if absent:
            there = f"; there are {_first_names(sorted(own))}"
            return Verdict(
                "problem", f"has no {_first_names(absent)}{there}", "name one that all have: --network NAME=DEVICE"
            )
        if down:
            return Verdict(
                "problem", f"{_first_names(down)} is down", f"on {HOSTS}: sudo ip link set {down[0]} up"
            )
        return Verdict("ok", ", ".join(wanted))
    mine, theirs = _up(seen.node), _up(seen.model)
    differing = {"no": sorted(theirs - mine), "more": sorted(mine - theirs)}
    if mine != theirs:
        listed = "; ".join(f"{word}: {_first_names(names)}" for word, names in differing.items() if names)
        remedy = "name a network that all nodes have: --network NAME=DEVICE"
        return Verdict("warning", f"{listed}, compared with {seen.first}", remedy)
    return Verdict("ok", ", ".join(sorted(mine)) or "none is up")


def _mtu(seen: _Compared) -> Verdict:
    return _same_on_both(seen, "mtu", "B", f"on {HOSTS}: sudo ip link set DEVICE mtu {{value}}")


def _speed(seen: _Compared) -> Verdict:
    return _same_on_both(seen, "rate", "", "check cables and switch ports: ethtool DEVICE, ibstat")


def _same_on_both(seen: _Compared, what: str, unit: str, remedy: str) -> Verdict:
    """Compare a property of interfaces that both nodes have; 0 is unknown."""
    wanted = set(map(device_of, seen.wanted.networks.values())) or _up(seen.node) & _up(seen.model)
    own, others = seen.node.interfaces, seen.model.interfaces
    values = {
        name: (getattr(own[name], what), getattr(others[name], what))
        for name in sorted(wanted & set(own) & set(others))
    }
    for name, (mine, theirs) in values.items():
        if mine and theirs and mine != theirs:
            found = f"{name} has {mine:g}{unit and ' '}{unit}, on {seen.first} {theirs:g}"
            return Verdict("warning", found, remedy.replace("DEVICE", name).replace("{value}", f"{theirs:g}"))
    known = [f"{name} {mine:g}" for name, (mine, _) in values.items() if mine]
    return Verdict("ok", ", ".join(known)) if known else Verdict("unknown", "there is nothing to compare")


def _cpus(seen: _Compared) -> Verdict:
    usable, there = seen.node.cpus
    if not there:
        return Verdict("unknown", "it does not tell")
    usable = min(usable, seen.wanted.cpus.get(seen.host, usable))
    if usable < there:
        return Verdict("warning", f"{usable} of {there} may be used", seen.wanted.whole)
    return Verdict("ok", f"all {there} may be used")


def _names(seen: _Compared) -> Verdict:
    unknown = [name for name, address in seen.node.addresses.items() if not address]
    own = [name for name, address in seen.node.addresses.items() if address.startswith("127.") or address == "::1"]
    if unknown:
        return Verdict("warning", f"does not know {_first_names(unknown)}")
    if own:
        return Verdict("warning", f"takes {_first_names(own)} for itself ({seen.node.addresses[own[0]]})")
    return Verdict("ok", "knows the others")


def _shm(seen: _Compared) -> Verdict:
    free = seen.node.shm_bytes
    if free is None:
        return Verdict("unknown", "df /dev/shm tells nothing")
    state: State = "problem" if free < _LEAST_SHM else "warning" if free < _ENOUGH_SHM else "ok"
    return Verdict(state, f"{format_size(free)} free")


def _leftovers(seen: _Compared) -> Verdict:
    if not seen.node.processes:
        return Verdict("ok", "none")
    runs = dict.fromkeys(run for _, run, _ in seen.node.processes)
    numbers = " ".join(str(number) for number, _, _ in seen.node.processes)
    found = f"processes of {_first_names(list(runs))}: it is still running, or left them behind"
    return Verdict("warning", found, f"if it is not running, on {HOSTS}: kill {numbers}")


def _up(node: Node) -> set[str]:
    return {name for name, interface in node.interfaces.items() if interface.up}


def _first_names(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


_JUDGES: Mapping[str, Callable[[_Compared], Verdict]] = {
    "clock": _clock, "Assay": _assay, "programs": _programs, "MPI": _mpi, "launcher": _launcher, "cpus": _cpus,
    "lockable memory": _lockable, "UCX": _ucx, "interfaces": _interfaces, "MTU": _mtu, "speed of links": _speed,
    "names": _names, "shared memory": _shm, "kernel": _kernel, "boot id": _boot_id, "other runs": _leftovers,
}  # fmt: skip
