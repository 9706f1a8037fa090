"""One user of a plan."""
from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import byref, c_uint64, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from . import _abi
from ._abi import check, lib
from ._arrays import PACKED, aligned_empty, dtype_of, for_output, from_any, pack, unpack
from ._devices import OWN_STREAM, from_device, is_on_device, options_array
from ._dlpack import Exported
from ._errors import SvodError
from ._mappings import States, Variables, view
from ._outputs import Outputs, as_tensor, is_of_torch, named_outputs
from ._profile import Profile, ProfileRecord

if TYPE_CHECKING:
    from ._plan import Plan, Pool

_process = object()  # another one in a forked child, where a lock may have been held by a thread that is not there
_calling = threading.local()  # instances whose functions this thread is in


def _forked() -> None:
    global _process
    _process = object()


os.register_at_fork(after_in_child=_forked)


@dataclass(frozen=True)
class Lent:
    """Memory for an input, which stays there as long as this does."""
    data: int
    dtype: bytes
    shape: Any  # of uint64
    rank: int
    is_on_device: bool
    is_of_torch: bool
    keeps: Any


def lent_inputs(plan: Plan, arrays: Sequence[Any], inputs: Mapping[str, Any], stream: int | None = None) -> dict[str, Lent]:
    """Arguments of a call, by name: those without one are the first inputs in the order of the plan. The run is in `stream`."""
    names = list(plan.inputs)
    if len(arrays) > len(names):
        raise SvodError(f"the plan has {len(names)} inputs, and {len(arrays)} are given", "unknown-port", f"it has {', '.join(names) or 'none'}")
    lent: dict[str, Lent] = {}
    for name, value in [*zip(names, arrays), *inputs.items()]:
        port = plan.inputs.get(name)
        if port is None:
            raise SvodError(f"the plan has no input '{name}'", "unknown-port", f"it has {', '.join(names) or 'none'}")
        if name in lent:
            raise SvodError(f"input '{name}' is given twice, by position and by name", "usage", "leave one of them out", 2)
        if is_on_device(value):
            there = from_device(value, name, stream)
            lent[name] = Lent(there.data, there.dtype.encode(), _numbers(there.shape), len(there.shape), True, is_of_torch(value), there)
            continue
        array = from_any(value, port.dtype, name)
        memory = pack(array, port.dtype, name) if port.dtype in PACKED else array
        lent[name] = Lent(memory.ctypes.data, port.dtype.encode(), _numbers(array.shape), array.ndim, False, is_of_torch(value), memory)
    return lent


def _numbers(shape: tuple[int, ...]) -> Any:
    return (c_uint64 * max(1, len(shape)))(*shape)


