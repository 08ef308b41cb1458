"""Fitted models of the median node with their estimates, as sections draw them."""

from collections.abc import Hashable, Iterable, Mapping
from functools import cache, cached_property
from typing import Generic, TypeVar

import msgspec

from assay.catalogue import topics
from assay.model.law import Model, Point, Unfitted
from assay.model.quantity import Quantity
from assay.model.result import Analysis, Estimate
from assay.model.text import joined
from assay.report import formatting, selection

M = TypeVar("M", bound=Model)


@cache
def _kinds() -> Mapping[str, str]:
    """Kinds of results -> the same as texts, from the declarations of laws."""
    declared = (getattr(module, "kinds", {}) for module in topics.modules("models").values())
    return {kind: words for kinds in declared for kind, words in kinds.items()}


class Fitted(msgspec.Struct, Generic[M], frozen=True, dict=True):
    """A model and the estimates it was fitted to, in the model's order."""

    model: M
    estimates: tuple[Estimate, ...]

    @property
    def state(self) -> str:
        """The machine state of the model, e.g. `near cores`; empty if one model covers all states."""
        return next((selection.state(estimate) for estimate in self.estimates if estimate.state), "")

    def estimate(self, point: Point) -> Estimate:
        """Return the estimate of a point."""
        return self._by_id[point.estimate]

    @cached_property
    def _by_id(self) -> dict[str, Estimate]:
        return {estimate.id: estimate for estimate in self.estimates}

    def is_like(self, other: "Fitted[M]") -> bool:
        """Whether another model is the same on other nodes: some figures of both differ only in the nodes."""
        if (self.model.kind, self.model.state) != (other.model.kind, other.model.state):
            return False
        return self.hosts != other.hosts and bool(self.figures & other.figures)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Nodes of its estimates."""
        return frozenset(host for estimate in self.estimates for host in estimate.placement.hosts)

    @cached_property
    def figures(self) -> frozenset[Hashable]:
        """The identities of its estimates without their nodes."""
        return frozenset(estimate.signature("hosts") for estimate in self.estimates)

    def shown(self, figure: Quantity) -> formatting.Shown:
        """Return a quantity of the model with its ends: an interval from six launches on, else the range."""
        return formatting.interval(figure, self.basis)

    def figure(self, point: Point) -> formatting.Shown:
        """Return a point with its ends."""
        estimate = self.estimate(point)
        return formatting.interval(point.value, formatting.basis(estimate))

    @property
    def unit(self) -> str:
        """The unit of its estimates."""
        return self.estimates[0].unit

    @property
    def basis(self) -> str:
        """The meaning of the ends of parameters and points."""
        return formatting.basis(self._weakest)

    @property
    def sure(self) -> bool:
        """Whether the ends of quantities and points claim confidence."""
        return self._weakest.basis == "interval"

    @property
    def _weakest(self) -> Estimate:
        return min(self.estimates, key=lambda estimate: estimate.launches)


def fitted(analysis: Analysis, law: type[M]) -> tuple[Fitted[M], ...]:
    """Return the fitted models of a law; if several nodes have the same model, that of the median node."""
    known = {estimate.id: estimate for estimate in analysis.estimates}
    nodes: list[list[Fitted[M]]] = []
    for model in analysis.models:
        if isinstance(model, law):
            found = Fitted(model, tuple(known[name] for name in model.of if name in known))
            same = next((group for group in nodes if all(map(found.is_like, group))), None)
            if same is None:
                nodes.append(same := [])
            same.append(found)
    return tuple(
        sorted(group, key=lambda each: each.model.headline.value if each.model.headline else 0.0)[len(group) // 2]
        for group in nodes
    )


def unfitted(analysis: Analysis) -> tuple[Unfitted, ...]:
    """Return the models that could not be fitted; each has a reason."""
    return tuple(model for model in analysis.models if isinstance(model, Unfitted))


def of(found: Iterable[Fitted[M]]) -> tuple[Estimate, ...]:
    """Return all estimates of several models, each once."""
    return tuple({estimate.id: estimate for each in found for estimate in each.estimates}.values())


def labels(found: Iterable[Fitted[M]]) -> dict[str, str]:
    """Return the labels of models by id: a word such as `compact`, placement, levels, state."""
    found = tuple(found)
    named: dict[str, str] = {}
    for each in found:
        like = [other for other in found if other.estimates[0].benchmark == each.estimates[0].benchmark]
        parts = [kind(each)] if len({kind(other) for other in found}) > 1 else []
        if len({_place(other) for other in like}) > 1:
            parts.append(_place(each))
        own = each.estimates[0]
        varied = selection.varied(e for other in like for e in other.estimates)
        names = [name for name in varied if len({selection.level(e, name) for e in each.estimates}) == 1]
        named[each.model.id] = joined(", ", [*parts, selection.levels(own, names), each.state])
    return named


def kind(found: Fitted[M]) -> str:
    """Return the word of the model: `compact`, `bandwidth`; empty if it has none."""
    return _kinds().get(found.model.kind, "")


def _place(found: Fitted[M]) -> str:
    """Placement and memory policy, each if all estimates share it."""
    labels_ = {estimate.placement.label for estimate in found.estimates}
    policies = {formatting.memory(estimate) for estimate in found.estimates} - {""}
    shared = [*(labels_ if len(labels_) == 1 else ()), *(policies if len(policies) == 1 else ())]
    return joined(" · ", shared)
