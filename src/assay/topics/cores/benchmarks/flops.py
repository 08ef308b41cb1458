"""Floating-point operations in registers, and the clock that the cores keep meanwhile."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric

#: Words of the fact `processor / vector instructions`, of x86 and others.
_NEON = ("asimd", "neon")
_FUSED = ("fma", "fma4", *_NEON, "sve", "vsx", "vx")
#: A page, which holds one line of values per thread.
_MEMORY_BYTES = 4096
#: Operations of a unit of their own, which is slower by an amount that only a measurement shows.
OF_OWN_UNIT = frozenset({"divide", "sqrt"})
#: Time of a million divisions or roots, and of a million other operations: assumptions for plans only.
_SLOW_ITERATION_S, _ITERATION_S = 2e-3, 3e-4

_CYCLES = "dependent integer additions, one per cycle, of the slowest core"

benchmark = Benchmark(
    name="flops",
    title="Floating-point peak",
    measures="the rate of floating-point operations in registers on the cores of a placement, and their clock",
    source="A. Aburto, flops.c 2.0, 1992 (the operation mixes)",
    program="flops",
    kernels=("clock", "loaded-clock", "arithmetic"),
    axes=(
        Axis("format", "of the numbers, by IEEE 754", ("fp64", "fp32"), "fp64", role="precision", named=True),
        Axis(
            "width",
            "bits of an instruction, or one number",
            ("scalar", "128", "256", "512"),
            "scalar",
            role="instruction-width",
            named=True,
            needs={"128": ("sse2", *_NEON), "256": ("avx",), "512": ("avx512f",)},
        ),
        Axis(
            "mix",
            "which operations, and how many of each",
            ("add", "multiply", "fma", "divide", "sqrt", *(f"mix-{module}" for module in range(1, 9))),
            "add",
            role="instruction-mix",
            named=True,
            needs={"fma": _FUSED},
            level_roles={"fma": "fused"},
        ),
    ),
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            "flops",
            "additions, subtractions, multiplications, divisions and roots of all cores; a fused multiply-add "
            "counts as two",
            limit="flops-peak",
            kernels=("arithmetic",),
            role="flop-rate",
        ),
        Metric("frequency", "Hz", "higher", "cycles", _CYCLES, limit="clock", kernels=("clock",), role="clock"),
        Metric(
            "frequency",
            "Hz",
            "higher",
            "cycles",
            _CYCLES,
            limit="clock",
            kernels=("loaded-clock",),
            role="loaded-clock",
        ),
    ),
    memory_bytes=lambda _params, _placement: _MEMORY_BYTES,
    iteration_seconds=lambda params: _SLOW_ITERATION_S if params["mix"] in OF_OWN_UNIT else _ITERATION_S,
)
