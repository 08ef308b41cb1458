"""What was read of the records of a run, and which of its predictions count."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model.record import REFUSALS, Launch, Prediction
from assay.model.run import Chain, LaunchRecords, Refused
from assay.store.chain import Link


@dataclass
class Records:
    """The content of records.jsonl.

    Attributes:
        launches: committed, valid launches.
        damage: a sentence for each part that could not be read.
        lines: line numbers of launches and predictions; all other lines are unreadable or belong to no launch.
        columns: size of the part of the file of columns that launches need.
        predictions: predictions made before the first launch of their case.
        refused: predictions that do not count.
        chain: of the records.
        link: its end, from which it goes on.
    """

    launches: list[LaunchRecords] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    columns: int = 0
    predictions: list[Prediction] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    chain: Chain = field(default_factory=Chain)
    link: Link = field(default_factory=lambda: Link(""))

    def predict(self, record: Prediction, number: int) -> None:
        """Add the prediction of a line; one that is refused because of earlier lines counts as not made."""
        if why := record.refusal(self.predictions, [each.launch for each in self.launches]):
            self.damage.append(f"line {number}, a prediction of {record.of}, counts as not made: {REFUSALS[why]}")
            self.refused.append(Refused(record, why))
        else:
            self.predictions.append(record)
            self.lines.add(number)

    def refuse_from(self, line: int, commits: Mapping[int, Launch | Prediction]) -> None:
        """Refuse predictions that stand at a line or after it, or whose case has a launch there or after it.

        Where the end is missing, nobody knows which cases had launches there.
        """
        later = [record for number, record in commits.items() if number >= line]
        cases = {case for each in later if isinstance(each, Launch) for case in each.cases}
        whole = line in commits
        lost = [each for each in self.predictions if not whole or each in later or each.of in cases]
        self.refused += [Refused(each, "broken chain") for each in lost]
        self.predictions = [each for each in self.predictions if each not in lost]
        at = commits.get(line)
        what = f"the launch {at.id}" if isinstance(at, Launch) else f"a prediction of {at.of}" if at else "the end"
        since = max((number for number in commits if number < line), default=0) + 1
        counted = f"; predictions that cannot count any more: {len(lost)}" if lost else ""
        of = f"of lines {since} to {line}, one or more" if since < line else "it"
        self.damage.append(
            f"the chain of records is broken at line {line}, {what}: {of} is not as it was written, or lines "
            f"before are missing{counted}"
        )
