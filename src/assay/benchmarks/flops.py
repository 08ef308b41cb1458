"""Floating-point operations in registers, and the clock that the cores keep meanwhile."""

from assay.model.benchmark import Axis, Benchmark, Metric

#: Words of the fact `processor / vector instructions`, x86 and others.
_NEON = ("asimd", "neon")
_FUSED = ("fma", "fma4", *_NEON, "sve", "vsx", "vx")
#: One line of values in flight a thread, and a page to hold it.
_MEMORY_BYTES = 4096
#: An assumption for plans only.
_ITERATION_S = 1e-6

benchmark = Benchmark(
    name="flops",
    title="Floating-point peak",
    measures="how many floating-point operations the cores of a placement do in registers, and at which clock",
    source="A. Aburto, flops.c 2.0, 1992 (the operation mixes)",
    program="flops",
    kernels=("clock", "loaded-clock", "arithmetic"),
    axes=(
        Axis("format", "of the numbers, by IEEE 754", ("fp64", "fp32"), "fp64"),
        Axis(
            "width",
            "bits of an instruction, or one number",
            ("scalar", "128", "256", "512"),
            "scalar",
            needs={"128": ("sse2", *_NEON), "256": ("avx",), "512": ("avx512f",)},
        ),
        Axis(
            "mix",
            "which operations, and how many of each",
            ("add", "multiply", "fma", "divide", "sqrt", *(f"mix-{module}" for module in range(1, 9))),
            "add",
            needs={"fma": _FUSED},
        ),
    ),
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            "flops",
            "additions, subtractions, multiplications, divisions and roots, a fused one as two, of all cores",
            limit="flops-peak",
            kernels=("arithmetic",),
        ),
        Metric(
            "frequency",
            "Hz",
            "higher",
            "cycles",
            "integer adds of a chain in which each waits for the one before, a cycle each, of the slowest core",
            limit="clock",
            kernels=("clock", "loaded-clock"),
        ),
    ),
    memory_bytes=lambda _params: _MEMORY_BYTES,
    iteration_seconds=lambda _params: _ITERATION_S,
)
