"""Plans of svod in Python: compile a graph, load the plan, run it on arrays.

    import numpy, svod

    plan = svod.compile("alike.svod")
    result = plan(image=numpy.zeros((3, 1, 8, 8), numpy.float32))
    result["alike"], result["nearest"]

A plan is loaded once and shared, by threads and by forked processes; an Instance has the memory, the states and the variables of
one user of it. Arrays come as anything that has `__dlpack__` or `__array__`, and go as numpy arrays, which have both.
docs/python.md has more.
"""
from ._compile import compile
from ._errors import SvodError, SvodNote, SvodWarning
from ._instance import Instance, ProfileRecord
from ._plan import Plan, Pool, Port, Variable, load
from ._tune import tune

__version__ = "0.1.0"
__all__ = ["Instance", "Plan", "Pool", "Port", "ProfileRecord", "SvodError", "SvodNote", "SvodWarning", "Variable", "compile", "load",
           "tune"]
