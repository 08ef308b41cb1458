"""Check the ranks that a launch line starts, and make the corrected line.

A new check is one entry of `checks.toml` and a function here that judges.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from types import MappingProxyType

import msgspec

from assay.machine.rules import RANK
from assay.model.facts import Check, Verdict
from assay.model.grouping import grouped
from assay.model.ranks_seen import RankSeen, RanksSeen
from assay.model.toolchain import SLURM_PMI, Mpi
from assay.model.units import count_of, format_cpu_list, format_size, parse_cpu_list

#: Launcher, or family of the MPI that has it -> options that bind each rank to a number of cores.
_BINDING: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "srun": ("--cpus-per-task={cores}", "--cpu-bind=cores"),
        "openmpi": ("--map-by", "slot:PE={cores}", "--bind-to", "core"),
        "mpich": ("-bind-to", "core:{cores}"),
        "intel": ("-genv", "I_MPI_PIN_DOMAIN", "{cores}:compact"),
        "flux": ("--cores-per-task={cores}", "-ocpu-affinity=per-task"),
        "jsrun": ("-c{cores}", "-bpacked:{cores}"),
        "aprun": ("-d{cores}", "-cc", "depth"),
    }
)
#: Equivalent names of options, which are removed from a line, too.
_ALIASES = {"-c": "--cpus-per-task", "-map-by": "--map-by", "--bind-to": "-bind-to"}
#: Variables by which launchers tell a rank the number of ranks.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "FLUX_JOB_SIZE")
#: Facts that should be equal on all hosts of a launch.
_COMMON = ("cpus", "model", "kernel")
_OF_NODE = "cpus of "
_SHOWN = 3
#: Interfaces that sent less than this share of the largest amount did not carry the messages.
_LEAST_SHARE = 0.1


class LaunchLine(msgspec.Struct, frozen=True):
    """A parsed launch line.

    Attributes:
        words: words up to the last option of the launcher.
        program: program with its arguments.
        launcher: `srun`, `flux` ..., or the family of the MPI that has the launcher.
        mpi: MPI of the program.
        wrapper: command that starts the program in each rank, `env OMP_NUM_THREADS=4`; options of the launcher
            come before it.
        at: index of the launcher's name.
    """

    words: tuple[str, ...]
    program: tuple[str, ...]
    launcher: str
    mpi: Mpi
    wrapper: tuple[str, ...] = ()
    at: int = 0

    def bound(self, cores: int) -> str:
        """The line that binds each rank to `cores` cores; empty if the options are unknown."""
        words = tuple(word.format(cores=cores) for word in _BINDING.get(self.launcher, ()))
        return self._with(words) if words else ""

    def with_pmi(self) -> str:
        """The line with a launcher that supports the PMI of this MPI; empty if there is none."""
        if self.launcher == "srun":
            pmi = SLURM_PMI[self.mpi.kind]
            return self._with((f"--mpi={pmi}",)) if pmi else ""
        own = (*self.words[: self.at], self.mpi.launcher, *self.words[self.at + 1 :])
        return shlex.join((*own, *self.wrapper, *self.program)) if self.mpi.launcher else ""

    def _with(self, chosen: tuple[str, ...]) -> str:
        return shlex.join((*self._without(chosen), *chosen, *self.wrapper, *self.program))

    def _without(self, chosen: tuple[str, ...]) -> Iterator[str]:
        """The words before the program, without options that are set again, and their values."""
        names = {_name(word) for word in chosen if word.startswith("-")}
        skip = False
        for word in self.words:
            mine = word.startswith("-") and _name(word) in names and _name(word) != "-genv"
            if not skip and not mine:
                yield word
            skip = mine and "=" not in word


def _name(option: str) -> str:
    name = option.partition("=")[0]
    return _ALIASES.get(name, name)


def examine(seen: RanksSeen, line: LaunchLine) -> tuple[Check, ...]:
    """All checks of the ranks of a launch, in the order of the table."""
    return tuple(each.check(_JUDGES[each.name](seen, line)) for each in RANK)


def _ranks(seen: RanksSeen, line: LaunchLine) -> Verdict:
    expected = max(
        (int(each.numbers[name]) for each in seen.ranks for name in _SIZES if name in each.numbers), default=1
    )
    alone = [each for each in seen.ranks if each.size == 1]
    if len(alone) > 1 or (alone and expected > 1):
        number = max(expected, len(alone))
        found = f"{number} programs, each of which is rank 0 of 1: the launcher and this MPI do not speak one PMI"
        return Verdict("problem", found, line.with_pmi())
    counts = dict.fromkeys(seen.hosts, 0)
    for each in seen.ranks:
        counts[each.host] += 1
    shown = ", ".join(f"{count} on {host}" for host, count in list(counts.items())[:_SHOWN])
    more = f" and {count_of(len(counts) - _SHOWN, 'host')} more" if len(counts) > _SHOWN else ""
    return Verdict("ok", f"{count_of(len(seen.ranks), 'rank')}: {shown}{more}")


def _threads(seen: RanksSeen, line: LaunchLine) -> Verdict:
    crowded = [each for each in seen.ranks if sum(each.threads.values()) > each.cores]
    most = max((sum(each.threads.values()) for each in seen.ranks), default=1)
    if crowded:
        one = crowded[0]
        threads, cores = count_of(sum(one.threads.values()), "thread"), count_of(one.cores, "core")
        found = f"rank {one.rank} on {one.host} has {threads} on {cores} (cpus {one.cpus})"
        return Verdict("problem", _and_others(found, crowded), line.bound(most))
    return Verdict("ok", f"at most {count_of(most, 'thread')} a rank, no more than its cores")


def _cpus(seen: RanksSeen, line: LaunchLine) -> Verdict:
    most = max((sum(each.threads.values()) for each in seen.ranks), default=1)
    for host, ranks in grouped(seen.ranks, lambda each: each.host).items():
        masks = [frozenset(parse_cpu_list(each.cpus)) for each in ranks]
        whole = frozenset(parse_cpu_list(ranks[0].node.get("cpus", "")))
        held = sum({each.cpus: each.cores for each in ranks}.values())
        if len(ranks) > held:
            found = f"{len(ranks)} ranks on {host} have {count_of(held, 'core')}: they take turns"
            return Verdict("problem", found, f"start at most {count_of(held, 'rank')} on a node")
        if len(ranks) > 1 and all(mask == whole for mask in masks):
            cores = max(1, ranks[0].cores // len(ranks))
            return Verdict(
                "warning", f"the ranks of {host} are not bound: the kernel moves them", line.bound(cores)
            )
        shared = next(((a, b) for a, b in combinations(range(len(ranks)), 2) if masks[a] & masks[b]), None)
        if shared:
            one, other = shared
            cpus = format_cpu_list(tuple(masks[one] & masks[other]))
            found = f"ranks {ranks[one].rank} and {ranks[other].rank} on {host} share cpus {cpus}"
            return Verdict("problem", found, line.bound(most))
    return Verdict("ok", "no cpu is of two ranks")


def _memory(seen: RanksSeen, _line: LaunchLine) -> Verdict:
    far = [each for each in seen.ranks if each.page_nodes and not set(each.page_nodes) & _own_nodes(each)]
    if far:
        nodes = ", ".join(far[0].page_nodes)
        found = f"rank {far[0].rank} on {far[0].host} runs on cpus {far[0].cpus}, its memory is of node {nodes}"
        return Verdict("warning", _and_others(found, far))
    known = {node for each in seen.ranks for node in each.page_nodes}
    return Verdict("ok", f"of the ranks' own nodes ({', '.join(sorted(known))})") if known else _UNKNOWN


def _own_nodes(rank: RankSeen) -> set[str]:
    """Memory nodes of the cpus that a rank may use."""
    cpus = set(parse_cpu_list(rank.cpus))
    return {
        name.removeprefix(f"{_OF_NODE}node")
        for name, held in rank.node.items()
        if name.startswith(_OF_NODE) and cpus & set(parse_cpu_list(held))
    }


def _single_copy(seen: RanksSeen, _line: LaunchLine) -> Verdict:
    reported = [each for each in seen.ranks if each.single_copy]
    refused = [each for each in reported if each.single_copy != "ok"]
    if refused:
        scope = refused[0].node.get("ptrace scope", "")
        found = f"refused on {refused[0].host}: {refused[0].single_copy}{scope and f', ptrace_scope is {scope}'}"
        return Verdict("warning", found)
    return Verdict("ok", "allowed") if reported else Verdict("unknown", "no two ranks are on one host")


def _balancing(seen: RanksSeen, _line: LaunchLine) -> Verdict:
    for each in seen.ranks:
        several = sum(name.startswith(_OF_NODE) for name in each.node) > 1
        if several and each.node.get("NUMA balancing", "0") not in {"0", ""}:
            moved = each.node.get("migrated pages", "")
            found = f"at work on {each.host}{moved and f': {moved} pages moved since it was booted'}"
            return Verdict("warning", found)
    return Verdict("ok", "off, or one memory node")


def _same_nodes(seen: RanksSeen, _line: LaunchLine) -> Verdict:
    nodes: dict[str, dict[str, str]] = {}
    for each in seen.ranks:
        nodes.setdefault(each.host, each.node)
    first, *others = nodes.items()
    for host, facts in others:
        for name in dict.fromkeys(
            (*_COMMON, *(name for name in (*first[1], *facts) if name.startswith(_OF_NODE)))
        ):
            mine, theirs = facts.get(name, "none"), first[1].get(name, "none")
            if mine != theirs:
                found = f"{name}: {mine} on {host}, {theirs} on {first[0]}"
                return Verdict("warning", found)
    return Verdict("ok", f"{count_of(len(nodes), 'host')} of one kind")


def _transport(seen: RanksSeen, _line: LaunchLine) -> Verdict:
    library = next((each.library.get("library", "").partition(",")[0] for each in seen.ranks), "")
    if any(each.messages == "wrong" for each in seen.ranks):
        return Verdict("problem", f"{library} passed a message of 1 MiB with wrong bytes")
    if len(seen.hosts) < 2:  # noqa: PLR2004 (nothing leaves one host)
        return Verdict("ok", library)
    sent: dict[str, int] = {}
    for each in seen.ranks:
        for name, count in each.sent.items():
            sent[name] = sent.get(name, 0) + count
    most = max(sent.values(), default=0)
    used = ", ".join(f"{name} {format_size(count)}" for name, count in sent.items() if count > _LEAST_SHARE * most)
    return Verdict("ok", f"{library}; {format_size(2**20)} from each host left by: {used or 'no counter tells'}")


def _and_others(found: str, like: list[RankSeen]) -> str:
    return f"{found}; {len(like) - 1} more like it" if len(like) > 1 else found


_UNKNOWN = Verdict("unknown", "the kernel does not tell")
_JUDGES: Mapping[str, Callable[[RanksSeen, LaunchLine], Verdict]] = {
    "ranks": _ranks, "threads": _threads, "binding": _cpus, "memory": _memory, "single copy": _single_copy,
    "NUMA balancing": _balancing, "nodes": _same_nodes, "transport": _transport,
}  # fmt: skip
