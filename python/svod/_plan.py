"""Plans and pools."""
from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from ctypes import byref, c_void_p
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy

from . import _abi
from ._abi import check, lib
from ._arrays import from_numbers
from ._errors import SvodError
from ._html import html_table, sized
from ._instance import Instance, Lent, lent_inputs
from ._outputs import Outputs
from ._profile import Profile


@dataclass(frozen=True)
class Port:
    """An input, output or state. `shape` has numbers, and texts where variables decide: (3, "n", "(n+1)//2")."""
    name: str
    dtype: str
    shape: tuple[int | str, ...]
    max_shape: tuple[int, ...]


@dataclass(frozen=True)
class Variable:
    """A size or number that a run is given: by the shapes of inputs, or by Instance.variables."""
    name: str
    min: int
    max: int
    is_fixed: bool


class Pool:
    """Threads that any number of instances share. 0 is one per processor."""

    def __init__(self, threads: int = 0) -> None:
        self.handle = lib.svod_pool_create(threads)
        if not self.handle:
            raise SvodError("the system grants no threads", "device-failure", "ask for fewer", 6)
        weakref.finalize(self, lib.svod_pool_free, self.handle)

    @property
    def threads(self) -> int:
        return int(lib.svod_pool_threads(self.handle))


class _Keeper:
    """Keeps the handle of a plan: for the plan, and for instances, which the plan keeps itself."""

    def __init__(self, handle: int | None) -> None:
        weakref.finalize(self, lib.svod_plan_free, handle)


