"""Linear algebra: what a BLAS library makes of the cores."""
