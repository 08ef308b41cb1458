"""Which columns of tables are figures: set to the right, and read as numbers."""

from collections.abc import Collection, Iterable

from assay.report.section import Table

#: Headings of columns with words, of tables of systems, speed-ups, ranks, messages and comparisons.
WORDS = frozenset({
    "Application", "Placement", "Call", "Version", "Checked", "Result", "Problem", "Fastest", "Over",
    "As fast, within the interval", "Least node time", "Product", "Library", "Kernel", "Solution", "Part", "What",
    "Levels", "Basis", "Verdict", "Between", "By", "Operation", "While computing", "Plane", "Prediction",
    "From", "Before", "Method", "Where", "Fits", "Stated", "Held",
})  # fmt: skip
#: The serial fraction is a figure of a speed-up, and a word of its course.
COURSE = "Best placements, and what the serial fraction shows"


def named(table: Table) -> set[str]:
    """The headings of its columns of figures."""
    return {str(each) for at, each in enumerate(table.columns) if at in table.numeric}


def set_right(tables: Iterable[Table], levels: Collection[str] = ()) -> bool:
    """Whether in each table exactly the columns that hold no words are figures; `levels`: columns of levels."""
    checked = 0
    for table in tables:
        assert max(table.numeric, default=0) < len(table.columns), table.caption
        words = WORDS.union(levels) | ({"Serial fraction"} if str(table.caption) == COURSE else set())
        assert named(table) == set(map(str, table.columns)) - words, table.caption
        checked += 1
    return checked > 0
