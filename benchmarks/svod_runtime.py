"""svod/runtime.h for Python: load a plan, lend it numpy arrays, run it."""
import ctypes as c

import numpy as np

INPUT, OUTPUT = 0, 1


class Error(c.Structure):
    _fields_ = [("exit_code", c.c_int), ("code", c.c_char * 32), ("message", c.c_char * 1024), ("help", c.c_char * 256)]


class InstanceOptions(c.Structure):
    _fields_ = [("pool", c.c_void_p), ("functions", c.c_void_p), ("function_count", c.c_size_t), ("profile", c.c_int),
                ("trace_events", c.c_size_t), ("memory", c.c_void_p), ("device_options", c.c_void_p),
                ("device_option_count", c.c_size_t)]


class Runtime:
    """The shared library. Raises RuntimeError with the library's message."""

    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.svod_pool_create.restype = c.c_void_p
        self.lib.svod_plan_find.restype = c.c_size_t
        self.error = Error()

    def call(self, name, *arguments):
        if getattr(self.lib, name)(*arguments, c.byref(self.error)) != 0:
            raise RuntimeError(self.error.message.decode())

    def load(self, folder, threads):
        return Plan(self, folder, threads)


class Plan:
    """One plan with one instance. Arrays that are bound stay alive with it."""

    def __init__(self, runtime, folder, threads):
        self.runtime, self.plan, self.instance = runtime, c.c_void_p(), c.c_void_p()
        self.arrays = {}
        runtime.call("svod_plan_load", folder.encode(), None, c.byref(self.plan))
        self.pool = c.c_void_p(runtime.lib.svod_pool_create(c.c_size_t(threads)) if threads > 1 else None)
        options = InstanceOptions(pool=self.pool)
        runtime.call("svod_instance_create", self.plan, c.byref(options), c.byref(self.instance))

    def close(self):
        self.runtime.lib.svod_instance_free(self.instance)
        self.runtime.lib.svod_pool_free(self.pool)
        self.runtime.lib.svod_plan_free(self.plan)

    def index(self, kind, name):
        return c.c_size_t(self.runtime.lib.svod_plan_find(self.plan, kind, name.encode()))

    def bind_input(self, name, array):
        assert array.flags.c_contiguous
        self.arrays[name] = array
        shape = (c.c_uint64 * array.ndim)(*array.shape)
        self.runtime.call("svod_bind_input", self.instance, self.index(INPUT, name), None, shape,
                          c.c_size_t(array.ndim), c.c_void_p(array.ctypes.data))

    def bind_output(self, name, array):
        assert array.flags.c_contiguous
        self.arrays[name] = array
        self.runtime.call("svod_bind_output", self.instance, self.index(OUTPUT, name), c.c_void_p(array.ctypes.data),
                          c.c_uint64(array.nbytes))

    def run(self):
        self.runtime.call("svod_execute", self.instance, None)


def aligned(array):
    """A copy that starts at a page: peers and plans see the same addresses."""
    page = 4096
    room = np.empty(array.nbytes + page, np.uint8)
    start = -room.ctypes.data % page
    copy = room[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
