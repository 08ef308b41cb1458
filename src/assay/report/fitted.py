"""Laws as sections draw them: fitted ones, of the node in the middle, with the estimates they explain."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.model.result import Analysis, Estimate, Model, Point
from assay.model.text import joined, text
from assay.report import choose, words

_HOST = re.compile(r"/host=[^/]*")
#: Words that laws put first into the ids of their models.
_KINDS = {
    "compact": text("compact"),
    "spread": text("spread"),
    "bandwidth": text("bandwidth"),
    "latency": text("latency"),
}


@dataclass(frozen=True)
class Fitted:
    """A model and the estimates it was fitted to, in the model's order."""

    model: Model
    estimates: tuple[Estimate, ...]

    @property
    def state(self) -> str:
        """The state of the machine that the law holds for, e.g. `near cores`; empty where one explains all."""
        return next((choose.state(estimate) for estimate in self.estimates if estimate.state), "")

    def estimate(self, point: Point) -> Estimate:
        """The estimate behind a point."""
        return next(estimate for estimate in self.estimates if estimate.id == point.estimate)

    def shown(self, name: str, unit: str) -> words.Shown:
        """A parameter with its ends: a bootstrap interval from six launches on, else the range of the launches."""
        value, lo, hi = self.model.parameters[name]
        alone = self._weakest.method == "single"
        return words.interval(value, (None, None) if alone else (lo, hi), unit, self.basis)

    @property
    def basis(self) -> str:
        """What the ends of parameters and points are."""
        return words.basis(self._weakest)

    @property
    def _weakest(self) -> Estimate:
        return min(self.estimates, key=lambda estimate: estimate.launches)


def fitted(analysis: Analysis, law: str) -> tuple[Fitted, ...]:
    """Models of a law that have parameters; of several nodes that have the same one, the node in the middle."""
    known = {estimate.id: estimate for estimate in analysis.estimates}
    nodes: dict[str, list[Model]] = {}
    for model in analysis.models:
        if model.law == law and model.parameters:
            nodes.setdefault(_HOST.sub("", model.id), []).append(model)
    middle = [sorted(group, key=_first)[len(group) // 2] for group in nodes.values()]
    return tuple(Fitted(model, tuple(known[name] for name in model.of if name in known)) for model in middle)


def unfitted(analysis: Analysis) -> tuple[Model, ...]:
    """Models that could not be fitted; each says why."""
    return tuple(model for model in analysis.models if model.reason)


def of(found: Iterable[Fitted]) -> tuple[Estimate, ...]:
    """All estimates of several models, each once."""
    return tuple({estimate.id: estimate for each in found for estimate in each.estimates}.values())


def labels(found: Iterable[Fitted]) -> dict[str, str]:
    """Model id -> what tells it from the others: words of its law such as `compact`, placement, levels, state."""
    found = tuple(found)
    told: dict[str, str] = {}
    for each in found:
        like = [other for other in found if other.estimates[0].benchmark == each.estimates[0].benchmark]
        parts = [_kind(each.model)] if len({_kind(other.model) for other in found}) > 1 else []
        if len({_place(other) for other in like}) > 1:
            parts.append(_place(each))
        own = each.estimates[0]
        names = [
            name for name in choose.varied(e for other in like for e in other.estimates) if _fixed(each, name)
        ]
        told[each.model.id] = joined(", ", [*parts, choose.levels(own, names), each.state])
    return told


def kind(found: Fitted) -> str:
    """The word of its law: `compact`, `bandwidth`; empty where it has none."""
    return _kind(found.model)


def _kind(model: Model) -> str:
    word = model.id.split("/")[1] if "/" in model.id else ""
    return _KINDS.get(word, "")


def _place(found: Fitted) -> str:
    """Placement and memory policy, each where all estimates share it."""
    labels_ = {estimate.placement.label for estimate in found.estimates}
    policies = {words.memory(estimate) for estimate in found.estimates} - {""}
    shared = [*(labels_ if len(labels_) == 1 else ()), *(policies if len(policies) == 1 else ())]
    return joined(" · ", shared)


def _fixed(found: Fitted, name: str) -> bool:
    return len({choose.level(estimate, name) for estimate in found.estimates}) == 1


def _first(model: Model) -> float:
    return next(iter(model.parameters.values()))[0]
