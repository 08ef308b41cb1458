"""Functions of a BLAS library that programs call, by the names of its C interface."""

PRODUCT = ("cblas_dgemm", "cblas_sgemm")
#: The product of 16-bit numbers has two names: OpenBLAS's and MKL's.
BF16_PRODUCT = ("cblas_sbgemm", "cblas_gemm_bf16bf16f32")
#: Of LAPACK, which a BLAS library may lack.
LIBRARY_LU = ("dgetrf_",)
_OF_LU = ("cblas_{}gemm", "cblas_{}trsm", "cblas_{}trsv", "cblas_{}gemv", "cblas_i{}amax")
LU = tuple(dict.fromkeys((*PRODUCT, *(each.format("d") for each in _OF_LU))))
MIXED_LU = tuple(dict.fromkeys((*LU, *(each.format("s") for each in _OF_LU))))
