"""Decisions about graphs in tuning logs, and winners that are timed inside their plan."""
import json

from svodc import ToolTest, contents, main

GRAPH = ("svod 1\ninput x: f32[96, 200]\ninput w: f32[200, 64]\nt = exp(x) * 0.5\noutput a = sum(t, axes=1)\noutput b = matmul(t, w)\n"
         "output s = softmax(x)\noutput m = reduce_max(t, axes=0)\n")


class Plans(ToolTest):
    def setUp(self):
        super().setUp()
        self.model, self.log = self.graph(GRAPH), self.folder / "tuning.log"

    def tune(self, *words):
        return json.loads(self.svodc("tune", self.model, "--tuning-log", self.log, "--json", *words).stdout)

    def begin(self, *words):
        """Tunes until the kernel b had a turn and something was measured, for which a busy machine may need some tries."""
        for seconds in (1, 4, 16, 64):
            self.tune("--budget", f"{seconds}s", *words)
            turns = {k["kernel"] for k in self.records("kernel") if k["name"].startswith("b")}
            if any(c["kernel"] in turns and c["origin"] == "-O1" for c in self.records("candidate")):
                break
        return {key: self.records("candidate")[0][key] for key in ("target", "machine", "compiler")}

    def records(self, kind):
        return [r for r in map(json.loads, self.log.read_text().splitlines()) if r["record"] == kind]

    def write(self, *records):
        with self.log.open("a") as file:
            file.write("".join(json.dumps(r) + "\n" for r in records))

    def compiled(self, name, *words):
        self.svodc("compile", self.model, "-o", self.folder / name, *words)
        return json.loads((self.folder / name / "plan.json").read_text())

    def other_decision(self):
        """The first decision that could be another, as NAME=VALUE."""
        for line in self.compiled("usual")["decisions"]:
            name, value = line.split(" | ")[0].rsplit("=", 1)
            others = [word.split()[0] for word in line.split(" | ")[1].split(", ") if word.split()[0] != value]
            if others:
                return f"{name}={others[0]}"
        return self.fail("no decision has an alternative")

    def test_decisions_are_looked_for_and_recorded(self):
        report = self.tune("--budget", "12s")
        graph, = report["graphs"]
        self.assertGreater(graph["priced"], 2)
        self.assertEqual(len(self.records("graph")), 1)
        name = self.records("graph")[0]["graph"]
        plans = self.records("plan")
        self.assertEqual({r["graph"] for r in plans} | {name}, {name})
        started = [tuple(r["decisions"]) for r in plans if r["outcome"] == "started"]
        ended = [tuple(r["decisions"]) for r in plans if r["outcome"] != "started"]
        self.assertEqual(len(started), graph["measured"])
        self.assertEqual(set(started), set(ended))
        self.assertLessEqual(len(ended), len(started) + 1)  # a winner may lose when the whole plan is checked
        self.assertLessEqual({r["outcome"] for r in plans}, {"started", "wins", "loses"})
        checked, = report["plans"]
        self.assertEqual(checked["problem"], "")
        self.check_gain(checked)
        self.svodc("compile", self.model, "-o", self.folder / "p", "--tuning-log", self.log, "--verify")
        self.assertEqual(contents(self.folder / "p"), self.from_merged())
        # Again: no plan is measured twice, and without other decisions none is.
        again = self.tune("--budget", "3s")
        self.assertEqual(len({json.dumps(r["decisions"]) for r in self.records("plan") if r["outcome"] == "started"}),
                         len([r for r in self.records("plan") if r["outcome"] == "started"]))
        self.assertNotIn("graphs", self.tune("--budget", "1s", "--search", "kernels"))
        self.assertIn("graphs", again)
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--search", "everything", says="everything")
        self.fails(74, "tune", self.model, "--tuning-log", self.folder / "no.log", "--search", "none", says="no.log")

    def check_gain(self, checked):
        """What the log says of the whole graph is what was said at the end of the run."""
        self.assertEqual(sum(self.records("graph")[0]["launches"].values()), len(self.compiled("steps")["kernels"]))
        log, = json.loads(self.svodc("log", "stats", self.log, "--json").stdout)["gains"]
        self.assertEqual((log["warm"], log["cold"]), (round(checked["warm"], 4), round(checked["cold"], 4)))
        self.assertEqual(json.loads(self.svodc("log", "best", self.log, "--json").stdout)["gains"], [log])
        gains = self.records("gain")
        if not gains:
            self.assertIn("nothing won", log["machine"])
            return
        self.assertEqual((log["usual"], log["machine"]), (gains[-1]["usual"], gains[-1]["machine"]))
        name, opts = next((name, opts) for name, opts in gains[-1]["kernels"].items() if opts)
        lost = next(r for r in self.records("candidate") if (r["kernel"], r["opts"], r["outcome"]) == (name, opts, "wins"))
        other = self.folder / "other.log"
        other.write_text(self.log.read_text() + json.dumps(lost | {"outcome": "loses", "ratio": 1.5}) + "\n")
        log, = json.loads(self.svodc("log", "stats", other, "--json").stdout)["gains"]
        self.assertEqual(log["usual"], "-")

    def from_merged(self):
        merged = self.folder / "merged"
        self.svodc("log", "merge", self.log, self.log, "-o", merged)
        self.svodc("compile", self.model, "-o", self.folder / "q", "--tuning-log", merged)
        return contents(self.folder / "q")

    def plan_record(self, decisions, **members):
        """As if it had won here."""
        if not self.log.exists():
            self.place = self.begin()
            lines = self.log.read_text().splitlines(keepends=True)  # of which a plan may have won in earnest
            self.log.write_text("".join(line for line in lines if json.loads(line)["record"] != "plan"))
        graph = self.records("graph")[0]["graph"]
        return {"svod-tuning": 1, "graph": graph, "record": "plan", **self.place, "origin": "test", "outcome": "wins",
                "decisions": decisions, "ratio": 0.5, **members}

    def test_decisions_that_won_become_those_of_the_plan(self):
        usual = self.compiled("usual")
        wanted = self.other_decision()
        self.write(self.plan_record([wanted]))
        log = ("--tuning-log", self.log)
        tuned = self.compiled("tuned", *log)
        line, = [line for line in tuned["decisions"] if line.startswith(wanted + " |")]
        self.assertIn("as in the tuning log", line)
        asked = self.compiled("asked", "--decide", wanted)
        self.assertEqual([k["name"] for k in tuned["kernels"]], [k["name"] for k in asked["kernels"]])
        self.assertEqual(contents(self.folder / "tuned"), self.from_merged())
        self.svodc("compile", self.model, "-o", self.folder / "v", *log, "--verify")
        # What is asked for wins over the log, and -O0 does not read it.
        name, value = wanted.rsplit("=", 1)
        value = next(line for line in usual["decisions"] if line.startswith(name + "=")).split(" | ")[0].rsplit("=", 1)[1]
        kept = self.compiled("kept", *log, "--decide", f"{name}={value}")
        self.assertEqual([k["name"] for k in kept["kernels"]], [k["name"] for k in usual["kernels"]])
        none = self.compiled("none", *log, "-O0")
        self.assertNotIn("as in the tuning log", json.dumps(none["decisions"]))
        # The best one whose decisions the graph has: others are passed over.
        self.write(self.plan_record(["keep:nobody.add=keep"], ratio=0.1))
        self.assertEqual(self.compiled("again", *log), tuned)
        self.assertEqual([g["usual"] for g in self.best()["gains"]], ["-"])
        checked, = self.tune("--budget", "10s", "--search", "none")["plans"]
        self.assertEqual(checked["problem"], "")
        # They are named, and keep nobody from telling the gain of those that the graph has, or of none.
        best = self.best()
        self.assertEqual([(w["decisions"], w["note"]) for w in best["plans"]][0],
                         ("keep:nobody.add=keep", "passed over: the graph does not have them"))
        self.assertEqual([g["decisions"] for g in best["gains"]], [w["decisions"] for w in best["plans"][1:]] or [""])
        self.assertEqual([g["warm"] for g in best["gains"]], [round(checked["warm"], 4)])
        # One that lost anywhere is none.
        self.write(self.plan_record([wanted], outcome="loses", ratio=1.2))
        self.assertEqual([k["name"] for k in self.compiled("lost", *log)["kernels"]], [k["name"] for k in usual["kernels"]])
        for command in ("stats", "best", "html", "prune"):
            self.svodc("log", command, self.log)
        stats = json.loads(self.svodc("log", "stats", self.log, "--json").stdout)
        self.assertEqual((stats["graphs"], stats["planWinners"]), (1, 1))

    def best(self):
        return json.loads(self.svodc("log", "best", self.log, "--json").stdout)

    def test_what_does_not_apply_is_named_and_keeps_no_gain_from_being_told(self):
        place = self.begin("--search", "kernels")
        name, = [k["kernel"] for k in self.records("kernel") if k["name"].startswith("b")]
        usual = next(r["opts"] for r in self.records("candidate") if r["kernel"] == name and r["origin"] == "-O1")
        self.write(*({"svod-tuning": 1, "kernel": name, "record": "candidate", **place, "opts": opts, "origin": "test", "outcome": "wins",
                      "ratio": ratio, **more}
                     for opts, ratio, more in (("vector(n9,16)", 0.01, {}), (usual, 0.02, {"reason": "in the plan, once"}))))
        checked, = self.tune("--budget", "10s", "--search", "none")["plans"]
        self.write({"svod-tuning": 1, "kernel": name, "record": "candidate", **place, "compiler": "other", "opts": "no opts (", "origin": "test",
                    "outcome": "wins", "ratio": 0.001})  # came with another log, and stands behind
        self.assertEqual(self.records("gain")[-1]["kernels"][name], usual)
        for command in ("stats", "best"):
            told = json.loads(self.svodc("log", command, self.log, "--json").stdout)
            self.assertEqual([(g["warm"], g["cold"]) for g in told["gains"]], [(round(checked["warm"], 4), round(checked["cold"], 4))])
            self.assertEqual([(p["opts"], p["reason"]) for p in told["passed"]], [("vector(n9,16)", "vector(n9,16): there is no loop n9")])
        self.assertIn((name, usual), [(w["kernel"], w["opts"]) for w in told["winners"]])
        self.assertIn("it does not apply: vector(n9,16): there is no loop n9", self.svodc("log", "html", self.log).stdout)
        pruned = self.folder / "pruned.log"
        self.svodc("log", "prune", self.log, "-o", pruned)
        self.assertEqual(json.loads(self.svodc("log", "best", pruned, "--json").stdout), told)
        self.assertEqual(self.compiled("whole", "--tuning-log", self.log), self.compiled("small", "--tuning-log", pruned))

    def test_a_winner_that_is_slower_inside_the_plan_has_lost(self):
        place = self.begin("--search", "kernels")
        name, = [k["kernel"] for k in self.records("kernel") if k["name"].startswith("b")]
        self.write({"svod-tuning": 1, "kernel": name, "record": "candidate", **place, "opts": "", "origin": "test", "outcome": "wins",
                    "ratio": 0.1, "ns": 1})
        lists = {(r["kernel"], r["opts"]) for r in self.records("candidate")}
        done = self.svodc("tune", self.model, "--tuning-log", self.log, "--json", "--budget", "20s", "--search", "none", "--progress", "json")
        self.assertEqual(json.loads(done.stdout)["kernels"], [])
        self.assertLessEqual({"begin", "checks", "end"},
                             {json.loads(line)["progress"] for line in done.stderr.splitlines() if line.startswith("{")})
        self.assertEqual({(r["kernel"], r["opts"]) for r in self.records("candidate")}, lists)  # no other one was tried
        lost = [r for r in self.records("candidate") if r["kernel"] == name and r["opts"] == "" and r["outcome"] == "loses"]
        self.assertTrue(lost)
        self.assertIn("in the plan", lost[0]["reason"])
        self.assertGreater(lost[0]["ratio"], 1)
        best = json.loads(self.svodc("log", "best", self.log, "--json").stdout)["winners"]
        self.assertNotIn((name, ""), [(w["kernel"], w["opts"]) for w in best])

    def test_decisions_that_are_slower_with_all_winners_have_lost(self):
        slow = "keep:t.mul=fuse"  # which a matmul computes again for each of its columns
        self.write(self.plan_record([slow]))
        self.assertIn("as in the tuning log", json.dumps(self.compiled("before", "--tuning-log", self.log)["decisions"]))
        self.tune("--budget", "40s", "--search", "none")
        lost, = [r for r in self.records("plan") if r["decisions"] == [slow] and r["outcome"] == "loses"]
        self.assertIn("in the plan", lost["reason"])
        self.assertGreater(lost["ratio"], 1)
        self.assertNotIn("as in the tuning log", json.dumps(self.compiled("after", "--tuning-log", self.log)["decisions"]))

    def test_where_many_winners_lose_inside_the_plan_none_is_left_that_was_not_timed_there(self):
        place = self.begin("--search", "kernels")
        name, = [k["kernel"] for k in self.records("kernel") if k["name"].startswith("b")]
        slow = ["", *(f"upcast(n0,{copies})" for copies in range(2, 11))]
        self.write(*({"svod-tuning": 1, "kernel": name, "record": "candidate", **place, "opts": opts, "origin": "test", "outcome": "wins",
                      "ratio": 0.1 + 0.01 * i, "ns": 1} for i, opts in enumerate(slow)))
        self.tune("--budget", "10s", "--search", "kernels")
        best = json.loads(self.svodc("log", "best", self.log, "--json").stdout)["winners"]
        self.assertTrue({w["opts"] for w in best if w["kernel"] == name}.isdisjoint(slow))
        reasons = [r["reason"] for r in self.records("candidate") if r["kernel"] == name and r["outcome"] == "loses" and r["opts"] in slow]
        self.assertEqual(len(reasons), len(slow))
        self.assertTrue(any("with warm caches" in reason for reason in reasons))
        self.assertTrue(any("it was not timed" in reason for reason in reasons))

    def test_winners_with_which_the_whole_plan_is_slower_are_dropped(self):
        place = self.begin("--search", "kernels")
        hashes = {k["name"].split("_")[0]: k["kernel"] for k in self.records("kernel")}
        usual = {r["kernel"]: r["opts"] for r in self.records("candidate") if r["origin"] == "-O1"}
        rows = next(name for kernel, name in hashes.items() if kernel != "b" and name in usual)

        def planted(kernel, opts, ratio, **members):
            return {"svod-tuning": 1, "kernel": kernel, "record": "candidate", **place, "opts": opts, "origin": "test",
                    "outcome": "wins", "ratio": ratio, **members}

        # As if both had been timed in the plan before, so that only the plan as a whole speaks against one of them.
        self.write(planted(hashes["b"], "", 0.01, reason="in the plan, once"), planted(rows, usual[rows], 0.01, reason="in the plan, once"),
                   planted(hashes["b"], "upcast(n0,2)", 0.02))
        checked, = self.tune("--budget", "30s", "--search", "none")["plans"]
        self.assertEqual(checked["problem"], "")
        self.assertGreaterEqual(checked["slower"], 1)
        lost = {(r["kernel"], r["opts"]): r for r in self.records("candidate") if "in the plan" in r.get("reason", "") and r["outcome"] == "loses"}
        self.assertRegex(lost[hashes["b"], ""]["reason"], "it is not slower, but the whole plan with it takes .* of -O1 with warm caches")
        self.assertGreater(lost[hashes["b"], ""]["ratio"], 1)
        self.assertIn("was not timed with it", lost[hashes["b"], "upcast(n0,2)"]["reason"])
        self.assertNotIn((rows, usual[rows]), lost)
        best = json.loads(self.svodc("log", "best", self.log, "--json").stdout)
        self.assertIn((rows, usual[rows]), [(w["kernel"], w["opts"]) for w in best["winners"]])
        self.assertNotIn(hashes["b"], [w["kernel"] for w in best["winners"]])
        gain, = best["gains"]
        self.assertLess(gain["warm"], 1.5)
        self.svodc("compile", self.model, "-o", self.folder / "p", "--tuning-log", self.log)
        self.assertEqual(contents(self.folder / "p"), self.from_merged())

    def test_of_decisions_that_lost_inside_the_plan_none_is_left_that_was_not_compared_there(self):
        slow = "keep:t.mul=fuse"
        more = [f"parts:{value}.reduce={parts}" for value in "abs" for parts in (2, 4, 8)]
        for i, line in enumerate(more):
            self.write(self.plan_record(sorted([slow, line]), ratio=0.5 + i / 100))
        self.tune("--budget", "4s", "--search", "none")
        lost = [r for r in self.records("plan") if r["outcome"] == "loses" and slow in r["decisions"]]
        self.assertEqual(len(lost), len(more))
        self.assertTrue(any("it was not compared" in r["reason"] for r in lost))
        self.assertEqual(json.loads(self.svodc("log", "best", self.log, "--json").stdout)["plans"], [])


if __name__ == "__main__":
    main()
