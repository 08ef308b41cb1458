"""Figures of the members of a group that one estimate sums up."""
