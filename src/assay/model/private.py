"""Private parts of a run: what identifies a site, a machine or a user, declared by the types of its records.

A field is private by its type: `host: Host`. An entry of a dictionary (a fact, an environment variable) is private
by its name in `NAMED`.
"""

from typing import Annotated, Literal

import msgspec

Kind = Literal["", "host", "domain", "user", "login", "path", "address", "hardware", "identifier", "job", "other"]

#: Key of the kind in the metadata of a type.
PRIVATE = "private"

Host = Annotated[str, msgspec.Meta(extra={PRIVATE: "host"})]
Identifier = Annotated[str, msgspec.Meta(extra={PRIVATE: "identifier"})]
FilePath = Annotated[str, msgspec.Meta(extra={PRIVATE: "path"})]

#: Name of a fact, an environment variable or an hwloc info -> what it reveals.
NAMED: dict[str, Kind] = {
    "host name": "host",
    "HostName": "host",
    "boot id": "identifier",
    "cgroup": "path",
    "LinuxCgroup": "path",
    "busiest processes": "other",
    **dict.fromkeys(("DMIProductUUID", "DMIProductSerial", "DMIBoardSerial", "DMIChassisSerial"), "identifier"),
    **dict.fromkeys(("DMIBoardAssetTag", "DMIChassisAssetTag", "SerialNumber"), "identifier"),
    **dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "ASSAY_JOB"), "job"),
    "SLURM_JOB_USER": "user",
    **dict.fromkeys(("SLURM_JOB_UID", "SLURM_JOB_GID", "SLURM_JOB_GROUP", "SLURM_JOB_ACCOUNT"), "other"),
    **dict.fromkeys(("SLURM_JOB_PARTITION", "SLURM_JOB_QOS", "SLURM_JOB_RESERVATION"), "other"),
}
