"""Arrays on a CUDA device in and out of plans in Python, by DLPack, on the driver of the tests."""
import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from ctypes import byref, c_size_t, c_ulonglong, c_void_p
from pathlib import Path

try:
    import numpy
except ImportError:
    print("skipped: numpy is not installed (python3-numpy)")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = (ROOT / os.environ["SVOD_BIN_DIR"]).resolve()
TESTS = BIN.parent / "tests"
MOCK = TESTS / "libcuda_mock.so"
HOLDER = tempfile.TemporaryDirectory()
unittest.addModuleCleanup(HOLDER.cleanup)
zipfile.ZipFile(next((BIN.parent / "python").glob("*.whl"))).extractall(HOLDER.name)
sys.path.insert(0, HOLDER.name)
import svod  # noqa: E402
from svod import _dlpack  # noqa: E402

cuda = ctypes.CDLL(str(MOCK))


def check(code):
    assert code == 0, code


class Device:
    """Its memory, as another library would take and fill it."""

    def __enter__(self):
        check(cuda.cuInit(0))
        self.context, popped = c_void_p(), c_void_p()
        check(cuda.cuDevicePrimaryCtxRetain(byref(self.context), 0))
        check(cuda.cuCtxPushCurrent_v2(self.context))
        self.stream = c_void_p()
        check(cuda.cuStreamCreate(byref(self.stream), 1))
        return self

    def __exit__(self, *_):
        popped = c_void_p()
        check(cuda.cuStreamDestroy_v2(self.stream))
        check(cuda.cuCtxPopCurrent_v2(byref(popped)))
        check(cuda.cuDevicePrimaryCtxRelease_v2(0))


