"""Tuning as an array of a real Slurm, whose node is lost in the middle."""
import json
import shutil
import tempfile
import time
import unittest
from pathlib import Path

from slurm import MISSING, Slurm
from svodc import BIN, ROOT, ToolTest, clean_environment, contents, main

GRAPH = ("svod 1\ninput x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\noutput s = softmax(x)\n"
         "output c = cumsum(x[:, :16], axis=1)\n")


@unittest.skipIf(MISSING, f"there is no Slurm here: apt-get install munge slurmctld slurmd slurm-client ({', '.join(MISSING)} missing)")
class OnSlurm(ToolTest):
    def busy(self, slurm, work, units):
        """Units in the middle of their first attempt, with their node and job."""
        return [(part, node, job) for part, (state, node, job) in slurm.tasks().items()
                if state == "RUNNING" and len(self.candidates(work, units[part]["hash"])) > 3]

    def test_an_array_that_loses_a_node(self):
        graph = self.graph(GRAPH)
        work = self.folder / "work"
        plan = json.loads(self.svodc("tune", "plan", graph.name, "-o", "work", "--budget", "12s", "--search", "kernels", "--json", cwd=self.folder).stdout)
        self.assertEqual(plan["array"], "0-2")
        shutil.copy(ROOT / "examples/tuning-slurm/tune.sbatch", self.folder)
        with Slurm(self.folder / "slurm", 3) as slurm:
            slurm.environment |= {"SVODC": str(BIN / "svodc"), "SVOD_NO_CACHE": "1"}
            slurm.run("sbatch", f"--array={plan['array']}", f"--chdir={self.folder}", str(self.folder / "tune.sbatch"), str(work))
            units = json.loads((work / "plan.json").read_text())["units"]
            slurm.wait(lambda: self.busy(slurm, work, units), 60)
            lost, node, job = self.busy(slurm, work, units)[0]
            before = self.candidates(work, units[lost]["hash"])
            self.assertEqual(slurm.lose(node, job), 1)
            slurm.wait(lambda: slurm.tasks()[lost][:2] == ("PENDING", ""), 60)
            slurm.release(lost)
            slurm.wait(lambda: all(state == "COMPLETED" for state, _, _ in slurm.tasks().values()), 120)
            self.assertNotEqual(slurm.tasks()[lost][1], node)
        status = {u["unit"]: u for u in json.loads(self.svodc("tune", "status", work, "--json").stdout)["units"]}
        self.assertEqual([u["state"] for u in status.values()], ["done"] * 3)
        self.assertEqual(status[lost]["attempts"], 2)
        starts = [(r["kernel"], r["opts"]) for r in self.candidates(work, status[lost]["hash"]) if r["outcome"] == "started"]
        self.assertEqual(len(starts), len(set(starts)))  # the second attempt tried nothing again
        log = self.folder / "tuning.log"
        self.svodc("log", "merge", work, "-o", log)
        merged = [r for r in map(json.loads, log.read_text().splitlines()) if r["record"] == "candidate"]
        self.assertEqual(len({r["kernel"] for r in merged}), 3)
        for r in before:
            known = [m for m in merged if (m["kernel"], m["opts"]) == (r["kernel"], r["opts"])]
            self.assertTrue(known, r)
        self.svodc("compile", graph, "-o", self.folder / "plan", "--tuning-log", log, "--verify")

    def candidates(self, work, unit):
        logs = sorted((work / "units" / unit).glob("attempt-*.log"))
        records = [json.loads(line) for log in logs for line in log.read_text().split("\n")[:-1]]
        return [r for r in records if r["record"] == "candidate"]


if __name__ == "__main__":
    main()
