"""One message at a time, as NetPIPE draws it: MPI, TCP and memcpy on one sheet, and the signature graph."""

import msgspec

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, messages, words
from assay.report.charts.curve import CurvePoint, curve
from assay.report.section import Figure, Section, Table

order = 68
claims: frozenset[str] = frozenset()

#: Fewer sizes make no curve.
_CURVE = 3
_WHY = text(
    "The rate of one message is its size over its one-way time: nothing else is on the way, as in NetPIPE. A copy "
    "by memcpy stands beside it, because what passes through memory is copied at least once. The signature graph "
    "has the same figures over time: it leaves the time axis at the latency, and where it ends to the right "
    "is how long the largest message takes."
)


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no curve of single messages was measured."""
    single = _few(_usual(choose.measured(messages.of_patterns(analysis, (messages.LATENCY,)))))
    rates = tuple(_rate(e) for e in single if messages.size(e) and e.median)
    if len({messages.size(e) for e in rates}) < _CURVE:
        return None
    copies = choose.headline_metric(choose.middle(choose.of_benchmark(analysis, "memcpy")))
    copies = tuple(e for e in choose.measured(copies) if not e.params.get("offset"))
    parts = messages.split(rates)
    drawn = [_sheet(members, copies, part, number) for number, (part, members) in enumerate(parts.items())]
    drawn += [_signature(members, part, number) for number, (part, members) in enumerate(parts.items())]
    return Section(id="one-message", title=text("One message at a time"), meaning=(_WHY,), figures=tuple(drawn))


def tables(_run: Run, _analysis: Analysis) -> tuple[Table, ...]:
    """None: the figures are those of other sections."""
    return ()


def _usual(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Without offsets; of sockets those that are asked again and again, as MPI asks, where both are there."""
    aligned = tuple(e for e in estimates if not e.params.get("offset"))
    polled = any(e.params.get("waiting") == "polling" for e in aligned)
    return tuple(e for e in aligned if not polled or e.params.get("waiting", "polling") == "polling")


def _few(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Of more curves than a sheet takes those of messages as they usually are, where there are any.

    A sheet is to show ways beside each other; what buffers and calls make of each way the curves above show.
    """
    if messages.fits(estimates):
        return estimates
    return tuple(e for e in estimates if choose.is_usual(e, but=("bytes", "waiting"))) or estimates


def _rate(estimate: Estimate) -> Estimate:
    """Bytes a second of one message; the ends of its interval change places."""

    def over(seconds: float | None) -> float | None:
        return messages.size(estimate) / seconds if seconds else None

    return msgspec.structs.replace(
        estimate,
        metric="rate",
        unit="B/s",
        better="higher",
        median=over(estimate.median),
        lo=over(estimate.hi),
        hi=over(estimate.lo),
        limit=None,
    )


def _anchor(name: str, number: int) -> str:
    return f"figure-one-message-{name}{f'-{number}' if number else ''}"


def _sheet(rates: tuple[Estimate, ...], copies: tuple[Estimate, ...], part: str, number: int) -> Figure:
    """Rates by size; copies as far as messages go."""
    name, copied = messages.series(rates), figures.series_of(copies, "bytes") if copies else None
    largest = max(map(messages.size, rates))
    beside = tuple(e for e in copies if messages.size(e) <= largest)

    def named(estimate: Estimate) -> str:
        if copied is None or estimate.benchmark != "memcpy":
            return name(estimate)
        return joined(", ", ["memcpy", copied(estimate)])

    title = joined(": ", [text("Rate of one message"), part])
    return figures.curves((*rates, *beside), _anchor("rate", number), title, series=named)


def _signature(rates: tuple[Estimate, ...], part: str, number: int) -> Figure:
    """The same rates over the time that a message takes."""
    name = messages.series(rates)
    factor, unit = figures.scaled_middle(rates)
    points = []
    for estimate in rates:
        figure = words.shown(estimate)
        if figure is None or not estimate.median:
            continue
        points.append(
            CurvePoint(
                x=1e6 * messages.size(estimate) / estimate.median,
                curve=name(estimate) or text("one message"),
                state=choose.state(estimate),
                value=factor * estimate.median,
                lo=factor * (estimate.lo or estimate.median),
                hi=factor * (estimate.hi or estimate.median),
                text=text("{figure} at {size}", figure=figure.short, size=messages.at(estimate)),
                basis=figure.basis,
                size=f"{1e6 * messages.size(estimate) / estimate.median:.4g} µs",
            )
        )
    ends = [
        text(
            "{series}: from {first} to {last}, most {best}",
            series=series,
            first=first.size,
            last=last.size,
            best=max(of_series, key=lambda p: p.value).text,
        )
        for series, of_series in choose.grouped(points, lambda p: p.series).items()
        for first, last in [(min(of_series, key=lambda p: p.x), max(of_series, key=lambda p: p.x))]
    ]
    told = text("Signature of one message: its rate over its one-way time, both axes logarithmic.")
    if part:
        told = text(
            "Signature of one message: {part}: its rate over its one-way time, both axes logarithmic.", part=part
        )
    caption = joined(" ", (told, figures.whiskers(rates)))
    spec = curve(
        points,
        (text("one-way time ({unit})", unit="µs"), text("Rate of one message ({unit})", unit=unit)),
        sizes=False,
        base=10,
    )
    return Figure(_anchor("signature", number), caption, joined("; ", ends), spec)
