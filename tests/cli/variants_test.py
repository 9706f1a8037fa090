"""svodc compile --cpu A,B,..: one plan for several processors. Machines of several kinds are emulated; each runs the code for it."""
import json
import shutil
import subprocess
import unittest

from svodc import BIN, ToolTest, clean_environment, contents, main, npy, run

EMULATOR = "qemu-x86_64-static"
# Models of the emulator, and which level of x86-64 each is.
MODELS = {"core2duo": None, "Nehalem": "x86-64-v2", "Haswell": "x86-64-v3"}
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids"]
GRAPH = """svod 1
var n in [1, 9]
input x: f32[n, 37]
weight w1: f32[37, 83] = "w1.npy"
weight w2: f32[83, 19] = "w2.npy"
weight q: i8[19, 19] = "q.npy"
state count: i64 = 3
assign count = count + 1
h = relu(matmul(x, w1))
y = matmul(h, w2)
output y
output z = matmul(cast(y * 4, dtype=i8), q)
output best = argmax(y, axis=1, dtype=i32)
output count
"""


def floats(count, seed):
    """The same numbers everywhere, none of them special."""
    import array
    values, state = array.array("f"), seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        values.append((state >> 8) / 2**22 - 1)
    return values.tobytes()


class Variants(ToolTest):
    def setUp(self):
        super().setUp()
        npy(self.folder / "w1.npy", "<f4", [37, 83], floats(37 * 83, 1))
        npy(self.folder / "w2.npy", "<f4", [83, 19], floats(83 * 19, 2))
        npy(self.folder / "q.npy", "|i1", [19, 19], bytes(i * 7 % 256 for i in range(361)))
        npy(self.folder / "x.npy", "<f4", [5, 37], floats(5 * 37, 3))

    def plan(self, cpus, *words, name="m.plan", graph=GRAPH, **options):
        path = self.folder / name
        self.svodc("compile", self.graph(graph), "-o", path, "--cpu", ",".join(cpus), *words, **options)
        return path

    def manifest(self, plan):
        return json.loads((plan / "plan.json").read_text())

    def outputs(self, plan, *words, model=None, code=0):
        """What a run gives, on an emulated machine if `model` is one."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        emulated = [EMULATOR, "-cpu", model] if model else []
        done = subprocess.run([*emulated, str(BIN / "svod-run"), str(plan), "--threads", "1", "--input", f"x={self.folder}/x.npy",
                               "--output-dir", str(out), *words], capture_output=True, text=True, env=clean_environment(), timeout=300)
        self.assertEqual(done.returncode, code, done.stderr)
        return contents(out) if code == 0 else done.stderr

    def here(self, plan):
        """The processors of the plan that this machine is."""
        said = json.loads(run("svod-run", plan, "--explain", "--json").stdout)
        return [p["cpu"] for p in said["processors"] if not p["missing"]]

    def test_every_processor_gives_what_a_plan_for_it_alone_gives(self):
        plan = self.plan(LEVELS, "--numerics", "strict", "--verify")
        wanted = self.outputs(plan, "--cpu", "x86-64-v2")
        self.assertEqual(len(wanted), 4)
        for cpu in self.here(plan):
            alone = self.plan([cpu], "--numerics", "strict", "--decide-from", plan, name="alone.plan")
            self.assertEqual(self.outputs(plan, "--cpu", cpu), self.outputs(alone))
            self.assertEqual(self.outputs(plan, "--cpu", cpu), wanted)  # strict, and without transcendental functions

    @unittest.skipUnless(shutil.which(EMULATOR), f"needs {EMULATOR} (Debian: qemu-user-static)")
    def test_every_machine_runs_the_code_for_it(self):
        plan = self.plan(LEVELS, "--emit", "pack")
        for path in (plan, self.folder / "m.plan.pack"):
            for model, cpu in MODELS.items():
                if cpu is None:
                    said = self.outputs(path, model=model, code=5)
                    self.assertIn("for the CPUs 'x86-64-v2', 'x86-64-v3', 'x86-64-v4', 'sapphirerapids'; of what the nearest, 'x86-64-v2', needs, this one lacks", said)
                    self.assertIn("sse4.2", said)
                    continue
                given = self.outputs(path, model=model)
                alone = self.plan([cpu], "--decide-from", plan, name="alone.plan")
                self.assertEqual(given, self.outputs(alone, model=model))
                done = subprocess.run([EMULATOR, "-cpu", model, str(BIN / "svod-run"), str(path), "--explain", "--json"], capture_output=True, text=True)
                taken = [p["cpu"] for p in json.loads(done.stdout)["processors"] if p["used"]]
                self.assertEqual(taken, [cpu])

    def test_explain(self):
        plan = self.plan(["x86-64-v2", "x86-64-v3", "x86-64"])
        lines = run("svod-run", plan, "--explain").stdout.splitlines()
        self.assertEqual([line[2:].split()[0] for line in lines], ["x86-64-v2", "x86-64-v3", "x86-64"])
        self.assertEqual([line[0] for line in lines].count("*"), 1)
        best = self.here(plan)[1 if "x86-64-v3" in self.here(plan) else 0]
        self.assertIn(f"* {best}", "\n".join(lines))
        asked = run("svod-run", plan, "--explain", "--cpu", "x86-64").stdout
        self.assertIn("* x86-64     taken: --cpu asks for it", asked)
        wrong = run("svod-run", plan, "--explain", "--cpu", "znver9")
        self.assertEqual(wrong.returncode, 5)
        self.assertIn("has no code for CPU 'znver9', only for 'x86-64-v2', 'x86-64-v3', 'x86-64'", wrong.stderr)

    def test_explain_of_kernels_for_sizes(self):
        graph = "svod 1\nvar n in [0, 99] ~ 5\ninput x: f32[n]\noutput y = x * 2 + 1\n"
        plan = self.plan(["x86-64", "x86-64-v2"], "--specialize", "n=1,8", graph=graph)

        def cases(*words):
            lines = run("svod-run", plan, "--explain", *words).stdout.splitlines()
            return [line for line in lines if line[2:].startswith("step ")]

        self.assertEqual([line.partition(" where ")[2] or line[-19:] for line in cases()],
                         ["n = 1", "n = 8", "for all other sizes"])
        self.assertEqual([line[0] for line in cases()], [" ", " ", " "])
        self.assertEqual([line[0] for line in cases("--var", "n=8")], [" ", "*", " "])
        self.assertEqual([line[0] for line in cases("--var", "n=7", "--cpu", "x86-64")], [" ", " ", "*"])
        told = json.loads(run("svod-run", plan, "--explain", "--json", "--var", "n=1").stdout)["sizes"]
        self.assertEqual([[k.get("when", ""), k["used"]] for k in told[0]["kernels"]],
                         [["n = 1", True], ["n = 8", False], ["", False]])

    def test_kernels_for_some_sizes_share_weights(self):
        for columns, stored in ((768, 768), (1000, 1008)):  # the last block of the latter begins within the one before it
            with self.subTest(columns):
                self.check_shared_weights(columns, stored)

    def check_shared_weights(self, columns, stored):
        graph = ('svod 1\nvar n in [1, 4096] ~ 1\ninput x: f32[n, 768]\n'
                 f'weight w: f32[768, {columns}] = "w.npy"\noutput y = matmul(x, w)\n')
        npy(self.folder / "w.npy", "<f4", [768, columns], floats(768 * columns, 4))
        one = self.plan(["znver3"], graph=graph)
        manifest = self.manifest(one)
        cases = [s["launch"]["cases"] for s in manifest["steps"]]
        self.assertEqual([len(c) for c in cases], [1])
        self.assertIn(" where n <= 3", run("svod-run", one, "--explain", "--cpu", "znver3").stdout)
        self.assertEqual(cases[0][0]["launch"]["buffers"], manifest["steps"][0]["launch"]["buffers"])
        self.assertEqual((one / "weights.bin").stat().st_size, 768 * stored * 4)
        both = self.plan(["x86-64-v2", "znver3"], name="both.plan", graph=graph)
        for n in (1, 2, 3, 7, 64):
            npy(self.folder / "x.npy", "<f4", [n, 768], floats(n * 768, n))
            fixed = self.plan(["x86-64-v2"], "-O0", "--var", f"n={n}", name=f"fixed{n}.plan", graph=graph)
            wanted = self.outputs(fixed)["y.npy"]
            for plan, cpu in [(one, "znver3"), (both, "x86-64-v2"), (both, "znver3")]:
                if cpu in self.here(plan):
                    self.assertNear(self.outputs(plan, "--cpu", cpu)["y.npy"], wanted)

    def assertNear(self, found, wanted):
        """Two .npy files of floats with one shape."""
        import array
        self.assertEqual(len(found), len(wanted))
        self.assertEqual(found[:128], wanted[:128])
        values = [array.array("f", text[128:]) for text in (found, wanted)]
        self.assertLess(max(abs(a - b) for a, b in zip(*values)), 1e-3)

    def test_one_line_says_it(self):
        done = self.svodc("compile", self.graph(GRAPH), "-o", self.folder / "p", "--cpu", "x86-64-v3,x86-64-v2")
        self.assertIn("for x86-64-v3, x86-64-v2 on x86_64-unknown-linux-gnu", done.stdout)

    def test_kernels_and_weights_are_shared_where_they_are_equal(self):
        # Two processors that differ in nothing that these kernels use.
        same = self.plan(["haswell", "skylake"], name="same")
        manifest, alone = self.manifest(same), self.manifest(self.plan(["haswell"], name="alone"))
        self.assertEqual([v["cpu"] for v in manifest["variants"]], ["skylake"])
        shared = len(manifest["steps"]) - len(manifest["variants"][0]["launches"])
        self.assertGreater(shared, 0)
        self.assertEqual(len(manifest["kernels"]) - len(alone["kernels"]), len({l["launch"]["kernel"] for l in manifest["variants"][0]["launches"]}))
        # Weights in one order are there once, whatever kernels read them; those in another one besides.
        self.assertEqual([c["bytes"] for c in manifest["constants"]], [c["bytes"] for c in alone["constants"]])
        wide = self.manifest(self.plan(["haswell", "x86-64-v4"], name="wide"))
        self.assertGreater(len(wide["constants"]), len(alone["constants"]))
        self.assertEqual([f["path"] for f in wide["files"]], ["kernels.so", "kernels-x86-64-v4.so", "weights.bin"])
        kernels = {k["name"] for k in wide["kernels"]}
        self.assertTrue(any(name.endswith("@x86-64-v4") for name in kernels))

    def test_the_graph_is_decided_for_the_first(self):
        graph = "svod 1\ninput x: f32[64, 2048]\noutput y = softmax(x, axis=1)\noutput s = sum(x)\n"
        for first, second in (("x86-64-v2", "sapphirerapids"), ("sapphirerapids", "x86-64-v2")):
            both, alone = self.plan([first, second], graph=graph, name="both"), self.plan([first], graph=graph, name="alone")
            self.assertEqual(self.manifest(both)["decisions"], self.manifest(alone)["decisions"])
            self.assertEqual(self.manifest(both)["steps"], self.manifest(alone)["steps"])

    def test_equal_bytes_in_any_folder_with_any_number_of_jobs(self):
        plans = []
        for name, jobs in (("a", 1), ("b", 3)):
            folder = self.folder / name
            folder.mkdir()
            plans.append(self.plan(LEVELS, "-j", jobs, "--emit", "pack", name=f"{name}/m.plan"))
        self.assertEqual(contents(plans[0]), contents(plans[1]))
        packs = [(plan.parent / "m.plan.pack").read_bytes() for plan in plans]
        self.assertEqual(packs[0], packs[1])

    def test_the_cache_has_the_kernels_of_plans_for_one_processor(self):
        env = {"SVOD_CACHE_DIR": str(self.folder / "cache"), "SVOD_NO_CACHE": ""}
        for cpu in LEVELS[:2]:
            self.plan([cpu], env=env)
        fresh = self.plan(LEVELS[:2], name="fresh")
        done = self.svodc("compile", self.graph(GRAPH), "-o", self.folder / "again", "--cpu", ",".join(LEVELS[:2]), "--json", env=env)
        self.assertGreater(json.loads(done.stdout)["reusedKernels"], len(self.manifest(fresh)["steps"]) // 2)
        self.assertEqual(contents(fresh), contents(self.folder / "again"))

    def test_functions_of_c_files(self):
        (self.folder / "f.c").write_text("#include <stdint.h>\nvoid twice(float* y, const float* x, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i]; }\n")
        graph = 'svod 1\ninput x: f32[5, 37]\noutput y = custom(x, source="f.c", function=twice, shape=[5, 37], values=[185])\n'
        plan = self.plan(["x86-64-v2", "x86-64-v3"], "--verify", "--allow-c", graph=graph)
        for cpu in self.here(plan):
            self.assertEqual(self.outputs(plan, "--cpu", cpu), self.outputs(self.plan([cpu], graph=graph, name="alone")))

    def test_target_c(self):
        plan = self.plan(["x86-64-v2", "x86-64-v3"], "--target", "c", "--verify")
        names = set(contents(plan))
        self.assertLessEqual({"kernels.so", "kernels.c", "kernels-x86-64-v3.so", "kernels-x86-64-v3.c"}, names)
        for cpu in self.here(plan):
            alone = self.plan([cpu], "--target", "c", "--decide-from", plan, name="alone")
            self.assertEqual(self.outputs(plan, "--cpu", cpu), self.outputs(alone))

    def test_inspect(self):
        plan = self.plan(["x86-64-v2", "x86-64-v3"])
        said = json.loads(self.svodc("inspect", plan, "--json").stdout)
        self.assertEqual([row["cpu"] for row in said["processors"]], ["x86-64-v2", "x86-64-v3"])
        own = self.svodc("inspect", plan, "--steps").stdout
        other = self.svodc("inspect", plan, "--steps", "--variant", "x86-64-v3", env={"SVOD_CPU": "x86-64"}).stdout
        self.assertIn("@x86-64-v3", other)
        self.assertNotIn("@x86-64-v3", own)
        self.fails(2, "inspect", self.folder / "graph.svod", "--variant", "x86-64-v3", says="is a graph")
        self.fails(2, "inspect", plan, "--variant", "x86-64-v9", says=["no code for 'x86-64-v9'", "x86-64-v3"])
        self.svodc("inspect", plan, "--html", self.folder / "page.html")

    def test_verify_tells_which_code_it_ran(self):
        done = self.svodc("compile", self.graph(GRAPH), "-o", self.folder / "p", "--verify", "--cpu", ",".join(LEVELS))
        here = self.here(self.folder / "p")
        if len(here) < len(LEVELS):
            self.assertIn(f"--verify ran the code for {', '.join(here)}; this machine cannot run the rest", done.stderr)

    def test_mistakes(self):
        graph = self.graph(GRAPH)
        out = ("-o", self.folder / "p")
        for cpus, says in (("x86-64-v2,x86-64-v2", "'x86-64-v2' twice"), ("x86-64-v2,", "a name that is empty"), (",", "a name that is empty"),
                           (",".join(f"c{i}" for i in range(65)), "65 names")):
            self.fails(2, "compile", graph, *out, "--cpu", cpus, says=says)
        self.fails(3, "compile", graph, *out, "--cpu", "x86-64-v3,haswel", says=["haswel", "haswell"])
        for kind in ("obj", "obj-dir", "asm", "llvm-ir", "llvm-bc"):
            self.fails(2, "compile", graph, *out, "--cpu", "x86-64-v2,x86-64-v3", "--emit", kind, says=f"--emit {kind} is for one processor")
        for words in (("--target", "c", "--cc", "none"), ("--target", "c", "--cc", "cc")):
            self.fails(2, "compile", graph, *out, "--cpu", "x86-64-v2,x86-64-v3", *words, says="--cc")
        both = json.loads(self.svodc("targets", "--cpu", "x86-64-v2,x86-64-v3", "--json").stdout)
        self.assertEqual([both[cpu]["vectorBytes"] for cpu in ("x86-64-v2", "x86-64-v3")], [16, 32])
        self.fails(2, "compile", graph, *out, "--cpu", "x86-64-v2,x86-64-v3", "--target", "cuda", says="--cuda-arch")
        self.fails(2, "tune", graph, "--tuning-log", self.folder / "log", "--cpu", "x86-64-v2,x86-64-v3", says="one processor")
        self.assertFalse((self.folder / "p").exists())

    def test_native_with_others(self):
        done = self.svodc("compile", self.graph(GRAPH), "-o", self.folder / "p", "--cpu", "x86-64,native")
        own = self.manifest(self.folder / "p")["variants"][0]["cpu"]
        self.assertIn(f"for x86-64, {own} (native: this machine) on x86_64", done.stdout)
        self.fails(2, "compile", self.graph(GRAPH), "-o", self.folder / "q", "--cpu", f"native,{own}", says="twice")


if __name__ == "__main__":
    main()
