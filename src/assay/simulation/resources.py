"""Devices and folders of simulated ranks, as programs read them back."""

import re
from pathlib import PurePosixPath

from assay.model.resource import OpenedDevice, OpenedFolder
from assay.simulation.law import FaultKind
from assay.simulation.request import Request

_ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_UUID = re.compile(r"(?:GPU|MIG)-.+")
#: Bytes of the file system of every simulated folder; its type is not known.
_CAPACITY = 2**40
_ELSEWHERE = OpenedDevice("opencl:another_device")


def opened_devices(request: Request, rank: int, fault: FaultKind | None) -> tuple[OpenedDevice, ...] | None:
    """The devices that a rank opened; None if it was asked for none, or does not report them."""
    if not request.devices or fault == "unreported":
        return None
    words = request.devices[:: -1 if fault == "swapped" else 1][rank % len(request.devices)]
    if fault == "other-device" and rank == 0:
        return (_ELSEWHERE,) * len(words)
    return tuple(map(_opened, words))


def opened_folder(request: Request, rank: int, fault: FaultKind | None) -> OpenedFolder | None:
    """The folder in which a rank worked; None if it was asked for none, or does not report it."""
    if not request.folders or fault == "unreported":
        return None
    asked = request.folders[rank % len(request.folders)]
    path = str(PurePosixPath(asked) / f"assay-{rank:06d}")
    return OpenedFolder(path, asked, "", "", _CAPACITY, _CAPACITY, removed=True)


def _opened(word: str) -> OpenedDevice:
    if _ADDRESS.fullmatch(word):
        return OpenedDevice(address=word)
    return OpenedDevice(uuid=word) if _UUID.fullmatch(word) else OpenedDevice(word)
