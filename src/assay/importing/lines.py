"""Read a text line by line, with the command before each line; reading continues after a torn part."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from assay.importing.command import Command, CommandLine, commands_of
from assay.importing.text import RefusedError, Text, is_number, lines
from assay.model.imported import Skipped, Table

#: Maximum characters of a line: the time of patterns may grow with their square.
LONGEST = 4000
#: Marks within this number of lines belong to one table.
_HEADING_LINES = 8


class Format(NamedTuple):
    """The output of one tool.

    Attributes:
        name: name on the command line.
        marks: pattern of lines that only this tool prints: it identifies the format and ends torn rows.
        read: reads every table of a text, in order.
        programs: names of its executables.
    """

    name: str
    marks: re.Pattern[str]
    read: Callable[["Lines"], Iterator[Table | Skipped]]
    programs: re.Pattern[str]


class Lines:
    """The lines of a text for the reader of one format.

    Attributes:
        text: the text.
        test: program that printed rows without a heading; empty if not given.
        named: whether the user named the format.
        found: whether a table of the format was read.
        command: command line before the current line, if it can have started the format's program.
        starts: whether such a command line begins at the current line.
    """

    def __init__(self, text: Text, form: Format, others: Sequence[Format] = (), test: str | None = None) -> None:
        self.text = text
        self.test = test or ""
        self.named = test is not None
        self.found = False
        self.command = CommandLine()
        self.starts = False
        self._form = form
        self._others = others
        self._at = 0
        self._begun = -_HEADING_LINES
        self._reread = 0
        self._commands = commands_of(text.lines)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Number and text of each line that was not read yet; the text of too long lines is empty."""
        while self._at < len(self.text.lines):
            self._at += 1
            line = self.text.lines[self._at - 1]
            line = line if len(line) <= LONGEST else ""
            command = self._commands.get(self._at)
            self.starts = command is not None and self._can_be(command)
            if command and self.starts:
                self.command = command.parsed
            if self._form.marks.search(line) and not 0 < self._at - self._begun <= _HEADING_LINES:
                self._begun = self._at
            yield self._at, line
        self._at = self._reread = len(self.text.lines)

    def tables(self) -> Iterator[Table | Skipped]:
        """Every complete table, and each torn part."""
        torn: RefusedError | None = None
        while self._at < len(self.text.lines) or not self.text.lines:
            begun, torn = self._at, None
            try:
                for table in self._form.read(self):
                    self._begun, self.found = -_HEADING_LINES, True
                    yield table
            except RefusedError as error:
                torn = error
            if torn:
                yield self._skip(torn)
            if torn is None or torn.line == 0:
                return
            self._at = max(self._at, begun + 1)

    def _skip(self, torn: RefusedError) -> Skipped:
        """The torn part; reading continues after its rows."""
        first = self._begun if 0 < self._begun < torn.line else torn.line
        last = torn.line
        if torn.line < self._at and self._at > self._reread:  # found at a line that begins something else
            self._at = self._reread = self._at - 1
        else:
            while self._at < len(self.text.lines) and self._is_row(self._at + 1):
                self._at += 1
                last = self._at
        self._begun = -_HEADING_LINES
        return Skipped(self.text.name, lines(first, last) if torn.line else "", torn.reason, torn.line)

    def _is_row(self, number: int) -> bool:
        line = self.text.lines[number - 1]
        words = line.split(maxsplit=1)
        return bool(words) and is_number(words[0]) and not self._form.marks.search(line)

    def _can_be(self, command: Command) -> bool:
        """Whether a command can have started the tool: it starts no other tool, and is not silent."""
        program = command.parsed.program
        if self._form.programs.search(program):
            return True
        return not command.silent and not any(each.programs.search(program) for each in self._others if program)
