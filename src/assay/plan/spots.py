"""Resolve the placement words and memory words of a study on the machine of each host."""

from collections.abc import Iterator

import msgspec

from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark
from assay.model.declaration import Params, ParamValue
from assay.model.grouping import grouped
from assay.model.left_out import LeftOut
from assay.model.machine import Machine, Topology, allowed_cores
from assay.model.placement import Placement, parsed, starred_memory
from assay.model.plan import Factor, Measure
from assay.model.resource import GivenDevice
from assay.model.units import format_size
from assay.plan import hosts as over_nodes
from assay.plan import nodes
from assay.plan.cores import GROUPS
from assay.plan.layout import is_layout, layouts, near_devices
from assay.plan.networks import Card, resolve
from assay.plan.nodes import memory_targets
from assay.plan.options import Options
from assay.plan.placement import AbsentPlacementError, Binding, Place, bindings, places, plural


class Setting(msgspec.Struct, frozen=True):
    """Settings that all cases of a plan share.

    Attributes:
        machine: machine of the first host.
        options: the user's choices.
        hosts: names of the nodes.
        factors: what is varied on purpose.
        stored: whether the study is one of Assay's own, which must fit any machine: absent places are left out. In
            a user's study a missing index is an error, unless hosts differ.
        cards: cards of the networks; one if all of them have the same place.
        unlike: host -> its machine, for hosts that differ from the first.
        only: hosts with equal machines to which a part of the plan is limited; empty for no limit.
    """

    machine: Machine
    options: Options
    hosts: tuple[str, ...]
    factors: tuple[Factor, ...]
    stored: bool
    cards: tuple[Card, ...] = (Card(),)
    unlike: dict[str, Machine] = {}
    only: tuple[str, ...] = ()

    def machine_of(self, host: str) -> Machine:
        """The machine of a host; that of the first host if they are equal."""
        return self.unlike.get(host, self.machine)

    def available(self, hosts: tuple[str, ...], nodes: tuple[int, ...]) -> int:
        """Bytes of memory that a case may use on each of these hosts."""
        found = {id(machine): machine for machine in map(self.machine_of, hosts)}
        return min(memory_available(machine, nodes) for machine in found.values())

    def parts(self, benchmark: Benchmark) -> Iterator["Setting"]:
        """For programs that run independently on each host, a setting for each group of equal hosts."""
        if benchmark.launcher == "mpi" or not self.unlike:
            yield self
            return
        for hosts in grouped(self.hosts, lambda host: self.machine_of(host).topology).values():
            yield msgspec.structs.replace(self, machine=self.machine_of(hosts[0]), unlike={}, only=hosts)


class ResolvedPlacement(msgspec.Struct, frozen=True):
    """A resolved placement and memory of a study.

    Attributes:
        binding: memory binding.
        placement: its label is the whole word, with the number of nodes.
        network: network (level of the factor) whose card it is near to or far from; empty: for all networks.
    """

    binding: Binding
    placement: Placement
    network: str = ""

    @property
    def word(self) -> str:
        """The placement word."""
        return self.placement.label

    @property
    def over(self) -> str:
        """Text to append if it is for one network only."""
        return _over(self.network)


#: Bytes to assume if the memory of the machine is unknown: arithmetic and messages of some size fit.
_LEAST = 64 * 2**20


def memory_available(machine: Machine, nodes: tuple[int, ...] = ()) -> int:
    """Bytes that a case may use: the free memory of the machine, at most the size of its memory nodes."""
    wanted = set(nodes or memory_targets(machine.topology))
    holding = [node for node in machine.topology.numa_nodes if node.memory_bytes > 0]
    installed = sum(node.memory_bytes for node in holding if node.index in wanted)
    if not isinstance(machine.memory.value, int | float):
        return installed if holding else _LEAST
    if all(node.index in wanted for node in holding):
        return int(machine.memory.value)  # a kernel that adds memory late reports too little for its nodes
    return int(min(machine.memory.value, installed))


