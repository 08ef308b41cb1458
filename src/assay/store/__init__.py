"""Run directories, which hold all that was measured, and an index of them that can be deleted at any time."""

from assay.model.folders import runs_folder
from assay.store.directory import RunDirectory, create, reopen
from assay.store.files import replacing, writing
from assay.store.folder import find, predicting, typed
from assay.store.imported import save_import
from assay.store.index import Listed, listing
from assay.store.packed import SUFFIX, is_packed, pack
from assay.store.reading import load

__all__ = [
    "SUFFIX",
    "Listed",
    "RunDirectory",
    "create",
    "find",
    "is_packed",
    "listing",
    "load",
    "pack",
    "predicting",
    "reopen",
    "replacing",
    "runs_folder",
    "save_import",
    "typed",
    "writing",
]
