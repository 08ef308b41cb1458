"""MPI that is much slower than plain TCP sockets between the same two processes."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from assay.analyse.evidence import CONFIDENT, Evidence, Rule, numbers
from assay.analyse.experiments import retest, retest_pair
from assay.analyse.messages import place
from assay.analyse.messages.curves import size
from assay.model import roles
from assay.model.law import Point
from assay.model.plan import Experiment
from assay.model.result import Estimate, Finding
from assay.model.text import cli, joined, text
from assay.model.units import format_size
from assay.topics.messages import link
from assay.topics.messages.models.mpi_over_tcp import TCP, MpiOver, is_polled

_FACTOR = 0.70
_ADJACENT = 3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    models = [each for each in evidence.fitted(MpiOver) if each.base == TCP]
    if not models:
        yield rule.not_assessed(
            text("MPI and TCP were not measured between the same processes"), cli("run", "network")
        )
    known = evidence.estimates
    for model in models:
        estimate = known[model.of[0]]
        parts = groupby(model.points, key=lambda point: point.value.hi < _FACTOR)
        slow = max((list(part) for low, part in parts if low), key=len, default=[])
        # If counters show two devices, the ratio compares networks, not MPI with TCP.
        carriers = {carrier for name in model.of if (carrier := link.carrier(known[name]))}
        if len(slow) >= _ADJACENT and (len(carriers) <= 1 or not place.between(estimate)):
            yield _finding(model, estimate, slow, known)


def _finding(model: MpiOver, estimate: Estimate, slow: list[Point], known: Mapping[str, Estimate]) -> Finding:
    worst = min(slow, key=lambda point: point.value.value)
    sockets = [known[name] for name in model.of if roles.by_sockets(known[name])]
    sure = min(int(point.at["blocks"]) for point in slow) >= CONFIDENT
    first, last = (format_size(int(point.at["bytes"])) for point in (slow[0], slow[-1]))
    return rule.finding(
        model.id,
        claim=text(
            "MPI is slower than TCP between the same processes ({case}; {sockets}): down to {least} of its speed "
            "at {size}, below {factor} at {count} size from {first} to {last}.|MPI is slower than TCP between the "
            "same processes ({case}; {sockets}): down to {least} of its speed at {size}, below {factor} at "
            "{count} sizes from {first} to {last}.",
            case=place.path_name(estimate),
            sockets=text("sockets that poll, as MPI does" if is_polled(sockets[0]) else "sockets that block"),
            least=f"{worst.value.value:.2f}",
            size=format_size(int(worst.at["bytes"])),
            factor=f"{_FACTOR}",
            count=len(slow),
            first=first,
            last=last,
        ),
        severity="problem",
        status="observed" if sure else "candidate",
        evidence=(model.id, worst.estimate),
        numbers=numbers(worst.value, _FACTOR),
        statistic=text(
            "largest upper end at these sizes {ratio}", ratio=f"{max(point.value.hi for point in slow):.3g}"
        ),
        rivals=(
            text("the MPI does not use the best transport"),
            text("an eager limit or socket buffers of the MPI that are too small"),
            text("a progress thread, or polling that uses the core"),
        ),
        next=text(
            "measure with the default buffers of the system, or with another MPI (--mpi): `{command}`",
            command=joined(" ", ("OMPI_MCA_btl_tcp_sndbuf=0 OMPI_MCA_btl_tcp_rcvbuf=0", cli("run", "network"))),
        ),
        experiment=None if sure else _experiment(known[worst.estimate], sockets),
    )


def _experiment(over_mpi: Estimate, sockets: list[Estimate]) -> Experiment | None:
    """Measure both again at the size where MPI is slowest compared with its sockets."""
    base = next((each for each in sockets if size(each) == size(over_mpi)), None)
    if base is None:
        return None
    faster = (over_mpi, base) if over_mpi.better == "higher" else (base, over_mpi)
    return retest(retest_pair(faster, _FACTOR, "below"))


rule = Rule(
    "mpi_over_tcp",
    text("Is MPI much slower than TCP between the same processes?"),
    text(
        "MPI / TCP in speed < {factor} (upper end) at {sizes} adjacent sizes or more, over one device",
        factor=f"{_FACTOR}",
        sizes=_ADJACENT,
    ),
    _assess,
    applies=place.passed,
)