def spots(measure: Measure, setting: Setting, left_out: dict[LeftOut, None]) -> Iterator[ResolvedPlacement]:
    """Every place of a measure with every memory policy; absent ones go to `left_out`."""
    nodes = memory_targets(setting.machine.topology)
    if len(nodes) < measure.min_memory_nodes:
        needs = plural(measure.min_memory_nodes, "memory node")
        why = f"it needs {needs}; {plural(len(nodes), 'memory node')} may be used"
        levels = (str(level) for values in _levels(measure).values() for level in values)
        left_out[LeftOut(_request(measure), why, levels=tuple(levels))] = None
        return
    benchmark = benchmarks.get(measure.benchmark)
    for word in (each for request in measure.placements for each in parsed(request).each_over):
        for part in _by_card(word, benchmark, setting):
            yield from _spots(word, measure, benchmark, part, left_out)


def _over(network: str) -> str:
    return f", network={network}" if network else ""


def _by_card(word: str, benchmark: Benchmark, setting: Setting) -> Iterator[Setting]:
    """The setting with one card each: every network's card for ranks on several nodes placed by the card."""
    _, nodes = over_nodes.split(word)
    if benchmark.launcher == "mpi" and nodes and parsed(word).by_card:
        for card in setting.cards:
            yield msgspec.structs.replace(setting, cards=(card,))
    else:
        first = msgspec.structs.replace(setting.cards[0], network="")
        yield msgspec.structs.replace(setting, cards=(first,))


def _spots(
    word: str, measure: Measure, benchmark: Benchmark, setting: Setting, left_out: dict[LeftOut, None]
) -> Iterator[ResolvedPlacement]:
    """The places of one word with every memory policy, for one card."""
    topology, network = setting.machine.topology, setting.cards[0].network
    try:
        plain, hosts = _resolved(word, benchmark, setting)
        found = _places(plain, setting.machine, benchmark, setting) if hosts else ()
    except AbsentPlacementError as absent:
        _leave_out(absent, (measure.benchmark, word, ""), setting, left_out)
        return
    if sampled := sampling_note(plain, found, topology):
        left_out[LeftOut(f"{measure.benchmark} at {word}", sampled)] = None
    for memory in measure.memory:
        chosen, sampled = sampled_places(plain, memory, found, topology)
        if sampled:
            request = f"{measure.benchmark} at {in_words(word, memory)}"
            left_out[LeftOut(request, sampled, levels=(memory,))] = None
        for place in chosen:
            try:
                on = _on_each(plain, place, hosts, benchmark, setting)
                for binding in _bindings(memory, on, setting):
                    placement = _placement(word, on, binding, benchmark, setting)
                    yield ResolvedPlacement(binding, placement, network)
            except AbsentPlacementError as absent:
                label = over_nodes.label(word, place.word)
                _leave_out(absent, (measure.benchmark, label, memory), setting, left_out)


def _resolved(word: str, benchmark: Benchmark, setting: Setting) -> tuple[str, tuple[str, ...]]:
    """The word for each node, and the nodes; raises as `places`."""
    plain, nodes = over_nodes.split(word)
    mpi = benchmark.launcher == "mpi"
    hosts = over_nodes.select_hosts(word, nodes, setting.hosts, setting.options.kernels, ranks=mpi)
    return plain, tuple(host for host in hosts if not setting.only or host in setting.only)


def _places(word: str, machine: Machine, benchmark: Benchmark, setting: Setting) -> tuple[Place, ...]:
    """The places of a word on one machine.

    For ranks, the last place of a curve over cores is `all`, as in other tables.
    """
    word = resolve(word, machine, setting.cards[0])
    if parsed(word).form == "device":
        return near_devices(word, machine)
    if is_layout(word):
        found = layouts(word, machine)
        most = max(len(place.ranks) for place in found)
        if benchmark.launcher != "mpi" and most > 1:
            raise AbsentPlacementError(word, f"{benchmark.name} is one process on each host, not {most} ranks")
        return found
    found = places(word, machine.topology)
    asked = parsed(word)
    if benchmark.launcher != "mpi" or asked.form != "count" or not asked.every:
        return found
    (whole,) = places("all", machine.topology)
    return tuple(whole if set(place.cpus) == set(whole.cpus) else place for place in found)


