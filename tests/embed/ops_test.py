"""Every op of graph files, and the graphs of the examples, all built into one program, give the bytes of their plans."""
import unittest

from embedded import ROOT, Model, ToolTest, check, program

GRAPHS = sorted((ROOT / "tests/e2e/ops").glob("*.svod"))
EXAMPLES = sorted((ROOT / "examples/graphs").glob("*.svod"))


class Ops(ToolTest):
    def check_all(self, *kinds):
        self.assertGreater(len(GRAPHS), 7)
        self.assertGreater(len(EXAMPLES), 3)
        models = [Model(self, graph, f"ops_{graph.stem}", emit=kinds) for graph in GRAPHS]
        models += [Model(self, graph, graph.stem, emit=kinds, repeat=2) for graph in EXAMPLES]
        check(self, program(self, models), models)

    def test_portable_c(self):
        self.check_all("c", "header")

    def test_static_library(self):
        self.check_all("static-lib", "header")


if __name__ == "__main__":
    unittest.main()
