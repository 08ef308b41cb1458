"""Whether a BLAS library chose a kernel that does not fit the processor: it is slow, without a message."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import arm
from assay.model import places
from assay.model.grouping import grouped
from assay.model.plan import UNSET, Effect, Experiment, Factor
from assay.model.result import Estimate, Finding
from assay.model.text import cli, text
from assay.model.units import format_quantity
from assay.topics.linear_algebra.products import library

#: A good kernel reaches more than this share of the peak in registers with large matrices; a kernel for vectors of
#: half the width at most half.
_LEAST = 0.6
#: From this order on, a product shows the kernel and not the overhead of a call.
_LARGE = 1000
#: Another kernel that is faster by this factor is the right one.
_FASTER = 1.1


class _Choice(NamedTuple):
    """The setting of a library that chooses its kernel.

    Attributes:
        library: its own name.
        variable: environment variable.
        kernels: required instructions and name of each kernel, the widest instructions first.
    """

    library: str
    variable: str
    kernels: tuple[tuple[frozenset[str], str], ...]


_WIDE, _MIDDLE = frozenset({"avx512f", "avx512dq", "avx512bw", "avx512vl"}), frozenset({"avx2", "fma"})
_CHOICES = (
    _Choice("OpenBLAS", "OPENBLAS_CORETYPE", ((_WIDE, "SkylakeX"), (_MIDDLE, "Haswell"))),
    _Choice("BLIS", "BLIS_ARCH_TYPE", ((_WIDE, "skx"), (_MIDDLE, "haswell"))),
    _Choice("MKL", "MKL_ENABLE_INSTRUCTIONS", ((_WIDE, "AVX512"), (_MIDDLE, "AVX2"))),
)


def _assess(evidence: Evidence) -> Iterable[Finding]:
    products = [
        each for each in evidence.having("matrix-rate") if each.limit and int(each.params.get("n", 0)) >= _LARGE
    ]
    if not products:
        why = text("No product of large matrices was measured with the peak in registers of the same cores")
        yield rule.not_assessed(why, cli("run", "dgemm"))
    for group in grouped(products, _key).values():
        yield from _finding(evidence, max(group, key=lambda each: each.median or 0.0))


def _key(e: Estimate) -> tuple[object, ...]:
    return e.placement.label, e.placement.hosts, str(e.params.get("format")), tuple(e.factors.items())


def _finding(evidence: Evidence, best: Estimate) -> Iterable[Finding]:
    """Yield a finding where the best product is slower than with a good kernel."""
    peak = best.limit.value if best.limit else 0.0
    fastest = best.max or 0.0  # of all samples: other programs slow some of them, a wrong kernel slows all
    if not peak or best.value is None or fastest / peak >= _LEAST:
        return
    loaded = library(best)
    wanted = _wanted(evidence, best, loaded)
    rivals = (
        text("its threads share a core, or other programs use the cores"),
        text("the clock falls under wide instructions"),
    )
    yield rule.finding(
        best.id,
        claim=text(
            "The product of {library} reaches {rate} on {label}, {share} % of the peak in registers, with its "
            "kernel {kernel}. That kernel may not fit the processor.",
            library=loaded.get("version", "blas"),
            rate=format_quantity(best.value.value, best.unit),
            label=places.cores(best.placement.label),
            share=f"{100 * best.value.value / peak:.0f}",
            kernel=loaded.get("kernel", "?"),
        ),
        severity="problem",
        status="candidate",
        evidence=(best.id,),
        numbers=numbers(fastest / peak, _LEAST),
        statistic=text("fastest sample of the product / peak {share}", share=f"{fastest / peak:.2f}"),
        rivals=rivals,
        next=text("take the other kernel: `{command}`", command=f"export {wanted[0]}={wanted[1]}")
        if wanted
        else "",
        experiment=_experiment(best, wanted) if wanted else None,
    )


def _wanted(evidence: Evidence, best: Estimate, loaded: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the variable and value that choose the library's kernel for the widest instructions.

    None where it has that kernel already, or its setting is not known.
    """
    machine = machine_of(best, evidence.run.machines)
    known = machine.fact("processor", "vector instructions").value if machine else None
    has = frozenset(known) if isinstance(known, tuple | list) else frozenset()
    for choice in _CHOICES:
        if loaded.get("library") == choice.library and choice.variable not in best.factors:
            name = next((kernel for needs, kernel in choice.kernels if needs <= has), "")
            taken = name.casefold() == loaded.get("kernel", "").casefold()
            # Some libraries take the kernel's number, and report it.
            return (choice.variable, loaded.get(f"number of {name}", name)) if name and not taken else None
    return None


def _experiment(best: Estimate, wanted: tuple[str, str]) -> Experiment:
    variable, level = wanted
    setting = f"{variable}={level}"
    faster = Effect(
        what=text("the product with {setting} / without it", setting=setting),
        arms=(arm(best, 1, level), arm(best, -1, UNSET)),
        border=_FASTER,
        side="above",
        holds=text("it is faster with {setting}: the library chose the wrong kernel", setting=setting),
        fails=text("it is no faster with {setting}: the kernel is not the cause", setting=setting),
        excludes=True,
    )
    question = text("whether the product is faster with {setting}: then the kernel is wrong", setting=setting)
    return Experiment(question, (faster,), Factor(variable, (UNSET, level), "variable"))


rule = Rule(
    "wrong_kernel",
    text("Does the BLAS library's kernel fit the processor?"),
    text("fastest product of large matrices / peak in registers < {least}", least=f"{_LEAST}"),
    _assess,
)
