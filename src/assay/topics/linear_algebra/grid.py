"""The grid P x Q of the ranks that solve a system."""


def grid_of(ranks: int, p: int = 0, q: int = 0) -> tuple[int, int]:
    """P and Q of so many ranks: what is not given follows, as square as can be and wider than high.

    Where P or Q is given that the ranks do not fill, the program refuses what is returned here.
    """
    if not p and not q:
        p = max(each for each in range(1, int(ranks**0.5) + 1) if ranks % each == 0)
    if not p:
        p = max(1, ranks // q)
    return p, q or max(1, ranks // p)
