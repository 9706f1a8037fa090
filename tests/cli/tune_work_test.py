"""svodc tune plan, run and status: units that any number of machines do, and the job files of the examples."""
import json
import re
import shutil
import signal
import subprocess
import time
import unittest

try:
    import yaml
except ImportError:
    yaml = None

import kubernetes
from svodc import BIN, ROOT, ToolTest, clean_environment, contents, main, run

GRAPH = "svod 1\ninput x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\noutput s = softmax(x)\n"


class Work(ToolTest):
    def setUp(self):
        super().setUp()
        self.model, self.work = self.graph(GRAPH), self.folder / "work"

    def plan(self, *words):
        return json.loads(self.svodc("tune", "plan", self.model, "-o", self.work, "--json", *words).stdout)

    def status(self):
        return json.loads(self.svodc("tune", "status", self.work, "--json").stdout)

    def units(self):
        return json.loads((self.work / "plan.json").read_text())["units"]

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

    def test_all_units_and_one_log(self):
        self.plan("--budget", "3s", "--search", "kernels")
        environment = {"JOB_COMPLETION_INDEX": "1"}
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", "auto", "--json", env=environment).stdout)
        self.assertEqual([k["name"] for k in report["kernels"]], [k["name"] for k in self.units()[1]["kernels"]])
        self.assertEqual([u["state"] for u in self.status()["units"]], ["open", "done"])
        self.svodc("tune", "run", self.work, "--unit", 0, cwd="/")
        status = self.status()
        self.assertEqual((status["done"], status["started"], status["open"]), (2, 0, 0))
        self.assertIn("unit 0 is done", self.svodc("tune", "run", self.work, "--unit", 0).stdout)
        self.assertEqual(self.status(), status)
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

    def quick_unit(self):
        """Of one kernel whose search comes to its end."""
        self.model.write_text("svod 1\ninput x: f32[8]\noutput y = exp(x)\n")
        self.plan("--budget", "10m", "--search", "kernels", "--beam", "1")
        return json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--json").stdout)

    def test_a_unit_whose_log_is_lost_or_damaged_is_not_done(self):
        self.assertGreater(self.quick_unit()["candidates"], 0)
        log, = self.work.glob("units/*/attempt-1.log")
        text, done = log.read_text(), (log.parent / "done").read_text()
        for damaged in (None, text + "what\n", text[:len(text) // 2], "\0" * len(text)):
            for each in self.work.glob("units/*/attempt-*.log"):
                each.unlink()
            (log.parent / "done").write_text(done)
            if damaged:
                log.write_text(damaged)
            said = self.svodc("tune", "status", self.work, "--json")
            unit, = json.loads(said.stdout)["units"]
            self.assertEqual((unit["state"], json.loads(said.stdout)["damaged"]), ("damaged", 1))
            self.assertIn("--unit 0 does it again", said.stderr)
            self.assertEqual("is no record" in said.stderr, damaged is not None and "what" in damaged)
            self.svodc("tune", "run", self.work, "--unit", 0)
            self.assertEqual(self.status()["done"], 1)

    def test_an_attempt_goes_on_from_those_before_it_so_all_are_needed(self):
        self.quick_unit()
        log, = self.work.glob("units/*/attempt-1.log")
        (log.parent / "done").unlink()
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--json").stdout)
        self.assertEqual(report["candidates"], 0)  # all was known: that is an end, too
        unit, = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"]), ("done", 2))
        log.unlink()
        unit, = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"]), ("damaged", 1))

    def test_a_unit_without_the_time_to_measure_is_not_done(self):
        self.plan("--budget", "0.01s", "--units", "1")
        self.fails(75, "tune", "run", self.work, "--unit", "0", says=["before anything was measured", "greater --budget"])
        unit, = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"], unit["candidates"]), ("started", 1, 0))

    def test_a_unit_that_cannot_be_measured_is_done(self):
        self.model.write_text("svod 1\ninput x: f32[300000000]\noutput y = exp(x)\n")
        self.plan("--budget", "10s", "--search", "kernels")
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--json").stdout)
        self.assertIn("more than 1 GiB", report["kernels"][0]["opts"])
        self.assertEqual(self.status()["done"], 1)

    def start(self, unit, *words):
        return subprocess.Popen([BIN / "svodc", "tune", "run", self.work, "--unit", str(unit), *words], env=clean_environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def records(self, pattern="attempt-*.log"):
        text = "".join(path.read_text() for path in sorted(self.work.glob(f"units/*/{pattern}")))
        return [r for r in map(json.loads, text.splitlines()) if r["record"] == "candidate"]

    def wait_for(self, process, pattern, count):
        deadline = time.monotonic() + 240
        while len(self.records(pattern)) < count:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                self.fail(process.communicate()[1])
            time.sleep(0.05)

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

    def test_attempts(self):
        self.plan("--budget", "10m", "--units", "1")
        first = self.start(0)
        self.wait_for(first, "attempt-1.log", 5)
        first.kill()
        first.communicate()
        (unit,) = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"]), ("started", 1))
        second = self.start(0)
        self.wait_for(second, "attempt-2.log", 4)
        second.send_signal(signal.SIGTERM)
        said = second.communicate(timeout=120)[1]
        self.assertEqual(second.returncode, 75, said)
        self.assertIn("the log of this attempt has all that was measured", said)
        starts = [(r["kernel"], r["opts"]) for r in self.records() if r["outcome"] == "started"]
        self.assertEqual(len(starts), len(set(starts)))
        self.assertEqual(self.status()["units"][0]["attempts"], 2)

    def test_attempts_at_once_have_logs_of_their_own(self):
        self.plan("--budget", "10m", "--units", "1")
        processes = [self.start(0) for _ in range(3)]
        for number in (1, 2, 3):
            self.wait_for(processes[0], f"attempt-{number}.log", 2)
        for process in processes:
            process.kill()
            process.communicate()
        self.assertEqual(len(list(self.work.glob("units/*/*.log"))), 3)

    def test_every_flag_is_of_the_plan_or_of_a_run(self):
        """A run takes what the plan keeps, and what the units were made of, from there; of the rest nothing is kept."""
        of_a_run = {"progress", "explain", "unit", "phase", "jobs", "verify-each", "repro-dir"}
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


class Examples(unittest.TestCase):
    @unittest.skipUnless(yaml, "there is no PyYAML here: apt-get install python3-yaml")
    def test_kubernetes(self):
        job = yaml.safe_load((ROOT / "examples/tuning-kubernetes/job.yaml").read_text())
        spec, container = job["spec"], job["spec"]["template"]["spec"]["containers"][0]
        for completions in (1, 3, 12, 500):  # what its README says to change
            changed = job | {"spec": spec | {"completions": completions}}
            self.assertEqual(kubernetes.against_schema(changed) + kubernetes.against_server(changed), [], completions)
        self.assertEqual(container["command"][:3], ["svodc", "tune", "run"])
        self.assertEqual(container["resources"]["requests"], container["resources"]["limits"])

    @unittest.skipUnless(yaml, "there is no PyYAML here: apt-get install python3-yaml")
    def test_what_kubernetes_refuses(self):
        text = (ROOT / "examples/tuning-kubernetes/job.yaml").read_text()
        for check, was, becomes, says in (
                (kubernetes.against_schema, "kind: Job", "kind: Jbo", "'Jbo'"),
                (kubernetes.against_schema, "completions: 12", "completions: '12'", "'12' is no int"),
                (kubernetes.against_schema, "completions: 12", "completoins: 12", "completoins is not known"),
                (kubernetes.against_schema, "claimName: svod-tuning", "readOnly: true", "claimName is missing"),
                (kubernetes.against_schema, "mountPath", "mountpath", "mountPath is missing"),
                (kubernetes.against_schema, 'cpu: "2"', "cpu: 2", "requests.cpu: 2 is no str"),
                (kubernetes.against_schema, "operator: In", "operator: Is", "'Is' is none of In|NotIn"),
                (kubernetes.against_server, "completions: 12", "completions: 3\n  maxFailedIndexes: 12", "more than completions"),
                (kubernetes.against_server, "completionMode: Indexed", "suspend: true", "needs Indexed"),
                (kubernetes.against_server, "restartPolicy: Never", "restartPolicy: OnFailure", "needs restartPolicy Never"),
                (kubernetes.against_server, "containerName: tune", "containerName: tuner", "names no container"),
                (kubernetes.against_server, "[2, 3, 4]", "[0, 2]", "In has no 0"),
                (kubernetes.against_server, "- name: data\n          persistent", "- name: date\n          persistent", "no volume")):
            with self.subTest(says=says):
                self.assertIn(was, text)
                self.assertIn(says, "; ".join(check(yaml.safe_load(text.replace(was, becomes, 1)))))

    def test_the_commands_of_the_examples_parse(self):
        """What they call svodc with ends with a word about the folder, not about the command line."""
        for text in (ROOT / "examples/tuning-slurm/tune.sbatch", ROOT / "examples/tuning-kubernetes/job.yaml"):
            self.assertIn("--unit", text.read_text())
        done = run("svodc", "tune", "run", "/nonexistent", "--unit", "auto", "--progress", "json", env={"SLURM_ARRAY_TASK_ID": "0"})
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertEqual(subprocess.run(["bash", "-n", ROOT / "examples/tuning-slurm/tune.sbatch"]).returncode, 0)


if __name__ == "__main__":
    main()
