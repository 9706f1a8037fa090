"""svodc compile: the same bytes every time, what it prints, and what it leaves behind when it fails."""
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

from svodc import BIN, ROOT, SMALL, SYMBOLIC, ToolTest, clean_environment, contents, main, npy, run, skip_without_file_limit

OBJDUMP = "/usr/lib/llvm-19/bin/llvm-objdump"
DIGITS = ROOT / "examples/digits/digits.svod"


class Deterministic(ToolTest):
    def test_same_bytes_whatever_the_surroundings(self):
        places = [self.folder / name for name in ("a", "b with space/deeper", "c")]
        for place in places:
            place.mkdir(parents=True)
            (place / "temp").mkdir()
        for target in (["--target", "cpu", "--cpu", "x86-64-v3"], ["--target", "c"]):
            self.svodc("compile", DIGITS, "-o", places[0] / "plan", "-j", 1, *target)
            self.svodc("compile", os.path.relpath(DIGITS, places[1]), "-o", "plan", "-j", 3, *target, cwd=places[1],
                       env={"TMPDIR": str(places[1] / "temp"), "LC_ALL": "C", "HOME": "/nonexistent", "TZ": "Asia/Tokyo"})
            copy = places[2] / "digits.svod"
            copy.write_text(DIGITS.read_text())
            (places[2] / "digits.safetensors").write_bytes((DIGITS.parent / "digits.safetensors").read_bytes())
            self.svodc("compile", copy, "-o", places[2] / "plan", *target, "--verify-each", "--time-passes")
            plans = [contents(place / "plan") for place in places]
            self.assertIn("plan.json", plans[0])
            self.assertEqual(plans[0], plans[1])
            self.assertEqual(plans[0], plans[2])
            self.assertEqual(list((places[1] / "temp").iterdir()), [])


