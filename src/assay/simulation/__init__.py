"""The simulated machine: programs of known laws, on a clock that tests can set. It knows no benchmark by name.

What a topic's programs do there, the topic says in its `simulate.py`.
"""

from assay.simulation.law import Burst, Fault, FaultKind, Law, Link, SlowPart
from assay.simulation.machine import SimulatedMachine
from assay.simulation.programs import Program

__all__ = ["Burst", "Fault", "FaultKind", "Law", "Link", "Program", "SimulatedMachine", "SlowPart"]
