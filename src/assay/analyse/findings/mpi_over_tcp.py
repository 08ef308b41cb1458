"""MPI that is much slower than plain TCP sockets between the same two processes."""

from collections.abc import Iterable, Mapping
from itertools import groupby

import msgspec

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import anew, repeated
from assay.analyse.messages import link, place
from assay.analyse.messages.curves import size
from assay.analyse.models.mpi_over_tcp import LAW, TCP, is_polled
from assay.model.plan import Experiment
from assay.model.result import Estimate, Finding, Model, Point
from assay.model.text import text
from assay.model.units import format_size

_FACTOR = 0.70
_ADJACENT = 3
_SURE_BLOCKS = 6


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = [each for each in evidence.models if each.id.startswith(f"{LAW}/pt2pt/{TCP}/") and not each.reason]
    if not models and place.passed(evidence):
        yield rule.not_assessed(
            text("MPI and TCP were not measured between the same processes"), "assay run network"
        )
    known = place.by_id(evidence)
    for model in models:
        estimate = known[model.of[0]]
        slow = max((list(part) for low, part in groupby(model.points, key=_slow) if low), key=len, default=[])
        if len(slow) >= _ADJACENT and _one_way(model, known):
            sockets = [known[name] for name in model.of if known[name].benchmark == TCP]
            waiting = text("sockets that poll, as MPI does" if is_polled(sockets[0]) else "sockets that block")
            found = _finding(model, estimate, slow, waiting)
            yield msgspec.structs.replace(found, experiment=_experiment(found, slow, known, sockets))


def _slow(point: Point) -> bool:
    return point.value[2] < _FACTOR


def _one_way(model: Model, known: Mapping[str, Estimate]) -> bool:
    """Whether both went over one device, as far as counters tell: else networks are compared, not MPI with TCP."""
    carriers = {carrier for name in model.of if (carrier := link.carrier(known[name]))}
    return len(carriers) <= 1 or not place.between(known[model.of[0]])


def _finding(model: Model, estimate: Estimate, slow: list[Point], waiting: str) -> Finding:
    worst = min(slow, key=lambda point: point.value[0])
    sure = min(int(point.at["blocks"]) for point in slow) >= _SURE_BLOCKS
    first, last = (format_size(int(point.at["bytes"])) for point in (slow[0], slow[-1]))
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=text(
            "MPI is slower than TCP between the same processes ({way}; {sockets}): down to {least} of its speed "
            "at {size}, below {factor} at {count} size from {first} to {last}.|MPI is slower than TCP between the "
            "same processes ({way}; {sockets}): down to {least} of its speed at {size}, below {factor} at {count} "
            "sizes from {first} to {last}.",
            way=place.way(estimate),
            sockets=waiting,
            least=f"{worst.value[0]:.2f}",
            size=format_size(int(worst.at["bytes"])),
            factor=f"{_FACTOR}",
            count=len(slow),
            first=first,
            last=last,
        ),
        severity="problem",
        status="observed" if sure else "candidate",
        evidence=(model.id, worst.estimate),
        statistic=text(
            "largest upper end at these sizes {ratio}", ratio=f"{max(point.value[2] for point in slow):.3g}"
        ),
        threshold=rule.threshold,
        rivals=(
            text("another transport than the MPI could use here"),
            text("an eager limit or socket buffers of the MPI that are too small"),
            text("a progress thread or polling that takes time of the core"),
        ),
        next=text(
            "measure with buffers as the system sizes them, or another MPI by --mpi: `{command}`",
            command="OMPI_MCA_btl_tcp_sndbuf=0 OMPI_MCA_btl_tcp_rcvbuf=0 assay run network",
        ),
    )


def _experiment(
    found: Finding, slow: list[Point], known: Mapping[str, Estimate], sockets: list[Estimate]
) -> Experiment | None:
    """Both anew at the size where MPI is slowest against its sockets."""
    worst = min(slow, key=lambda point: point.value[0])
    over_mpi = known[worst.estimate]
    base = next((each for each in sockets if size(each) == size(over_mpi)), None)
    if found.status != "candidate" or base is None:
        return None
    faster = (over_mpi, base) if over_mpi.better == "higher" else (base, over_mpi)
    return anew(repeated(faster, _FACTOR, "below"))


rule = Rule(
    "mpi_over_tcp",
    text("Is MPI much slower than TCP between the same processes?"),
    text(
        "MPI / TCP in speed < {factor} (upper end) at {sizes} adjacent sizes or more, over one device",
        factor=f"{_FACTOR}",
        sizes=_ADJACENT,
    ),
    _assess,
)
