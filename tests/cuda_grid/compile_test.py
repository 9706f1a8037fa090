"""svodc compile --target cuda: from a graph file to a plan that runs on an emulated grid; images, and what users are told."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import SMALL, SYMBOLIC, ToolTest, contents, main, npy, run  # noqa: E402



def has_nvrtc():
    """What svodc finds on this machine."""
    probe = run("svodc", "inspect", "-", "--kernels", "--target", "cuda", stdin=SMALL)
    return probe.returncode == 0


HAS_NVRTC = has_nvrtc()
needs_nvrtc = unittest.skipUnless(HAS_NVRTC, "NVRTC is not on this machine: nothing becomes machine code")
REDUCTIONS = """svod 1
var n in [1, 300]
input x: f32[n, 70]
output s = softmax(x, axis=1)
output m = mean(x, axes=0)
output t = transpose(x)
half = cast(x, dtype=f16)
output h = half * 2
output i = argmax(x, axis=1)
"""


class Compile(ToolTest):
    def floats(self, name, shape):
        draw = random.Random(3)
        count = 1
        for d in shape:
            count *= d
        return npy(self.folder / f"{name}.npy", "<f4", shape, struct.pack(f"<{count}f", *(draw.uniform(-4, 4) for _ in range(count))))

    def test_one_graph_for_both_and_the_same_results(self):
        graph, cpu, gpu = self.graph(REDUCTIONS), self.folder / "cpu", self.folder / "gpu"
        self.svodc("compile", graph, "-o", cpu)
        self.svodc("compile", graph, "-o", gpu, "--target", "cuda", "--cuda-arch", "sm_80", "--nvrtc", "none")
        kernels = [k["symbol"] for k in json.loads((gpu / "plan.json").read_text())["kernels"]]
        self.assertEqual(set(contents(gpu)), {"plan.json"} | {f"{k}.sm_80.cu" for k in kernels})
        for n in (1, 7, 300):
            x = self.floats("x", [n, 70])
            done = run("svod-run", cpu, "-i", f"x={x}", "--output-dir", self.folder / "expected")
            self.assertEqual(done.returncode, 0, done.stderr)
            for delay in ("eager", "lazy", "random"):
                done = run("../tests/svod-run-cuda", gpu, "-i", f"x={x}", "--reference", self.folder / "expected", "--rtol", "1e-4",
                           "--atol", "1e-5", env={"SVOD_GRID_DELAY": delay})
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_plan_for_the_host_and_a_gpu(self):
        text = "svod 1\ninput x: f32[6, 8]\nfar = softmax(copy(x, device=far), axis=1)\noutput y = relu(x) + copy(far, device=cpu)\n"
        graph, both, alone = self.graph(text), self.folder / "both", self.folder / "alone"
        self.svodc("compile", graph, "-o", both, "--device", "far=cuda", "--cuda-arch", "sm_75", "--nvrtc", "none")
        self.svodc("compile", graph, "-o", alone, "--device", "far")
        self.assertLess({"plan.json", "kernels.so"}, set(contents(both)))
        self.assertTrue(all(name.endswith(".sm_75.cu") for name in contents(both) if name not in ("plan.json", "kernels.so")))
        x = self.floats("x", [6, 8])
        self.assertEqual(run("svod-run", alone, "-i", f"x={x}", "--output-dir", self.folder / "expected").returncode, 0)
        done = run("../tests/svod-run-cuda", both, "-i", f"x={x}", "--reference", self.folder / "expected", "--rtol", "1e-4")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_users_are_told(self):
        graph, plan = self.graph(), self.folder / "plan"
        self.fails(2, "compile", graph, "-o", plan, "--target", "cuda", "--cuda-arch", "sm_91q", "--nvrtc", "none",
                   says=["no architecture 'sm_91q'", "sm_90a"])
        self.fails(2, "compile", graph, "-o", plan, "--target", "cuda", "--cpu", "znver4", "--nvrtc", "none", says="--cuda-arch")
        self.fails(2, "compile", graph, "-o", plan, "--cuda-arch", "sm_80", says="--target cuda")
        missing = self.fails(1, "compile", graph, "-o", plan, "--target", "cuda", "--nvrtc", self.folder / "none.so",
                             says=["needs NVRTC", "pip install nvidia-cuda-nvrtc", "SVOD_NVRTC"])
        self.assertIn("none.so", missing.stderr)
        self.fails(1, "compile", graph, "-o", plan, "--target", "cuda", env={"SVOD_NVRTC": str(self.folder)}, says="needs NVRTC")
        self.assertFalse(plan.exists())

    @needs_nvrtc
    def test_no_compiler_writes_out_loops_with_clamped_integers(self):
        """ptxas gets constants of such loops wrong: the value it made on an H200 for one of 312 results was another neighbour's."""
        graph = self.graph("svod 1\ninput x: f32[1, 8, 5, 7]\noutput y = resize(x, size=[3, 13], mode=linear)\n")
        source = self.svodc("inspect", graph, "--source", "--target", "cuda", "-O0", "--nvrtc", "none").stdout
        loop = re.search(r"(.*)\n *for \([^\n]*\n[^{]*(\w+) > 0 \? \2 : 0", source)
        self.assertEqual(loop[1].strip(), "SVOD_ROUNDS(1)")

    def test_an_image_for_each_architecture(self):
        plan = self.folder / "plan"
        self.svodc("compile", self.graph(SYMBOLIC), "-o", plan, "--target", "cuda", "--cuda-arch", "compute_80,sm_80,sm_90a")
        manifest = json.loads((plan / "plan.json").read_text())
        kernels = [k["symbol"] for k in manifest["kernels"]]
        endings = ("sm_90a.cubin", "sm_80.cubin", "compute_80.ptx")
        self.assertEqual(set(contents(plan)), {"plan.json"} | {f"{k}.{ending}" for k in kernels for ending in endings})
        images = [f["image"] for f in manifest["files"] if f["kind"] == "image"]
        # Fewer devices run the first ones.
        self.assertEqual(list(dict.fromkeys(i["arch"] for i in images)), ["sm_90a", "sm_80", "compute_80"])
        self.assertEqual({i["device"] for i in images}, {"cuda"})
        self.assertEqual(images[0]["driver"] % 1000, 0)
        self.assertGreaterEqual(images[-1]["driver"], images[0]["driver"])
        self.assertTrue((plan / f"{kernels[0]}.sm_80.cubin").read_bytes().startswith(b"\x7fELF"))
        self.assertIn(b".target sm_80", (plan / f"{kernels[0]}.compute_80.ptx").read_bytes())
        for kernel in manifest["kernels"]:
            registers = [i["registers"] for i in kernel["grid"]["images"]]
            self.assertTrue(all(0 < r <= 255 for r in registers[:2]), registers)
        again = self.folder / "again"
        self.svodc("compile", self.graph(SYMBOLIC), "-o", again, "--target", "cuda", "--cuda-arch", "sm_90a,sm_80,compute_80", "-j", "3")
        self.assertEqual(contents(plan), contents(again))

    def emitted(self, *words):
        """Folder to name to bytes of what --emit KIND=KIND wrote, of a product and a stream."""
        text = "svod 1\ninput a: bf16[512, 512]\ninput b: bf16[512, 512]\noutput y = matmul(a, b)\noutput z = a * 2 + 1\n"
        kinds = [word for word in words if word in ("cubin", "ptx", "cuda-c", "fatbin")]
        rest = [word for word in words if word not in kinds]
        self.svodc("compile", self.graph(text), "-o", self.folder / "plan", "--target", "cuda", *rest,
                   *(f"--emit={kind}={self.folder / kind}" for kind in kinds))
        return {kind: contents(self.folder / kind) for kind in kinds}

    @needs_nvrtc
    def test_kernels_as_plain_files(self):
        made = self.emitted("--cuda-arch", "sm_90a,sm_80,compute_80", "cubin", "ptx", "cuda-c", "fatbin")
        plan = contents(self.folder / "plan")
        kernels = sorted({name.split(".")[0] for name in plan if name.endswith(".cubin")})
        self.assertEqual(len(kernels), 2)
        self.assertEqual(set(made["cubin"]), {f"{k}.{arch}.cubin" for k in kernels for arch in ("sm_90a", "sm_80")})
        self.assertEqual(set(made["ptx"]), {f"{k}.compute_{arch}.ptx" for k in kernels for arch in ("90a", "80")})
        self.assertEqual(set(made["cuda-c"]), {f"{k}.{arch}.cu" for k in kernels for arch in ("sm_90a", "sm_80", "compute_80")})
        self.assertEqual(set(made["fatbin"]), {f"{k}.fatbin" for k in kernels})
        for name, cubin in made["cubin"].items():
            self.assertTrue(cubin.startswith(b"\x7fELF"), name)
            self.assertRegex(plan[name].removeprefix(cubin), rb"^\n//svod plan [0-9a-f]{64}\n$")
            fatbin = made["fatbin"][name.split(".")[0] + ".fatbin"]
            self.assertTrue(fatbin.startswith(b"\x50\xed\x55\xba"))
            self.assertIn(cubin, fatbin)
        for name, ptx in made["ptx"].items():
            self.assertNotIn(b"\0", ptx)
            self.assertIn(b".target sm_" + name.split("_")[-1].split(".")[0].encode(), ptx)
        y = next(k for k in kernels if k.startswith("y_"))
        self.assertIn(b"cp.async.bulk.tensor", made["ptx"][f"{y}.compute_90a.ptx"])
        self.assertNotIn(b"cp.async.bulk.tensor", made["ptx"][f"{y}.compute_80.ptx"])
        tools = os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin"
        found = {tool: shutil.which(tool) or shutil.which(tool, path=tools) for tool in ("ptxas", "fatbinary")}
        if found["ptxas"]:
            for name in made["ptx"]:
                arch = "sm_" + name.split("_")[-1].split(".")[0]
                subprocess.run([found["ptxas"], f"-arch={arch}", self.folder / "ptx" / name, "-o", self.folder / "o.cubin"], check=True)
        # NVIDIA's own program writes the same of machine code.
        made = self.emitted("--cuda-arch", "sm_90a,sm_80,sm_100f,sm_120", "cubin", "fatbin")
        if found["fatbinary"]:
            for k in kernels:
                images = [f"--image3=kind=elf,sm={arch},file={self.folder}/cubin/{k}.sm_{arch}.cubin" for arch in ("90a", "100f", "120", "80")]
                subprocess.run([found["fatbinary"], f"--create={self.folder}/ref", "-64", "--compress=false", *images], check=True)
                self.assertEqual((self.folder / "ref").read_bytes(), made["fatbin"][f"{k}.fatbin"])

    def test_kernels_as_plain_files_without_nvrtc(self):
        made = self.emitted("--cuda-arch", "sm_90a,sm_80", "--nvrtc", "none", "cuda-c")
        self.assertEqual(len(made["cuda-c"]), 4)
        for name, text in made["cuda-c"].items():
            self.assertIn(b"#define SVOD_KERNEL", text, name)
            self.assertIn(name.split(".")[0].encode() + b"(", text, name)
        for kind, says in (("cubin", "no machine code"), ("ptx", "no PTX"), ("fatbin", "no machine code")):
            self.fails(3, "compile", self.folder / "graph.svod", "--target", "cuda", "--nvrtc", "none", "--emit", f"{kind}={self.folder}/none",
                       says=[says, "NVRTC"])
            self.fails(3, "compile", self.folder / "graph.svod", "--emit", f"{kind}={self.folder}/none", says=["no kernels of CUDA devices", "--target cuda"])

    @needs_nvrtc
    def test_kernels_are_kept_by_architecture(self):
        cache = {"SVOD_NO_CACHE": "", "SVOD_CACHE_DIR": str(self.folder / "cache")}
        sizes = []
        for archs in ("sm_80", "sm_80", "sm_86"):
            plan = self.folder / "plan"
            self.svodc("compile", self.graph(), "-o", plan, "--target", "cuda", "--cuda-arch", archs, env=cache)
            sizes.append(len(contents(self.folder / "cache")))
            self.assertTrue(any(name.endswith(f".{archs}.cubin") for name in contents(plan)))
        self.assertEqual(sizes[0], sizes[1])
        self.assertGreater(sizes[2], sizes[1])

    @needs_nvrtc
    def test_what_nvrtc_does_not_have(self):
        graph, plan = self.graph(), self.folder / "plan"
        self.fails(2, "compile", graph, "-o", plan, "--target", "cuda", "--cuda-arch", "sm_99", says="sm_99")


if __name__ == "__main__":
    main()
