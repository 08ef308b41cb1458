"""Comparisons: levels and words inside one run, in the same blocks; or the same cases of two runs."""

from assay.analyse.comparisons import conditions
from assay.analyse.comparisons.pairing import CARD, CORES, FAR, MEMORY, PROGRAM, own_node, pairs

__all__ = ["CARD", "CORES", "FAR", "MEMORY", "PROGRAM", "conditions", "own_node", "pairs"]
