"""svod/runtime.h by ctypes: structures, functions, and the library, which lies in `lib` beside this file."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

from ._errors import SvodError

INPUT, OUTPUT, STATE = range(3)
NONE = c_size_t(-1).value


class Error(ctypes.Structure):
    _fields_ = [("exit_code", c_int), ("code", c_char * 32), ("message", c_char * 1024), ("help", c_char * 256)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("verify_weights", c_int), ("cpu", c_char_p)]


class PlanInfo(ctypes.Structure):
    _fields_ = [(name, c_char_p) for name in ("name", "triple", "cpu", "numerics", "compiler")] + \
               [(name, c_size_t) for name in ("inputs", "outputs", "states", "variables", "kernels", "steps")] + \
               [(name, c_uint64) for name in ("arena_bytes", "state_bytes", "scratch_bytes", "constant_bytes")]


class Tensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("element_bytes", c_size_t), ("rank", c_size_t),
                ("max_shape", POINTER(c_uint64)), ("shape_texts", POINTER(c_char_p)), ("max_bytes", c_uint64)]


class Variable(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("min", c_int64), ("max", c_int64), ("fixed", c_int)]


class HostArgument(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("element_bytes", c_size_t), ("rank", c_size_t),
                ("shape", POINTER(c_uint64)), ("data", c_void_p), ("bytes", c_uint64), ("written", c_int)]


class HostCall(ctypes.Structure):
    _fields_ = [("function", c_char_p), ("arguments", POINTER(HostArgument)), ("argument_count", c_size_t),
                ("values", POINTER(c_int64)), ("value_count", c_size_t)]


HostFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(HostCall))


class HostEntry(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("function", HostFunction), ("user", c_void_p)]


class DeviceOption(ctypes.Structure):
    _fields_ = [("device", c_char_p), ("name", c_char_p), ("value", c_char_p)]


class InstanceOptions(ctypes.Structure):
    _fields_ = [("pool", c_void_p), ("functions", POINTER(HostEntry)), ("function_count", c_size_t), ("profile", c_int),
                ("trace_events", c_size_t), ("memory", c_void_p), ("device_options", POINTER(DeviceOption)),
                ("device_option_count", c_size_t)]


class Record(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("kind", c_char_p), ("step", c_size_t), ("calls", c_uint64), ("busy_ns", c_uint64), ("wall_ns", c_uint64),
                ("bytes", c_uint64), ("flops", c_uint64)]


_ERROR = POINTER(Error)
_FUNCTIONS = {  # name: (result, arguments)
    "svod_plan_load": (c_int, c_char_p, POINTER(LoadOptions), POINTER(c_void_p), _ERROR),
    "svod_plan_free": (None, c_void_p),
    "svod_plan_get_info": (None, c_void_p, POINTER(PlanInfo)),
    "svod_plan_instance_bytes": (c_uint64, c_void_p, c_size_t),
    "svod_plan_find": (c_size_t, c_void_p, c_int, c_char_p),
    "svod_plan_tensor": (c_int, c_void_p, c_int, c_size_t, POINTER(Tensor)),
    "svod_plan_variable": (c_int, c_void_p, c_size_t, POINTER(Variable)),
    "svod_plan_host_function": (c_char_p, c_void_p, c_size_t),
    "svod_plan_device": (c_char_p, c_void_p, c_size_t),
    "svod_pool_create": (c_void_p, c_size_t),
    "svod_pool_threads": (c_size_t, c_void_p),
    "svod_pool_free": (None, c_void_p),
    "svod_instance_create": (c_int, c_void_p, POINTER(InstanceOptions), POINTER(c_void_p), _ERROR),
    "svod_instance_free": (None, c_void_p),
    "svod_instance_device_text": (c_char_p, c_void_p, c_size_t),
    "svod_instance_note": (c_char_p, c_void_p, c_size_t),
    "svod_set_variable": (c_int, c_void_p, c_size_t, c_int64, _ERROR),
    "svod_clear_variable": (None, c_void_p, c_size_t),
    "svod_get_variable": (c_int, c_void_p, c_size_t, POINTER(c_int64), _ERROR),
    "svod_bind_input": (c_int, c_void_p, c_size_t, c_char_p, POINTER(c_uint64), c_size_t, c_void_p, _ERROR),
    "svod_bind_output": (c_int, c_void_p, c_size_t, c_void_p, c_uint64, _ERROR),
    "svod_bind_device_input": (c_int, c_void_p, c_size_t, c_size_t, c_char_p, POINTER(c_uint64), c_size_t, c_void_p, _ERROR),
    "svod_bind_device_output": (c_int, c_void_p, c_size_t, c_size_t, c_void_p, c_uint64, _ERROR),
    "svod_get_shape": (c_int, c_void_p, c_int, c_size_t, POINTER(c_uint64), POINTER(c_uint64), _ERROR),
    "svod_state_data": (c_void_p, c_void_p, c_size_t),
    "svod_read_state": (c_int, c_void_p, c_size_t, c_void_p, c_uint64, _ERROR),
    "svod_write_state": (c_int, c_void_p, c_size_t, c_void_p, c_uint64, _ERROR),
    "svod_reset_states": (None, c_void_p),
    "svod_execute": (c_int, c_void_p, c_void_p, _ERROR),
    "svod_enqueue": (c_int, c_void_p, c_void_p, _ERROR),
    "svod_set_stream": (c_int, c_void_p, c_size_t, c_void_p, _ERROR),
    "svod_submit": (c_int, c_void_p, c_void_p, _ERROR),
    "svod_wait": (c_int, c_void_p, _ERROR),
    "svod_poll": (c_int, c_void_p),
    "svod_stop": (None, c_void_p),
    "svod_profile_count": (c_size_t, c_void_p),
    "svod_profile_get": (c_int, c_void_p, c_size_t, POINTER(Record)),
    "svod_profile_reset": (None, c_void_p),
}


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(Path(__file__).with_name("lib") / "libsvod-runtime.so.0"))
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


def check(exit_code: int, error: Error) -> None:
    """Raises what a call of the runtime says."""
    if exit_code != 0:
        raise SvodError(error.message.decode(errors="replace"), error.code.decode(), error.help.decode(errors="replace"), exit_code)
