"""Libraries that programs load at launch: those of PyPI wheels and of the system."""

import ctypes.util
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from assay.model.toolchain import Library

BLAS = "blas"
#: Package of PyPI -> name, and where its library lies below the package.
_WHEELS = {
    "scipy_openblas32": ("openblas", "lib/libscipy_openblas*.so"),
    "scipy_openblas64": ("openblas64", "lib/*.so"),
}
#: Name -> files below a folder of libraries; distributions keep each build of a BLAS in a folder of its own.
_SYSTEM = {
    "openblas-pthread": ("openblas-pthread/libopenblas.so.0",),
    "openblas-openmp": ("openblas-openmp/libopenblas.so.0", "libopenblaso.so.0"),
    "openblas-serial": ("openblas-serial/libopenblas.so.0",),
    "openblas-system": ("libopenblas.so.0", "libopenblasp.so.0"),
    "blis-pthread": ("blis-pthread/libblis.so.4",),
    "blis-openmp": ("blis-openmp/libblis.so.4",),
    "blis-serial": ("blis-serial/libblis.so.4",),
    "blis-system": ("libblis.so.4", "libblis.so"),
    "mkl": ("libmkl_rt.so.2", "libmkl_rt.so"),
    "armpl": ("libarmpl_lp64_mp.so",),
    "libsci": ("libsci_gnu_mp.so",),
}
_FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/local/lib", "/opt/intel/oneapi/mkl/latest/lib")


def find_libraries(role: str = BLAS) -> tuple[Library, ...]:
    """The libraries of a role that are here, each file once; those of wheels first. Only `blas` is known."""
    found: dict[str, Library] = {}
    for each in (*_of_wheels(), *_of_system()) if role == BLAS else ():
        found.setdefault(str(Path(each.file).resolve()), each)
    return tuple(found.values())


def _of_wheels() -> Iterator[Library]:
    for package, (name, pattern) in _WHEELS.items():
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for file in sorted(Path(folder).glob(pattern))[:1]:
                yield Library(name, BLAS, str(file), f"PyPI {package.replace('_', '-')}")


def _of_system() -> Iterator[Library]:
    folders = [folder for pattern in _FOLDERS for folder in sorted(Path("/").glob(pattern[1:]))]
    for name, files in _SYSTEM.items():
        for folder in folders:
            if file := next((path for each in files if (path := folder / each).is_file()), None):
                yield Library(name, BLAS, str(file), str(folder))
                break
        else:
            if loaded := ctypes.util.find_library(files[-1].removeprefix("lib").partition(".so")[0]):
                yield Library(name, BLAS, loaded, "the loader's path")
