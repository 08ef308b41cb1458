"""The LINPACK benchmark of order 100 and 1000, on one core, in Fortran."""

from assay.topics.linear_algebra import linpack

benchmark = linpack.benchmark("linpack_fortran")
