"""Stencil codes: the Himeno benchmark, and dry air that moves in a plane."""