def _on_each(
    word: str, place: Place, hosts: tuple[str, ...], benchmark: Benchmark, setting: Setting
) -> dict[str, Place]:
    """Host -> the place that corresponds to a place of the first machine; raises as `places`."""
    known = {id(setting.machine): place}
    for host in hosts:
        machine = setting.machine_of(host)
        if id(machine) in known:
            continue
        try:
            found = _places(word, machine, benchmark, setting)
        except AbsentPlacementError as absent:
            raise AbsentPlacementError(word, f"on {host}: {absent.why}") from absent
        same = found if len(found) == 1 and "*" not in word else [one for one in found if one.word == place.word]
        if not same:
            raise AbsentPlacementError(word, f"{host} has no {place.word}")
        known[id(machine)] = same[0]
    return {host: known[id(setting.machine_of(host))] for host in hosts}


def _bindings(memory: str, on: dict[str, Place], setting: Setting) -> tuple[Binding, ...]:
    """The bindings of a memory word on hosts; raises as `bindings`, and if hosts differ in its nodes."""
    each_machine = {id(setting.machine_of(host)): (host, place) for host, place in on.items()}
    found = [bindings(memory, place, setting.machine_of(host).topology) for host, place in each_machine.values()]
    if len({tuple(binding.memory for binding in each) for each in found}) > 1:
        raise AbsentPlacementError(memory, "it names other memory nodes on some of these hosts")
    return found[0]


def _placement(
    word: str, on: dict[str, Place], binding: Binding, benchmark: Benchmark, setting: Setting
) -> Placement:
    """The placement of a word, with the nodes in its meaning.

    Args:
        word: placement word of the study.
        on: host -> its place.
        binding: memory binding.
        benchmark: defines the ranks if the word does not.
        setting: setting of the plan.
    """
    _, nodes = over_nodes.split(word)
    place = next(iter(on.values()))
    meanings = {each.meaning: host for host, each in reversed(on.items())}
    meaning = place.meaning
    if len(meanings) > 1:
        meaning = "; ".join(f"{each} (as on {host})" for each, host in reversed(meanings.items()))
    elif nodes:
        meaning = f"{meaning}, on each of {plural(len(on), 'node')}" if len(on) > 1 else f"{meaning}, on one node"
    ranks = {host: _ranks(each, benchmark) for host, each in on.items()}
    topologies = {host: setting.machine_of(host).topology for host in on}
    return Placement(
        label=over_nodes.label(word, place.word),
        meaning=meaning,
        cpus=place.cpus,
        memory=binding.memory,
        hosts=tuple(on),
        ranks=_ranks(place, benchmark),
        by_host=over_nodes.ranks_by_host(ranks, setting.options.kernels, topologies),
        devices=tuple(own for host, each in on.items() for own in _devices(each, len(ranks[host]), benchmark)),
        folders=setting.options.folders if benchmark.folder else (),
    )


def _ranks(place: Place, benchmark: Benchmark) -> tuple[tuple[int, ...], ...]:
    """The ranks of a place on one host; none for a program without MPI."""
    if benchmark.launcher != "mpi":
        return ()
    return place.ranks or tuple((cpu,) for cpu in place.cpus)


def _devices(place: Place, ranks: int, benchmark: Benchmark) -> tuple[tuple[GivenDevice, ...], ...]:
    """The devices of each rank of a place on one host; none if the program works on none."""
    if not benchmark.devices:
        return ()
    return place.devices if place.ranks else place.devices * max(1, ranks)


def _leave_out(
    absent: AbsentPlacementError, request: tuple[str, str, str], setting: Setting, left_out: dict[LeftOut, None]
) -> None:
    """Add an absent request (benchmark, placement word, memory word if any) to `left_out`."""
    if absent.indexed and not setting.stored and not setting.only:
        raise absent
    (name, word, memory), network = request, setting.cards[0].network
    text = f"{name} at {in_words(word, memory)}{_over(network)}"
    family = (name, parsed(word).starred, starred_memory(memory), network)
    left_out[LeftOut(text, absent.why, absent.nodes, tuple(filter(None, (memory, network))), family)] = None


