"""Variables and states of an instance, as mappings by name."""
from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from ctypes import byref, c_int64
from typing import TYPE_CHECKING, Any

import numpy

from . import _abi
from ._abi import check, lib
from ._arrays import dtype_of, from_numbers

if TYPE_CHECKING:
    from ._instance import Instance


def view(data: int | None, dtype: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """Memory of the runtime as an array; elements of a state have a byte each where they would share one."""
    kind = dtype_of(dtype)
    size = int(numpy.prod(shape, dtype=numpy.int64)) * kind.itemsize
    if not data or size == 0:
        return numpy.empty(shape, kind)
    memory: Any = (ctypes.c_char * size).from_address(data)
    array: numpy.ndarray = numpy.frombuffer(memory, kind).reshape(shape)
    return array


class Variables(MutableMapping[str, int]):
    """Values of variables; those that were not set are what the shapes of bound inputs make them."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._names = list(instance.plan.variables)

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise KeyError(name)
        return self._names.index(name)

    def __getitem__(self, name: str) -> int:
        value, error, index = c_int64(), _abi.Error(), self._index(name)
        with self._instance._lock():
            check(lib.svod_get_variable(self._instance.handle, index, byref(value), byref(error)), error)
        return value.value

    def __setitem__(self, name: str, value: int) -> None:
        error, index = _abi.Error(), self._index(name)
        with self._instance._lock():
            check(lib.svod_set_variable(self._instance.handle, index, value, byref(error)), error)
            self._instance.sizes_changed()

    def __delitem__(self, name: str) -> None:
        index = self._index(name)
        with self._instance._lock():
            lib.svod_clear_variable(self._instance.handle, index)
            self._instance.sizes_changed()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class States(Mapping[str, numpy.ndarray]):
    """The memory of states, by name. An array keeps the instance that has it. Of a state that a device holds it is a copy that
    cannot be written; assigning to a name writes all of any state."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def __getitem__(self, name: str) -> numpy.ndarray:
        ports = self._instance.plan.states
        port, index = ports[name], list(ports).index(name)
        with self._instance._lock():
            data = lib.svod_state_data(self._instance.handle, index)
            if data is None:
                copy = numpy.empty(port.max_shape, dtype_of(port.dtype))
                error = _abi.Error()
                check(lib.svod_read_state(self._instance.handle, index, copy.ctypes.data, copy.nbytes, byref(error)), error)
                copy.flags.writeable = False
                return copy
        array = view(data, port.dtype, port.max_shape)
        weakref.finalize(array if array.base is None else array.base, lambda _: None, self._instance)
        return array

    def __setitem__(self, name: str, value: Any) -> None:
        port, index = self._instance.plan.states[name], list(self._instance.plan.states).index(name)
        whole = numpy.ascontiguousarray(numpy.broadcast_to(from_numbers(value, port.dtype, name), port.max_shape))
        error = _abi.Error()
        with self._instance._lock():
            check(lib.svod_write_state(self._instance.handle, index, whole.ctypes.data, whole.nbytes, byref(error)), error)

    def __iter__(self) -> Iterator[str]:
        return iter(self._instance.plan.states)

    def __len__(self) -> int:
        return len(self._instance.plan.states)
