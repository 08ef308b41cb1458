"""The tables of checks: `checks.toml` has what each is of, why it matters, and what corrects it."""

from pathlib import Path

import msgspec

from assay.model.facts import Check, Fact, Verdict


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One check of a table.

    Attributes:
        name: what is checked.
        why: what it means for measurements.
        reads: section and name of the facts of a machine; the check is `unknown` if the first one is unknown.
        good: values of the first fact without a warning, for a check without a function; empty for any.
        remedy: of a warning or a problem for which its function states no other.
        needed: remedy if Assay needs the fact: then an unknown fact is a problem, because measuring is impossible.
        partly: whether it is only a warning then, because some studies can be measured.
    """

    name: str
    why: str
    reads: tuple[tuple[str, str], ...] = ()
    good: tuple[str, ...] = ()
    remedy: str = ""
    needed: str = ""
    partly: bool = False

    def check(self, verdict: Verdict, read: tuple[Fact, ...] = ()) -> Check:
        """The check of what was judged, with the remedy of the table if the verdict has none."""
        remedy = verdict.remedy or self.remedy if verdict.state in {"warning", "problem"} else ""
        return verdict._replace(remedy=remedy).check(self.name, self.why, read)


_FILE = Path(__file__).with_name("checks.toml")
_TABLES = msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, tuple[Rule, ...]])
MACHINE, NODE, RANK = (_TABLES[each] for each in ("machine", "node", "rank"))
