"""Machine code of kernels of every class, for every architecture that NVRTC has: nothing is spilled, nothing in a loop waits for all of
memory, and what nvdisasm shows of it is what was meant."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import SMALL, ToolTest, main, run  # noqa: E402

CORPUS = ROOT / "tests/cuda_grid/corpus.svod"
BARS = ROOT / "tests/cuda_grid/bars.svod"
EPILOGUES_OF = ROOT / "tests/cuda_grid/epilogues.svod"
WEIGHTS = ROOT / "tests/cuda_grid/bars_weights.svod"  # of the same names, one factor a constant
ARCHS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120"]
# What a loop of a kernel must not have: local memory, and fences of the whole GPU or system.
FORBIDDEN = re.compile(r"^(LDL|STL|MEMBAR\.\w+\.(GPU|SYS)|ERRBAR|CCTL\.IVALL|BRA\.U\.ANY)")

# Products of f16 and bf16, and those of warpgroups among them on sm_90a.
PRODUCTS = ("half", "brain", "residual", "gate", "short", "across", "ragged", "cube", "steps", "rest", "odd")
OF_WARPGROUPS = PRODUCTS[:-2]
# Their results go out through shared memory; no sums of slices are in it.
STASHED = PRODUCTS[:-1]
# Rows of theirs begin amid sectors of memory.
AMID = ("steps", "rest")
# They read a third matrix as their lanes hold results: two neighbours of a row, which fill half of a sector.
BESIDE = ("residual", "gate")
SINGLE = ("single", "large", "thousand")


# Instructions behind the last product of a tile of 128 x 256, counted by hand (docs/cuda.md), and most times as many as there may be.
EPILOGUES = {"plain": 200, "residual": 648, "curved": 3656, "gated": 2824}
EPILOGUE_BAR = 1.3

# A call of each function whose instructions the model of costs knows, and its parameter (`svodc --list-tunables`).
FUNCTIONS = {
    "mul": ("{x} * {y}", None), "exp": ("exp({x})", "GpuExp"), "exp2": ("exp2({x})", "GpuExp"), "tanh": ("tanh({x})", "GpuPolynomial"),
    "erf": ("erf({x})", "GpuPolynomial"), "log": ("log({x})", "GpuLog"), "log2": ("log2({x})", "GpuLog"), "sin": ("sin({x})", "GpuSine"),
    "cos": ("cos({x})", "GpuSine"), "div": ("{x} / {y}", "GpuDivision"), "recip": ("recip({x})", "GpuDivision"),
    "sqrt": ("sqrt({x})", "GpuRoot"), "fmod": ("cmod({x}, {y})", "GpuRemainder"), "pow": ("pow({x}, {y})", "GpuPow")}


def nvdisasm():
    """From PATH, the toolkit, or pip's nvidia-cuda-nvdisasm of this Python."""
    places = [os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin"] + [p + "/nvidia/cu13/bin" for p in sys.path]
    return shutil.which("nvdisasm") or shutil.which("nvdisasm", path=os.pathsep.join(places))


def known_archs():
    """Those of ARCHS that the NVRTC of this machine has; none where there is no NVRTC."""
    def compiles(arch):
        return run("svodc", "inspect", "-", "--kernels", "--target", "cuda", "--cuda-arch", arch, "-O0", stdin=SMALL).returncode == 0
    return [arch for arch in ARCHS if compiles(arch)]


KNOWN = known_archs()
needs_nvrtc = unittest.skipUnless(KNOWN, "NVRTC is not on this machine: nothing becomes machine code")
needs_nvdisasm = unittest.skipUnless(nvdisasm() and KNOWN, "nvdisasm is not on this machine: pip install nvidia-cuda-nvdisasm")


def cubins(plan, arch):
    """Kernel name to cubin, of the images that a plan has for an architecture."""
    return {path.name.removesuffix(f".{arch}.cubin"): path.read_bytes() for path in sorted(plan.glob(f"*.{arch}.cubin"))}


def instructions(cubin, path):
    """Of each line of SASS the label in front of it, the instruction and its target."""
    path.write_bytes(cubin)
    text = subprocess.run([nvdisasm(), "-c", path], capture_output=True, text=True, check=True).stdout
    rows, labels = [], {}
    for line in text.split("\n"):
        if label := re.match(r"\s*(\.L_x_\d+):", line):
            labels[label.group(1)] = len(rows)
        elif found := re.search(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.a-z]*)(.*)", line):
            rows.append((found.group(1), found.group(2)))
    return rows, labels


