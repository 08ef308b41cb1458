"""Names of the roles that declarations give to figures and axes."""

from collections.abc import Mapping

#: Words of declarations; `schema/roles.json` has those of Assay with their meanings. The sets are open: a package
#: may add its own, for its own limits, models and rules. The engine asks for a role, never for a benchmark's name.
Role = str
AxisRole = str
LevelRole = str

#: A rate -> rates of problems that do most of their work at it, which are shown first.
WORK_OF: Mapping[Role, frozenset[Role]] = {"matrix-rate": frozenset(("system-rate", "mixed-system-rate"))}
#: Rates of work for which cores share memory or messages. Operations in registers share nothing.
WORK_RATES: frozenset[Role] = frozenset(
    (
        "memory-rate",
        "matrix-rate",
        "system-rate",
        "mixed-system-rate",
        "stencil-rate",
        "sparse-rate",
        "solution-rate",
    )
)
#: Axes that figures of other tools have, too, under the names of our own declarations.
USUAL_AXES: Mapping[AxisRole, str] = {
    "message-size": "bytes",
    "size-offset": "offset",
    "idle-gap": "gap",
    "message-pattern": "pattern",
    "operation-name": "operation",
}

#: The usual names of the axes that make a size together.
SIZE_AXES = (USUAL_AXES["message-size"], USUAL_AXES["size-offset"])


def usual_axes(*roles: AxisRole) -> tuple[str, ...]:
    """The usual names of the axes of these roles."""
    return tuple(USUAL_AXES[role] for role in roles)
