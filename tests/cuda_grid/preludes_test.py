"""The prelude for NVRTC and that of the emulated grid have the same functions, and one for every row of the tables."""
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NVRTC = re.search(r'R"CUDA\((.*)\)CUDA"', (ROOT / "lib/target/cuda/prelude.cpp").read_text(), re.S).group(1)


def preprocessed(text, folder="."):
    """Without the directives, and with all macros of the text expanded."""
    return subprocess.run(["cc", "-E", "-P", "-undef", "-x", "c", f"-I{folder}", "-"], input=text, capture_output=True, text=True,
                          check=True).stdout


def functions(text):
    """Name to result and types of parameters."""
    found = {}
    head = r"(?:__device__ __forceinline__|static inline)\s+([\w ]+?)\s*(\**)\s*(\w+)\s*\(([^()]*)\)\s*\{"
    for result, star, name, parameters in re.findall(head, text):
        types = [re.sub(r"\s+", " ", re.sub(r"\w+$", "", p.strip())).replace(" *", "*").strip() for p in parameters.split(",") if p.strip()]
        found[name] = (result + star, tuple(t.replace("struct ", "") for t in types))
    return found


def rows(table, call, family=None):
    """Names in the first column of a table."""
    text = (ROOT / table).read_text()
    return [name for name, rest in re.findall(rf'^{call}\("([^"]+)",\s*(\w+)', text, re.M) if family in (None, rest)]


class Preludes(unittest.TestCase):
    def setUp(self):
        self.nvrtc = functions(preprocessed(NVRTC))
        own = "#define _STDINT_H 1\n#define __CLANG_STDINT_H 1\n#define __STDBOOL_H 1\n#define _STDBOOL_H 1\n"
        text = (ROOT / "tests/cuda_grid/prelude.h").read_text()
        self.grid = functions(preprocessed(own + re.sub(r"#include.*", "", text)))

    def test_both_have_the_same_functions(self):
        self.assertGreater(len(self.nvrtc), 120)
        # How each does it is its own.
        helpers = {"svod_tf32", "svod_pair", "svod_pairs", "svod_address", "svod_math", "svod_hold"}
        ours, theirs = self.nvrtc.keys() - helpers, self.grid.keys() - helpers
        self.assertEqual(ours - theirs, set(), "the emulated grid lacks them")
        self.assertEqual(theirs - ours, set(), "NVRTC's prelude lacks them")
        for name in sorted(ours):
            self.assertEqual(self.nvrtc[name], self.grid[name], name)

    def test_every_tensor_core_has_a_function(self):
        cores = rows("lib/ir/tensor_cores.def", "CORE", "Cuda")
        self.assertGreater(len(cores), 7)
        for core in cores:
            self.assertIn("svod_" + core.replace("-", "_"), self.nvrtc)
        products = rows("lib/ir/tensor_cores.def", "GROUP_CORE")
        self.assertGreater(len(products), 5)
        for core in products:
            self.assertIn("svod_" + core.replace("-", "_"), self.nvrtc)

    def test_every_instruction_has_a_function(self):
        names = rows("lib/ir/gpu_ops.def", "GPU_OP")
        self.assertGreater(len(names), 5)
        for name in names:
            if name == "tensor_map":
                continue  # a parameter
            self.assertIn("svod_" + name + ("_f32" if name.startswith("shuffle") else ""), self.nvrtc)


if __name__ == "__main__":
    unittest.main()
