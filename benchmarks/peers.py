"""The libraries we measure against. Each is loaded where it is installed and left out where it is not."""
import ctypes as c
import os
import subprocess

CBLAS = {"OpenBLAS": "libopenblas.so.0", "BLIS": "libblis.so.4"}
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")


def address(array):
    return c.c_void_p(array.ctypes.data)


class Primitive:
    """A oneDNN primitive; null handles are refused by `Peers`."""

    def __init__(self, lib, handle, arrays):
        self.lib, self.handle, self.arrays = lib, c.c_void_p(handle), arrays

    def __call__(self):
        self.lib.peer_run(self.handle)

    def result(self, array):
        """The result, brought to its plain layout unless the primitive writes `array` itself."""
        if not any(a is array for a in self.arrays):
            self.lib.peer_result(self.handle, address(array))
        return array


class Peers:
    """`folder` gets the compiled helper. Threads are fixed before any library starts."""

    def __init__(self, folder, threads):
        self.threads = threads
        for name in THREAD_VARIABLES:
            os.environ[name] = str(threads)
        self.blas = {name: lib for name, file in CBLAS.items() if (lib := self.open(file))}
        self.helper = self.build(folder)

    @staticmethod
    def open(file):
        try:
            return c.CDLL(file, mode=os.RTLD_LOCAL | os.RTLD_NOW)
        except OSError:
            return None

    def build(self, folder):
        source, output = os.path.join(os.path.dirname(__file__), "peers.cpp"), f"{folder}/peers.so"
        built = subprocess.run(["c++", "-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", source, "-o", output,
                                "-ldnnl", "-lpthread"], capture_output=True, text=True)
        if built.returncode != 0:
            print("oneDNN is left out: its helper does not build (Debian: libdnnl-dev)")
            return None
        return self.open(output)

    def primitive(self, maker, numbers, arrays):
        """{"oneDNN": callable}, or nothing where oneDNN cannot do it."""
        if not self.helper:
            return {}
        make = getattr(self.helper, maker)
        make.restype = c.c_void_p
        handle = make(*map(c.c_long, numbers), *map(address, arrays))
        return {"oneDNN": Primitive(self.helper, handle, arrays)} if handle else {}

    def gemm(self, a, b, result):
        (m, k), n = a.shape, b.shape[1]
        one, zero = c.c_float(1), c.c_float(0)

        def call(lib):
            return lambda: lib.cblas_sgemm(101, 111, 111, m, n, k, one, address(a), k, address(b), n, zero,
                                           address(result), n)
        return {name: call(lib) for name, lib in self.blas.items()}

    def stream(self, inputs, output):
        """The time of reading `inputs` once and writing `output` once."""
        if not self.helper:
            return {}
        pointers = (c.c_void_p * len(inputs))(*[x.ctypes.data for x in inputs])
        return {"bandwidth": lambda: self.helper.stream_write(pointers, len(inputs), address(output),
                                                              c.c_size_t(output.nbytes), self.threads)}

    def read(self, array):
        if not self.helper:
            return {}
        return {"bandwidth": lambda: self.helper.stream_read(address(array), c.c_size_t(array.nbytes), self.threads)}