def loops(rows, labels):
    for end, (name, rest) in enumerate(rows):
        target = re.search(r"\.L_x_\d+", rest) if name.startswith("BRA") else None
        if target and labels.get(target.group(0), end + 1) <= end and labels[target.group(0)] != end:
            yield rows[labels[target.group(0)]: end + 1]


def counts(names, what):
    return sum(1 for name in names if name.startswith(what))


def letters(names, of):
    """A word of what is looked for, in the order of the code."""
    return "".join(letter for name in names for what, letter in of if name.startswith(what))


def names_of(rows):
    return [row[0] for row in rows]


def busiest(rows, labels, what):
    """Of the loops the one with the most of an instruction."""
    return max(loops(rows, labels), key=lambda loop: counts(names_of(loop), what))


class Sass(ToolTest):
    def check_kernels(self, graph, archs, least):
        done = self.svodc("inspect", graph, "--kernels", "--json", "--target", "cuda", "--cuda-arch", ",".join(archs))
        kernels = json.loads(done.stdout)["kernels"]["details"]
        self.assertGreaterEqual(len(kernels), least)
        known = {}  # kernels of several architectures are one, or variants of one
        for kernel in kernels:
            known.setdefault(kernel["name"].split("@")[0], []).extend(unit["arch"] for unit in kernel["units"])
            for unit in kernel["units"]:
                with self.subTest(kernel=kernel["name"], arch=unit["arch"]):
                    self.assertEqual(unit["spillBytes"], 0)
                    self.assertEqual(unit["warnings"], "")
                    self.assertGreater(unit["groups"], 0)
        for name, its in known.items():
            self.assertEqual(sorted(its), sorted(archs), name)
        return {kernel["strategy"] for kernel in kernels}

    @needs_nvrtc
    def test_every_architecture_has_code_without_spills(self):
        classes = self.check_kernels(CORPUS, KNOWN, 15)
        self.assertLessEqual({"core-tiles", "lane-tiles", "row-groups", "column-groups", "squares", "held-rows", "grid-streams", "grid"}, classes)

    @needs_nvrtc
    def test_every_op_has_code_without_spills_on_the_oldest_and_the_newest(self):
        graphs = sorted((ROOT / "tests/e2e/ops").glob("*.svod"))
        self.assertGreater(len(graphs), 7)
        for graph in graphs:
            self.check_kernels(graph, sorted({KNOWN[0], KNOWN[-1]}), 3)

    @needs_nvrtc
    def test_registers_leave_room_for_one_more_workgroup(self):
        for arch in (arch for arch in ("sm_80", "sm_90a") if arch in KNOWN):
            with self.subTest(arch=arch):
                graph = "svod 1\ninput a: f32[1024, 1024]\ninput b: f32[1024, 1024]\noutput y = matmul(a, b)\n"
                done = self.svodc("inspect", "-", "--kernels", "--json", "--target", "cuda", "--cuda-arch", arch, "--opts", f"y={self.SQUARES}", stdin=graph)
                unit = json.loads(done.stdout)["kernels"]["details"][0]["units"][0]
                self.assertEqual((unit["groups"], unit["spillBytes"]), (2, 0))  # 8 x 8 sums, and 128 registers for 129

    SQUARES = ("tile(n0,128) tile(n1,128) order(n0.o,n1.o,n0.i,n1.i) tile(k0,16) pack(1,n0.i,k0.i) spread(p1.n0.i,4) pack(2,k0.i,n1.i) "
               "spread(p2.k0.i,4) vector(n1.i,4) local(n0.i,16) local(n1.i,16) upcast(n0.i,8) upcast(n1.i,2) unroll(k0.i,4) global(n0.o,n1.o)")

    @unittest.skipUnless("sm_90a" in KNOWN, "NVRTC is not on this machine, or has no code for sm_90a")
    def test_products_that_need_all_of_their_registers_keep_them(self):
        graph = "svod 1\ninput a: bf16[512, 512]\ninput b: bf16[512, 512]\noutput y = matmul(a, b)\n"
        done = self.svodc("inspect", "-", "--kernels", "--json", "--target", "cuda", "--cuda-arch", "sm_90a", "--opts", f"y={self.TWO_STAGES}", stdin=graph)
        unit = json.loads(done.stdout)["kernels"]["details"][0]["units"][0]
        self.assertEqual((unit["groups"], unit["spillBytes"]), (2, 0))  # with 80 registers, three, ptxas refuses the product

    TWO_STAGES = ("tile(n0,128) tile(n1,128) order(n0.o,n1.o,n0.i,n1.i) tile(k0,64) pack(1,n0.i,k0.i) swizzle(p1.n0.i,128) bulk(p1.n0.i,2) "
                  "tile(n1.i,64) pack(2,n1.i.o,k0.i,n1.i.i) swizzle(p2.n1.i.o,128) bulk(p2.n1.i.o,2) merge(n1.i.o,n1.i.i) "
                  "tc(4,n0.i,n1.i.o+n1.i.i,k0.i) local(n0.i,2) unroll(k0.i,4) global(n0.o,n1.o)")

    @needs_nvdisasm
    def test_loops_touch_no_local_memory_and_no_fence_of_the_gpu(self):
        plan = self.folder / "plan"
        archs = [arch for arch in ("sm_80", "sm_90a") if arch in KNOWN]
        self.svodc("compile", CORPUS, "-o", plan, "--target", "cuda", "--cuda-arch", ",".join(archs))
        seen = 0
        for arch in archs:
            for name, cubin in cubins(plan, arch).items():
                rows, labels = instructions(cubin, self.folder / "k.cubin")
                self.assertGreater(len(rows), 8, name)
                for loop in loops(rows, labels):
                    seen += 1
                    self.assertEqual([i for i in names_of(loop) if FORBIDDEN.match(i)], [], f"{name} on {arch}")
        self.assertGreater(seen, 4)

    @needs_nvdisasm
    @unittest.skipUnless("sm_90a" in KNOWN, "NVRTC lacks sm_90a")
    def test_what_follows_a_product_is_as_short_as_by_hand(self):
        plan = self.folder / "plan"
        self.svodc("compile", EPILOGUES_OF, "-o", plan, "--target", "cuda", "--cuda-arch", "sm_90a")
        seen = set()
        for name, cubin in cubins(plan, "sm_90a").items():
            rows, labels = instructions(cubin, self.folder / "k.cubin")
            names, label = names_of(rows), name.split("_")[0]
            after = [i for i in names[max(i for i, n in enumerate(names) if n.startswith("HGMMA")) + 1:] if i != "NOP"]
            with self.subTest(kernel=name):
                seen.add(label)
                self.assertLessEqual(len(after), EPILOGUE_BAR * EPILOGUES[label])
                # Conversions in pairs or at their speed; no division that calls a function.
                self.assertEqual((counts(after, "F2F."), counts(after, "CALL")), (0, 0))
                self.check_warpgroups(names_of(busiest(rows, labels, "HGMMA")))
        self.assertEqual(seen, set(EPILOGUES))

    @needs_nvdisasm
    @unittest.skipUnless("sm_90a" in KNOWN, "NVRTC lacks sm_90a")
    def test_functions_are_priced_as_they_are_printed(self):
        listed = dict(re.findall(r"^(Gpu\w+) +([0-9.]+)", self.svodc("--list-tunables").stdout, re.M))
        graph, plan = self.folder / "functions.svod", self.folder / "plan"
        lines = [f"input {op}: f32[8388608]\ninput {op}_by: f32[8388608]\noutput y_{op} = {text.format(x=op, y=op + '_by')}"
                 for op, (text, _) in FUNCTIONS.items()]
        graph.write_text("svod 1\n" + "\n".join(lines) + "\n")
        self.svodc("compile", graph, "-o", plan, "--target", "cuda", "--cuda-arch", "sm_90a")
        found = {}
        for name, cubin in cubins(plan, "sm_90a").items():
            rows, _ = instructions(cubin, self.folder / "k.cubin")
            end = names_of(rows).index("EXIT") + 1  # functions that are called stand behind it
            found[name.split("_")[1]] = end, counts(names_of(rows[:end]), "STG.E.128")
        start, stores = found["mul"]
        for op, (_, parameter) in FUNCTIONS.items():
            if parameter is None:
                continue
            with self.subTest(op=op):
                each = (found[op][0] - start) / (4 * stores) + 1
                self.assertEqual(found[op][1], stores)
                self.assertLessEqual(max(each / float(listed[parameter]), float(listed[parameter]) / each), 1.3, each)

    @needs_nvdisasm
    def test_each_architecture_of_a_plan_has_the_code_of_a_plan_for_it_alone(self):
        graph = self.folder / "graph.svod"
        graph.write_text("svod 1\nvar n in [1, 4096]\ninput a: bf16[2048, 2048]\ninput b: bf16[2048, 2048]\ninput x: f32[n, 64]\n"
                         "output y = matmul(a, b)\noutput z = x * 2 + 1\n")
        archs = [arch for arch in ("sm_80", "sm_89", "sm_90a", "sm_100f", "sm_120") if arch in KNOWN or arch == "sm_100f" and "sm_100a" in KNOWN]
        plan = self.folder / "all"
        self.svodc("compile", graph, "-o", plan, "--target", "cuda", "--cuda-arch", ",".join(archs))
        sizes = {"all": sum(path.stat().st_size for path in plan.iterdir())}
        for arch in archs:
            alone = self.folder / "alone"
            self.svodc("compile", graph, "-o", alone, "--target", "cuda", "--cuda-arch", arch)
            sizes[arch] = sum(path.stat().st_size for path in alone.iterdir())
            code = [{name: cubin[: cubin.rindex(b"\n//svod plan ")] for name, cubin in cubins(folder, arch).items()} for folder in (plan, alone)]
            self.assertEqual(code[0], code[1], arch)
            self.assertEqual(len(code[0]), 2)
        self.assertLess(sizes["all"], sum(sizes[arch] for arch in archs))
        found = {}
        for arch in archs:
            rows, _ = instructions(next(cubin for name, cubin in cubins(plan, arch).items() if name.startswith("y_")), self.folder / "k.cubin")
            names = names_of(rows)
            found[arch] = {what for what in ("HGMMA", "UTMALDG", "HMMA", "LDGSTS") if counts(names, what)}
        self.assertEqual(found["sm_80"], {"HMMA", "LDGSTS"})
        if "sm_90a" in archs:
            self.assertEqual(found["sm_90a"], {"HGMMA", "UTMALDG"})

    def test_accesses_touch_no_sector_and_no_bank_in_vain(self):
        for graph, count in ((BARS, 18), (WEIGHTS, 14)):
            done = self.svodc("inspect", graph, "--kernels", "--json", "--target", "cuda", "--nvrtc", "none")
            kernels = json.loads(done.stdout)["kernels"]["details"]
            self.assertEqual(len(kernels), count)
            for kernel in kernels:
                self.assertGreater(len(kernel["accesses"]), 0, kernel["name"])
                for access in kernel["accesses"]:
                    with self.subTest(graph=graph.name, kernel=kernel["name"], access=access):
                        self.assertLessEqual(access["transfers"], self.most(kernel["name"], access) * access["least"])

    def most(self, kernel, access):
        if access["unit"] == "sectors" and kernel.startswith(AMID):
            return 1.25
        return 2 if kernel.startswith(BESIDE) and "argument 3" in access["what"] else 1

    @needs_nvdisasm
    def test_loops_do_little_beside_their_products_and_memory_is_moved_16_bytes_at_a_time(self):
        for arch in (arch for arch in ("sm_80", "sm_90a") if arch in KNOWN):
            seen = {}
            for graph in (BARS, WEIGHTS):
                plan = self.folder / (graph.stem + arch)
                self.svodc("compile", graph, "-o", plan, "--target", "cuda", "--cuda-arch", arch)
                for name, cubin in cubins(plan, arch).items():
                    label = name.split("_")[0]
                    with self.subTest(kernel=name, arch=arch, graph=graph.name):
                        seen.setdefault(graph, set()).add(label)
                        share = 0.85 if graph == BARS else 0.84  # of multiply-adds of f32
                        self.check_code(label, arch, share, *instructions(cubin, self.folder / "k.cubin"))
            self.assertEqual(seen[WEIGHTS], {*PRODUCTS, *SINGLE})
            self.assertEqual(seen[BARS], {*PRODUCTS, *SINGLE, "stream", "rows", "norm", "turned"} - {*BESIDE})

    def check_code(self, label, arch, share, rows, labels):
        names = names_of(rows)
        self.assertEqual([i for i in names if i.startswith(("LDL", "STL"))], [])
        if label in STASHED:
            self.check_results(names)
        if label in OF_WARPGROUPS and arch == "sm_90a":
            self.check_warpgroups(names_of(busiest(rows, labels, "HGMMA")))
        elif label in PRODUCTS:
            self.check_cores(busiest(rows, labels, "HMMA"), ".64" if label == "rest" else ".128")
        elif label in SINGLE:
            loop = names_of(busiest(rows, labels, "FFMA"))
            self.assertGreaterEqual(counts(loop, "FFMA") / len(loop), share, loop)
            self.assertTrue(all(".128" in i for i in names if i.startswith(("LDS", "STS", "LDG", "STG"))), names)
        elif label == "stream":
            moves = [i for i in names if i.startswith(("LDG", "STG"))]
            self.assertTrue(all(".128" in i for i in moves), moves)
            self.assertGreaterEqual(counts(names[:names.index("FFMA") if "FFMA" in names else names.index("FMUL")], "LDG"), 4)
            self.assertLessEqual(len(names) / len(moves), 20)
        elif label == "turned":
            self.assertTrue(all(".128" in i for i in names if i.startswith(("LDG", "STG"))), names)
        elif label in ("rows", "norm"):
            self.assertTrue(all(".128" in i for i in names if i.startswith(("LDG", "STG"))), names)
            self.assertLessEqual(counts(names, "SHFL"), 2 * (5 + 3))  # two reduced values: of a warp, and of warps
            self.assertLessEqual(counts(names, "BAR"), 2)
            # Each element is read once, and its exponential computed once.
            self.assertEqual(counts(names, "LDG"), counts(names, "STG"))
            self.assertIn(counts(names, "MUFU.EX2"), (0, 4 * counts(names, "STG")))

    def check_results(self, names):
        """They leave in pieces of 16 bytes, after one barrier: per piece four words are packed, stored and read once."""
        after = names[max(i for i, name in enumerate(names) if name.startswith(("HMMA", "HGMMA"))):]
        stores = [i for i in names if i.startswith("STG")]
        self.assertTrue(all(".128" in i for i in stores), stores)
        self.assertEqual((counts(after, "BAR"), counts(after, "SHFL"), counts(after, "LDS.128")), (1, 0, len(stores)))
        self.assertLessEqual(counts(after, "STS"), 4 * len(stores))

    def check_warpgroups(self, loop):
        """wgmma of 64 x n x 16 keeps the tensor cores of a unit busy for n / 2 cycles, in which each of its parts may issue as many instructions."""
        products, steps = [name for name in loop if name.startswith("HGMMA")], counts(loop, "BAR")
        cycles = sum(int(re.search(r"64x(\d+)x", name).group(1)) // 2 for name in products)
        self.assertGreaterEqual(steps, 1)
        self.assertEqual(len(products), 4 * steps)  # of 64 terms
        self.assertLessEqual(len(loop) / cycles, 0.25, loop)
        self.assertLessEqual(counts(loop, "WARPGROUP"), 2 * steps)
        self.assertEqual((counts(loop, "UTMALDG"), counts(loop, "LDGSTS")), (2 * steps, 0))  # both operands in bulk
        self.assertEqual(counts(loop, "FENCE"), 0)
        self.check_filled_together(loop)
        # Copies of a later step come before the wait for those of this one.
        order = letters(loop, (("UTMALDG", "T"), ("SYNCS.PHASECHK", "w"), ("HGMMA", "H"), ("WARPGROUP.DEPBAR", "D")))
        self.assertIn("TTwHHHHD", order)
        self.assertEqual(set(re.findall("T+([^T])", order)), {"w"}, order)

    def check_filled_together(self, names):
        """What a loop of products shares comes in pieces: nobody copies single elements."""
        self.assertEqual([i for i in names if re.match(r"(LDG|STS)\..*U16", i)], [])

    def check_cores(self, loop, narrowest):
        """mma.sync keeps a quarter of a unit busy for 8 cycles."""
        names = names_of(loop)
        products = counts(names, "HMMA")
        self.assertGreaterEqual(products, 16)
        self.assertLessEqual(len(loop) / (8 * products), 0.5, names)
        self.assertLessEqual(counts(names, "LDSM") / products, 0.4)
        self.assertGreater(counts(names, "LDGSTS") + counts(names, "UTMALDG"), 0)
        self.assertTrue(all(".128" in i or narrowest in i for i in names if i.startswith("LDGSTS")))
        self.check_filled_together(names)
        # Copies are started in the first half of a step, behind its meeting.
        for step in letters(names, (("BAR", "B"), ("LDGSTS", "G"), ("UTMALDG", "G"), ("HMMA", "h"))).split("B")[1:-1]:
            self.assertLessEqual(step[:step.rindex("G")].count("h"), step.count("h") / 2, step)
        self.assertTrue(all("RZ" in rest for name, rest in loop if name.startswith("LDS") and not name.startswith("LDSM")), "loads of single lanes")


if __name__ == "__main__":
    main()