class Instance:
    """One user of a plan. `instance(x)` or `instance(x=..)` binds inputs, runs, and returns the outputs.

    Inputs that are left out stay those of the call before. `variables` is a mapping by name, `states` has arrays that
    are the memory of the states: what is written there is what the next run reads. Threads may share an instance: their
    calls take turns, each of them whole. What takes several calls, as setting a variable and then running, is for one."""

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
        self.handle = handle.value or 0
        self._locks: dict[object, Any] = {}
        self._bound: dict[str, Lent] = {}
        self._submitted: dict[str, Any] = {}  # results of the run, by output
        self._stream: int | None = None
        self._given: dict[str, Any] = {}  # by output: what the last enqueued run fills
        self._is_given = False  # whether that is bound, and fits
        self._in_flight: list[Any] = []  # what enqueued runs use
        self.last_call: object = None  # whose inputs are bound, for Plan
        # What the runtime may still touch while it frees lives as long as the handle.
        weakref.finalize(self, _free, self.handle, (plan.keeper, pool, self._entries, self._bound, self._submitted, self._in_flight))
        self.variables = Variables(self)
        self.states = States(self)

    def __reduce__(self) -> Any:
        raise TypeError("an svod.Instance has memory of this process: send its plan, and call plan.instance() there")

    def _lock(self) -> Any:
        """What is held while the runtime is asked. Errors: from a function that this instance calls it would wait for ever."""
        if any(each is self._raised for each in getattr(_calling, "instances", ())):
            raise SvodError("a function of the plan uses the instance that calls it", "usage", "let it have an instance of its own", 2)
        return self._locks.get(_process) or self._locks.setdefault(_process, threading.Lock())

    def _callback(self, function: Callable[..., None]) -> Any:
        raised = self._raised  # not self: the runtime's table must not keep the instance

        def called(_: Any, call: Any) -> int:
            within = _calling.__dict__.setdefault("instances", [])
            within.append(raised)
            try:
                arrays = [_argument(call.contents.arguments[i]) for i in range(call.contents.argument_count)]
                function(*arrays, *call.contents.values[: call.contents.value_count])
                return 0
            except BaseException as error:  # nothing may leave by way of C
                raised.append(error)
                return 1
            finally:
                within.pop()
        return _abi.HostFunction(called)

    # --- Binding

    def bind(self, /, *arrays: Any, **inputs: Any) -> None:
        """Gives inputs by position or name. Memory that fits is used in place, by every run until the next binding."""
        lent = lent_inputs(self.plan, arrays, inputs, self._stream)
        with self._lock():
            self._bind(lent)

    def _bind(self, lent: Mapping[str, Lent]) -> None:
        self._is_given = self._is_given and not lent
        for name, memory in lent.items():
            error, index = _abi.Error(), self.plan.index_of[name]
            if memory.is_on_device:
                self._on_any_device(lambda device, error: lib.svod_bind_device_input(
                    self.handle, index, device, memory.dtype, memory.shape, memory.rank, memory.data, error))
            else:
                check(lib.svod_bind_input(self.handle, index, memory.dtype, memory.shape, memory.rank, memory.data, byref(error)), error)
            self._bound[name] = memory

    def _on_any_device(self, bind: Callable[[int, Any], int]) -> None:
        """A value can be on one device of the plan: the one that it is only copied to and from."""
        error = _abi.Error()
        if not any(bind(device, byref(error)) == 0 for device in range(1, len(self.plan.devices))):
            check(error.exit_code or bind(0, byref(error)), error)

    def shape(self, output: str) -> tuple[int, ...]:
        """Of an output, for the inputs and variables that are bound."""
        self._check_output(output)
        with self._lock():
            return self._shape(list(self.plan.outputs).index(output))[0]

    def _check_output(self, name: str) -> None:
        if name not in self.plan.outputs:
            raise SvodError(f"the plan has no output '{name}'", "unknown-port", f"it has {', '.join(self.plan.outputs) or 'none'}")

    def _shape(self, index: int) -> tuple[tuple[int, ...], int]:
        rank = len(list(self.plan.outputs.values())[index].shape)
        shape, size, error = (c_uint64 * max(1, rank))(), c_uint64(), _abi.Error()
        check(lib.svod_get_shape(self.handle, _abi.OUTPUT, index, shape, byref(size), byref(error)), error)
        return tuple(shape[:rank]), size.value

    def _bind_outputs(self, out: Mapping[str, Any]) -> dict[str, Any]:
        """By name what the caller gets, and the memory that the run fills."""
        for name in out:
            self._check_output(name)
        self._is_given = False
        torch = self._torch(out.values())
        results = {}
        for index, (name, port) in enumerate(self.plan.outputs.items()):
            shape, size = self._shape(index)
            if name in out and is_on_device(out[name]):
                results[name] = out[name], self._bind_output_on_device(index, name, shape, out[name])
                continue
            if name in out:
                memory = for_output(out[name], port.dtype, shape, name)
            else:
                memory = aligned_empty((size,), "u1") if port.dtype in PACKED else aligned_empty(shape, dtype_of(port.dtype))
            error = _abi.Error()
            check(lib.svod_bind_output(self.handle, index, memory.ctypes.data, memory.nbytes, byref(error)), error)
            new = memory if torch is None or port.dtype in PACKED else as_tensor(torch, memory, port.dtype)
            results[name] = out.get(name, new), memory
        return results

    def _torch(self, outputs: Iterable[Any]) -> Any:
        """The module torch where a tensor of it is among the inputs or these outputs: results are tensors as well."""
        uses = any(each.is_of_torch for each in self._bound.values()) or any(map(is_of_torch, outputs))
        return sys.modules["torch"] if uses else None

    def _bind_output_on_device(self, index: int, name: str, shape: tuple[int, ...], value: Any) -> Any:
        array, dtype = from_device(value, name, self._stream), self.plan.outputs[name].dtype
        if array.shape != shape or array.dtype != dtype:
            raise SvodError(f"output '{name}' is {dtype}{list(shape)}, and cannot lie in {array.dtype}{list(array.shape)}",
                            "input-mismatch", "give an array of this shape on the device")
        size = int(numpy.prod(shape, dtype=numpy.int64)) * array.bits // 8
        self._on_any_device(lambda device, error: lib.svod_bind_device_output(self.handle, index, device, array.data, size, error))
        return array

    def _outputs(self, results: Mapping[str, Any]) -> Outputs:
        outputs = {}
        torch = self._torch(value for value, _ in results.values())
        for index, (name, (value, _)) in enumerate(results.items()):
            dtype = self.plan.outputs[name].dtype
            if dtype in PACKED:
                value = unpack(value, dtype, self._shape(index)[0])
                value = value if torch is None else as_tensor(torch, value, dtype)
            outputs[name] = value
        for name in [n for n in outputs if n.endswith(".length") and n[:-7] in outputs]:  # only the run could tell
            lengths = results[name][1].reshape(-1)
            outputs[name[:-7]] = outputs[name[:-7]][tuple(slice(int(n)) for n in lengths)]
        return Outputs(outputs, {name: port.dtype for name, port in self.plan.outputs.items()})

    # --- Running

    def __call__(self, /, *arrays: Any, out: Any = None, **inputs: Any) -> Outputs:
        """Outputs by name, in new arrays, or in those of `out`: a mapping, arrays in the order of the outputs, or the array of the only one."""
        lent = lent_inputs(self.plan, arrays, inputs, self._stream)
        with self._lock():
            return self._run(lent, out)

    def _run(self, lent: Mapping[str, Lent], out: Any) -> Outputs:
        self._bind(lent)
        results = self._bind_outputs(named_outputs(self.plan, out))
        error = _abi.Error()
        self._finished(lib.svod_execute(self.handle, None, byref(error)), error)
        self._in_flight.clear()
        return self._outputs(results)

    @property
    def stream(self) -> int | None:
        """The stream of CUDA that runs go into, a number as torch's `cuda_stream` or the integer of `cudaStream_t`, where 0 is the default
        stream. None: one of the instance, whose runs come after what the default stream was given. It applies to all devices of the plan,
        from the next run on, which comes after those before."""
        return self._stream

    @stream.setter
    def stream(self, stream: int | None) -> None:
        with self._lock():
            for device in range(1, len(self.plan.devices)):
                error = _abi.Error()
                check(lib.svod_set_stream(self.handle, device, OWN_STREAM if stream is None else stream, byref(error)), error)
            self._stream = stream

    def enqueue(self, /, *arrays: Any, out: Any = None, **inputs: Any) -> None:
        """Gives a run to the devices and returns before it is done. Outputs in `out` that are arrays of a device are there for what is
        given to the same stream afterwards; others when wait() has returned, which also tells of errors. Any number of runs may be under
        way. Inputs that are left out stay those of the call before, outputs those of the last enqueue()."""
        lent = lent_inputs(self.plan, arrays, inputs, self._stream)
        with self._lock():
            if lib.svod_poll(self.handle):
                self._in_flight.clear()
            self._bind(lent)
            if lent or out is not None or not self._is_given:
                given = {name: value for name, (value, _) in self._given.items() if self.plan.outputs[name].dtype not in PACKED}
                self._given = self._bind_outputs({**given, **named_outputs(self.plan, out)})
                self._is_given = True
            used = [*self._bound.values(), *(memory for _, memory in self._given.values())]
            # Memory of a device that others free is used again in the order of their stream.
            self._in_flight += [each for each in used if self._stream is None or not _is_on_device(each)]
            error = _abi.Error()
            check(lib.svod_enqueue(self.handle, None, byref(error)), error)
            self._submitted.clear()
            self._submitted.update(self._given)

    def sizes_changed(self) -> None:
        """Outputs may have other shapes: those of enqueue() are bound again, where they fit."""
        self._is_given = False

    def submit(self, /, *arrays: Any, out: Any = None, **inputs: Any) -> None:
        """Begins a run on the threads of the pool; wait() ends it. In between the instance is the run's."""
        lent = lent_inputs(self.plan, arrays, inputs, self._stream)
        with self._lock():
            self._bind(lent)
            results = self._bind_outputs(named_outputs(self.plan, out))
            error = _abi.Error()
            check(lib.svod_submit(self.handle, None, byref(error)), error)
            self._submitted.update(results)

    def wait(self) -> Outputs:
        """The outputs of a submitted run, or of the last one of those that were enqueued, when all of them are done."""
        error = _abi.Error()
        with self._lock():
            exit_code = lib.svod_wait(self.handle, byref(error))
            self._in_flight.clear()
            results = dict(self._submitted)
            self._submitted.clear()
            self._finished(exit_code, error)
            return self._outputs(results)

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
        with self._lock():
            while (text := lib.svod_instance_device_text(self.handle, len(texts))) is not None:
                texts.append(text.decode())
        return tuple(texts)

    def reset_states(self) -> None:
        """Gives all states their first contents again."""
        with self._lock():
            lib.svod_reset_states(self.handle)

    # --- Profile

    def profile(self) -> Profile:
        """One record per step; empty without profile=True. Printed, or in a notebook, it is a table."""
        records = Profile(plan=self.plan.name)
        with self._lock():
            for index in range(lib.svod_profile_count(self.handle)):
                r = _abi.Record()
                lib.svod_profile_get(self.handle, index, byref(r))
                records.append(ProfileRecord(r.name.decode(), r.kind.decode(), r.step, r.calls, r.busy_ns, r.wall_ns, r.bytes, r.flops))
        return records

    def reset_profile(self) -> None:
        with self._lock():
            lib.svod_profile_reset(self.handle)


def _is_on_device(memory: Any) -> bool:
    return memory.is_on_device if isinstance(memory, Lent) else isinstance(memory, Exported)


def _free(handle: int, kept: object) -> None:
    lib.svod_instance_free(handle)
    del kept


def _argument(argument: _abi.HostArgument) -> numpy.ndarray:
    array = view(argument.data, argument.dtype.decode(), tuple(argument.shape[: argument.rank]))
    array.flags.writeable = bool(argument.written)
    return array
