"""Kernels of codes: small programs that stand for what large ones do, solved whole and verified."""
