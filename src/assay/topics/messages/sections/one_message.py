"""One message at a time, as NetPIPE draws it: MPI, TCP and memcpy in one chart, and the signature graph."""

import math

import msgspec

from assay.model.quantity import Quantity
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import figures, messages, selection
from assay.report.charts.curve import CurvePoint, curve
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, headings
from assay.topics.messages import maxima


def _rates(analysis: Analysis, _every: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Return the rates of single messages; none where they are no curve."""
    single = _few(_usual(selection.measured(messages.of_patterns(analysis, (messages.LATENCY,)))))
    rates = tuple(_rate(e, e.value) for e in single if messages.size(e) and e.value and e.value.value)
    return rates if messages.is_curve(rates) else ()


def _charts(scene: Scene) -> tuple[Figure, ...]:
    copies = _copies(scene)
    parts = messages.split(scene.estimates)
    drawn = [_sheet(members, copies, part, number) for number, (part, members) in enumerate(parts.items())]
    drawn += [_signature(members, part, number) for number, (part, members) in enumerate(parts.items())]
    return tuple(drawn)


def _copies(scene: Scene) -> tuple[Estimate, ...]:
    copies = selection.headline_metric(selection.middle(selection.of_benchmark(scene.analysis, "memcpy")))
    return messages.aligned(selection.measured(copies))


def _usual(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Leave out offsets, and sockets that block where there are sockets that poll, as MPI does."""
    aligned = messages.aligned(estimates)
    polled = any(e.params.get("waiting") == "polling" for e in aligned)
    return tuple(e for e in aligned if not polled or e.params.get("waiting", "polling") == "polling")


def _few(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Keep the curves with default axes, if there are too many curves for one chart.

    The chart compares networks and MPIs; the curves of other sections show the effect of buffers and calls.
    """
    if messages.fits(estimates):
        return estimates
    return tuple(e for e in estimates if selection.is_usual(e, but=("bytes", "waiting"))) or estimates


def _rate(estimate: Estimate, time: Quantity) -> Estimate:
    """Return the bytes per second of one message; the ends of its interval change places."""
    rate, hi, lo = (messages.size(estimate) / seconds for seconds in time)
    return msgspec.structs.replace(
        estimate,
        metric="rate",
        unit="B/s",
        better="higher",
        value=Quantity(rate, lo, hi, "B/s", time.basis),
        limit=None,
    )


def _anchor(name: str, number: int) -> str:
    return f"figure-one-message-{name}{f'-{number}' if number else ''}"


def _sheet(rates: tuple[Estimate, ...], copies: tuple[Estimate, ...], part: str, number: int) -> Figure:
    """Draw rates by size; copies up to the largest message."""
    name, copied = messages.series(rates), figures.series_of(copies, "bytes") if copies else None
    largest = max(map(messages.size, rates))
    shown = tuple(e for e in copies if messages.size(e) <= largest)

    def named(estimate: Estimate) -> str:
        if copied is None or estimate.benchmark != "memcpy":
            return name(estimate)
        return joined(", ", ["memcpy", copied(estimate)])

    title = figures.Title(text("Rate of one message"), part)
    return figures.curves((*rates, *shown), _anchor("rate", number), title, series=named)


def _signature(rates: tuple[Estimate, ...], part: str, number: int) -> Figure:
    """Draw the same rates over the time of a message."""
    name = messages.series(rates)
    factor, unit = figures.scaled_middle(rates)
    points, possible = [], []
    for estimate in rates:
        ends = figures.ends(estimate, factor, positive=True)
        ends["text"] = text("{figure} at {size}", figure=ends["text"], size=messages.at(estimate))
        time = 1e6 * messages.size(estimate) / (estimate.median or math.inf)
        curve_of, state = name(estimate) or text("one message"), selection.state(estimate)
        points.append(CurvePoint(x=time, curve=curve_of, state=state, size=f"{time:.4g} µs", **ends))
        possible += points[-1:] if estimate.exceeds is None else []
    ends_of_series = [
        text(
            "{series}: from {first} to {last}, maximum {best}",
            series=series,
            first=first.size,
            last=last.size,
            best=max(of_series, key=lambda p: (p in possible, p.value)).text,
        )
        for series, of_series in selection.grouped(points, lambda p: p.series).items()
        for first, last in [(min(of_series, key=lambda p: p.x), max(of_series, key=lambda p: p.x))]
    ]
    what = text(
        "Signature of one message: {part}: its rate over its one-way time, both axes logarithmic."
        if part
        else "Signature of one message: its rate over its one-way time, both axes logarithmic.",
        part=part,
    )
    caption = joined(" ", (what, figures.whiskers(rates)))
    spec = curve(
        points,
        (text("one-way time ({unit})", unit="µs"), text("Rate of one message ({unit})", unit=unit)),
        sizes=False,
        base=10,
    )
    return Figure(_anchor("signature", number), caption, joined("; ", ends_of_series), spec)


declared = Declared(
    order=68,
    id="one-message",
    title=text("One message at a time"),
    introduction=text(
        "The rate of one message is its size / its one-way time, with no other message in flight, as in "
        "NetPIPE. A memcpy curve is shown for comparison, because messages through memory are copied at least "
        "once. The signature graph shows the same figures against time: it starts at the latency and ends at "
        "the time of the largest message."
    ),
    select=_rates,
    sentences=maxima.sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Largest rate of one message"),
            headings("By", "Between", "Maximum (Mbit/s)", "Interval", "At", "At largest size (Mbit/s)", "Size"),
            lambda scene: maxima.rows(scene.estimates, _copies(scene)),
            {2, 3, 4, 5, 6},
        ),
        Listing(
            text("Additional time at odd sizes, below and above a power of two"),
            headings("By", "Between", "Bytes less and more", "Mean", "Most", "At"),
            maxima.cost_rows,
            {2, 3, 4, 5},
        ),
    ),
    terminal_tables=(
        Listing(
            text("Rate of one large message over another rate"),
            headings("Of", "Over", "Between", "From size", "Ratio", "Interval"),
            maxima.share_rows,
            {3, 4, 5},
        ),
    ),
    listed=False,
)
