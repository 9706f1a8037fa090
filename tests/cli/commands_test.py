"""The command line of svodc: usage errors, help, lists, check, convert, targets, inspect."""
import json
import re

from svodc import ROOT, SMALL, SYMBOLIC, ToolTest, main, run

COMMANDS = ("compile", "inspect", "check", "convert", "targets")
LISTS = ("ops", "uops", "rules", "passes", "opts", "targets", "flags", "dtypes", "diagnostics")


class Usage(ToolTest):
    def test_usage_errors_exit_2_and_suggest(self):
        graph = self.graph()
        cases = [
            (["compil", graph], "did you mean 'compile'?"),
            (["compile", graph, "--taget=c"], "did you mean '--target'?"),
            (["compile", graph, "--print-after=simbolic", "-o", "p"], "did you mean 'symbolic'?"),
            (["compile", graph, "--stop-after=everything"], "--list-passes"),
            (["compile", graph], "needs -o"),
            (["compile", graph, "-o", "-"], "stdout"),
            (["compile", "-o", "p"], "needs GRAPH"),
            (["compile", graph, "again", "-o", "p"], "one word too many: 'again'"),
            (["compile", graph, "-o", "p", "-O7"], "-O0 or -O1"),
            (["compile", graph, "-o", "p", "-j", "-3"], "-j"),
            (["compile", graph, "-o", "p", "-j", "many"], "many"),
            (["compile", graph, "-o", "p", "--target", "gpu"], "cpu, c, cuda"),
            (["compile", graph, "-o", "p", "--numerics", "loose"], "strict, contract or fast"),
            (["compile", graph, "-o", "p", "--memory", "less"], "arena, remap or off"),
            (["compile", graph, "-o", "p", "--opts", "upcast(0,4)"], "KERNEL=LIST"),
            (["compile", graph, "-o", "p", "--opts", "nothing=upcast(0,4)"], "nothing"),
            (["compile", graph, "-o", "p", "--decide", "keep"], "'keep' is no decision"),
            (["compile", graph, "-o", "p", "--decide", "keep:nothing=keep"], "there is no decision 'keep:nothing'"),
            (["compile", graph, "-o", "p", "--opts", "z=upcast(0,2)", "--opts", "z=upcast(1,5)"], "are both for kernel z_"),
            (["compile", graph, "-o", "p", "--cc", "cc"], "--target c"),
            (["check", graph, "--diagnostics", "xml"], "text or json"),
            (["convert", graph], "needs -o"),
            (["convert", graph, "-o", self.folder / "graph.txt"], ".svod for text"),
            (["inspect"], "needs PLAN|GRAPH"),
        ]
        for words, says in cases:
            with self.subTest(words=words):
                self.fails(2, *words, says=[says, "[usage]"], cwd=self.folder)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["graph.svod"])

    def test_two_dashes_end_the_flags(self):
        (self.folder / "-g.svod").write_text(SMALL)
        self.svodc("compile", "-o", "p", "--", "-g.svod", cwd=self.folder)
        self.assertTrue((self.folder / "p/plan.json").exists())
        self.fails(2, "compile", "-o", "p", "-g.svod", says="no flag '-g.svod'", cwd=self.folder)
        self.fails(2, "compile", "-o", "p", "--", "-g.svod", "-j1", says="one word too many: '-j1'", cwd=self.folder)

    def test_no_words_show_the_help(self):
        self.assertIn("usage: svodc", self.svodc(code=2).stderr)

    def test_version(self):
        self.assertRegex(self.svodc("--version").stdout, r"^svodc \d+\.\d+\.\d+\n$")

    def test_help_names_every_flag(self):
        flags = json.loads(self.svodc("--list-flags", "--json").stdout)
        for command in COMMANDS:
            text = self.svodc(command, "--help").stdout
            for name in {flag["name"] for flag in flags if not flag["name"].startswith("--list-")}:
                has = any(command in f["commands"].split() or f["commands"] == "all" for f in flags if f["name"] == name)
                with self.subTest(command=command, flag=name):
                    self.assertEqual(has, f"{name} " in text)
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", self.svodc("--help").stdout)

    def test_documentation_names_every_flag_and_list(self):
        page = (ROOT / "docs/cli.md").read_text()
        flags = json.loads(self.svodc("--list-flags", "--json").stdout)
        for flag in flags:
            self.assertIn(f"`{flag['name']}", page)
            self.assertIn(flag["environment"], page)

    def test_documentation_names_every_flag_of_svod_run(self):
        page = (ROOT / "docs/cli.md").read_text()
        text = run("svod-run", "--help").stdout
        flags = re.findall(r"(--[a-z-]+)(?: [A-Z=]+)?  ", text)
        self.assertGreater(len(flags), 15)
        for flag in flags:
            self.assertIn(f"`{flag}", page)
        for variable in re.findall(r"\[(SVOD_\w+)\]", text):
            self.assertIn(f"`{variable}`", page)

    def test_lists(self):
        for name in LISTS:
            with self.subTest(name=name):
                rows = json.loads(self.svodc(f"--list-{name}", "--json").stdout)
                self.assertGreater(len(rows), 1)
                text = self.svodc("compile", f"--list-{name}").stdout
                self.assertEqual(len(text.splitlines()), len(rows) + 1)

    def test_full_stdout_is_an_error(self):
        with open("/dev/full", "w") as full:
            self.fails(74, "--list-ops", says="stdout", stdout=full)


