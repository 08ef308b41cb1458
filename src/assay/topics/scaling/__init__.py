"""Scaling: what more cores and nodes make of a rate of work, and why no more."""
