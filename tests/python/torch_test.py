"""Modules of torch: compiled with example inputs, compared with what torch computes."""
import importlib.util
import sys
import unittest
import warnings

from package import BIN, Case, svod  # first: it skips where numpy is not there
import numpy

if any(importlib.util.find_spec(module) is None for module in ("torch", "onnx", "onnxscript")):
    print("skipped: torch, onnx or onnxscript is not installed")
    sys.exit(77)

import torch  # noqa: E402
from torch import nn  # noqa: E402


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.drop, self.second = nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), nn.Linear(16, 4)

    def forward(self, x, scale=None):
        y = self.second(self.drop(torch.relu(self.norm(self.first(x)))))
        return y if scale is None else y * scale


class Wrong(nn.Module):
    def forward(self, x):
        return x @ torch.ones(3, 3)


def compiled(model, *words, **flags):
    return svod.compile(model, *words, svodc=BIN / "svodc", no_cache=True, **flags)


class Torch(Case):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        cls.net, cls.x = Net().eval(), torch.randn(4, 8)
        warnings.simplefilter("ignore", svod.SvodNote)  # of the bounds of sizes

    def like_torch(self, result, want):
        torch.testing.assert_close(result, want, rtol=1e-4, atol=1e-5)

    def test_a_module(self):
        plan = compiled(self.net, args=(self.x,), output_names=["y"])
        self.assertEqual((plan.name, list(plan.inputs), list(plan.outputs)), ("Net", ["x"], ["y"]))
        with torch.no_grad():
            self.like_torch(plan(self.x)["y"], self.net(self.x))

    def test_free_sizes_have_the_bounds_of_their_dims(self):
        batch = torch.export.Dim("batch", min=2, max=32)
        plan = compiled(self.net, args=self.x, kwargs={"scale": torch.tensor(2.0)}, dynamic_shapes={"x": {0: batch}, "scale": {}})
        self.assertEqual(plan.variables, {"batch": svod.Variable("batch", 2, 32, False)})
        with torch.no_grad():
            for n in (2, 5, 32):
                x = torch.randn(n, 8)
                result, = plan(x=x, scale=torch.tensor(3.0)).values()
                self.like_torch(result, self.net(x) * 3)
        with self.assertRaisesRegex(svod.SvodError, "33"):
            plan(torch.randn(33, 8), torch.tensor(3.0))

    def test_an_exported_program(self):
        batch = torch.export.Dim("batch", min=2, max=16)
        program = torch.export.export(self.net, (self.x,), dynamic_shapes={"x": {0: batch}})
        plan = compiled(program)
        self.assertEqual([(each.min, each.max) for each in plan.variables.values()], [(2, 16)])
        with torch.no_grad():
            self.like_torch(*plan(self.x).values(), self.net(self.x))
        self.refused("args= has no use", compiled, program, args=(self.x,))

    def test_a_module_in_training_mode_is_compiled_for_inference(self):
        net = Net()
        net.second.eval()
        with self.assertWarnsRegex(svod.SvodWarning, "BatchNorm1d, Dropout") as caught:
            plan = compiled(net, args=(self.x,))
        self.assertEqual(caught.filename, __file__)
        self.assertEqual((net.training, net.drop.training, net.second.training), (True, True, False))
        with torch.no_grad():
            self.like_torch(*plan(self.x).values(), net.eval()(self.x))
        with warnings.catch_warnings():
            warnings.simplefilter("error", svod.SvodWarning)
            compiled(nn.Sequential(nn.Linear(8, 2), nn.ReLU()), args=(self.x,))

    def test_tensors_of_bfloat16(self):
        net, x = nn.Sequential(nn.Linear(8, 4)).to(torch.bfloat16).eval(), self.x.to(torch.bfloat16)
        plan, y = compiled(net, args=(x,), output_names=["y"]), torch.empty(4, 4, dtype=torch.bfloat16)
        plan(x, out={"y": y})
        with torch.no_grad():
            torch.testing.assert_close(y, net(x), rtol=2e-2, atol=2e-2)

    def test_what_torch_made_already(self):
        program = torch.onnx.export(self.net, (self.x,), dynamo=True, verbose=False)
        with torch.no_grad():
            for each in (program, program.model_proto):
                self.like_torch(*compiled(each)(self.x).values(), self.net(self.x))

    def test_mistakes(self):
        self.refused("needs example inputs", compiled, self.net)
        self.refused("Net is a class", compiled, Net, args=(self.x,))
        self.refused("must have same reduction dim", compiled, Wrong(), args=(torch.ones(2, 4),))
        self.refused("weights", compiled, "net.pt")
        self.refused("cannot take a function", compiled, lambda x: x)
        self.refused("cannot take a OrderedDict", compiled, self.net.state_dict())


if __name__ == "__main__":
    unittest.main()
