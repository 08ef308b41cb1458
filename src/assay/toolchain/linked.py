"""The shared libraries with which a program is linked, as the loader finds them."""

import os
import re
from pathlib import Path

from assay.model import other_programs

_FOUND = re.compile(r"^\s*\S+ => (/\S+)", re.MULTILINE)
#: Folders of libraries below a prefix; the starter looks so deep.
_BELOW = ("lib", "lib/*", "usr/lib", "usr/lib/*", "usr/lib/*/*")
_PATH = "LD_LIBRARY_PATH"


def libraries(program: str, prefix: str = "") -> tuple[str, ...]:
    """The libraries of a program, as paths without links; none for a script.

    Args:
        program: path of the program.
        prefix: folder whose libraries have priority; empty for none.
    """
    folders = [str(folder) for each in _BELOW for folder in sorted(Path(prefix).glob(each))] if prefix else []
    path = os.pathsep.join((*folders, *filter(None, (os.environ.get(_PATH),))))
    command = ("env", f"{_PATH}={path}", "ldd", program) if path else ("ldd", program)
    listed = other_programs.output(command)
    return tuple(dict.fromkeys(str(Path(each).resolve()) for each in _FOUND.findall(listed)))
