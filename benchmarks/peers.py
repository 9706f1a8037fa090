"""The libraries we measure against. Each is loaded where it is installed and left out where it is not."""
import ctypes as c
import os

from machine import address, build

CBLAS = {"OpenBLAS": "libopenblas.so.0", "BLIS": "libblis.so.4"}
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")


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
    """`folder` gets the compiled helper. Threads are fixed before any library starts. `machine` is a peer, too."""

    def __init__(self, folder, machine):
        self.machine = machine
        for name in THREAD_VARIABLES:
            os.environ[name] = str(machine.threads)
        self.blas = {name: lib for name, file in CBLAS.items() if (lib := self.open(file))}
        self.helper = build(folder, "peers", "-ldnnl")
        if not self.helper:
            print("oneDNN is left out: its helper does not build (Debian: libdnnl-dev)")

    @staticmethod
    def open(file):
        try:
            return c.CDLL(file, mode=os.RTLD_LOCAL | os.RTLD_NOW)
        except OSError:
            return None

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

    def versions(self):
        """{"OpenBLAS": "0.3.21"}: what the libraries say of themselves."""
        found = {}
        if "OpenBLAS" in self.blas:
            self.blas["OpenBLAS"].openblas_get_config.restype = c.c_char_p
            found["OpenBLAS"] = self.blas["OpenBLAS"].openblas_get_config().decode().split()[1]
        if "BLIS" in self.blas:
            self.blas["BLIS"].bli_info_get_version_str.restype = c.c_char_p
            found["BLIS"] = self.blas["BLIS"].bli_info_get_version_str().decode()
        if self.helper:
            self.helper.dnnl_version.restype = c.POINTER(c.c_int)
            found["oneDNN"] = ".".join(map(str, self.helper.dnnl_version()[:3]))
        return found