class Check(ToolTest):
    def test_good(self):
        self.assertEqual(self.svodc("check", self.graph()).stdout, f"{self.folder}/graph.svod: ok\n")
        self.assertTrue(json.loads(self.svodc("check", self.graph(), "--json").stdout)["ok"])

    def test_every_problem_is_reported(self):
        bad = self.graph("svod 1\ninput x: f32[2, 3]\ny = sinus(x)\nz = x + w\noutput q = matmul(x, x)\n")
        done = self.fails(1, "check", bad, says=[f"{bad}:3:5: error:", f"{bad}:4:9: error:", f"{bad}:5:", "[unknown-op]",
                                                 "[unknown-name]", "[shape-mismatch]"])
        self.assertEqual(done.stderr.count("error: "), 3)

    def test_diagnostics_as_json(self):
        done = self.svodc("check", self.graph("svod 1\noutput y = sinus(1)\n"), "--diagnostics", "json", code=1)
        errors = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertEqual([(e["code"], e["line"], e["column"], e["exitCode"]) for e in errors], [("unknown-op", 2, 12, 1)])

    def test_variables_from_the_command_line(self):
        graph = self.graph(SYMBOLIC)
        self.svodc("check", graph, "--var", "n=4")
        self.fails(1, "check", graph, "--var", "m=4", says="m")

    def test_files_that_cannot_be_read(self):
        self.fails(74, "check", self.folder / "absent.svod", says="absent.svod")
        self.fails(74, "check", self.folder, says=str(self.folder))


class Convert(ToolTest):
    def round_trip(self, graph):
        text, json_file, again = (self.folder / n for n in ("1.svod", "2.json", "3.svod"))
        self.svodc("convert", graph, "-o", text)
        self.svodc("convert", text, "-o", json_file)
        json.loads(json_file.read_text())
        self.svodc("convert", json_file, "-o", again)
        self.assertEqual(text.read_text(), again.read_text())
        self.assertEqual(self.svodc("convert", text, "-o", "-").stdout, json_file.read_text())
        self.assertEqual(self.svodc("convert", json_file, "-o", "-").stdout, text.read_text())
        return text.read_text()

    def test_examples_survive(self):
        graphs = sorted((ROOT / "examples").rglob("*.svod"))
        self.assertTrue(graphs)
        for graph in graphs:
            with self.subTest(graph=graph):
                self.assertEqual(self.round_trip(graph), graph.read_text())

    def test_flags_about_variables_are_for_models(self):
        for flag in ("--var=n=4", "--shape=x=4x8", "--const=x=x.npy"):
            with self.subTest(flag=flag):
                self.fails(2, "convert", self.graph(SYMBOLIC), "-o", self.folder / "a.json", flag, says="are for models")

    def test_nothing_is_written_after_an_error(self):
        target = self.folder / "out.json"
        self.fails(1, "convert", self.graph("svod 1\noutput y = (3\n"), "-o", target)
        self.assertFalse(target.exists())
        self.fails(74, "convert", self.graph(), "-o", self.folder / "no/such/out.json", says="no/such")

    def test_stdin(self):
        self.assertEqual(json.loads(self.svodc("convert", "-", "-o", "-", stdin=SMALL).stdout)["svod"], 1)


class Targets(ToolTest):
    def test_table_and_record(self):
        everything = json.loads(self.svodc("targets", "--json").stdout)
        self.assertLess({"cpu", "c", "cuda"}, {t["name"] for t in everything["targets"]})
        names = {row["arch"]: row["cpus"].split() for row in everything["processors"]}
        self.assertIn("sapphirerapids", names["x86_64-unknown-linux-gnu"])
        self.assertIn("neoverse-v1", names["aarch64-unknown-linux-gnu"])
        for triple, cpus in names.items():
            self.svodc("targets", "--triple", triple, "--cpu", cpus[-1])
        self.assertNotIn("GRAPH", self.svodc("targets", "--help").stdout)
        self.assertIn("usage: svodc targets [FLAG]", self.svodc("targets", "--help").stdout)
        record = json.loads(self.svodc("targets", "--cpu", "znver4", "--triple", "x86_64-unknown-linux-gnu", "--json").stdout)
        self.assertEqual(record["cpu"]["cpu"], "znver4")
        self.assertEqual(record["cpu"]["vectorBytes"], 64)
        self.fails(3, "targets", "--cpu", "z80", says="z80")


