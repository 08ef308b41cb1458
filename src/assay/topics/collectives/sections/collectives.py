"""Collective operations among all ranks."""

from assay.model.text import text
from assay.report import operations

declared = operations.declared(
    64,
    "collective",
    text(
        "A parallel program waits for its slowest rank, so the time of a repetition is that of its slowest rank. "
        "The mean over the ranks is also shown."
    ),
)