class Options(ToolTest):
    def compile(self, graph, *words, **options):
        plan = self.folder / "plan"
        self.svodc("compile", graph, "-o", plan, *words, **options)
        return json.loads((plan / "plan.json").read_text())

    def test_sizes_that_must_be_equal_are_when_a_plan_is_verified(self):
        text = """svod 1
var n in [1, 9]
var m in [2, 40]
input x: f32[n]
input y: f32[m]
_ = equal_sizes(a=n, b=(m + 1) // 2, text="halves")
output z = x + slice(y, starts=[0], ends=[(m + 1) // 2])
"""
        plan = self.compile(self.graph(text), "--verify")
        self.assertEqual(plan["equalSizes"], [{"a": "n", "b": "(m+1)//2", "text": "halves"}])
        self.assertEqual(plan["expectations"], [])

    def test_devices_are_named_by_a_flag(self):
        graph = self.graph("svod 1\ninput x: f32[8]\noutput y = relu(copy(x, device=near))\n")
        plan = self.compile(graph, "--device", "near=cpu", "--verify")
        self.assertEqual([device["name"] for device in plan["devices"]], ["cpu", "near"])
        self.fails(2, "compile", graph, "-o", self.folder / "other", "--device", "near=c", says="has another target")
        self.fails(1, "compile", graph, "-o", self.folder / "other", says="near")
        for device in ("near", "near=cpu", "near=c"):
            self.svodc("check", graph, "--device", device)
        self.fails(2, "check", graph, "--device", "near=mars", says="mars")
        model = ROOT / "tests/onnx/corpus/onnx/shapes.onnx"
        for command in (["compile", model, "-o", self.folder / "other"], ["check", model]):
            self.fails(2, *command, "--device", "near", says="graph files")

    def test_copies_have_weights_by_their_number(self):
        for i in range(3):
            npy(self.folder / f"layer.{i}.npy", "<f4", (1,), struct.pack("<f", 10.0**i))
        graph = self.graph("""svod 1
input x: f32[2]
h = x
repeat i < 3 {
  weight w: f32[1] = "layer.{i}.npy"
  state s: f32[2]
  assign s = h
  h = h + w
}
output h
""")
        plan = self.compile(graph, "--verify")
        self.assertEqual([state["name"] for state in plan["states"]], ["s.0", "s.1", "s.2"])
        x = npy(self.folder / "x.npy", "<f4", (2,), struct.pack("<2f", 1, 2))
        run("svod-run", self.folder / "plan", "-i", f"x={x}", "-o", f"h={self.folder / 'h.npy'}")
        self.assertEqual(struct.unpack("<2f", (self.folder / "h.npy").read_bytes()[-8:]), (112, 113))

    def test_long_sizes_can_be_read(self):
        names = "abcdefghij"
        dims = [f"{a} + {b}" for a, b in zip(names[::2], names[1::2])]
        text = "svod 1\n" + "".join(f"var {name} in [1, 2]\n" for name in names)
        text += f"input x: f32[{', '.join(dims)}]\noutput y = reshape(x, shape=[{' * '.join(f'({d})' for d in dims)}]) + 1\n"
        plan = self.compile(self.graph(text), "--verify")
        self.assertGreater(sum(plan["outputs"][0]["shape"][0].count(op) for op in "+*"), 128)

    def test_verify_both_targets_and_levels(self):
        def opts(plan):
            return any(kernel["opts"] for kernel in plan["kernels"])

        ways = (  # what is asked for, and where the plan says that it was done
            (["-O0"], lambda plan: not opts(plan)),
            (["-O1"], opts),
            (["--target", "c", "--cc", "cc"], lambda plan: "kernels.c" in [file["path"] for file in plan["files"]]),
            (["--target", "c"], lambda plan: [file["path"] for file in plan["files"]][:2] == ["kernels.so", "kernels.c"]),
            (["--target", "c", "-O0"], lambda plan: not opts(plan)),
            (["--numerics", "strict"], lambda plan: plan["target"]["numerics"] == "strict"),
            (["--memory", "off"], lambda plan: plan["memory"]["mode"] == "off"))
        for graph in (self.graph(SMALL, "small.svod"), self.graph(SYMBOLIC, "symbolic.svod")):
            for words, was_done in ways:
                with self.subTest(graph=graph.name, words=words):
                    self.assertTrue(was_done(self.compile(graph, "--verify", *words)))

    def test_target_c_needs_no_compiler(self):
        alone = {"PATH": str(self.folder), "C_INCLUDE_PATH": "/usr/include"}
        plan = self.compile(self.graph(SYMBOLIC), "--verify", "--target", "c", env=alone)
        self.assertEqual([file["path"] for file in plan["files"]], ["kernels.so", "kernels.c"])
        mine = (self.folder / "plan/kernels.so").read_bytes()
        self.compile(self.graph(SYMBOLIC), "--target", "c", "-j", 1)
        self.assertEqual((self.folder / "plan/kernels.so").read_bytes(), mine)
        self.compile(self.graph(SYMBOLIC), "--target", "c", "--triple", "aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1")
        self.assertEqual((self.folder / "plan/kernels.so").read_bytes()[18], 0xb7)  # the machine of its header
        plan = self.compile(self.graph(SYMBOLIC), "--target", "c", "--cc", "none")
        self.assertEqual([file["path"] for file in plan["files"]], ["kernels.c"])
        self.fails(1, "compile", self.graph(), "-o", self.folder / "plan", "--target", "c", "--cc", "cc", env=alone, says="'cc'")

    def test_flags_win_over_the_environment(self):
        graph = self.graph()
        env = {"SVOD_NUMERICS": "strict", "SVOD_OPT_LEVEL": "0"}
        plan = self.compile(graph, env=env)
        self.assertEqual(plan["target"]["numerics"], "strict")
        self.assertEqual({k["opts"] for k in plan["kernels"]}, {""})
        self.assertEqual(self.compile(graph, "--numerics", "fast", env=env)["target"]["numerics"], "fast")
        self.fails(2, "compile", graph, "-o", self.folder / "q", env={"SVOD_NUMERICS": "loose"}, says="loose")

    def test_long_sums_in_any_order_are_right(self):
        self.compile(self.graph("svod 1\ninput x: f32[4, 40000]\noutput y = sum(exp(x), axes=1)\n"), "--verify")

    def test_values_known_now_are_folded_within_a_limit(self):
        graph = self.graph("""svod 1
input x: f32[4, 300000]
output y = x * sin(cast(iota(size=300000), dtype=f32))
""")
        for words, folded in (([], 1), (["--fold-limit", 2], 1), (["--fold-limit", 1], 0), (["-O0"], 0)):
            self.assertEqual(len(self.compile(graph, "--verify", *words)["constants"]), folded, words)
        self.fails(2, "compile", graph, "-o", self.folder / "q", "--fold-limit", -1, says="--fold-limit")

    def test_opts_reach_the_kernel(self):
        plan = self.compile(self.graph(), "--opts", "z=upcast(0,2)")
        self.assertEqual([k["opts"] for k in plan["kernels"]], ["upcast(0,2)"])
        self.assertEqual([k["name"].partition("_")[0] for k in plan["kernels"]], ["z"])
        sources = []
        for opts in ("", "upcast(0,2)"):
            kernel, = self.compile(self.graph(), "--target", "c", "--opts", "z=" + opts)["kernels"]
            shown = self.svodc("inspect", self.folder / "plan", "--source").stdout
            self.assertIn(f"void {kernel['symbol']}(", shown)
            sources.append(shown.partition("void ")[2])  # opts are listed before it
        self.assertNotEqual(*sources)
        self.fails(1, "compile", self.graph(), "-o", self.folder / "q", "--opts", "z=upcast(9,2)", says="[bad-opt]")
        for useless in ("order(0,1)", "tile(0,4)", "stream(0)", "upcast(0,2) prefetch(1,2,16)"):
            self.fails(1, "compile", self.graph(), "-o", self.folder / "q", "--opts", "z=" + useless, says="changes nothing")

    def test_lists_that_were_chosen_can_be_given(self):
        for text in ("input x: f32[64, 64]\noutput y = softmax(x)\n", "input x: f32[512, 512]\noutput y = transpose(x)\n",
                     "input x: f32[1, 8, 30, 30]\ninput w: f32[16, 8, 3, 3]\noutput y = conv2d(x, w)\n"):
            for cpu in ("cascadelake", "x86-64"):
                graph = self.graph("svod 1\n" + text)
                chosen = self.compile(graph, "--cpu", cpu)
                lists = [word for k in chosen["kernels"] for word in ("--opts", f"{k['name']}={k['opts']}")]
                given = self.compile(graph, "--cpu", cpu, *lists)
                self.assertEqual([k["opts"] for k in given["kernels"]], [k["opts"] for k in chosen["kernels"]])

    def test_integers_count_as_operations(self):
        graph = self.graph("svod 1\ninput a: u8[32, 24]\ninput b: i8[24, 48]\noutput c = matmul(cast(a, dtype=i32), cast(b, dtype=i32))\n")
        self.assertEqual([k["flops"] for k in self.compile(graph)["kernels"]], [2 * 32 * 24 * 48])

    def test_variables(self):
        self.assertEqual(self.compile(self.graph(SYMBOLIC), "--var", "n=2:9")["variables"][0]["max"], 9)
        self.assertEqual(self.compile(self.graph(SYMBOLIC), "--var", "n=5")["outputs"][1]["shape"], [5, 8])

    def test_dims_that_are_multiples_are_solved_by_the_run(self):
        text = ("svod 1\nvar h in [1, 64]\nvar w in [1, 64]\ninput x: f32[h, w]\n"
                "output y = sum(reshape(x, shape=[h // 8, 8, w]), axes=1)\noutput z = x + 1\n")
        plan = self.compile(self.graph(text), "--shape", "x=8*kx2*k", "--verify")
        self.assertEqual([v["name"] for v in plan["variables"]], ["k"])
        x = npy(self.folder / "x.npy", "<f4", (16, 4), bytes(4 * 64))
        done = run("svod-run", self.folder / "plan", "-i", f"x={x}", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        x = npy(self.folder / "x.npy", "<f4", (13, 4), bytes(4 * 52))
        done = run("svod-run", self.folder / "plan", "-i", f"x={x}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("must be a multiple of 8", done.stderr)

    def test_arenas_beyond_a_limit_are_a_warning(self):
        graph = self.graph("svod 1\nvar n in [1, 65536]\ninput x: f32[n, 1024]\na = contiguous(x + 1)\n"
                           "output y = sum(a, axes=0)\noutput z = a * a\n")
        quiet = self.svodc("compile", graph, "-o", self.folder / "p")
        self.assertEqual(quiet.stderr, "")
        loud = self.svodc("compile", graph, "-o", self.folder / "q", "--max-arena", "100K")
        for words in ("warning: the arena takes 256", "at the likely sizes, 'n' 64", "more than 100", "--max-arena"):
            self.assertIn(words, loud.stderr)
        self.assertEqual(contents(self.folder / "p"), contents(self.folder / "q"))
        self.assertEqual(self.svodc("compile", graph, "-o", self.folder / "q", "--max-arena", "256K").stderr, "")
        fixed = self.svodc("compile", graph, "-o", self.folder / "q", "--var", "n=65536", "--max-arena", "1M")
        for words in ("warning: the arena takes 256 MiB, more than 1.00 MiB", "every run takes that much"):
            self.assertIn(words, fixed.stderr)
        for wrong in ("3X", "many", "99999999T"):
            self.fails(2, "compile", graph, "-o", self.folder / "q", "--max-arena", wrong, says="no size of memory")

    def test_an_arena_beyond_any_plan_is_an_error_about_sizes(self):
        graph = self.graph("svod 1\nvar n in [1, 1048576]\ninput x: f32[n]\n"
                           "t = contiguous(reshape(x, shape=[n, 1, 1]) * reshape(x, shape=[n, 1]) * x)\n"
                           "output y = reduce_max(t, axes=[1, 2])\noutput z = reduce_max(t, axes=[0, 1])\n")
        self.fails(1, "compile", graph, "-o", self.folder / "q", says="the arena takes 4194304 TiB at the greatest sizes")
        self.assertFalse((self.folder / "q").exists())
        self.svodc("compile", graph, "-o", self.folder / "q", "--var", "n=1:64")

    def test_distinct_rows_take_memory_that_grows_with_their_number(self):
        graph = self.graph("svod 1\ninput x: i32[1000]\n"
                           "same = all(eq(reshape(x, shape=[1000, 1, 1]), reshape(x, shape=[1000, 1])), axes=2)\n"
                           "output most = reduce_max(cast(same, dtype=i32), axes=1)\n"
                           "output count = sum(cast(same, dtype=i32), axes=0)\n")
        done = self.svodc("compile", graph, "-o", self.folder / "p", "--json")
        self.assertLess(json.loads(done.stdout)["memory"]["arenaBytes"], 100_000)

    def test_stdin_and_json_summary(self):
        plan = self.folder / "plan"
        done = self.svodc("compile", "-", "-o", plan, "--json", stdin=SMALL)
        summary = json.loads(done.stdout)
        self.assertEqual((summary["plan"], summary["name"], summary["memory"]["mode"]), (str(plan), "stdin", "arena"))
        self.assertEqual(done.stderr, "")

    def test_other_machines_can_be_compiled_for(self):
        plan = self.compile(self.graph(), "--triple", "aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1")
        self.assertEqual(plan["target"]["triple"], "aarch64-unknown-linux-gnu")
        self.fails(3, "compile", self.graph(), "-o", self.folder / "q", "--cpu", "z80", says="z80")

    def test_other_machines_have_a_processor_by_default(self):
        for triple, cpu in (("aarch64-unknown-linux-gnu", "generic"), ("riscv64-unknown-linux-gnu", "rv64gc"), ("x86_64-unknown-linux-gnu", "native")):
            with self.subTest(triple=triple):
                said = self.svodc("compile", self.graph(), "-o", self.folder / "p", "--triple", triple).stdout
                self.assertIn(f"(native: this machine) on {triple}" if cpu == "native" else f"for {cpu} (any of the architecture; --cpu names one) on {triple}", said)
                self.svodc("compile", self.graph(), "-o", self.folder / "q", "--triple", triple, "--reproducible", code=2 if cpu == "native" else 0)
        self.assertIn("generic", self.svodc("targets", "--triple", "aarch64-unknown-linux-gnu").stdout)
        self.fails(3, "compile", self.graph(), "-o", self.folder / "q", "--triple", "aarch64-unknown-linux-gnu", "--cpu", "native", says="name the CPU")

    def test_dot_products_stand_in_the_innermost_loop(self):
        graph = self.graph("svod 1\ninput a: bf16[64, 256]\ninput b: bf16[256, 96]\noutput c = matmul(a, b)\n")
        for triple, cpu, instruction in (("x86_64", "znver4", "vdpbf16ps"), ("aarch64", "neoverse-v1", "bfdot")):
            with self.subTest(cpu=cpu):
                words = ["--triple", f"{triple}-unknown-linux-gnu", "--cpu", cpu]
                self.compile(graph, *words)
                self.assertGreaterEqual(max(map(len, self.innermost_loops(instruction))), 12)
                self.compile(graph, "--numerics", "strict", *words)
                self.assertEqual(self.innermost_loops(instruction), [])

    def innermost_loops(self, instruction):
        """For each loop of the plan's code that has no loop inside: where the instruction stands in it; other loops are left out."""
        code = subprocess.run([OBJDUMP, "-d", "--no-show-raw-insn", self.folder / "plan/kernels.so"], check=True,
                              capture_output=True, text=True).stdout
        lines = [(int(at, 16), name, words) for at, name, words in re.findall(r"^ *([0-9a-f]+):[ \t]+(\S+)(.*)$", code, re.M)]
        jumps = [(at, re.search(r"\b0x([0-9a-f]+) <", words)) for at, name, words in lines if name.startswith(("j", "b", "cb", "tb"))]
        loops = [(int(to[1], 16), at) for at, to in jumps if to and int(to[1], 16) < at]
        inner = [(a, b) for a, b in loops if not any((a, b) != (c, d) and a <= c and d <= b for c, d in loops)]
        found = [[at for at, name, _ in lines if name == instruction and a <= at <= b] for a, b in inner]
        return [places for places in found if places]


class Insight(ToolTest):
    def test_prints_stop_and_times(self):
        graph = self.graph()
        done = self.svodc("compile", graph, "--print-after", "expand", "--stop-after", "expand")
        self.assertIn("; after expand", done.stdout)
        self.assertNotIn("; after symbolic", done.stdout)
        plan = self.folder / "plan"
        done = self.svodc("compile", graph, "-o", plan, "--print-before=all", "--time-passes", "--rule-stats")
        for words in ("; before fuse (graph)", "; before make-kernels (graph)", "; before symbolic", "; before legalize", "schedule", "legalize", "attempts"):
            self.assertIn(words, done.stdout)
        self.assertIn("; after", self.svodc("compile", graph, "-o", plan, "--print-changed").stdout)

    def test_bisecting_and_leaving_rules_out_keep_the_values(self):
        plan = self.folder / "plan"
        for words in (["--bisect-limit", 0], ["--bisect-limit", 11], ["--disable-rule", "fold-constants"],
                      ["--disable-pass", "fuse", "--disable-pass", "apply-opts"]):
            self.svodc("compile", self.graph(SYMBOLIC), "-o", plan, "--verify", *words)


class Failures(ToolTest):
    def test_outputs_that_cannot_be_written(self):
        graph = self.graph()
        self.fails(74, "compile", graph, "-o", self.folder / "no/such/plan", says="no/such")
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "letter.txt").write_text("keep me")
        self.fails(74, "compile", graph, "-o", mine, says="mine")
        self.assertEqual(contents(mine), {"letter.txt": b"keep me"})
        self.fails(74, "compile", graph, "-o", graph, says="graph.svod")
        self.assertEqual(graph.read_text(), SMALL)

    def test_a_failure_keeps_the_old_plan(self):
        plan = self.folder / "plan"
        self.svodc("compile", self.graph(), "-o", plan)
        before = contents(self.folder)
        bad = ROOT / "tests/cli/bad.svod"
        self.fails(1, "compile", bad, "-o", plan, says=[f"{bad}:3:12: error:", "[shape-mismatch]"])
        self.fails(1, "compile", self.graph(), "-o", plan, "--target", "c", "--cc", "no-such-compiler", says="no-such-compiler")
        self.assertEqual(contents(self.folder), before)

    @skip_without_file_limit
    def test_a_full_disk_leaves_nothing(self):
        temp = self.folder / "temp"
        temp.mkdir()
        for kilobytes in (4, 32):  # too little for an object file, and for the weights
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))
            done = subprocess.run([BIN / "svodc", "compile", DIGITS, "-o", self.folder / "plan"], preexec_fn=limit, text=True,
                                  capture_output=True, env=clean_environment({"TMPDIR": str(temp)}))
            self.assertEqual(done.returncode, 74, done.stderr)
            self.assertIn("File too large [io]", done.stderr)
            self.assertEqual([p.name for p in self.folder.rglob("*")], ["temp"])
        self.fails(74, "compile", DIGITS, "-o", self.folder / "plan", env={"TMPDIR": str(temp / "absent")}, says="absent")

    def wrong_where(self, condition):
        """Beside the graphs: copied(x, n), which a plan makes wrong where the condition holds and the interpreter does not."""
        (self.folder / "wrong.c").write_text(
            "#include <stdint.h>\n"
            "void copied(float *y, const float *x, int64_t n) {\n"
            "  for (int64_t i = 0; i < n; i++) y[i] = x[i];\n"
            "#ifdef __OPTIMIZE__\n"
            f"  if ({condition}) y[0] = 99;\n"
            "#endif\n"
            "}\n")

    def fails_verification(self, graph, says):
        self.fails(4, "compile", graph, "-o", self.folder / "wrong", "--verify", "--allow-c", says=says)
        self.assertFalse((self.folder / "wrong").exists())

    def test_verification_can_fail(self):
        graph = self.graph('svod 1\ninput x: f32[8]\noutput y = custom(x, source="wrong.c", function=copied, shape=[8], values=[8])\n')
        self.wrong_where("0")
        self.svodc("compile", graph, "-o", self.folder / "plan", "--verify", "--allow-c")
        self.wrong_where("1")
        self.fails_verification(graph, says="y[0] is 99.0")

    def test_verification_tries_the_ends_of_variables_and_what_is_between(self):
        graph = self.graph("svod 1\nvar n in [3, 9]\ninput x: f32[n]\n"
                           'output y = custom(x, source="wrong.c", function=copied, shape=[n], values=[n], pure=true)\n')
        for size in (3, 9, 6, 7):  # 6: the middle; 7: a prime
            with self.subTest(size=size):
                self.wrong_where(f"n == {size}")
                self.fails_verification(graph, says=f"with n={size}")

    def test_verification_with_sizes_too_large_to_wait_for_says_which_ran(self):
        graph = self.graph("svod 1\nvar n in [2, 900]\nvar m in [1, 700]\ninput x: f32[n, m, 50]\noutput y = x + 1\n")
        done = self.svodc("compile", graph, "-o", self.folder / "plan", "--verify")
        self.assertRegex(done.stderr, r"--verify ran with m=\d+, n=\d+; m=1, n=2; .*not up to the greatest values")
        graph = self.graph("svod 1\nvar n in [2, 900]\ninput x: f32[n]\noutput y = x + 1\n")
        self.assertNotIn("ran with", self.svodc("compile", graph, "-o", self.folder / "plan", "--verify").stderr)

    def test_verification_reduces_sizes_of_wide_bounds_no_further_than_it_must(self):
        wide = "svod 1\nvar n in [1, 480000]\ninput x: f32[n]\n"
        table = "output y = reshape(l, shape=[n, 1]) + reshape(x, shape=[1, n])\n"
        done = self.svodc("compile", self.graph(wide + "l = log(x)\n" + table), "-o", self.folder / "plan", "--verify")
        self.assertRegex(done.stderr, r"--verify ran with n=\d{3,4}; n=1; n=64; ")
        # The likely size is run where the greatest one and the middle are far beyond what can be, and of two variables
        # the one of close bounds keeps its greatest value.
        self.wrong_where("n == 64")
        copied = 'l = custom(x, source="wrong.c", function=copied, shape=[n], values=[n], pure=true)\n'
        self.fails_verification(self.graph(wide + copied + table), says="with n=64")
        graph = self.graph("svod 1\nvar n in [1, 480000]\nvar m in [1, 20]\ninput x: f32[n, m, 50]\noutput y = x + 1\n")
        done = self.svodc("compile", graph, "-o", self.folder / "plan", "--verify")
        self.assertRegex(done.stderr, r"--verify ran with m=20, n=\d{3,4}; m=1, n=1; m=20, n=64; ")

    def test_verification_takes_parts_beyond_their_tensor_as_they_are_documented(self):
        graph = self.graph("""svod 1
var k in [0, 3]
input x: i32[3]
state s: i32[3] = 0
loop i < 4 {
  assign slice(s, starts=[i], ends=[i + 2]) = slice(x, starts=[0], ends=[2])
}
output s
output r = slice(x, starts=[k], ends=[k + 3])
""")
        self.svodc("compile", graph, "-o", self.folder / "plan", "--verify")

    def test_verification_without_elements(self):
        graph = self.graph("svod 1\nvar n in [0, 4]\ninput x: f32[n, 2]\noutput y = sum(x, axes=1)\noutput z = sum(x)\n")
        self.svodc("compile", graph, "-o", self.folder / "plan", "--verify")

    def test_random_inputs_need_not_be_expected_but_a_run_must_say_so(self):
        text = ('svod 1\ninput x: f32[1]\nl = custom(abs(x), source="wrong.c", function=copied, shape=[1], values=[1])\n'
                "_ = expect(cast(lt(l, {0}), dtype=i64), 1, text=\"the flag\")\noutput y = x + 1\n")
        # Without a difference between the plan and the interpreter, an expectation may be met or not.
        self.wrong_where("0")
        for most in (-1, 90):
            self.svodc("compile", self.graph(text.format(most)), "-o", self.folder / "plan", "--verify", "--allow-c")
        self.wrong_where("1")
        self.fails_verification(self.graph(text.format(90)), says="the interpreter says that it is fine")
        self.wrong_where("x[0] < 1e9")
        other = text.replace("lt(l, {0})", "gt(l, {0})").format(90)
        self.fails_verification(self.graph(other), says='fails: "the flag: the run gives [0], the plan is for [1]"')

    def long_compile(self, temp):
        """A compilation that has its folder in `temp` and takes some seconds more."""
        layers = "".join(f"v{i + 1} = sum(matmul(exp(v{i}), w) + {i}.5, axes=1, keepdims=true) + x\n" for i in range(400))
        graph = self.graph(f"svod 1\ninput x: f32[64, 64]\ninput w: f32[64, 64]\nv0 = x + w\n{layers}output y = v400\n")
        before = list(temp.iterdir())
        process = subprocess.Popen([BIN / "svodc", "compile", graph, "-o", self.folder / "plan"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment({"TMPDIR": str(temp)}))
        while process.poll() is None and list(temp.iterdir()) == before:
            time.sleep(0.01)
        time.sleep(0.2)
        return process

    def test_the_next_compilation_cleans_up_behind_a_killed_one(self):
        temp = self.folder / "temp"
        temp.mkdir()
        killed = self.long_compile(temp)
        killed.kill()
        killed.communicate(timeout=60)
        (left,) = temp.iterdir()
        (left / "svod.tmp-1-0").mkdir()
        (left / "svod.tmp-1-0" / "in.c").write_text("")
        alive = self.long_compile(temp)
        (held,) = temp.iterdir()
        self.assertNotEqual(held, left)
        graph = self.graph("svod 1\ninput x: f32[2]\noutput y = x + 1\n", "small.svod")
        self.svodc("compile", graph, "-o", self.folder / "small", env={"TMPDIR": str(temp)})
        self.assertEqual(list(temp.iterdir()), [held])
        alive.send_signal(signal.SIGINT)
        alive.communicate(timeout=60)
        self.assertEqual(list(temp.iterdir()), [])

    def test_an_interrupt_cleans_up(self):
        temp = self.folder / "temp"
        temp.mkdir()
        process = self.long_compile(temp)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, errors)
        self.assertEqual(list(temp.iterdir()), [])
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["graph.svod", "temp"])

    def test_a_signal_at_any_time_leaves_the_old_plan_or_the_new_one(self):
        plan, old, new = self.folder / "plan", self.graph(SMALL, "old.svod"), self.graph(SYMBOLIC, "new.svod")
        self.svodc("compile", new, "-o", plan)
        after, started = contents(plan), time.monotonic()
        self.svodc("compile", old, "-o", plan)
        before, took = contents(plan), time.monotonic() - started
        for i in range(24):
            process = subprocess.Popen([BIN / "svodc", "compile", new, "-o", plan, "--no-cache"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, env=clean_environment())
            time.sleep(took * (0.7 + i / 40))
            process.send_signal((signal.SIGTERM, signal.SIGHUP, signal.SIGINT)[i % 3])
            _, errors = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 75, -1, -2, -15), errors)  # by the signal: before the first line of main
            self.assertEqual(contents(plan), after if process.returncode == 0 else before, errors)
            self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["new.svod", "old.svod", "plan"])
            if process.returncode == 0:
                self.svodc("compile", old, "-o", plan)

    def test_processes_that_make_one_plan_all_succeed(self):
        graph = self.graph()
        for _ in range(3):
            plan = self.folder / "plan"
            words = [BIN / "svodc", "compile", graph, "-o", plan, "--no-cache"]
            made = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())
                    for _ in range(4)]
            for process in made:
                _, errors = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, errors)
            self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["graph.svod", "plan"])
            shutil.rmtree(plan)


if __name__ == "__main__":
    main()