class Inspect(ToolTest):
    def test_plan_and_graph_say_the_same(self):
        graph, plan = self.graph(SYMBOLIC), self.folder / "plan"
        self.svodc("compile", graph, "-o", plan)
        of_plan = json.loads(self.svodc("inspect", plan, "--json").stdout)
        of_graph = json.loads(self.svodc("inspect", graph, "--json").stdout)
        for part in ("name", "ports", "variables", "memory", "steps"):
            self.assertEqual(of_plan[part], of_graph[part])
        for row, more in zip(of_plan["kernels"]["kernels"], of_graph["kernels"]["kernels"], strict=True):
            self.assertEqual(row, {key: more[key] for key in row})
        for kernel in of_graph["kernels"]["details"]:
            self.assertIn("for r", kernel["loops"])
            self.assertIn(kernel["name"], kernel["source"])
        self.assertIn("sink", of_graph["graph"]["uop"])

    def test_parts(self):
        graph = self.graph(SYMBOLIC)
        self.assertIn("lower bound", self.svodc("inspect", graph).stdout)
        self.assertIn("last step", self.svodc("inspect", graph, "--memory").stdout)
        self.assertIn("after steps", self.svodc("inspect", graph, "--steps").stdout)
        self.assertIn("reduce", self.svodc("inspect", graph, "--kernels").stdout)
        self.assertRegex(self.svodc("inspect", graph, "--decisions").stdout, r"keep:\S+ +(fuse|keep) +fuse")
        self.assertIn("exp", self.svodc("inspect", graph, "--graph").stdout)
        self.assertIn("as one page", self.svodc("inspect", graph, "--html", self.folder / "page.html").stdout)
        self.assertIn("void", self.svodc("inspect", graph, "--source", "--target", "c").stdout)

    def test_decisions(self):
        graph = self.graph("svod 1\ninput x: f32[64]\nbig = exp(x)\noutput y = big / sum(big, axes=0)\n")
        row = {d["name"]: d for d in json.loads(self.svodc("inspect", graph, "--decisions", "--json").stdout)["decisions"]["decisions"]}["keep:big.exp"]
        self.assertEqual(list(row["alternatives"]), ["fuse", "keep"])
        self.assertTrue(all(cost > 0 for cost in row["alternatives"].values()), row)
        other = next(value for value in row["alternatives"] if value != row["value"])
        decided, plan = self.folder / "decided", self.folder / "plan"
        decided.write_text(f"# another choice\n\nkeep:big.exp={other}\n")
        self.svodc("compile", graph, "-o", plan, "--decide-from", decided)
        for words in (["--decide-from", decided], ["--decide-from", plan], ["--decide", f"keep:big.exp={other}"]):
            shown = self.svodc("inspect", graph, "--decisions", *words).stdout
            self.assertRegex(shown, rf"keep:big.exp +{other} .*requested in place of {row['value']}: {row['reason']}")
        again = self.svodc("inspect", graph, "--decisions", "--decide", f"keep:big.exp={row['value']}").stdout
        self.assertRegex(again, rf"requested, and usual: {row['reason']}")
        none = self.graph("svod 1\ninput x: f32[4]\noutput y = x\n")
        self.assertIn("left to decide", self.svodc("inspect", none, "--decisions").stdout)

    def test_flags_may_stand_before_the_graph(self):
        graph = self.graph(SYMBOLIC)
        self.svodc("check", "--var", "n=4", graph)
        self.svodc("check", "--var", "n=4", "--shape", "x=4x8", graph)

    def test_opts_of_several_kernels_are_noted(self):
        graph = self.graph("svod 1\ninput x: f32[64]\ninput y: f32[32]\noutput ab = exp(x)\noutput ac = sin(y)\n")
        noted = self.svodc("inspect", graph, "--kernels", "--opts", "a=vector(n0,8)").stderr
        self.assertRegex(noted, r"--opts 'a' is for 2 kernels: ab_\S+, ac_\S+")
        self.assertEqual(self.svodc("inspect", graph, "--kernels", "--opts", "ab=vector(n0,8)").stderr, "")

    def test_help_fits_a_terminal(self):
        for words in ([], ["compile"], ["inspect"], ["tune"]):
            for line in self.svodc(*words, "--help").stdout.splitlines():
                self.assertTrue(len(line) <= 80 or line.startswith(("usage: ", "  tune ")), line)

    def test_kernels_say_why(self):
        words = ["--cpu", "cascadelake", "--json"]
        text = "svod 1\nvar n in [1, 64]\ninput a: f32[192, 192]\ninput b: f32[192, 192]\ninput v: f32[n]\n" \
               "output c = matmul(a, b)\noutput s = v + 1\n"
        graph, plan = self.graph(text), self.folder / "plan"
        gemm, stream = json.loads(self.svodc("inspect", graph, "--kernels", *words).stdout)["kernels"]["details"]
        self.assertEqual((gemm["class"], gemm["limit"], stream["class"]), ("gemm", "compute", "streaming"))
        self.assertEqual(" ".join(choice["opt"] for choice in gemm["choices"]), gemm["opts"])
        self.assertTrue(all(choice["why"] for choice in gemm["choices"]))
        self.assertTrue(0 < gemm["rooflineShare"] <= 1 and gemm["predictedNs"] > 100_000, gemm)
        given = json.loads(self.svodc("inspect", graph, "--kernels", *words, "--opts", "c=upcast(0,2)").stdout)
        self.assertEqual(given["kernels"]["details"][0]["choices"], [{"opt": "upcast(0,2)", "why": "as requested"}])

        profile = self.folder / "profile.json"
        rows = [{"name": gemm["name"], "kind": "kernel", "calls": 4, "busyNs": 4_000_000, "flops": 4 << 25, "bytes": 4 << 20},
                {"name": "gone", "calls": 1, "busyNs": 1}, {"name": stream["name"], "calls": 0}]
        profile.write_text(json.dumps({"profile": rows}))
        measured, unmeasured = json.loads(
            self.svodc("inspect", graph, "--kernels", *words, "--profile", profile).stdout)["kernels"]["details"]
        self.assertEqual(measured["measuredNs"], 1_000_000)
        self.assertAlmostEqual(measured["rooflineShare"], (1 << 25) / 115.2 / 1_000_000, places=3)  # GFLOP/s of one core
        self.assertNotIn("measuredNs", unmeasured)
        self.svodc("compile", graph, "-o", plan, "--cpu", "cascadelake")
        of_plan = json.loads(self.svodc("inspect", plan, "--kernels", "--json", "--profile", profile).stdout)["kernels"]["details"]
        self.assertEqual(of_plan[0]["measuredNs"], 1_000_000)
        self.assertIn("measured", self.svodc("inspect", plan, "--profile", profile).stdout)  # means --kernels
        profile.write_text(json.dumps({"profile": rows[1:2]}))
        for subject in (graph, plan):
            self.fails(2, "inspect", subject, "--profile", profile, says="other kernels")
        for wrong in ("{}", "[]", "no json"):
            profile.write_text(wrong)
            self.fails(2, "inspect", graph, "--profile", profile, says="svod-run PLAN")
        self.fails(74, "inspect", plan, "--profile", self.folder / "absent")

    def test_source_of_a_c_plan_comes_from_the_plan(self):
        plan = self.folder / "plan"
        self.svodc("compile", self.graph(), "-o", plan, "--target", "c")
        self.assertIn("void z_", self.svodc("inspect", plan, "--source").stdout)

    def test_symbol_and_sizes_of_a_kernel_are_shown(self):
        plan = self.folder / "plan"
        self.svodc("compile", self.graph(), "-o", plan)
        kernel = json.loads((plan / "plan.json").read_text())["kernels"][0]
        shown = json.loads(self.svodc("inspect", plan, "--kernels", "--json").stdout)["kernels"]["details"][0]
        self.assertEqual(shown.get("symbol", shown["name"]), kernel["symbol"])
        self.assertEqual([a["bytes"] for a in shown["args"]], [a["bytes"] for a in kernel["args"]])
        self.assertIn("tiles", shown)

    def test_page(self):
        page = self.folder / "page.html"
        self.svodc("inspect", self.graph(), "--html", page)
        text = page.read_text()
        self.assertTrue(text.startswith("<!doctype html>") and text.endswith("</html>\n"))
        self.assertNotRegex(text, "https?:")

    def test_damaged_plans(self):
        plan = self.folder / "plan"
        self.svodc("compile", self.graph(), "-o", plan)
        self.fails(2, "inspect", plan, "--graph", says="inspect GRAPH")
        manifest = (plan / "plan.json").read_bytes()
        (plan / "plan.json").write_bytes(manifest.replace(b'"arenaBytes": ', b'"arenaBytes": 1', 1))
        self.fails(5, "inspect", plan, says="[plan-checksum]")
        (plan / "plan.json").write_bytes(manifest[:-40])
        self.fails(5, "inspect", plan, says="plan.json")
        (plan / "plan.json").write_bytes(manifest)
        (plan / "kernels.so").unlink()
        self.fails(5, "inspect", plan, says="kernels.so' is missing")
        self.fails(74, "inspect", self.folder / "absent")


if __name__ == "__main__":
    main()
