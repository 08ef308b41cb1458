"""Devices that OpenCL finds, asked by a process of its own: drivers are large, take long and may crash.

Run as a module it prints them as JSON.
"""

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from assay.model import other_programs

NAME, SOURCE = "OpenCL", "clGetDeviceInfo"
_LIBRARY = "libOpenCL.so.1"
_PATIENCE_S = 20.0
_EVERY_TYPE = 0xFFFFFFFF
_PLATFORM_NAME = 0x0902
_DEVICE_NAME, _DRIVER_VERSION, _EXTENSIONS, _UUID = 0x102B, 0x102D, 0x1030, 0x106A
_PCI_BUS_INFO = 0x410F  # cl_khr_pci_bus_info: domain, bus, device, function
_NV_BUS, _NV_SLOT, _NV_DOMAIN = 0x4008, 0x4009, 0x400A  # cl_nv_device_attribute_query
_NO_LETTER = re.compile(rb"[^A-Za-z0-9._:+-]")


class OpenClDevice(msgspec.Struct, frozen=True):
    """A device as its driver describes it.

    Attributes:
        name: of the device.
        platform: name of the platform.
        driver: version of the driver.
        address: PCI address; empty if it is on no bus, or its driver does not tell.
        uuid: of `cl_khr_device_uuid`, as 32 hexadecimal digits; empty if its driver does not tell.
        number: 1 for the second device of this name, and so on.
    """

    name: str
    platform: str
    driver: str
    address: str = ""
    uuid: str = ""
    number: int = 0

    @property
    def word(self) -> str:
        """Its identity if it is on no bus and has no UUID: `opencl:NAME`, as native programs make it."""
        word = _NO_LETTER.sub(b"_", f"opencl:{self.name}".encode()).decode()
        return f"{word}+{self.number}" if self.number else word


def found(root: Path = Path("/")) -> tuple[OpenClDevice, ...]:
    """The devices of all platforms; none without a driver for OpenCL, or if it fails."""
    folder = Path(os.environ.get("OCL_ICD_VENDORS", root / "etc/OpenCL/vendors"))
    if not any(folder.glob("*.icd")) and folder.suffix != ".icd":
        return ()
    python_path = os.pathsep.join(filter(None, sys.path))
    listed = other_programs.output((sys.executable, "-m", __name__), _PATIENCE_S, PYTHONPATH=python_path)
    try:
        return msgspec.json.decode(listed, type=tuple[OpenClDevice, ...])
    except msgspec.DecodeError:
        return ()


class _Library:
    """The calls of OpenCL that describe devices."""

    def __init__(self) -> None:
        self._calls = ctypes.CDLL(_LIBRARY)

    def platforms(self) -> Sequence[int]:
        return self._handles(self._calls.clGetPlatformIDs)

    def devices(self, platform: int) -> Sequence[int]:
        every = ctypes.c_uint64(_EVERY_TYPE)
        return self._handles(
            lambda room, handles, count: self._calls.clGetDeviceIDs(
                ctypes.c_void_p(platform), every, room, handles, count
            )
        )

    def platform_text(self, platform: int) -> str:
        return _text(self._answer(self._calls.clGetPlatformInfo, platform, _PLATFORM_NAME))

    def answer(self, device: int, question: int) -> bytes:
        """The bytes of an answer; none if the driver does not know the question."""
        return self._answer(self._calls.clGetDeviceInfo, device, question)

    @staticmethod
    def _handles(call: Callable[..., int]) -> Sequence[int]:
        count = ctypes.c_uint()
        if call(0, None, ctypes.byref(count)):
            return ()
        handles = (ctypes.c_void_p * count.value)()
        return [] if call(count, handles, None) else [handle for handle in handles if handle]

    @staticmethod
    def _answer(call: Callable[..., int], handle: int, question: int) -> bytes:
        size = ctypes.c_size_t()
        if call(ctypes.c_void_p(handle), question, ctypes.c_size_t(0), None, ctypes.byref(size)):
            return b""
        content = ctypes.create_string_buffer(size.value)
        return b"" if call(ctypes.c_void_p(handle), question, size, content, None) else content.raw


def _text(content: bytes) -> str:
    return content.rstrip(b"\0").decode(errors="replace").strip()


def _numbers(content: bytes) -> list[int]:
    return [int.from_bytes(content[at : at + 4], sys.byteorder) for at in range(0, len(content), 4)]


def _address(library: _Library, device: int, extensions: str) -> str:
    if "cl_khr_pci_bus_info" in extensions and (content := library.answer(device, _PCI_BUS_INFO)):
        domain, bus, slot, function = _numbers(content)
        return f"{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"
    if "cl_nv_device_attribute_query" not in extensions:
        return ""
    answers = [_numbers(library.answer(device, each)) for each in (_NV_DOMAIN, _NV_BUS, _NV_SLOT)]
    domain, bus, slot = (answer[0] if answer else 0 for answer in answers)
    return f"{domain:04x}:{bus:02x}:{slot >> 3:02x}.{slot & 7:x}"


def _asked(library: _Library) -> Iterator[OpenClDevice]:
    counts: dict[str, int] = {}
    for platform in library.platforms():
        for device in library.devices(platform):
            name = _text(library.answer(device, _DEVICE_NAME))
            extensions = _text(library.answer(device, _EXTENSIONS))
            uuid = library.answer(device, _UUID).hex() if "cl_khr_device_uuid" in extensions else ""
            yield OpenClDevice(
                name,
                library.platform_text(platform),
                _text(library.answer(device, _DRIVER_VERSION)),
                _address(library, device, extensions),
                uuid,
                counts.get(name, 0),
            )
            counts[name] = counts.get(name, 0) + 1


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(list(_asked(_Library()))).decode())
