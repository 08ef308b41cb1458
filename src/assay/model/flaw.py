"""Why figures of a run are not to be used."""

from typing import Final, Literal

#: `misplaced`: a figure is not of the cpus asked; `misnamed`: a rule found that figures are not what they are
#: called, as messages on another network; `disturbed`: most launches were disturbed at every attempt, or too much
#: time was lost. Empty if they can be used.
Flaw = Literal["", "misplaced", "misnamed", "disturbed"]
#: Flaws of what the figures are called, not of their values.
OF_NAMES: Final = frozenset(("misplaced", "misnamed"))
