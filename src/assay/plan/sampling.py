"""Placement words with `*` on a large machine: only a sample of their places is measured."""

from assay.model.machine import Topology, allowed_cores
from assay.model.placement import parsed
from assay.plan import nodes
from assay.plan.cores import GROUPS
from assay.plan.placement import Place


def sampling_note(word: str, found: tuple[Place, ...], topology: Topology) -> str:
    """A note with the number of sampled places of a word with `*`; empty if all are measured."""
    cores = len(allowed_cores(topology))
    asked = parsed(word)
    possible = {"count": cores, "pair": cores * (cores - 1) // 2}.get(asked.form or "", 0) if asked.every else 0
    what = "pairs of cores" if asked.form == "pair" else "numbers of cores"
    return f"a sample: {len(found)} of {possible} {what} are measured" if len(found) < possible else ""


def sampled_places(
    word: str, memory: str, found: tuple[Place, ...], topology: Topology
) -> tuple[tuple[Place, ...], str]:
    """The places of a word that are measured with a memory word, and a note if they are a sample of all cells.

    With `bind:*`, groups of cores are combined with the memory of each node: with more than 16 nodes, both are
    sampled.
    """
    targets, sampled = nodes.memory_targets(topology), nodes.sample(topology)
    columns = set(targets) & set(sampled)
    if memory != "bind:*" or len(columns) == len(targets):
        return found, ""
    asked, rows = parsed(word), found
    if asked.group in GROUPS and asked.every:
        key = GROUPS[asked.group][1]
        near = {key(core) for core in allowed_cores(topology) if core.numa in sampled}
        rows = tuple(place for place in found if parsed(place.word).index in near)
    cells, possible = len(rows) * len(columns), len(found) * len(targets)
    return rows, f"a sample: {cells} of {possible} cells are measured"