class Managed(ctypes.Structure):
    _fields_ = [("tensor", _dlpack._Tensor), ("manager", c_void_p), ("deleter", c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [c_void_p, ctypes.c_char_p, c_void_p]


class Tensor:
    """What PyTorch and others have on a device, as far as DLPack shows it."""

    def __init__(self, device, values, strides=None):
        self.device, self.shape, self.bytes = device, values.shape, values.nbytes
        address = c_ulonglong()
        check(cuda.cuMemAlloc_v2(byref(address), c_size_t(values.nbytes)))
        self.address = address.value
        check(cuda.cuMemcpyHtoDAsync_v2(address, values.ctypes.data_as(c_void_p), c_size_t(values.nbytes), device.stream))
        check(cuda.cuStreamSynchronize(device.stream))
        self.dims = (ctypes.c_int64 * len(self.shape))(*self.shape)
        self.strides = (ctypes.c_int64 * len(self.shape))(*strides) if strides else None
        code = {"i": 0, "u": 1, "f": 2, "b": 6}[values.dtype.kind]
        self.managed = Managed(_dlpack._Tensor(self.address, 2, 0, len(self.shape), code, values.itemsize * 8, 1, self.dims, self.strides, 0))
        self.dtype, self.asked = values.dtype, []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def values(self):
        out = numpy.empty(self.shape, self.dtype)
        check(cuda.cuMemcpyDtoHAsync_v2(out.ctypes.data_as(c_void_p), c_ulonglong(self.address), c_size_t(self.bytes), self.device.stream))
        check(cuda.cuStreamSynchronize(self.device.stream))
        return out

    def free(self):
        check(cuda.cuMemFree_v2(c_ulonglong(self.address)))


class OnDevice(unittest.TestCase):
    def setUp(self):
        cuda.svod_mock_configure(b"")
        graph = "svod 1\nvar n in [1, 64]\ninput x: f32[n, 4]\noutput y = x * 2 + 1\n"
        threads, plan = Path(HOLDER.name) / "threads", Path(HOLDER.name) / "plan"
        svod.compile(graph, threads, svodc=BIN / "svodc", no_cache=True, target="emulated")
        subprocess.run([TESTS / "as_cuda", threads, plan, "sm_90a"], check=True)
        self.plan = svod.load(plan)
        self.instance = self.plan.instance(devices={None: {"driver": MOCK}})

    def tearDown(self):
        del self.instance, self.plan
        gc.collect()
        report = ctypes.create_string_buffer(4096)
        cuda.svod_mock_report(report, c_size_t(len(report)))
        self.assertEqual(report.value.decode(), "")

    def test_arrays_of_the_host_go_in_and_out(self):
        x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        numpy.testing.assert_array_equal(self.instance(x=x)["y"], x * 2 + 1)
        self.assertIn("cuda:0, Mock GPU 0", self.instance.device_texts[0])

    def test_arrays_of_the_device_go_in_and_out(self):
        with Device() as device:
            x = Tensor(device, numpy.arange(12, dtype=numpy.float32).reshape(3, 4))
            y = Tensor(device, numpy.zeros((3, 4), numpy.float32))
            self.assertIs(self.instance(x=x, out={"y": y})["y"], y)
            numpy.testing.assert_array_equal(y.values(), x.values() * 2 + 1)
            self.assertEqual(x.asked, [1])  # the stream that the runtime waits for
            numpy.testing.assert_array_equal(self.instance(x=y)["y"], x.values() * 4 + 3)
            numpy.testing.assert_array_equal(self.instance(x=numpy.ones((2, 4), numpy.float32))["y"], numpy.full((2, 4), 3))
            x.free(), y.free()

    def test_runs_of_a_stream_are_enqueued(self):
        with Device() as device:
            x, y, z = (Tensor(device, numpy.full((3, 4), value, numpy.float32)) for value in (3, 0, 0))
            run, waits = self.instance, lambda: cuda.svod_mock_count(b"cuEventSynchronize") + cuda.svod_mock_count(b"cuStreamSynchronize")
            run.stream = device.stream.value
            run.enqueue(x=x, out={"y": y})
            self.assertEqual(x.asked, [device.stream.value])
            before = waits()
            for k in range(10):
                run.enqueue(x=(y, z)[k % 2], out={"y": (z, y)[k % 2]})
            run.enqueue()  # the same again
            self.assertEqual(waits(), before)
            numpy.testing.assert_array_equal(y.values(), numpy.full((3, 4), 4 * 2 ** 11 - 1))
            self.assertIs(run.wait()["y"], y)
            self.assertRaisesRegex(svod.SvodError, "no submitted run", run.wait)
            run.enqueue(x=numpy.ones((2, 4), numpy.float32), out={"y": numpy.zeros((2, 4), numpy.float32)})
            numpy.testing.assert_array_equal(run.wait()["y"], numpy.full((2, 4), 3))
            run.stream = None
            numpy.testing.assert_array_equal(run(x=x)["y"], numpy.full((3, 4), 7))
            with self.assertRaisesRegex(svod.SvodError, "cannot lie in"):
                run.enqueue(x=x)  # the output of the last one has two rows
            x.free(), y.free(), z.free()

    def test_memory_of_the_device_is_used_where_it_is(self):
        with Device() as device:
            x, y = (Tensor(device, numpy.full((3, 4), value, numpy.float32)) for value in (3, 0))
            self.instance(x=x, out={"y": y})
            self.assertEqual(cuda.svod_mock_count(b"cuMemcpyDtoDAsync_v2") + cuda.svod_mock_count(b"cuGraphAddMemcpyNode"), 0)
            numpy.testing.assert_array_equal(y.values(), x.values() * 2 + 1)
            x.free(), y.free()

    def test_arrays_that_do_not_fit_are_refused(self):
        with Device() as device:
            wrong = Tensor(device, numpy.zeros((3, 4), numpy.int32))
            turned = Tensor(device, numpy.zeros((3, 4), numpy.float32), strides=(1, 3))
            small = Tensor(device, numpy.zeros((2, 4), numpy.float32))
            x = numpy.zeros((3, 4), numpy.float32)
            for says, call in (("i32", lambda: self.instance(x=wrong)), ("not dense", lambda: self.instance(x=turned)),
                               ("cannot lie in f32[2, 4]", lambda: self.instance(x=x, out={"y": small}))):
                with self.subTest(says), self.assertRaisesRegex(svod.SvodError, says.replace("[", r"\[")) as caught:
                    call()
                self.assertEqual(caught.exception.code, "input-mismatch")
            for tensor in (wrong, turned, small):
                tensor.free()


if __name__ == "__main__":
    unittest.main()
