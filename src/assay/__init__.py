"""Assay: find out what a cluster can really do."""

__version__ = "0.1.0"
