"""Plans of svod in Python: compile a graph, load the plan, run it on arrays.

    import numpy, svod

    plan = svod.compile("alike.svod")
    result = plan(image=numpy.zeros((3, 1, 8, 8), numpy.float32))
    result["alike"], result["nearest"]

A plan is loaded once and shared, by threads and by forked processes; an Instance has the memory, the states and the variables of
one user of it. Arrays come as anything that has `__dlpack__` or `__array__`, and go as numpy arrays, which have both.
docs/python.md has more.
"""
from . import ops
from ._compile import compile
from ._errors import SvodError, SvodNote, SvodWarning
from ._graph import Graph
from ._inspect import Inspection, inspect
from ._instance import Instance
from ._outputs import Outputs
from ._plan import Plan, Pool, Port, Variable, load
from ._profile import Profile, ProfileRecord
from ._text import Size
from ._trace import Traced, trace
from ._tune import tune
from ._values import Value

__version__ = "0.1.0"
__all__ = ["Graph", "Inspection", "Instance", "Outputs", "Plan", "Pool", "Port", "Profile", "ProfileRecord", "Size", "SvodError", "SvodNote",
           "SvodWarning", "Traced", "Value", "Variable", "compile", "inspect", "load", "ops", "trace", "tune"]
