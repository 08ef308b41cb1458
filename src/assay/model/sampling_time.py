"""How long cases are sampled in a launch."""

#: Maximum seconds of sampling of a case without a budget, the default of the native programs.
UNLIMITED_S = 2.0
#: Minimum seconds of sampling of a case in a launch, whatever its weight. Cases of 1 ms gave 4.8 or 82 ns for the
#: same load by chance.
LEAST_S = 0.02
#: Seconds of the sentinel's fixed work in a run, at most a fifth of it warm-up, over so many launches or fewer.
#: The time that it loses to stops and slower moments shows how quiet the machine is. Where they take half of it,
#: pieces of work still have 1 s: a stop between two pieces is part of none.
_PROBED_S, _PROBES = 1.5, 7


def probe_s(launches: int) -> float:
    """Return the seconds of the sentinel in each of its launches. More launches than usual get no less each."""
    return _PROBED_S / min(max(1, launches), _PROBES)
