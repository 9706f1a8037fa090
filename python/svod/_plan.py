"""Plans, instances and pools."""
from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from ctypes import byref, c_int64, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Callable

import numpy

from . import _abi
from ._abi import check, lib
from ._arrays import PACKED, aligned_empty, dtype_of, from_any, pack, unpack
from ._devices import from_device, is_on_device, options_array
from ._errors import SvodError


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


@dataclass(frozen=True)
class ProfileRecord:
    """Times of one step, since the instance was made or Instance.reset_profile()."""
    name: str
    kind: str
    step: int
    calls: int
    busy_ns: int
    wall_ns: int
    bytes: int
    flops: int


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


class Plan:
    """Code and weights. Never changes; any number of instances on any number of threads share it."""

    def __init__(self, path: str | os.PathLike[str], verify_weights: bool | None = None, cpu: str | None = None) -> None:
        handle, error = c_void_p(), _abi.Error()
        options = _abi.LoadOptions({None: 0, True: 1, False: -1}[verify_weights], None if cpu is None else cpu.encode())
        check(lib.svod_plan_load(os.fsencode(path), byref(options), byref(handle), byref(error)), error)
        self.handle = handle.value
        weakref.finalize(self, lib.svod_plan_free, self.handle)
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
        self._own: Instance | None = None

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

    def __call__(self, **inputs: Any) -> dict[str, numpy.ndarray]:
        """Runs on an instance that the plan keeps for this, on one thread; states keep their contents."""
        if self._own is None:
            self._own = Instance(self)
        return self._own(**inputs)

    def __repr__(self) -> str:
        def text(ports: dict[str, Port]) -> str:
            return ", ".join(f"{p.name}: {p.dtype}[{', '.join(map(str, p.shape))}]" for p in ports.values())
        return f"<svod.Plan {self.name}({text(self.inputs)}) -> {text(self.outputs)}>"


def load(path: str | os.PathLike[str], verify_weights: bool | None = None, cpu: str | None = None) -> Plan:
    """Reads, checks and links a plan: its folder, or a pack, which is the plan as one file. `verify_weights`: their checksum;
    by default where they are below 64 MiB. `cpu`: of a plan for several processors, the one whose code runs; by default the
    best for this machine."""
    return Plan(path, verify_weights, cpu)


class _Variables(MutableMapping[str, int]):
    """Values of variables; those that were not set are what the shapes of bound inputs make them."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._names = list(instance.plan.variables)

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise KeyError(name)
        return self._names.index(name)

    def __getitem__(self, name: str) -> int:
        value, error = c_int64(), _abi.Error()
        check(lib.svod_get_variable(self._instance.handle, self._index(name), byref(value), byref(error)), error)
        return value.value

    def __setitem__(self, name: str, value: int) -> None:
        error = _abi.Error()
        check(lib.svod_set_variable(self._instance.handle, self._index(name), value, byref(error)), error)

    def __delitem__(self, name: str) -> None:
        lib.svod_clear_variable(self._instance.handle, self._index(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _States(Mapping[str, numpy.ndarray]):
    """The memory of states, by name. An array keeps the instance that has it. Of a state that a device holds it is a copy that
    cannot be written; assigning to a name writes all of any state."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def __getitem__(self, name: str) -> numpy.ndarray:
        ports = self._instance.plan.states
        port, index = ports[name], list(ports).index(name)
        data = lib.svod_state_data(self._instance.handle, index)
        if data is None:
            copy = numpy.empty(port.max_shape, dtype_of(port.dtype))
            error = _abi.Error()
            check(lib.svod_read_state(self._instance.handle, index, copy.ctypes.data, copy.nbytes, byref(error)), error)
            copy.flags.writeable = False
            return copy
        array = _view(data, port.dtype, port.max_shape)
        weakref.finalize(array if array.base is None else array.base, lambda _: None, self._instance)
        return array

    def __setitem__(self, name: str, value: Any) -> None:
        port, index = self._instance.plan.states[name], list(self._instance.plan.states).index(name)
        whole = numpy.ascontiguousarray(numpy.broadcast_to(value, port.max_shape), dtype_of(port.dtype))
        error = _abi.Error()
        check(lib.svod_write_state(self._instance.handle, index, whole.ctypes.data, whole.nbytes, byref(error)), error)

    def __iter__(self) -> Iterator[str]:
        return iter(self._instance.plan.states)

    def __len__(self) -> int:
        return len(self._instance.plan.states)


