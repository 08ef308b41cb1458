"""Checks of a plan: an error, with the command that helps, if the requested cases cannot be measured here."""

from collections.abc import Collection

from assay.catalogue import application_files
from assay.model.errors import UnfitEnvironmentError
from assay.model.left_out import LeftOut
from assay.plan.cases import Selection
from assay.plan.spots import Setting


def check(name: str, subject: str, selection: Selection, setting: Setting) -> None:
    """UnfitEnvironmentError if a study has no case of its subject, or a factor no case at one of its levels."""
    if not any(subject in {"", case.benchmark} for case in selection.cases):
        lacking = [f"{left.request}: {left.reason}" for left in selection.left_out]
        reasons = "; ".join(lacking[:1] if subject else lacking) or "it asks for nothing"
        more_nodes = any(left.nodes for left in selection.left_out)
        otherwise = _installing(name, setting.options.absent)
        smaller = next((_smaller(name, left) for left in selection.left_out if left.instead), otherwise)
        option = next((left.option for left in selection.left_out if left.option), "")
        option = option or ("--hosts 'node[01-02]'" if more_nodes else "")
        remedy = f"assay run {name} {option}" if option else smaller
        raise UnfitEnvironmentError(f"nothing of study '{name}' can be measured here", why=reasons, remedy=remedy)
    for factor in setting.factors:
        found = {case.factors[factor.name] for case in selection.cases if factor.name in case.factors}
        for level in factor.levels:
            if level not in found:
                why = "; ".join(dict.fromkeys(left.reason for left in selection.left_out if level in left.levels))
                raise UnfitEnvironmentError(
                    f"no case of study '{name}' can have {factor.name}={level} here",
                    why=why or f"none of its benchmarks has {factor.name}",
                    remedy=f"leave the level out, or see assay plan {name}",
                )


def _installing(name: str, absent: Collection[str]) -> str:
    """The command that installs the first of the absent applications, or names the place of its program."""
    stored = dict(application_files.everywhere())
    needs = [(each, application_files.read(stored[each]).needs) for each in absent if each in stored]
    for each, need in needs:
        if need.debian or need.pypi:
            return f"assay build --application {each}"
    return (
        f"assay run {name} --peer DIR   # a folder with {needs[0][1].program}" if needs else "assay list studies"
    )


def check_sizes(name: str, chosen: Collection[str], selection: Selection) -> None:
    """UnfitEnvironmentError if all values that a user chose for a benchmark are too large for the memory.

    Args:
        name: name of the study.
        chosen: benchmarks for which the user chose values.
        selection: cases that can be measured.
    """
    measured = {case.benchmark for case in selection.cases}
    for left in selection.left_out:
        if left.benchmark in chosen and left.benchmark not in measured:
            remedy = _smaller(name, left) if left.instead else f"assay plan {name}"
            raise UnfitEnvironmentError(f"{left.request} does not fit the memory", why=left.reason, remedy=remedy)


def _smaller(name: str, left: LeftOut) -> str:
    """The command for the largest problem that fits."""
    return f"assay plan {name} --set {left.benchmark}.{left.instead}"
