"""Plans for CUDA devices from file to file: svodc, svod-run and a C program, on a driver that runs on the host (mock.h) and ends a
process that called it wrongly. What users are told where something is missing."""
import json
import os
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "tests/emulated")]
import ops_test  # noqa: E402
from svodc import BIN, SANITIZERS, ToolTest, clean_environment, main, npy, run  # noqa: E402

TESTS, LIBRARIES = BIN.parent / "tests", BIN.parent / "runtime-min"
MOCK, OLD = TESTS / "libcuda_mock.so", TESTS / "libcuda_mock_old.so"
TWO = ("svod 1\ninput x: f32[6, 8]\nfar = softmax(copy(x, device=far), axis=1)\nnear = relu(x) + copy(far, device=cpu)\n"
       "output y = copy(copy(near, device=other) * 2, device=cpu) + near\n")


def as_cuda(plan, new, archs="sm_90a", driver=12000):
    done = subprocess.run([TESTS / "as_cuda", plan, new, archs, str(driver)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return new


class OnCuda(ops_test.Ops):
    """The tests of emulated devices whose plans also run as ones for CUDA devices."""

    compiled_for = ("emulated", "-O1")

    def check(self, graph, level):
        if level == 0:
            return
        expected = self.compiled(graph, "cpu", "-O1")
        plan = as_cuda(self.compiled(graph, *self.compiled_for), self.folder / "plan.cuda")
        words = self.inputs(expected)
        done = run("svod-run", expected, *words, "--output-dir", self.folder / "expected")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("svod-run", plan, *words, "--cuda-driver", MOCK, "--reference", self.folder / "expected",
                   "--rtol", "1e-3", "--atol", "1e-3", "--threads", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    test_the_host_is_no_such_device = test_one_plan_for_a_processor_and_such_a_device = None
    test_functions_of_c_files_run_on_the_host = test_inspect_shows_grids_and_images = None


class OnGrid(OnCuda):
    """The same for plans of target cuda: the device code launches the text that NVRTC would compile, on the emulated grid."""

    compiled_for = ("cuda", "-O1", "--nvrtc", "none")

    def test_products_and_rows_of_several_sizes(self):
        graph = self.graph("svod 1\nvar n in [1, 70]\ninput a: f16[n, 64]\ninput b: f16[64, 72]\np = matmul(a, b)\noutput y = softmax(p, axis=1)\n")
        self.svodc("compile", graph, "-o", self.folder / "host")
        self.svodc("compile", graph, "-o", self.folder / "text", "--target", "cuda", "--nvrtc", "none")
        plan = as_cuda(self.folder / "text", self.folder / "plan")
        b = npy(self.folder / "b.npy", "<f2", [64, 72], struct.pack("<4608e", *((i * 7 % 31 - 15) / 16 for i in range(4608))))
        for n in (1, 33, 70):
            a = npy(self.folder / "a.npy", "<f2", [n, 64], struct.pack(f"<{n * 64}e", *((i * 5 % 17 - 8) / 8 for i in range(n * 64))))
            words = ["-i", f"a={a}", "-i", f"b={b}"]
            done = run("svod-run", self.folder / "host", *words, "--output-dir", self.folder / "expected")
            self.assertEqual(done.returncode, 0, done.stderr)
            for more in ([], ["--no-graphs"], ["--repeat", "2"]):
                done = run("svod-run", plan, *words, "--cuda-driver", MOCK, *more, "--reference", self.folder / "expected", "--rtol", "2e-2",
                           "--atol", "1e-3")
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_operands_that_hardware_copies_by_tensor_maps(self):
        graph = self.graph("svod 1\nvar n in [1, 150]\ninput a: f16[n, 256]\ninput b: f16[256, 128]\noutput y = matmul(a, b)\n")
        self.svodc("compile", graph, "-o", self.folder / "host")
        self.svodc("compile", graph, "-o", self.folder / "text", "--target", "cuda", "--cuda-arch", "sm_90", "--nvrtc", "none")
        maps = json.loads((self.folder / "text/plan.json").read_text())["kernels"][0]["grid"]["tensorMaps"]
        self.assertEqual([m["arg"] for m in maps], [1, 2])  # one with as many rows as n says
        plan = as_cuda(self.folder / "text", self.folder / "plan")
        b = npy(self.folder / "b.npy", "<f2", [256, 128], struct.pack("<32768e", *((i * 7 % 31 - 15) / 16 for i in range(32768))))
        for n in (1, 70, 150):
            a = npy(self.folder / "a.npy", "<f2", [n, 256], struct.pack(f"<{n * 256}e", *((i * 5 % 17 - 8) / 8 for i in range(n * 256))))
            words = ["-i", f"a={a}", "-i", f"b={b}"]
            done = run("svod-run", self.folder / "host", *words, "--output-dir", self.folder / "expected")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("svod-run", plan, *words, "--cuda-driver", MOCK, "--reference", self.folder / "expected", "--rtol", "2e-2", "--atol", "1e-2")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        done = run("svod-run", plan, *words, "--cuda-driver", MOCK, env={"SVOD_MOCK_CUDA": "call=cuTensorMapEncodeTiled fail=1"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("device-failure", done.stderr)


    def test_each_device_runs_the_kernels_of_its_architecture(self):
        """Of a product with a weight, as the driver of the tests says which device there is."""
        npy(self.folder / "b.npy", "<f2", [256, 256], struct.pack("<65536e", *((i * 7 % 31 - 15) / 16 for i in range(256 * 256))))
        graph = self.graph("svod 1\ninput a: f16[256, 256]\nweight b: f16[256, 256] = \"b.npy\"\noutput y = gelu(matmul(a, b))\noutput z = a + 1\n")
        self.svodc("compile", graph, "-o", self.folder / "host")
        self.svodc("compile", graph, "-o", self.folder / "text", "--target", "cuda", "--cuda-arch", "sm_80,sm_90a", "--nvrtc", "none")
        manifest = json.loads((self.folder / "text/plan.json").read_text())
        self.assertEqual([v["cpu"] for v in manifest["variants"]], ["cuda:source:sm_80"])
        instead = [v["launch"]["kernel"] for v in manifest["variants"][0]["launches"]]
        self.assertEqual([len(k["grid"]["images"]) for k in manifest["kernels"] if k["name"].startswith("z_")], [2])  # both launch it alike
        self.assertTrue(all(manifest["kernels"][k]["name"].endswith("@sm_80") for k in instead))
        text = {arch: "".join(path.read_text() for path in (self.folder / "text").glob(f"y_*.{arch}.cu")) for arch in ("sm_80", "sm_90a")}
        self.assertIn("svod_bulk_load", text["sm_90a"])
        self.assertNotIn("svod_bulk_load", text["sm_80"])
        self.assertIn("svod_cp_async", text["sm_80"])
        plan = as_cuda(self.folder / "text", self.folder / "plan")
        a = npy(self.folder / "a.npy", "<f2", [256, 256], struct.pack("<65536e", *((i * 5 % 17 - 8) / 8 for i in range(256 * 256))))
        done = run("svod-run", self.folder / "host", "-i", f"a={a}", "--output-dir", self.folder / "expected")
        self.assertEqual(done.returncode, 0, done.stderr)
        for mock in ("cc=9.0", "cc=8.0", "cc=8.6"):
            for more in ([], ["--no-graphs"], ["--repeat", "2"]):
                with self.subTest(mock=mock, more=more):
                    done = run("svod-run", plan, "-i", f"a={a}", "--cuda-driver", MOCK, *more, "--reference", self.folder / "expected",
                               "--rtol", "2e-2", "--atol", "1e-2", env={"SVOD_MOCK_CUDA": mock})
                    self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            done = run("svod-run", plan, "--explain", "--cuda-driver", MOCK, env={"SVOD_MOCK_CUDA": mock})
            self.assertIn("kernels for sm_90a, which is for 9.0 alone; sm_80, for 8.0 to 8.9, does not run here" if mock == "cc=9.0" else
                          "kernels for sm_80, which is for 8.0 to 8.9; sm_90a, for 9.0 alone, does not run here", done.stdout)


del ops_test.Ops  # its tests run where it is


class Cuda(ToolTest):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.x = npy(self.folder / "x.npy", "<f4", [3], struct.pack("<3f", 1, 2, 3))

    def plan(self, archs="sm_90a", driver=12000, text="svod 1\nvar n in [1, 8]\ninput x: f32[n]\noutput y = x * 2 + 1\n"):
        self.svodc("compile", self.graph(text), "-o", self.folder / "threads", "--target", "emulated")
        return as_cuda(self.folder / "threads", self.folder / "plan", archs, driver)

    def execute(self, plan, *words, mock="", driver=MOCK, code=0, env=None):
        done = run("svod-run", plan, "-i", f"x={self.x}", "--cuda-driver", driver, *words, env={"SVOD_MOCK_CUDA": mock} | (env or {}))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("mock:", done.stderr)
        return done

    def refused(self, code, name, says, helps, plan, *words, **options):
        """One error, with its code, its message and its help."""
        done = self.execute(plan, *words, code=code, **options)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], f"error: {says} [{name}]")
        self.assertEqual(lines[1:], [f"  help: {helps}"])

    def test_a_plan_runs_by_its_path(self):
        plan = self.plan()
        self.assertIn("[3, 5, 7]", self.execute(plan).stdout)
        for words in (["--no-graphs"], ["--sync-steps"], ["--repeat", "3"], ["--profile"], ["--order-seed", "5"], ["--threads", "3"]):
            with self.subTest(words):
                self.assertIn("[3, 5, 7]", self.execute(plan, *words).stdout)
        self.assertIn("[3, 5, 7]", self.execute(plan, driver=OLD, mock="version=12000").stdout)
        done = run("svod-run", plan, "-i", f"x={self.x}", env={"SVOD_CUDA_DRIVER": str(MOCK)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_driver_of_before_cuda_12_runs_plans_without_graphs(self):
        plan = self.plan(driver=11000)
        self.assertIn("[3, 5, 7]", self.execute(plan, driver=OLD, mock="version=11040").stdout)

    def test_steps_on_the_host_and_on_several_devices(self):
        graph = self.graph(TWO)
        self.svodc("compile", graph, "-o", self.folder / "both", "--device", "far=emulated:small", "--device", "other=emulated:small")
        self.svodc("compile", graph, "-o", self.folder / "alone", "--device", "far", "--device", "other")
        plan = as_cuda(self.folder / "both", self.folder / "plan")
        x = npy(self.folder / "x6.npy", "<f4", [6, 8], struct.pack("<48f", *(i % 7 - 3 for i in range(48))))
        done = run("svod-run", self.folder / "alone", "-i", f"x={x}", "--output-dir", self.folder / "expected")
        self.assertEqual(done.returncode, 0, done.stderr)
        for mock in ("devices=2", "devices=2 peer=no", "devices=2 seed=3"):
            for words in ([], ["--no-graphs"], ["--device", "far=1", "--device", "other=0"], ["--device", "other=0"], ["--threads", "1"]):
                with self.subTest(mock=mock, words=words):
                    done = run("svod-run", plan, "-i", f"x={x}", "--cuda-driver", MOCK, *words, "--reference", self.folder / "expected",
                               "--rtol", "1e-5", env={"SVOD_MOCK_CUDA": mock})
                    self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        done = run("svod-run", plan, "-i", f"x={x}", "--cuda-driver", MOCK, env={"SVOD_MOCK_CUDA": "devices=1"})
        self.assertEqual(done.returncode, 77)
        self.assertIn("there is no device cuda:1; this machine has 1", done.stderr)
        self.assertIn("--device NAME=0", done.stderr)

    def test_one_program_runs_plans_for_the_host_and_for_a_cuda_device(self):
        """The same program, with the shared library and with the static one, and nothing of CUDA in its text."""
        if SANITIZERS:
            self.skipTest("programs link libraries without sanitizers")
        cuda = self.plan()
        self.svodc("compile", self.folder / "graph.svod", "-o", self.folder / "host")
        drivers = self.folder / "drivers"
        drivers.mkdir()
        shutil.copy(MOCK, drivers / "libcuda.so.1")
        path = f"{drivers}:{LIBRARIES}:{BIN.parent / 'lib'}"
        for library in ("libsvod-runtime.so", "libsvod-runtime.a"):
            program = self.folder / "program"
            subprocess.run(["cc", "-std=c99", "-I", ROOT / "runtime-min/include", ROOT / "tests/runtime/example.c", LIBRARIES / library, "-o",
                            program, "-lpthread", "-ldl"], check=True)
            for plan in (self.folder / "host", cuda):
                done = subprocess.run([program, plan], capture_output=True, text=True, env=clean_environment({"LD_LIBRARY_PATH": path}))
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "3 5 7\n", ""), library)
            # The component is in lib, beside the folder of the shared library; the program alone does not know where it is.
            done = subprocess.run([program, cuda], capture_output=True, text=True,
                                  env=clean_environment({"LD_LIBRARY_PATH": f"{drivers}:{LIBRARIES}"}))
            self.assertEqual(done.returncode, 0 if library.endswith(".so") else 77, done.stderr)

    def test_devices_are_listed(self):
        done = run("svod-run", "--list-devices", "--cuda-driver", MOCK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "cuda:0, Mock GPU 0, compute capability 9.0, 132 multiprocessors, 1024 MiB, driver for CUDA 13.0, "
                                      "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f\n"
                                      "cuda:1, Mock GPU 1, compute capability 9.0, 132 multiprocessors, 1024 MiB, driver for CUDA 13.0, "
                                      "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f\n")

    def test_the_report_says_which_device_and_which_image(self):
        plan = self.plan("sm_80,sm_90a,compute_80")
        report = json.loads(self.execute(plan, "--json").stdout)
        self.assertEqual(report["devices"][0].split(",")[:2], [f"{report['devices'][0].split(':')[0]}: cuda:0", " Mock GPU 0"])
        self.assertIn("runs 1 kernel for sm_90a", report["devices"][1])
        report = json.loads(self.execute(plan, "--json", mock="cc=8.6").stdout)
        self.assertIn("runs 1 kernel for sm_80", report["devices"][1])

    def test_what_is_taken_is_explained(self):
        plan = self.plan("sm_80,sm_90a,compute_80")
        for cc, image in (("9.0", "sm_90a, which is for 9.0 alone; sm_80, for 8.0 to 8.9, does not run here; compute_80, for 8.0 and later, "
                                  "fits less well"),
                          ("8.6", "sm_80, which is for 8.0 to 8.9; sm_90a, for 9.0 alone, does not run here; compute_80, for 8.0 and later, "
                                  "fits less well")):
            done = run("svod-run", plan, "--explain", "--cuda-driver", MOCK, env={"SVOD_MOCK_CUDA": f"cc={cc}"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines = done.stdout.splitlines()
            self.assertIn(f"cuda:0, Mock GPU 0, compute capability {cc}", lines[-2])
            self.assertTrue(lines[-1].endswith(f"runs 1 kernel for {image}"), lines[-1])
        done = run("svod-run", plan, "--explain", "--json", "--cuda-driver", MOCK)
        self.assertEqual(len(json.loads(done.stdout)["devices"]), 2)
        done = run("svod-run", plan, "--explain", "--cuda-driver", MOCK, env={"SVOD_MOCK_CUDA": "cc=7.5"})
        self.assertEqual(done.returncode, 5)
        self.assertIn("it has those for sm_80, sm_90a, compute_80", done.stderr)
        self.assertIn("taken: this machine lacks nothing", done.stdout)  # what is known without the device
        done = run("svod-run", plan, "--explain", "--cuda-driver", self.folder / "none")
        self.assertEqual(done.returncode, 77)
        self.assertIn("taken: this machine lacks nothing", done.stdout)
        self.assertIn(": not opened: ", done.stdout)

    def test_ptx_is_announced_and_can_be_refused(self):
        plan = self.plan("sm_80,compute_80")
        done = self.execute(plan)
        self.assertIn("note: ", done.stderr)
        self.assertRegex(done.stderr, r"the driver compiled 1 kernel of PTX for compute_80 in \d+ ms: --cuda-arch sm_90a gives "
                                      r"the plan code for cuda:0, Mock GPU 0, compute capability 9.0")
        self.assertEqual(self.execute(plan, mock="cc=8.9").stderr, "")
        done = self.execute(plan, "--no-jit", code=5)
        self.assertIn("and PTX is not to be compiled here", done.stderr)
        self.assertIn("--cuda-arch sm_90a as well, or run without --no-jit", done.stderr)

    def test_no_driver(self):
        plan = self.plan()
        missing = self.folder / "libcuda.so.1"
        done = self.execute(plan, driver=missing, code=77)
        self.assertIn(f"error: there is no CUDA driver: {missing}: cannot open shared object file", done.stderr)
        self.assertIn("help: install the NVIDIA driver", done.stderr)
        self.refused(77, "no-device", "the CUDA driver sees no device",
                     "nvidia-smi lists those of the machine; CUDA_VISIBLE_DEVICES hides some, and a container needs --gpus", plan,
                     mock="devices=0")
        self.refused(77, "no-device", "the CUDA driver does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803), as the mock was told",
                     "the driver in the kernel is of another version than libcuda.so.1: restart the machine, or make both the same", plan,
                     mock="init=803")
        self.refused(77, "no-device", "the CUDA driver does not start: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804), as the mock was told",
                     "a compatibility libcuda.so.1 is first in the loader's path, which this device does not support: take it out of "
                     "LD_LIBRARY_PATH", plan, mock="init=804")

    def test_no_image_for_the_device(self):
        plan = self.plan("sm_80,sm_90a,sm_100a")
        self.refused(5, "cpu-features", "no image of the plan runs on cuda:0, Mock GPU 0, compute capability 10.3: it has those for sm_80, "
                     "sm_90a, sm_100a", "compile the graph with --cuda-arch sm_103 as well", plan, mock="cc=10.3")

    def test_a_driver_that_is_too_old(self):
        plan = self.plan("sm_90a", driver=12080)
        self.refused(5, "cpu-features", "the driver is too old for the images for sm_90a: it has CUDA 12.4, they need 12.8",
                     "install a driver of branch 570 (CUDA 12.8) or later", plan, mock="version=12040")

    def test_no_memory_left(self):
        plan = self.plan()
        done = self.execute(plan, mock="memory=100", code=75)
        self.assertIn("bytes on cuda:0, Mock GPU 0, compute capability 9.0: CUDA_ERROR_OUT_OF_MEMORY (2), out of memory [device-busy]", done.stderr)
        self.assertIn("nvidia-smi shows who holds it", done.stderr)
        done = self.execute(plan, mock="call=cuDevicePrimaryCtxRetain fail=1:46", code=75)
        self.assertIn("another process has the device for itself", done.stderr)

    def test_a_kernel_that_goes_astray(self):
        plan = self.plan()
        name = json.loads((plan / "plan.json").read_text())["kernels"][0]["name"]
        done = self.execute(plan, "--sync-steps", mock=f"fault={name}:700", code=6)
        self.assertIn(f"error: step 1, kernel '{name}', failed on device ", done.stderr)
        self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal memory access was encountered [device-lost]", done.stderr)
        done = self.execute(plan, mock=f"fault={name}:700", code=6)
        self.assertIn(f"one of the steps 0 to 2, kernel '{name}', failed on device", done.stderr)

    def test_options_that_mean_nothing(self):
        plan = self.plan()
        self.refused(2, "usage", "the plan has no device 'near'", "svodc inspect PLAN names those it has", plan, "--device", "near=0")
        device = json.loads((plan / "plan.json").read_text())["devices"][1]["name"]
        self.refused(2, "usage", "the device option 'number' is 'two'",
                     "it is the number of a device of kind cuda, from 0 on: svod-run --list-devices shows them", plan, "--device", f"{device}=two")


if __name__ == "__main__":
    main()
