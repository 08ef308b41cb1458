"""The command line of a native program, parsed as the programs do."""

from dataclasses import dataclass

from assay.model.declaration import ParamValue
from assay.model.placement import Memory, Placement
from assay.model.units import parse_cpu_list

_OPTIONS = {"cpus", "memory", "precision", "min-samples", "max-samples"}
_OPTIONS |= {"expect-ranks", "network", "library", "devices", "folder"}


@dataclass(frozen=True)
class CaseRequest:
    """One `--case` with its axes (defaults of the whole command included) and seconds of sampling."""

    id: str
    params: dict[str, ParamValue]
    seconds: float


@dataclass(frozen=True)
class Request:
    """What a command line asks for.

    Attributes:
        program: name of the executable, without its folder.
        cpus: in thread order; of all ranks of a host, one after the other.
        memory: requested policy.
        precision: see Sampling.
        min_samples: see Sampling.
        max_samples: see Sampling.
        cases: in order.
        ranks: cpus of each rank of a host; empty for a program that passes no messages.
        expected: ranks on all hosts together; 0 for such a program.
        network: requested device for messages; empty for any.
        hosts: hosts of the launch, from the launcher.
        counts: ranks on each of these hosts, where `ranks` are those of all hosts; empty where every host has the
            same ranks.
        devices: words of the devices of each rank on all hosts; empty where none were named.
        folders: folder of each rank on all hosts, or one for all of them; empty where none was named.
        eager_bytes: eager limit from the environment, in place of that of every link; None without one.
    """

    program: str
    cpus: tuple[int, ...]
    memory: str
    precision: float
    min_samples: int
    max_samples: int
    cases: tuple[CaseRequest, ...]
    ranks: tuple[tuple[int, ...], ...] = ()
    expected: int = 0
    network: str = ""
    hosts: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    devices: tuple[tuple[str, ...], ...] = ()
    folders: tuple[str, ...] = ()
    eager_bytes: int | None = None

    def host_of(self, rank: int) -> int:
        """Return the number of the host of a rank."""
        return self.every[rank][0] if self.counts else rank // len(self.ranks)

    @property
    def rank_count(self) -> int:
        """Return the ranks on all hosts together; 1 for a program without ranks."""
        return max(1, self.expected)

    @property
    def host_count(self) -> int:
        """Return the hosts of its ranks; 1 for a program without ranks, which each host runs by itself."""
        return len({self.host_of(rank) for rank in range(self.rank_count)}) if self.ranks else 1

    @property
    def placement(self) -> Placement:
        """Return where its ranks are."""
        of_host = (tuple(cpus for at, cpus in self.every if at == host) for host in range(len(self.hosts)))
        by_host = tuple(of_host) if self.counts else ()
        return Placement("", "", self.cpus, Memory(), self.hosts, self.ranks, by_host)

    @property
    def every(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Return host number and cpus of each rank on all hosts; one rank per host for a program without ranks."""
        if self.counts:
            hosts = (number for number, count in enumerate(self.counts) for _ in range(count))
            return tuple(zip(hosts, self.ranks, strict=True))
        ranks = self.ranks or (self.cpus,)
        return tuple((number, cpus) for number in range(len(self.hosts)) for cpus in ranks)


def parse(argv: tuple[str, ...], allowed_cpus: tuple[int, ...]) -> Request:
    """Parse the request in `argv`; ValueError where a native program would exit 2."""
    program = argv[0].rpartition("/")[2]
    pairs = list(zip(argv[1::2], argv[2::2], strict=True))
    options: dict[str, str] = {}
    folders = tuple(value for flag, value in pairs if flag == "--folder")
    common: dict[str, str] = {}
    cases: list[tuple[str, dict[str, str]]] = []
    for flag, value in pairs:
        name = flag.removeprefix("--")
        if name == "case":
            cases.append((value, {}))
        elif name in _OPTIONS and not cases:
            options[name] = value
        else:
            (cases[-1][1] if cases else common)[name] = value
    ranks = tuple(parse_cpu_list(part) for part in options["cpus"].split("/")) if "cpus" in options else ()
    expected = int(options.get("expect-ranks", "0"))
    return Request(
        program,
        tuple(cpu for cpus in ranks for cpu in cpus) or allowed_cpus,
        options.get("memory", "first-touch"),
        float(options.get("precision", "0.01")),
        int(options.get("min-samples", "10")),
        int(options.get("max-samples", "200")),
        tuple(_case(case, common | axes) for case, axes in cases or [(program, {})]),
        ranks if expected else (),
        expected,
        options.get("network", ""),
        devices=tuple(tuple(part.split(",")) for part in options["devices"].split("/"))
        if "devices" in options
        else (),
        folders=folders,
    )


def _case(case_id: str, words: dict[str, str]) -> CaseRequest:
    seconds = float(words.get("seconds", "2"))
    return CaseRequest(case_id, {k: _value(v) for k, v in words.items() if k != "seconds"}, seconds)


def _value(word: str) -> ParamValue:
    try:
        return int(word)
    except ValueError:
        return word
