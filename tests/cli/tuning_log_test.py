"""Tuning logs: the same records give the same plan, whatever file, order and place they come from."""
import fcntl
import json
import subprocess

from svodc import BIN, ToolTest, clean_environment, contents, main, winner

MATMUL = "svod 1\ninput x: f32[64, 48]\ninput y: f32[48, 80]\noutput z = matmul(x, y)\noutput t = exp(x)\n"
CPU = "haswell"


class TuningLog(ToolTest):
    def setUp(self):
        super().setUp()
        self.model = self.graph(MATMUL)
        kernels = json.loads(self.svodc("inspect", self.model, "--kernels", "--json", "--cpu", CPU).stdout)["kernels"]["details"]
        self.hashes = {k["name"].split("_")[0]: k["tuningHash"] for k in kernels}
        self.count = 0

    def log(self, *lines, name="tuning.log"):
        path = self.folder / name
        path.write_text("".join(lines))
        return path

    def compile(self, *words, log=None, code=0):
        self.count += 1
        plan = self.folder / f"plan{self.count}"
        done = self.svodc("compile", self.model, "-o", plan, "--cpu", CPU, *words, *(["--tuning-log", log] if log else []))
        self.said = done.stderr
        return contents(plan)

    def opts(self, plan):
        return {k["name"].split("_")[0]: k["opts"] for k in json.loads(plan["plan.json"])["kernels"]}

    def test_a_winner_becomes_the_opts_of_its_kernel(self):
        usual = self.compile()
        tuned = self.compile(log=self.log(winner(self.hashes["z"], CPU, "vector(n1,16) upcast(n0,4)")))
        self.assertEqual(self.opts(tuned)["z"], "vector(n1,16) upcast(n0,4)")
        self.assertEqual(self.opts(tuned)["t"], self.opts(usual)["t"])
        self.assertEqual(self.said, "")
        self.compile("--verify", log=self.log(winner(self.hashes["z"], CPU, "vector(n1,16) upcast(n0,4)")))

    def test_where_a_log_has_nothing_to_say_the_plan_is_the_usual_one(self):
        usual = self.compile()
        good = "vector(n1,16) upcast(n0,4)"
        for line in ("", winner("0" * 32, CPU, good), winner(self.hashes["z"], "znver4", good),
                     winner(self.hashes["z"], CPU, good, outcome="loses"), winner(self.hashes["z"], CPU, good, outcome="timed"),
                     winner(self.hashes["z"], CPU, "vector(n7,16)"), winner(self.hashes["z"], CPU, "no opts ("),
                     winner(self.hashes["z"], CPU, "vector(n1,16) stream(1)"),
                     winner(self.hashes["z"], CPU, good) + winner(self.hashes["z"], CPU, good, outcome="crashed", machine="there")):
            with self.subTest(line=line):
                self.assertEqual(self.compile(log=self.log(line)), usual)

    def test_the_next_winner_is_taken_where_the_first_does_not_apply(self):
        log = self.log(winner(self.hashes["z"], CPU, "vector(n1,16)", ratio=0.9), winner(self.hashes["z"], CPU, "pack(9,n0)", ratio=0.1))
        self.assertEqual(self.opts(self.compile(log=log))["z"], "vector(n1,16)")

    def test_opts_and_level_0_win_over_a_log(self):
        log = self.log(winner(self.hashes["z"], CPU, "vector(n1,16)"))
        self.assertEqual(self.opts(self.compile("--opts", "z=upcast(n0,2)", log=log))["z"], "upcast(n0,2)")
        self.assertEqual(self.opts(self.compile("-O0", log=log))["z"], "")

    def test_the_same_records_give_the_same_bytes(self):
        lines = [winner(self.hashes[k], CPU, opts, ratio=ratio, compiler=compiler) for k, opts, ratio, compiler in
                 (("z", "vector(n1,16)", 0.7, "a"), ("z", "vector(n1,8)", 0.7, "b"), ("t", "vector(n1,8)", 0.6, "a"))]
        first = self.compile(log=self.log(*lines))
        self.assertEqual(self.opts(first), {"z": "vector(n1,8)", "t": "vector(n1,8)"})
        for other in (lines[::-1], lines * 2, lines + [lines[0][:50]], ["\n", "{}\n"] + lines):
            self.assertEqual(self.compile("-j", 2, log=self.log(*other, name="elsewhere")), first)

    def test_build_tools_see_the_log(self):
        log = self.log(winner(self.hashes["z"], CPU, "vector(n1,16)"))
        done = self.svodc("compile", self.model, "-o", self.folder / "p", "--cpu", CPU, "-MD", "--json", "--tuning-log", log)
        self.assertIn(str(log), (self.folder / "p.d").read_text())
        self.assertIn(str(log), json.loads(done.stdout)["filesRead"])
        self.fails(2, "compile", self.model, "-o", self.folder / "p", "-MF", log, "--tuning-log", log, says="--tuning-log")
        self.fails(74, "compile", self.model, "-o", self.folder / "p", "--tuning-log", self.folder / "none", says="none")

    def used(self, log, *words, code=0):
        done = self.svodc("compile", self.model, "-o", self.folder / "p", "--cpu", CPU, "--tuning-log", log, "--json", *words, code=code)
        self.said = done.stderr
        return json.loads(done.stdout)["tuning"] if code == 0 else None

    def test_a_compile_says_what_it_used_and_why_no_more(self):
        good, z = "vector(n1,16) upcast(n0,4)", self.hashes["z"]
        own = winner("0" * 32, CPU, good, compiler=self.compiler())
        cases = {"no-record": own, "other-version": winner("0" * 32, CPU, good), "other-processor": winner(z, "znver4", good) + own,
                 "not-faster": winner(z, CPU, good, outcome="loses") + own, "not-applicable": winner(z, CPU, "vector(n7,16)") + own, "": winner(z, CPU, good)}
        for reason, lines in cases.items():
            with self.subTest(reason=reason):
                told = self.used(self.log(lines))
                self.assertEqual((told["kernels"], told["used"], told["hints"], told["decisions"]), (2, int(not reason), int(not reason), 0))
                self.assertEqual({u["kernel"].split("_")[0]: u["reason"] for u in told["unused"]}.get("z", ""), reason)
        self.assertEqual({u["reason"] for u in self.used(self.log(winner(z, CPU, good)), "--opts", "z=upcast(n0,2)")["unused"]}, {"not-asked", "other-version"})
        done = self.svodc("compile", self.model, "-o", self.folder / "p", "--cpu", CPU, "--tuning-log", self.log(winner(z, CPU, good)))
        self.assertIn("tuning.log: opts of 1 of 2 kernels (1 found with another svodc), 0 decisions; 1 kernel: no record: the log was", done.stdout)

    def compiler(self):
        """What records of this svodc say of it."""
        log = self.folder / "own.log"
        self.svodc("tune", self.model, "--tuning-log", log, "--budget", "1s", "--search", "kernels")
        return json.loads([line for line in log.read_text().splitlines() if '"compiler"' in line][0])["compiler"]

    def test_winners_that_do_not_apply_are_warnings(self):
        z = self.hashes["z"]
        for opts, says in (("no opts (", ""), ("vector(n7,16)", "n7"), ("vector(n1,4) " * 300, "300 opts")):
            with self.subTest(opts=opts[:20]):
                told = self.used(self.log(winner(z, CPU, opts), winner(z, CPU, "vector(n1,16)", ratio=0.9)))
                self.assertEqual((told["used"], len(told["passed"])), (1, 1))
                self.assertRegex(self.said, "warning: a winner of '.*tuning.log' is passed over: '")
                self.assertIn(says, self.said)
        self.fails(2, "compile", self.model, "-o", self.folder / "p", "--most-instructions", 0, says="--most-instructions")

    def test_a_winner_that_would_never_compile_is_passed_over(self):
        """A legal list of a kernel with many ops: more than a million instructions."""
        self.model = self.graph("svod 1\ninput x: f32[64, 80]\nv0 = x\n" + "".join(f"v{i + 1} = tanh(v{i}) * x\n" for i in range(40)) + "output y = v40\n")
        opts = "upcast(n0,64) upcast(n1,8)"
        (kernel,) = json.loads(self.svodc("inspect", self.model, "--kernels", "--json", "--cpu", CPU).stdout)["kernels"]["details"]
        log = self.log(winner(kernel["tuningHash"], CPU, opts))
        told = self.used(log)
        self.assertEqual((told["used"], told["unused"][0]["reason"]), (0, "not-applicable"))
        self.assertRegex(self.said, r"passed over: '.*': it comes to about \d+ instructions, and may come to 6000: --most-instructions")
        own = self.folder / "own.log"
        self.svodc("tune", self.model, "--tuning-log", own, "--budget", "1s", "--search", "kernels", "--cpu", CPU)
        text = next(line for line in own.read_text().splitlines() if '"text"' in line)
        self.assertIn("it comes to about", self.svodc("log", "stats", self.log(text + "\n", winner(kernel["tuningHash"], CPU, opts))).stdout)
        few = self.log(winner(kernel["tuningHash"], CPU, "upcast(n0,2)"))
        self.assertEqual(self.used(few)["used"], 1)
        self.assertEqual(self.used(few, "--most-instructions", 1)["used"], 0)

    def test_a_log_that_is_required_has_to_say_something(self):
        words = ["compile", self.model, "-o", self.folder / "p", "--cpu", CPU]
        self.fails(1, *words, "--tuning-required", "--tuning-log", self.log(winner("0" * 32, CPU, "vector(n1,16)")), says=("nothing of '", "2 kernels: no record"))
        self.assertFalse((self.folder / "p").exists())
        self.svodc(*words, "--tuning-required", "--tuning-log", self.log(winner(self.hashes["z"], CPU, "vector(n1,16)")))
        self.fails(1, *words, "-O0", "--tuning-required", "--tuning-log", self.log(winner(self.hashes["z"], CPU, "vector(n1,16)")))
        self.fails(2, *words, "--tuning-required", says="--tuning-log")

    def test_what_was_passed_over_is_known_of_kept_kernels(self):
        env = {k: v for k, v in clean_environment({"SVOD_CACHE_DIR": str(self.folder / "cache")}).items() if k != "SVOD_NO_CACHE"}
        log = self.log(winner(self.hashes["z"], CPU, "vector(n7,16)"), winner(self.hashes["z"], CPU, "vector(n1,16)", ratio=0.9))
        said = []
        for _ in range(2):
            done = subprocess.run([BIN / "svodc", "compile", self.model, "-o", self.folder / "p", "--cpu", CPU, "--tuning-log", log, "--json"], env=env,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            said.append((json.loads(done.stdout)["tuning"], done.stderr))
        self.assertEqual(said[0], said[1])

    def test_inspect_says_why(self):
        log = self.log(winner(self.hashes["z"], CPU, "vector(n1,16)", ratio=0.713))
        said = self.svodc("inspect", self.model, "--kernels", "--cpu", CPU, "--tuning-log", log).stdout
        self.assertIn("the tuning log has it at 71 % of the time of -O1, with code of another compiler", said)

    def test_malformed_lines_are_warned_of(self):
        log = self.log("{}\n", winner(self.hashes["z"], CPU, "vector(n1,16)"), "torn")
        self.compile(log=log)
        self.assertIn("one line is no record, line 1: ", self.said)
        self.compile(log=self.log("{}\n", "{}\n", winner(self.hashes["z"], CPU, "vector(n1,16)")))
        self.assertIn("2 lines are no records, the first is line 1: ", self.said)
        self.fails(3, "compile", self.model, "-o", self.folder / "p", "--tuning-log", self.log('{"svod-tuning": 2}\n'), says="form 2")

    def test_explain(self):
        usual, best = "vector(n1,8) upcast(n0,2)", "vector(n1,16) tile(n0,8)"
        log = self.log(winner(self.hashes["z"], CPU, usual, outcome="timed", origin="-O1", ns=1000, ratio=0, number=1),
                       winner(self.hashes["z"], CPU, best, ns=500, predicted=700, runs=12, number=3, origin="mutation", ulp=2.5),
                       winner(self.hashes["z"], CPU, "vector(n1,4)", outcome="timed", ns=600, ratio=0, number=2),
                       winner(self.hashes["z"], CPU, "vector(n1,2)", outcome="crashed", reason="signal 11", ratio=0, number=4))
        said = self.svodc("tune", "--explain", self.hashes["z"][:8], "--tuning-log", log).stdout
        for text in ("It took 50.0 % of the time of -O1 in 12 interleaved pairs of runs", "mutation", "signal 11", best, usual):
            self.assertIn(text, said)
        told = json.loads(self.svodc("tune", "--explain", self.hashes["z"], "--tuning-log", log, "--json").stdout)
        (kernel,) = told.values()
        self.assertEqual((kernel["candidates"], kernel["dropped"], kernel["ratio"]), (4, 1, 0.5))
        self.assertEqual([(c["who"], c["ns"], c["predicted"], c["ulp"]) for c in kernel["compared"]],
                         [("-O1", 1000, "-", "-"), ("winner", 500, 700, 2.5)])
        self.assertEqual([(d["what"], d["usual"], d["winner"]) for d in kernel["differences"]],
                         [("other amounts", "vector(n1,8)", "vector(n1,16)"), ("only the winner", "", "tile(n0,8)"),
                          ("only -O1", "upcast(n0,2)", "")])
        self.assertEqual([(o["opts"], o["ns"]) for o in kernel["others"]], [("vector(n1,4)", 600), (usual, 1000)])
        self.assertEqual([(d["outcome"], d["count"], d["reason"]) for d in kernel["drops"]], [("crashed", 1, "signal 11")])
        self.fails(2, "tune", "--explain", "nothing", "--tuning-log", log, says="nothing")
        self.fails(2, "tune", "--explain", "z", says="--tuning-log")
        self.fails(2, "tune", self.model, "--explain", "z", "--tuning-log", log)

    def test_log_commands(self):
        a = self.log(winner(self.hashes["z"], CPU, "vector(n1,16)"), winner(self.hashes["t"], CPU, "vector(n1,4)", outcome="timed"), name="a")
        b = self.log(winner(self.hashes["z"], CPU, "vector(n1,8)", ratio=0.4), name="b")
        merged = self.folder / "merged"
        self.svodc("log", "merge", a, b, "-o", merged)
        self.assertEqual(merged.read_text(), self.svodc("log", "merge", b, a, b).stdout)
        self.svodc("log", "merge", merged, a, "-o", merged)
        self.assertEqual(merged.read_text(), self.svodc("log", "merge", b, a, b).stdout)
        stats = json.loads(self.svodc("log", "stats", merged, "--json").stdout)
        self.assertEqual((stats["kernels"], stats["candidates"], stats["winners"]), (2, 3, 1))
        best = json.loads(self.svodc("log", "best", a, b, "--json").stdout)["winners"]
        self.assertEqual([(w["opts"], w["ratio"], w["hint"]) for w in best], [("vector(n1,8)", 0.4, True)])
        diff = json.loads(self.svodc("log", "diff", a, b, "--json").stdout)["differences"]
        self.assertEqual([(d["optsBefore"], d["optsAfter"]) for d in diff], [("vector(n1,16)", "vector(n1,8)")])
        self.assertEqual(json.loads(self.svodc("log", "diff", b, merged, "--json").stdout)["differences"], [])
        empty = self.log(winner(self.hashes["z"], CPU, "", ratio=0.4), name="empty")  # a list that may win like others
        self.assertRegex(self.svodc("log", "best", empty).stdout, r" 40\.0 .* none\n")
        self.assertRegex(self.svodc("log", "diff", empty, self.log(name="nothing")).stdout, r" 40\.0 +- +none +-\n")
        pruned = self.svodc("log", "prune", merged).stdout
        self.assertEqual((len(pruned.splitlines()), "timed" in pruned), (2, False))
        for words in (["log"], ["log", "merge"], ["log", "tidy", a], ["log", "diff", a], ["log", "stats", a, "-o", merged], ["log", "merge", a, "--json"]):
            self.fails(2, *words)

    def test_what_is_no_log_stays_as_it_is(self):
        log = self.log(winner(self.hashes["z"], CPU, "vector(n1,16)"))
        page, table, other = self.folder / "page.html", self.folder / "t.csv", self.log("x\n", name="other")
        self.svodc("log", "html", log, "-o", page)
        table.write_text("a,b\n1,2\n")
        for path in (self.model, table, page):
            before = path.read_bytes()
            for words in (("tune", self.model, "--budget", "1s", "--tuning-log", path), ("log", "merge", path), ("log", "stats", log, path),
                          ("compile", self.model, "-o", self.folder / "p", "--tuning-log", path)):
                self.fails(1, *words, says=f"'{path}' is no tuning log")
            for action in ("merge", "prune"):
                self.fails(74, "log", action, log, "-o", path, says=f"'{path}' is there, and no tuning log")
            self.assertEqual(path.read_bytes(), before)
        for path in (log, self.model, other):
            self.fails(74, "log", "html", log, "-o", path, says=f"'{path}' is there, and no page")
        self.svodc("log", "html", log, "-o", page)
        (self.folder / "empty").touch()
        for action in ("merge", "html"):
            self.svodc("log", action, log, "-o", self.folder / "empty"), (self.folder / "empty").write_text("")

    def test_a_log_that_is_locked_is_waited_for_with_a_word(self):
        log = self.folder / "new.log"
        with log.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            process = subprocess.Popen([BIN / "svodc", "tune", self.model, "--budget", "1s", "--tuning-log", log], env=clean_environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = process.stderr.readline() + process.stderr.readline()
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(said, f"warning: another program holds a lock on '{log}': waiting for 30 s at most.*\\n.*flock")


if __name__ == "__main__":
    main()
