"""What a run holds that tells whose machine it was, as the types of its records declare it.

A field says it by its type: `host: Host`. An entry of a dictionary (a fact, a variable of the environment) says it
by its name in `NAMED`.
"""

from typing import Annotated, Literal

import msgspec

Kind = Literal["", "host", "domain", "user", "login", "path", "address", "hardware", "identifier", "job", "other"]

#: Where the metadata of a type has its kind.
PRIVATE = "private"

Host = Annotated[str, msgspec.Meta(extra={PRIVATE: "host"})]
Identifier = Annotated[str, msgspec.Meta(extra={PRIVATE: "identifier"})]
FilePath = Annotated[str, msgspec.Meta(extra={PRIVATE: "path"})]

#: Name of a fact, a variable, or an information in hwloc's description -> what it tells.
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
