"""Comparisons inside a run: what was varied on purpose."""
