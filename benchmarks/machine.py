"""The machine itself as a peer, and the roofs it sets: loops of machine.cpp that do nothing else."""
import ctypes as c
import os
import subprocess

import numpy as np

import measure
from svod_runtime import aligned

ROUNDS = 100000  # of arithmetic in one call: about 1 ms
BANDWIDTH, PEAK = "bandwidth", "FMA peak"  # the names of what the machine does at best
LARGE = 1 << 26  # bytes of an array that fits into no cache, as in the cases that stream
SMALL = 1 << 18  # bytes that the second cache of a core holds


def address(array):
    return c.c_void_p(array.ctypes.data)


def build(folder, name, *libraries):
    """The library of benchmarks/NAME.cpp for this machine; None where it does not build."""
    source, output = os.path.join(os.path.dirname(__file__), f"{name}.cpp"), f"{folder}/{name}.so"
    built = subprocess.run(["c++", "-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", source, "-o", output,
                            *libraries, "-lpthread"], capture_output=True, text=True)
    return c.CDLL(output, mode=os.RTLD_LOCAL | os.RTLD_NOW) if built.returncode == 0 else None


def processor():
    with open("/proc/cpuinfo") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return names[0] if names else "unknown processor"


class Machine:
    """`folder` gets the compiled loops."""

    def __init__(self, folder, threads):
        self.threads, self.lib = threads, build(folder, "machine")
        if not self.lib:
            raise RuntimeError("benchmarks/machine.cpp does not build: it needs x86-64 and a C++ compiler")
        for name in ("multiply_add", "multiply_add_bytes"):
            getattr(self.lib, name).restype = c.c_double

    def stream(self, inputs, output):
        """The time of reading `inputs` once and writing `output` once."""
        pointers = (c.c_void_p * len(inputs))(*[x.ctypes.data for x in inputs])
        return {BANDWIDTH: lambda: self.lib.stream_write(pointers, len(inputs), address(output),
                                                           c.c_size_t(output.nbytes), self.threads)}

    def read(self, array, times=1):
        return {BANDWIDTH: lambda: self.lib.stream_read(address(array), c.c_size_t(array.nbytes), self.threads,
                                                          c.c_long(times))}

    def multiply_adds(self, flops):
        """The time of as many flops in multiply-adds that wait for nothing."""
        rounds = c.c_long(round(flops / self.lib.multiply_add(c.c_long(1), self.threads)))
        return {PEAK: lambda: self.lib.multiply_add(rounds, self.threads)}

    def roofs(self, rounds):
        """Rates per second, the best of `rounds`: {"compute": {name: flops}, "memory": {name: bytes}}."""
        work, contenders = {"compute": {}, "memory": {}}, {}
        for name, loop in (("f32 multiply-add", self.lib.multiply_add), ("u8 i8 dot", self.lib.multiply_add_bytes)):
            if flops := loop(c.c_long(1), self.threads) * ROUNDS:
                work["compute"][name] = flops
                contenders[name] = lambda loop=loop: loop(c.c_long(ROUNDS), self.threads)
        large, copy = (aligned(np.zeros(LARGE // 4, np.float32)) for _ in range(2))
        small, times = aligned(np.zeros(SMALL // 4 * self.threads, np.float32)), LARGE // SMALL
        contenders["memory, read"] = self.read(large)[BANDWIDTH]
        contenders["memory, copy"] = self.stream([large], copy)[BANDWIDTH]
        contenders["cache, read"] = self.read(small, times)[BANDWIDTH]
        work["memory"] = {"memory, read": LARGE, "memory, copy": 2 * LARGE, "cache, read": times * small.nbytes}
        timings = measure.interleave(contenders, rounds)
        return {kind: {name: amount / timings[name].best for name, amount in rates.items()} for kind, rates in work.items()}
