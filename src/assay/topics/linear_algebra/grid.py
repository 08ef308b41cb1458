"""The grid P x Q of the ranks that solve a system."""


def grid_of(ranks: int, p: int = 0, q: int = 0) -> tuple[int, int]:
    """Return P and Q: a missing one follows from the other; without both the grid is as square as can be, P <= Q.

    A P or Q that does not divide the ranks is returned unchanged, and the program refuses it.
    """
    if not p and not q:
        p = max(each for each in range(1, int(ranks**0.5) + 1) if ranks % each == 0)
    if not p:
        p = max(1, ranks // q)
    return p, q or max(1, ranks // p)