class Instance:
    """One user of a plan; for one thread at a time. `instance(x=..)` binds inputs, runs, and returns the outputs.

    Inputs that are left out stay those of the call before. `variables` is a mapping by name, `states` has arrays that
    are the memory of the states: what is written there is what the next run reads."""

    def __init__(self, plan: Plan, pool: Pool | None = None, functions: Mapping[str, Callable[..., None]] | None = None,
                 profile: bool = False, devices: Mapping[str | None, Mapping[str, Any]] | None = None) -> None:
        self.plan, self._pool = plan, pool
        self._raised: list[BaseException] = []
        entries = [_abi.HostEntry(name.encode(), self._callback(function), None) for name, function in (functions or {}).items()]
        self._entries = (_abi.HostEntry * len(entries))(*entries)
        chosen = options_array(devices)
        options = _abi.InstanceOptions(pool.handle if pool else None, self._entries, len(entries), int(profile), 0, None, chosen, len(chosen))
        handle, error = c_void_p(), _abi.Error()
        check(lib.svod_instance_create(plan.handle, byref(options), byref(handle), byref(error)), error)
        self.handle = handle.value
        # What the runtime may still touch while it frees lives as long as the handle.
        weakref.finalize(self, _free, self.handle, (plan, pool, self._entries))
        self._bound: dict[str, Any] = {}
        self._results: dict[str, Any] = {}
        self.variables = _Variables(self)
        self.states = _States(self)

    def _callback(self, function: Callable[..., None]) -> Any:
        raised = self._raised  # not self: the runtime's table must not keep the instance

        def called(_: Any, call: Any) -> int:
            try:
                arrays = [_argument(call.contents.arguments[i]) for i in range(call.contents.argument_count)]
                function(*arrays, *call.contents.values[: call.contents.value_count])
                return 0
            except BaseException as error:  # nothing may leave by way of C
                raised.append(error)
                return 1
        return _abi.HostFunction(called)

    # --- Binding

    def bind(self, **inputs: Any) -> None:
        """Gives inputs by name. Memory that fits is used in place, by every run until the next binding."""
        for name, value in inputs.items():
            port = self.plan.inputs.get(name)
            if port is None:
                raise SvodError(f"the plan has no input '{name}'", "unknown-port", f"it has {', '.join(self.plan.inputs) or 'none'}")
            if is_on_device(value):
                self._bind_on_device(name, port, value)
                continue
            array = from_any(value, port.dtype, name)
            memory = pack(array, PACKED[port.dtype]) if port.dtype in PACKED else array
            shape = (c_uint64 * max(1, array.ndim))(*array.shape)
            error, index = _abi.Error(), list(self.plan.inputs).index(name)
            check(lib.svod_bind_input(self.handle, index, port.dtype.encode(), shape, array.ndim, memory.ctypes.data, byref(error)), error)
            self._bound[name] = memory

    def _on_any_device(self, bind: Callable[[int, Any], int]) -> None:
        """A value can be on one device of the plan: the one that it is only copied to and from."""
        error = _abi.Error()
        if not any(bind(device, byref(error)) == 0 for device in range(1, len(self.plan.devices))):
            check(error.exit_code or bind(0, byref(error)), error)

    def _bind_on_device(self, name: str, port: Port, value: Any) -> None:
        array, index = from_device(value, name), list(self.plan.inputs).index(name)
        shape = (c_uint64 * max(1, len(array.shape)))(*array.shape)
        self._on_any_device(lambda device, error: lib.svod_bind_device_input(
            self.handle, index, device, array.dtype.encode(), shape, len(array.shape), array.data, error))
        self._bound[name] = array

    def shape(self, output: str) -> tuple[int, ...]:
        """Of an output, for the inputs and variables that are bound."""
        if output not in self.plan.outputs:
            raise SvodError(f"the plan has no output '{output}'", "unknown-port", f"it has {', '.join(self.plan.outputs) or 'none'}")
        return self._shape(list(self.plan.outputs).index(output))[0]

    def _shape(self, index: int) -> tuple[tuple[int, ...], int]:
        rank = len(list(self.plan.outputs.values())[index].shape)
        shape, size, error = (c_uint64 * max(1, rank))(), c_uint64(), _abi.Error()
        check(lib.svod_get_shape(self.handle, _abi.OUTPUT, index, shape, byref(size), byref(error)), error)
        return tuple(shape[:rank]), size.value

    def _bind_outputs(self, out: Mapping[str, numpy.ndarray]) -> None:
        for name in out:
            if name not in self.plan.outputs:
                raise SvodError(f"the plan has no output '{name}'", "unknown-port", f"it has {', '.join(self.plan.outputs)}")
        self._results = {}
        for index, port in enumerate(self.plan.outputs.values()):
            shape, size = self._shape(index)
            if port.name in out and is_on_device(out[port.name]):
                array = from_device(out[port.name], port.name)
                if array.shape != shape or array.dtype != port.dtype:
                    raise SvodError(f"output '{port.name}' is {port.dtype}{list(shape)}, and cannot lie in {array.dtype}{list(array.shape)}",
                                    "input-mismatch", "give an array of this shape on the device")
                self._on_any_device(lambda device, error: lib.svod_bind_device_output(
                    self.handle, index, device, array.data, array.nbytes, error))
                self._results[port.name], self._bound[f"output {port.name}"] = out[port.name], array
                continue
            if port.name in out:
                memory = out[port.name]
                is_good = memory.flags.c_contiguous and memory.flags.writeable and memory.dtype == dtype_of(port.dtype)
                if not is_good or memory.shape != shape or port.dtype in PACKED:
                    raise SvodError(f"output '{port.name}' is {port.dtype}{list(shape)}, and cannot lie in {memory.dtype}{list(memory.shape)}",
                                    "input-mismatch", "give a writable C-contiguous array of this shape, or none")
            else:
                memory = aligned_empty((size,), "u1") if port.dtype in PACKED else aligned_empty(shape, dtype_of(port.dtype))
            error = _abi.Error()
            check(lib.svod_bind_output(self.handle, index, memory.ctypes.data, memory.nbytes, byref(error)), error)
            self._results[port.name] = memory

    def _outputs(self) -> dict[str, numpy.ndarray]:
        results = {}
        for index, (name, memory) in enumerate(self._results.items()):
            dtype = self.plan.outputs[name].dtype
            results[name] = unpack(memory, dtype, self._shape(index)[0]) if dtype in PACKED else memory
        for name in [n for n in results if n.endswith(".length") and n[:-7] in results]:  # only the run could tell
            results[name[:-7]] = results[name[:-7]][tuple(slice(int(n)) for n in results[name].reshape(-1))]
        self._results = {}
        return results

    # --- Running

    def __call__(self, *, out: Mapping[str, numpy.ndarray] | None = None, **inputs: Any) -> dict[str, numpy.ndarray]:
        """Outputs by name, in new arrays, or in those of `out`."""
        self.bind(**inputs)
        self._bind_outputs(out or {})
        error = _abi.Error()
        self._finished(lib.svod_execute(self.handle, None, byref(error)), error)
        return self._outputs()

    def submit(self, *, out: Mapping[str, numpy.ndarray] | None = None, **inputs: Any) -> None:
        """Begins a run on the threads of the pool; wait() ends it. In between the instance is the run's."""
        self.bind(**inputs)
        self._bind_outputs(out or {})
        error = _abi.Error()
        check(lib.svod_submit(self.handle, None, byref(error)), error)

    def wait(self) -> dict[str, numpy.ndarray]:
        """The outputs of a submitted run."""
        error = _abi.Error()
        self._finished(lib.svod_wait(self.handle, byref(error)), error)
        return self._outputs()

    @property
    def is_done(self) -> bool:
        """Whether wait() would return at once."""
        return bool(lib.svod_poll(self.handle))

    def stop(self) -> None:
        """Makes the run in progress, or the next one, end early; from any thread."""
        lib.svod_stop(self.handle)

    def _finished(self, exit_code: int, error: _abi.Error) -> None:
        raised, self._raised[:] = list(self._raised), []
        if raised:
            raise raised[0]
        check(exit_code, error)

    @property
    def device_texts(self) -> tuple[str, ...]:
        """What the devices are, and which code they run."""
        texts: list[str] = []
        while (text := lib.svod_instance_device_text(self.handle, len(texts))) is not None:
            texts.append(text.decode())
        return tuple(texts)

    def reset_states(self) -> None:
        """Gives all states their first contents again."""
        lib.svod_reset_states(self.handle)

    # --- Profile

    def profile(self) -> list[ProfileRecord]:
        """One record per step; empty without profile=True."""
        records = []
        for index in range(lib.svod_profile_count(self.handle)):
            r = _abi.Record()
            lib.svod_profile_get(self.handle, index, byref(r))
            records.append(ProfileRecord(r.name.decode(), r.kind.decode(), r.step, r.calls, r.busy_ns, r.wall_ns, r.bytes, r.flops))
        return records

    def reset_profile(self) -> None:
        lib.svod_profile_reset(self.handle)


def _free(handle: int, kept: object) -> None:
    lib.svod_instance_free(handle)
    del kept


def _view(data: int | None, dtype: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """Memory of the runtime as an array; elements of a state have a byte each where they would share one."""
    kind = dtype_of(dtype)
    size = int(numpy.prod(shape, dtype=numpy.int64)) * kind.itemsize
    if not data or size == 0:
        return numpy.empty(shape, kind)
    return numpy.frombuffer((ctypes.c_char * size).from_address(data), kind).reshape(shape)


def _argument(argument: _abi.HostArgument) -> numpy.ndarray:
    array = _view(argument.data, argument.dtype.decode(), tuple(argument.shape[: argument.rank]))
    array.flags.writeable = bool(argument.written)
    return array
