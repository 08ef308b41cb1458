"""Print which share of the statements of each room of `src/assay` tests ran: coverage_by_room.py DATA."""

import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from coverage import Coverage

SOURCES = Path(__file__).resolve().parents[1] / "src" / "assay"


class Counted(NamedTuple):
    """Statements of a room, and those that ran."""

    statements: int
    ran: int


def counted(data: Path, sources: Path = SOURCES) -> dict[str, Counted]:
    """Return the rooms in the order of their names, files beside them under the package's, and `all`."""
    coverage = Coverage(data_file=str(data))
    coverage.load()
    rooms = defaultdict[str, list[Counted]](list)
    for file in sorted(sources.rglob("*.py")):
        _, statements, _, missing, _ = coverage.analysis2(str(file))
        folders = file.relative_to(sources).parts[:-1]
        room = folders[0] if folders else sources.name
        rooms[room].append(Counted(len(statements), len(statements) - len(missing)))
    sums = {room: Counted(*map(sum, zip(*files, strict=True))) for room, files in sorted(rooms.items())}
    return {**sums, "all": Counted(*map(sum, zip(*sums.values(), strict=True)))}


def main() -> int:
    """Print the table."""
    print(f"{'room':20} {'statements':>10} {'ran':>7}")
    for room, (statements, ran) in counted(Path(sys.argv[1])).items():
        print(f"{room:20} {statements:10,} {100 * ran / max(1, statements):6.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
