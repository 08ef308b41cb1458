"""Names of networks, MPIs, compilers, libraries and systems in texts of others, and what they are names of."""

import re
from collections.abc import Mapping
from functools import lru_cache

from assay.model.measurand import FactorRole

_GBIT = 1e9 / 8
#: Names of networks in publications -> kind, and rate in B/s. The first that fits counts.
_NETWORKS: tuple[tuple[re.Pattern[str], str, float], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind, rate * _GBIT)
    for pattern, kind, rate in (
        (r"\bfast ethernet\b|100base", "Ethernet", 0.1),
        (r"\bgigabit ethernet\b|1000base|\bgbe\b|\b1gbe\b", "Ethernet", 1),
        (r"\b10 ?gbe\b|10gbase|\b10 gigabit ethernet\b", "Ethernet", 10),
        (r"\b(?:ib )?sdr\b", "InfiniBand", 10),
        (r"\bddr\b", "InfiniBand", 20),
        (r"\bqdr\b", "InfiniBand", 40),
        (r"\bfdr\b", "InfiniBand", 56),
        (r"\bedr\b", "InfiniBand", 100),
        (r"\bhdr\b", "InfiniBand", 200),
        (r"\bndr\b", "InfiniBand", 400),
        (r"\bsci\b", "SCI", 0),
        (r"\bmyrinet\b", "Myrinet", 0),
    )
)
#: Names in texts -> families; the first that fits counts.
_FAMILIES: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    role: tuple((re.compile(pattern, re.IGNORECASE), family) for pattern, family in families)
    for role, families in {
        "mpi": (
            (r"open ?mpi|hpc-?x", "openmpi"),
            (r"intel", "intel"),
            (r"cray", "cray"),
            (r"mpich|mvapich|scampi|parastation", "mpich"),
        ),
        "compiler": (
            (r"\bicp?x\b|oneapi|\bicc\b|\bifc\b|\bifort\b|intel", "intel"),
            (r"clang", "clang"),
            (r"nvc|pgi|nvidia", "nvidia"),
            (r"g\+\+|gcc|gnu|free software", "gcc"),
        ),
        "blas": (
            (r"openblas", "openblas"),
            (r"blis", "blis"),
            (r"\bmkl", "mkl"),
            (r"atlas", "atlas"),
        ),
        "system": (
            (r"linux|ubuntu|debian|red ?hat|centos|suse", "Linux"),
            (r"windows", "Windows"),
        ),
    }.items()
}


@lru_cache(maxsize=256)
def network_named(name: str) -> tuple[str, float]:
    """Kind and rate in B/s of the network that a text names; empty and 0 if none is known."""
    return next(((kind, rate) for pattern, kind, rate in _NETWORKS if pattern.search(name)), ("", 0.0))


@lru_cache(maxsize=256)
def family(role: FactorRole, name: str) -> str:
    """The family that a text names; empty if none is known."""
    return next((found for pattern, found in _FAMILIES.get(role, ()) if pattern.search(name)), "")
