"""Compilers, their flags, and the cache of native programs that they built."""

from assay.toolchain.building import build, builds_folder
from assay.toolchain.cmake import tools
from assay.toolchain.compilers import find, get, with_flags

__all__ = ["build", "builds_folder", "find", "get", "tools", "with_flags"]