class Plan:
    """Code and weights. Never changes; any number of instances on any number of threads share it."""

    def __init__(self, path: str | os.PathLike[str], verify_weights: bool | None = None, cpu: str | None = None) -> None:
        handle, error = c_void_p(), _abi.Error()
        options = _abi.LoadOptions({None: 0, True: 1, False: -1}[verify_weights], None if cpu is None else cpu.encode())
        check(lib.svod_plan_load(os.fsencode(path), byref(options), byref(handle), byref(error)), error)
        self.path = os.path.abspath(os.fsdecode(path))
        self._loaded_as = (self.path, verify_weights, cpu)
        self.handle = handle.value
        self.keeper = _Keeper(self.handle)
        info = _abi.PlanInfo()
        lib.svod_plan_get_info(self.handle, byref(info))
        self.name, self.triple, self.cpu = info.name.decode(), info.triple.decode(), info.cpu.decode()
        self.numerics, self.compiler = info.numerics.decode(), info.compiler.decode()
        self.kernels, self.steps, self.arena_bytes, self.constant_bytes = info.kernels, info.steps, info.arena_bytes, info.constant_bytes
        self.inputs = self._ports(_abi.INPUT, info.inputs)
        self.outputs = self._ports(_abi.OUTPUT, info.outputs)
        self.states = self._ports(_abi.STATE, info.states)
        self.variables = self._variables(info.variables)
        self.functions = self._names(lib.svod_plan_host_function)
        self.devices = self._names(lib.svod_plan_device)
        self.index_of = {name: index for index, name in enumerate(self.inputs)}
        self._idle: deque[Instance] = deque()  # whose operations are whole, also where threads have no common lock
        self._shared: dict[str, Instance] = {}
        self._of_thread = threading.local()  # the inputs that the last call of the thread had, and which call that was

    def _ports(self, kind: int, count: int) -> dict[str, Port]:
        ports = {}
        for index in range(count):
            t = _abi.Tensor()
            lib.svod_plan_tensor(self.handle, kind, index, byref(t))
            texts = [t.shape_texts[i].decode() for i in range(t.rank)]
            shape = tuple(int(text) if text.isdecimal() else text for text in texts)
            ports[t.name.decode()] = Port(t.name.decode(), t.dtype.decode(), shape, tuple(t.max_shape[: t.rank]))
        return ports

    def _variables(self, count: int) -> dict[str, Variable]:
        variables = {}
        for index in range(count):
            v = _abi.Variable()
            lib.svod_plan_variable(self.handle, index, byref(v))
            variables[v.name.decode()] = Variable(v.name.decode(), v.min, v.max, bool(v.fixed))
        return variables

    def _names(self, name_of: Any) -> tuple[str, ...]:
        names: list[str] = []
        while (name := name_of(self.handle, len(names))) is not None:
            names.append(name.decode())
        return tuple(names)

    def instance_bytes(self, threads: int = 1) -> int:
        """What an instance takes at the greatest sizes."""
        return int(lib.svod_plan_instance_bytes(self.handle, threads))

    def instance(self, pool: Pool | None = None, functions: Mapping[str, Callable[..., None]] | None = None,
                 profile: bool = False, devices: Mapping[str | None, Mapping[str, Any]] | None = None) -> Instance:
        """Memory, states and variables of one user. `functions` are those that `custom` of a graph calls by name. `devices` has
        options of devices by their name in the plan: {"gpu": {"number": 1}}; those under None are for all."""
        return Instance(self, pool, functions, profile, devices)

    def profile(self, /, *arrays: Any, repeat: int = 20, pool: Pool | None = None, functions: Mapping[str, Callable[..., None]] | None = None,
                devices: Mapping[str | None, Mapping[str, Any]] | None = None, **inputs: Any) -> Profile:
        """Times of the steps, of `repeat` runs after one that warms up. Inputs that are left out are random, where only numbers stand in their
        shapes."""
        run = self.instance(pool, functions, True, devices)
        given = lent_inputs(self, arrays, inputs)
        run.bind(*arrays, **{**random_inputs([port for name, port in self.inputs.items() if name not in given]), **inputs})
        run()
        run.reset_profile()
        for _ in range(repeat):
            run()
        return run.profile()

    def __call__(self, /, *arrays: Any, out: Any = None, **inputs: Any) -> Outputs:
        """Runs on one thread: inputs by position or name, outputs by name, in new arrays or in those of `out`, which is a mapping, has
        arrays in the order of the outputs, or is the array of the only one. Inputs that are left
        out stay those that the same thread gave before. Any number of threads may call at once: each call has an instance of those
        that the plan keeps for this, as many as there were calls at once. With states there is one instance, and calls take turns."""
        if self.states:
            return self._stateful()(*arrays, out=out, **inputs)
        lent = lent_inputs(self, arrays, inputs)
        try:
            run = self._idle.pop()
        except IndexError:
            run = Instance(self)
        try:
            return self._run(run, lent, out)
        finally:
            self._idle.append(run)

    def _run(self, run: Instance, lent: dict[str, Lent], out: Any) -> Outputs:
        """Everything is bound anew where the last call of this thread was on another instance, or failed."""
        last: tuple[dict[str, Lent], object] = getattr(self._of_thread, "last", ({}, None))
        given = {**last[0], **lent}
        if run.last_call is None or run.last_call is not last[1]:
            lent = given
            for name in self.inputs:
                if name not in lent:
                    raise SvodError(f"input '{name}' is not bound", "missing-input", f"this thread gave none so far: add {name}=")
        run.last_call = None
        outputs = run._run(lent, out)
        run.last_call = object()
        self._of_thread.last = (given, run.last_call)
        return outputs

    def _stateful(self) -> Instance:
        return self._shared.get("") or self._shared.setdefault("", Instance(self))

    def __reduce__(self) -> Any:
        """A plan is sent to another process by its path: it is loaded there."""
        return load, self._loaded_as

    def __copy__(self) -> Plan:
        return self

    def __deepcopy__(self, memo: Any) -> Plan:
        return self

    def __repr__(self) -> str:
        def text(ports: dict[str, Port]) -> str:
            return ", ".join(f"{p.name}: {_typed(p)}" for p in ports.values())
        return f"<svod.Plan {self.name}({text(self.inputs)}) -> {text(self.outputs)}>"

    def _repr_html_(self) -> str:
        bytes = f"{sized(self.constant_bytes)} of weights, {sized(self.arena_bytes)} for a run"
        facts = f"{self.kernels} kernels, {self.steps} steps, {bytes}; for {self.cpu}"
        rows = [(kind, port.name, _typed(port)) for kind, ports in (("input", self.inputs), ("output", self.outputs), ("state", self.states))
                for port in ports.values()]
        rows += [("variable", each.name, str(each.min) if each.is_fixed else f"{each.min} to {each.max}") for each in self.variables.values()]
        return f"<p><b>{escape(self.name)}</b>: {escape(facts)}</p>" + html_table(("", "name", "type"), rows, 3)


def _typed(port: Port) -> str:
    return f"{port.dtype}[{', '.join(map(str, port.shape))}]"


def random_inputs(ports: list[Port]) -> dict[str, Any]:
    """Numbers from 0 to 1, which integers and bools round."""
    generator = numpy.random.default_rng(0)
    arrays = {}
    for port in ports:
        if any(isinstance(each, str) for each in port.shape):
            raise SvodError(f"input '{port.name}' has the shape {port.shape}, whose sizes a run gives", "missing-input", f"add {port.name}=array")
        values = generator.random(port.max_shape)
        arrays[port.name] = from_numbers(values if port.dtype[0] in "fb" and port.dtype != "bool" else numpy.rint(values), port.dtype, port.name)
    return arrays


def load(path: str | os.PathLike[str], verify_weights: bool | None = None, cpu: str | None = None) -> Plan:
    """Reads, checks and links a plan: its folder, or a pack, which is the plan as one file. `verify_weights`: their checksum;
    by default where they are below 64 MiB. `cpu`: of a plan for several processors, the one whose code runs; by default the
    best for this machine."""
    return Plan(path, verify_weights, cpu)
