"""svodc tune plan, run and status: units that any number of machines do."""
import json
import re
import shutil

from svodc import contents, main
from tune_work import GRAPH, WorkTest


class Work(WorkTest):
    def test_units(self):
        facts = self.plan("--budget", "3s")
        self.assertEqual((facts["units"], facts["kernels"], facts["graphs"], facts["array"]), (3, 2, 1, "0-2"))
        self.assertEqual([(len(u["kernels"]), len(u["graphs"])) for u in self.units()], [(1, 0), (1, 0), (0, 1)])
        first = (self.work / "plan.json").read_text()
        self.plan("--budget", "3s", "-j1")
        self.assertEqual((self.work / "plan.json").read_text(), first)
        one = self.units()
        self.assertEqual({len(u["hash"]) for u in one}, {12})
        self.plan("--budget", "4s")
        self.assertTrue({u["hash"] for u in one}.isdisjoint(u["hash"] for u in self.units()))
        self.plan("--budget", "3s", "--units", "1")
        self.assertEqual([(len(u["kernels"]), len(u["graphs"])) for u in self.units()], [(2, 1)])
        self.plan("--budget", "3s", "--units", "2")
        self.assertEqual([(len(u["kernels"]), len(u["graphs"])) for u in self.units()], [(2, 0), (0, 1)])
        self.plan("--budget", "3s", "--search", "kernels")
        self.assertEqual([(len(u["kernels"]), len(u["graphs"])) for u in self.units()], [(1, 0), (1, 0)])
        kernels = self.units()
        self.assertEqual([u["hash"] for u in kernels], [u["hash"] for u in one if u["kernels"]])  # they are to do the same
        self.plan("--budget", "3s", "--search", "kernels", "--threads", "2")  # measured in another way
        self.assertTrue({u["hash"] for u in kernels}.isdisjoint(u["hash"] for u in self.units()))
        # one output less: the unit of the other kernel is what it was
        self.model.write_text(GRAPH.rsplit("output", 1)[0])
        self.plan("--budget", "3s")
        self.assertIn(self.units()[0], [u | {"unit": 0} for u in one])
        self.model.write_text("svod 1\ninput x: f32[4]\noutput y = x\n")
        self.assertEqual(self.plan()["array"], "empty")

    def test_what_a_unit_of_decisions_is_to_do(self):
        """It is another one where the graph is compiled in another way; units of kernels that stay are the same."""
        self.model.write_text("svod 1\ninput x: f32[4, 40000]\noutput y = sum(x, axes=1)\noutput z = sum(tanh(x), axes=1)\n")

        def units(*words):
            self.plan("--budget", "3s", *words)
            found = self.units()
            return {u["hash"] for u in found if u["kernels"]}, {u["hash"] for u in found if u["graphs"]}

        kernels, decisions = units()
        self.svodc("compile", self.model, "-o", self.folder / "p")
        line = json.loads((self.folder / "p/plan.json").read_text())["decisions"][0].split(" | ")[0]
        file = self.folder / "decisions"
        file.write_text(line + "\n")
        asked = units("--decide", line)
        self.assertEqual(asked[0], kernels)
        self.assertTrue(asked[1].isdisjoint(decisions))
        self.assertEqual(units("--decide-from", file), asked)
        for words in (("--disable-pass", "apply-opts"), ("--fold-limit", "0"), ("--disable-rule", "fold-constants")):
            self.assertTrue(units(*words)[1].isdisjoint(decisions | asked[1]), words)
        self.assertEqual(units(), (kernels, decisions))

    def test_equal_graphs_are_planned_once(self):
        same = self.graph(GRAPH, "same.svod")
        facts = json.loads(self.svodc("tune", "plan", self.model, same, "-o", self.work, "--json").stdout)
        self.assertEqual((facts["units"], facts["kernels"], facts["graphs"]), (3, 2, 1))
        self.assertEqual([g["name"] for u in self.units() for g in u["graphs"]], [str(self.model)])

    def test_a_unit_of_decisions(self):
        """Kernels are tuned by one unit, and what another one finds of the graph is compared with their winners."""
        self.model.write_text("svod 1\ninput x: f32[4, 40000]\noutput y = sum(x, axes=1)\noutput z = sum(tanh(x), axes=1)\n")
        self.plan("--budget", "10s")
        decisions = next(u for u in self.units() if u["graphs"])
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", decisions["unit"], "--json").stdout)
        self.assertEqual((report["kernels"], [g["name"] for g in report["graphs"]]), ([], [self.model.stem]))
        self.assertGreater(report["graphs"][0]["priced"], 1)
        unit = self.status()["units"][decisions["unit"]]
        self.assertEqual((unit["state"], unit["parts"]), ("done", f"decisions of {self.model}"))
        self.assertEqual(unit["plans"] > 0, report["graphs"][0]["measured"] > 0)
        log = self.folder / "tuning.log"
        self.svodc("log", "merge", self.work, "-o", log)
        self.assertIn("graph", {json.loads(line)["record"] for line in log.read_text().splitlines()})
        self.svodc("compile", self.model, "-o", self.folder / "a", "--tuning-log", log, "--verify")
        self.fails(2, "tune", "run", self.work, "--unit", "0", "--threads", "2", says="--threads")  # it is planned

    def without_ages(self):
        return [{key: value for key, value in unit.items() if key != "age"} for unit in self.status()["units"]]

    def test_all_units_and_one_log(self):
        self.plan("--budget", "3s", "--search", "kernels")
        environment = {"JOB_COMPLETION_INDEX": "1"}
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", "auto", "--json", env=environment).stdout)
        self.assertEqual([k["name"] for k in report["kernels"]], [k["name"] for k in self.units()[1]["kernels"]])
        self.assertEqual([u["state"] for u in self.status()["units"]], ["open", "done"])
        self.svodc("tune", "run", self.work, "--unit", 0, cwd="/")
        status = self.status()
        self.assertEqual((status["done"], status["started"], status["open"]), (2, 0, 0))
        units = self.without_ages()
        self.assertIn("unit 0 is done", self.svodc("tune", "run", self.work, "--unit", 0).stdout)
        self.assertEqual(self.without_ages(), units)
        log = self.folder / "tuning.log"
        self.svodc("log", "merge", self.work, "-o", log)
        self.assertEqual(self.svodc("log", "merge", *sorted(self.work.glob("units/*/*.log"), reverse=True), log).stdout, log.read_text())
        stats = json.loads(self.svodc("log", "stats", log, "--json").stdout)
        self.assertEqual((stats["kernels"], stats["machines"], stats["targets"]), (2, 1, 1))
        self.svodc("compile", self.model, "-o", self.folder / "a", "--tuning-log", log, "--verify")
        # the folder and the graph may move together
        moved = self.folder / "moved"
        moved.mkdir()
        shutil.move(self.work, moved / "work")
        self.work = moved / "work"
        self.assertEqual(self.status()["done"], 2)

    def test_a_folder_that_was_moved_alone(self):
        self.svodc("tune", "plan", self.model.name, "-o", "work", cwd=self.folder)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        shutil.move(self.work, elsewhere)
        self.fails(74, "tune", "run", elsewhere / "work", "--unit", "0", cwd=self.folder,
                   says=[f"cannot open '{elsewhere / self.model.name}'", f"in {elsewhere}, which is ..", "move them along with that folder"])
        self.svodc("tune", "plan", "../" + self.model.name, "-o", "../work", cwd=elsewhere)
        shutil.move(self.work, elsewhere / "again")
        self.fails(74, "tune", "run", elsewhere / "again", "--unit", "0", cwd=self.folder,
                   says=[f"cannot enter '{elsewhere / 'elsewhere'}'", "move them along with that folder"])

    def test_a_plan_replaces_nothing_but_tuning_work(self):
        compiled, damaged = self.folder / "m.plan", self.folder / "damaged"
        self.svodc("compile", self.model, "-o", compiled)
        damaged.mkdir()
        (damaged / "plan.json").write_text('{"svod-tuning-work": 2}')
        for folder in (compiled, damaged):
            before = contents(folder)
            self.fails(74, "tune", "plan", self.model, "-o", folder, says=["no folder of tuning work", "name another one"])
            self.assertEqual(contents(folder), before)
            self.fails(1, "log", "stats", folder, says="plan.json")

    def test_a_unit_that_cannot_be_measured_is_done(self):
        self.model.write_text("svod 1\ninput x: f32[300000000]\noutput y = exp(x)\n")
        self.plan("--budget", "10s", "--search", "kernels")
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--json").stdout)
        self.assertIn("more than 1 GiB", report["kernels"][0]["opts"])
        self.assertEqual(self.status()["done"], 1)

    def test_units_compiled_ahead(self):
        """On machines without a device for the code: nothing runs, and who measures finds it."""
        self.plan("--budget", "4s", "--units", "1")
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--phase", "compile", "--json").stdout)
        self.assertEqual(len(report["kernels"]), 2)
        compiled = sum(k["compiled"] + k["failed"] for k in report["kernels"])
        self.assertGreater(compiled, 10)
        unit, = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"], unit["ahead"]), ("open", 0, compiled))
        self.assertEqual(self.records("*.log"), [])
        counts = [compiled]  # a busy machine may need the time of several runs
        while counts[-1] > 0 and len(counts) < 20:
            again = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--phase", "compile", "--json").stdout)
            counts.append(sum(k["compiled"] for k in again["kernels"]))
        self.assertEqual(counts[-1], 0)
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--json").stdout)
        self.assertGreater(report["candidates"], 0)
        self.assertEqual({r["outcome"] for r in self.records()} & {"crashed", "wrong", "out-of-bounds"}, set())
        self.assertEqual(self.status()["done"], 1)
        self.fails(2, "tune", "run", self.work, "--unit", "0", "--phase", "ahead", says="ahead")
        self.fails(2, "tune", self.model, "--tuning-log", self.folder / "log", "--phase", "compile", says="--phase")

    def test_work_for_another_processor_is_compiled_here(self):
        self.plan("--budget", "2s", "--units", "1", "--triple", "aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1")
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--phase", "compile", "--json").stdout)
        self.assertGreater(sum(k["compiled"] for k in report["kernels"]), 0)
        self.fails(3, "tune", "run", self.work, "--unit", "0", says="aarch64")

    def test_every_flag_is_of_the_plan_or_of_a_run(self):
        """A run takes what the plan keeps, and what the units were made of, from there; of the rest nothing is kept."""
        of_a_run = {"progress", "explain", "unit", "phase", "jobs", "verify-each", "repro-dir", "allow-c"}
        self.plan("--budget", "3s")
        kept = json.loads((self.work / "plan.json").read_text())["flags"].keys()
        flags = {f["name"][2:]: f for f in json.loads(self.svodc("--list-flags", "--json").stdout) if "tune" in f["commands"].split()}
        self.assertEqual((of_a_run - flags.keys(), of_a_run & kept), (set(), set()))
        self.assertEqual(flags.keys() - of_a_run - kept, {"budget", "units", "output", "search"})
        for name in flags.keys() - of_a_run:
            preset = flags[name]["default"]
            value = f"={int(preset) + 1 if preset.lstrip('-').isdigit() else 'x'}" if flags[name]["value"] else ""
            self.fails(2, "tune", "run", self.work, "--unit", "0", f"--{name}{value}", says=f"--{name} from the plan")

    def test_what_cannot_be(self):
        self.fails(2, "tune", "plan", self.model, says="-o WORK")
        self.fails(2, "tune", "plan", "-", "-o", self.work, says="stdin")
        self.fails(2, "tune", "plan", self.model, "-o", self.work, "--units", "-1", says=["--units", "each kernel and each graph"])
        self.fails(2, "tune", "plan", self.model, "-o", self.work, "--tuning-log", "x")
        self.fails(74, "tune", "plan", self.model, "-o", self.folder, says="no folder of tuning work")
        self.fails(2, "tune", "plan", self.model, "-o", self.work, "--search", "none", says="nothing to do")
        self.fails(74, "tune", "status", self.work)
        self.fails(2, "tune", "status")
        self.plan("--budget", "3s")
        self.fails(2, "tune", "run", self.work, says="--unit")
        self.fails(2, "tune", "run", self.work, "--unit", "3", says="the work has 3")
        self.fails(2, "tune", "run", self.work, "--unit", "auto", says="JOB_COMPLETION_INDEX")
        self.fails(2, "tune", "run", self.work, "--unit", "0", "--numerics", "fast", says="--numerics")
        self.fails(2, "tune", "run", self.work, "--unit", "0", "--budget", "1h", says="--budget")
        (self.work / "units").symlink_to("nowhere")
        self.fails(74, "tune", "run", self.work, "--unit", "0", says=f"/units/{self.units()[0]['hash']}': File exists")
        (self.work / "units").unlink()
        self.model.write_text(GRAPH.replace("48", "52"))
        self.fails(4, "tune", "run", self.work, "--unit", "0", says="is not what it was")
        self.model.write_text(GRAPH)
        plan = (self.work / "plan.json").read_text()
        for was, becomes, code, says in (('"compiler": "', '"compiler": "0', 4, "another svodc"),
                                         ('"target": "cpu x', '"target": "cpu y', 4, "this machine compiles for"),
                                         ('"units": [', '"units": [7, ', 1, "damaged"),
                                         ('"seconds": 3.0', '"seconds": -1', 1, "damaged"),
                                         ('"graphs"', '"grahps"', 1, "damaged"),
                                         ('"svod-tuning-work": 2', '"svod-tuning-work": 3', 3, "of form 3"),
                                         ("{", "", 1, "no plan")):
            with self.subTest(says=says):
                self.assertIn(was, plan)
                (self.work / "plan.json").write_text(plan.replace(was, becomes, 1))
                self.fails(code, "tune", "run", self.work, "--unit", "0", says=says)
        hashed = re.sub(r'"hash": "[0-9a-f]{12}"', '"hash": "../../x"', plan)
        (self.work / "plan.json").write_text(hashed)
        self.fails(1, "tune", "run", self.work, "--unit", "0", says="damaged")
        self.assertEqual(list(self.work.glob("units/*")), [])


if __name__ == "__main__":
    main()
