"""What a rank is given beside cpus and memory: devices, and a folder. Each is asked for, opened and read back."""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Annotated

import msgspec

from assay.model.machine import Device
from assay.model.private import PRIVATE, FilePath
from assay.model.text import text

Uuid = Annotated[str, msgspec.Meta(extra={PRIVATE: "hardware"})]


class OpenedDevice(msgspec.Struct, frozen=True):
    """A device as a program reads it back from what it opened; parts that it cannot read are empty.

    Attributes:
        name: `opencl:NAME`: the identity of a device that is on no bus and has no UUID.
        address: PCI address, `0000:81:00.0`.
        uuid: as its driver prints it, `GPU-...` or `MIG-...`.
    """

    name: str = ""
    address: str = ""
    uuid: Uuid = ""

    def __str__(self) -> str:
        """The most exact known part."""
        return self.uuid or self.address or self.name or "a device without a name"


class GivenDevice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A device that a rank is given.

    Attributes:
        name: name in the facts of the machine.
        address: PCI address; of a partition, that of its card. Empty for a device that is not on PCI.
        uuid: as its driver gives it; empty if unknown.
        near: its memory node; None if unknown.
        partition: MIG profile, `1g.10gb`, if it is a part of a card; its UUID is then its identity.
        allowed: what limits the devices that may be used here, `CUDA_VISIBLE_DEVICES=1`; empty if nothing does.
    """

    name: str
    address: str = ""
    uuid: Uuid = ""
    near: int | None = None
    partition: str = ""
    allowed: str = ""

    @property
    def word(self) -> str:
        """Its identity, as a word of the command line of a native program."""
        return self.uuid if self.partition else self.address or self.uuid or self.name

    def kind(self, devices: Iterable[Device]) -> str:
        """What kind of device it is: the profile of a partition, else the model, else its name."""
        facts = next((device.facts for device in devices if device.name == self.name), {})
        model = facts.get("model")
        return self.partition or (str(model.value) if model and model.known else self.name)

    def is_same(self, opened: OpenedDevice) -> bool:
        """Whether a program opened this device: what both know is equal, and both know its identity."""
        uuids = _of_one_form(self.uuid, opened.uuid)
        known = ((self.address, opened.address), *(((self.uuid, opened.uuid),) if uuids else ()))
        if any(asked and read and asked != read for asked, read in known):
            return False
        return self.word in {opened.address, opened.uuid, opened.name}


def _of_one_form(one: str, other: str) -> bool:
    """Whether two UUIDs can be compared: the kernel prints `GPU-...` for a card that OpenCL gives 16 bytes."""
    return one.partition("-")[0] == other.partition("-")[0] and len(one) == len(other)


class GivenFolder(msgspec.Struct, frozen=True, omit_defaults=True):
    """A folder that ranks are given: each makes a folder of its own in it, and removes that at the end.

    Attributes:
        path: the folder.
        file_system: type of its file system, `ext4`; empty if unknown, as on another node.
        capacity_bytes: size of the file system; 0 if unknown.
        free_bytes: what this user may write there; 0 if unknown.
    """

    path: FilePath
    file_system: str = ""
    capacity_bytes: int = 0
    free_bytes: int = 0


class OpenedFolder(msgspec.Struct, frozen=True):
    """The folder of a rank, as the program reads it back.

    Attributes:
        path: the rank's own folder.
        asked: folder in which it lies.
        file_system: type of the file system, `ext4`; empty if unknown.
        source: what is mounted there, `/dev/nvme0n1p2`.
        capacity_bytes: size of the file system.
        free_bytes: what this user may write there.
        removed: whether it was removed at the end, with its content.
    """

    path: FilePath
    asked: FilePath
    file_system: str
    source: FilePath
    capacity_bytes: int
    free_bytes: int
    removed: bool

    @property
    def mount(self) -> str:
        """`ext4 /dev/nvme0n1p2`: type and source of its file system."""
        return f"{self.file_system} {self.source}".strip()


def wrong_devices(asked: tuple[GivenDevice, ...], opened: tuple[OpenedDevice, ...] | None) -> str:
    """How the devices that a rank opened differ from those it was given; empty if they do not."""
    words = ", ".join(device.word for device in asked)
    if not opened:
        return text("was asked for {devices} and reports no device that it opened", devices=words)
    if len(asked) != len(opened) or not all(map(GivenDevice.is_same, asked, opened)):
        return text(
            "was asked for {devices} and opened {opened}", devices=words, opened=", ".join(map(str, opened))
        )
    return ""


def wrong_folder(asked: GivenFolder, opened: OpenedFolder | None) -> str:
    """How the folder of a rank differs from the one it was given; empty if it does not."""
    if opened is None:
        return text("was asked for the folder {folder} and reports none", folder=asked.path)
    if opened.asked != asked.path or PurePath(opened.path).parent != PurePath(asked.path):
        return text("was asked for the folder {folder} and used {used}", folder=asked.path, used=opened.asked)
    if asked.file_system and opened.file_system and asked.file_system != opened.file_system:
        return text(
            "was asked for {folder} on {asked}, and found {opened} there",
            folder=asked.path,
            asked=asked.file_system,
            opened=opened.file_system,
        )
    return ""