def _request(measure: Measure) -> str:
    """`stream at all, touch=serial`."""
    stated = "".join(f", {name}={','.join(map(str, levels))}" for name, levels in _levels(measure).items())
    return f"{measure.benchmark} at {', '.join(measure.placements)}{stated}"


def _levels(measure: Measure) -> dict[str, tuple[ParamValue, ...]]:
    """Axis -> its requested values."""
    return {name: each if isinstance(each, tuple) else (each,) for name, each in measure.axes.items()}


def in_words(place: str, memory: str) -> str:
    """`all, interleave`; first touch is not named."""
    return place if memory in {"", "first-touch"} else f"{place}, {memory}"


def sampling_note(word: str, found: tuple[Place, ...], topology: Topology) -> str:
    """A note with the number of sampled places of a word with `*`; empty if all are measured."""
    cores = len(allowed_cores(topology))
    asked = parsed(word)
    possible = {"count": cores, "pair": cores * (cores - 1) // 2}.get(asked.form or "", 0) if asked.every else 0
    what = "pairs of cores" if asked.form == "pair" else "numbers of cores"
    return f"a sample: {len(found)} of {possible} {what} are measured" if len(found) < possible else ""


def sampled_places(
    word: str, memory: str, found: tuple[Place, ...], topology: Topology
) -> tuple[tuple[Place, ...], str]:
    """The places of a word that are measured with a memory word, and a note if they are a sample of all cells.

    With `bind:*`, groups of cores are combined with the memory of each node: with more than 16 nodes, both are
    sampled.
    """
    targets, sampled = nodes.memory_targets(topology), nodes.sample(topology)
    columns = set(targets) & set(sampled)
    if memory != "bind:*" or len(columns) == len(targets):
        return found, ""
    asked, rows = parsed(word), found
    if asked.group in GROUPS and asked.every:
        key = GROUPS[asked.group][1]
        near = {key(core) for core in allowed_cores(topology) if core.numa in sampled}
        rows = tuple(place for place in found if parsed(place.word).index in near)
    cells, possible = len(rows) * len(columns), len(found) * len(targets)
    return rows, f"a sample: {cells} of {possible} cells are measured"


#: What a user adds to the command if no folder is named, or the named one cannot be used.
_NAME_FOLDER = "--folder /tmp"
#: Share of a file system's free bytes that a case may write: others write, too.
_FREE_SHARE = 0.9


def missing_resources(benchmark: Benchmark, placement: Placement, setting: Setting) -> tuple[str, str]:
    """Why a benchmark has no devices or no folder at a placement, and the option that helps; empty if it has."""
    if benchmark.devices and not placement.devices:
        return f"{benchmark.name} needs devices, {placement.label} has none (all:gpu:0, rank-per:gpu have)", ""
    if benchmark.folder and setting.options.no_folder:
        return setting.options.no_folder, _NAME_FOLDER
    if benchmark.folder and not placement.folders:
        return f"{benchmark.name} writes into a folder, and none is named ({_NAME_FOLDER})", _NAME_FOLDER
    return "", ""


def too_full(benchmark: Benchmark, params: Params, placement: Placement) -> str:
    """Why the files of a case do not fit the folders of its ranks; empty if they do, or if that is unknown."""
    needed = benchmark.folder_bytes(params) if benchmark.folder else 0
    for folder in set(placement.folders):
        ranks = sum(placement.folder_of(rank) == folder for rank in range(len(placement.rank_cpus)))
        if folder.capacity_bytes and needed * ranks > _FREE_SHARE * folder.free_bytes:
            most = f"more than {100 * _FREE_SHARE:.0f} % of the {format_size(folder.free_bytes)} that are free"
            return f"it writes {format_size(needed * ranks)} into {folder.path}, {most}"
    return ""
