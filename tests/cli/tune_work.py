"""A folder of tuning work, for its tests."""
import json

from svodc import ToolTest

GRAPH = "svod 1\ninput x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\noutput s = softmax(x)\n"


class WorkTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.model, self.work = self.graph(GRAPH), self.folder / "work"

    def plan(self, *words):
        return json.loads(self.svodc("tune", "plan", self.model, "-o", self.work, "--json", *words).stdout)

    def status(self):
        return json.loads(self.svodc("tune", "status", self.work, "--json").stdout)

    def units(self):
        return json.loads((self.work / "plan.json").read_text())["units"]

    def records(self, pattern="attempt-*.log"):
        text = "".join(path.read_text() for path in sorted(self.work.glob(f"units/*/{pattern}")))
        return [r for r in map(json.loads, text.splitlines()) if r["record"] == "candidate"]
