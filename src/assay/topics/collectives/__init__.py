"""Collective operations of MPI."""
