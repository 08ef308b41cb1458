"""Names of networks, MPIs, compilers, libraries and systems in texts of others, and what they are names of."""

import re
from functools import lru_cache
from pathlib import Path

import msgspec

from assay.model.measurand import FactorRole

_GBIT = 1e9 / 8


class _Names(msgspec.Struct, frozen=True):
    """What `families.toml` has: pattern, kind and rate of networks; role -> pattern and family."""

    networks: tuple[tuple[str, str, float], ...]
    families: dict[str, tuple[tuple[str, str], ...]]


_NAMES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Names)


@lru_cache(maxsize=256)
def network_named(name: str) -> tuple[str, float]:
    """Kind and rate in B/s of the network that a text names; empty and 0 if none is known."""
    fitting = (
        (kind, rate * _GBIT) for pattern, kind, rate in _NAMES.networks if re.search(pattern, name, re.IGNORECASE)
    )
    return next(fitting, ("", 0.0))


@lru_cache(maxsize=256)
def family(role: FactorRole, name: str) -> str:
    """The family that a text names; empty if none is known."""
    known = _NAMES.families.get(role, ())
    return next((found for pattern, found in known if re.search(pattern, name, re.IGNORECASE)), "")
