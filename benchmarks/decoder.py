"""A decoder that keeps keys and values in states of the plan, beside ONNX Runtime, which is given them in every step.

python benchmarks/decoder.py [--exporter dynamo|torchscript] [--steps 64] [--threads 1] [--bin build/release/bin]

Llama with random weights (transformers) is exported with a past, compiled with --state, and run token by token through the
C interface; the logits of every step are compared. Needs torch, transformers, onnx and onnxruntime.
"""
import argparse
import ctypes as c
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import svod_runtime

VARIABLE = 3


def export(path, exporter, size, layers):
    import torch
    import transformers as hf

    torch.manual_seed(0)
    heads = size // 32
    config = hf.LlamaConfig(vocab_size=1000, hidden_size=size, intermediate_size=size * 3, num_hidden_layers=layers,
                            num_attention_heads=heads, num_key_value_heads=heads // 2, max_position_embeddings=512,
                            attn_implementation="eager")
    model = hf.LlamaForCausalLM(config).eval()

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, past):
            cache = hf.DynamicCache([(past[i], past[i + 1]) for i in range(0, len(past), 2)])
            made = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True)
            present = [t for layer in made.past_key_values.layers for t in (layer.keys, layer.values)]
            return made.logits, *present

    shape = (1, heads // 2, 5, 32)
    past = tuple(torch.randn(shape) for _ in range(2 * layers))
    names = [f"{i}.{kind}" for i in range(layers) for kind in ("key", "value")]
    common = dict(input_names=["input_ids", *("past." + n for n in names)],
                  output_names=["logits", *("present." + n for n in names)])
    ids = torch.zeros(1, 1, dtype=torch.long)
    if exporter == "dynamo":
        length = torch.export.Dim("past", min=1, max=511)
        torch.onnx.export(Step(), (ids, past), path, dynamo=True, opset_version=18, external_data=False,
                          dynamic_shapes=({}, tuple({2: length} for _ in past)), **common)
    else:
        torch.onnx.export(Step(), (ids, past), path, dynamo=False, opset_version=17,
                          dynamic_axes={"past." + n: {2: "past"} for n in names}, **common)
    return names, shape


class Decoder(svod_runtime.Plan):
    def set_variable(self, name, value):
        self.runtime.call("svod_set_variable", self.instance, self.index(VARIABLE, name), c.c_int64(value))


def past_variable(path):
    import onnx
    ports = {i.name: i for i in onnx.load(path, load_external_data=False).graph.input}
    return ports["past.0.key"].type.tensor_type.shape.dim[2].dim_param


def median(times):
    return sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exporter", default="dynamo", choices=("dynamo", "torchscript"))
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--keep", help="a folder for model and plan")
    options = parser.parse_args()
    import onnxruntime as ort

    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        os.makedirs(folder, exist_ok=True)
        path, plan_path = f"{folder}/decoder.onnx", f"{folder}/decoder.plan"
        names, shape = export(path, options.exporter, options.size, options.layers)
        variable = past_variable(path)
        subprocess.run([f"{options.bin}/svodc", "compile", path, "-o", plan_path, "--var", f"{variable}=0:{options.steps + 64}",
                        "--state", "past.*=present.*"], check=True)
        library = next(Path(options.bin).parent.rglob("libsvod-runtime.so"))
        decoder = Decoder(svod_runtime.Runtime(str(library)), plan_path, options.threads)
        settings = ort.SessionOptions()
        settings.intra_op_num_threads = options.threads
        session = ort.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        outputs = [o.name for o in session.get_outputs()]

        rng = np.random.default_rng(0)
        past = {"past." + n: np.zeros((*shape[:2], 0, shape[3]), np.float32) for n in names}
        logits = np.empty((1, 1, 1000), np.float32)
        decoder.bind_output("logits", logits)
        worst, ours, theirs = 0.0, [], []
        for step in range(options.steps):
            ids = rng.integers(0, 1000, (1, 1))
            decoder.bind_input("input_ids", ids)
            decoder.set_variable(variable, step)
            start = time.perf_counter()
            decoder.run()
            middle = time.perf_counter()
            made = dict(zip(outputs, session.run(None, {"input_ids": ids, **past})))
            theirs.append(time.perf_counter() - middle)
            ours.append(middle - start)
            past = {"past." + n: made["present." + n] for n in names}
            error = np.abs(logits - made["logits"]).max() / np.abs(made["logits"]).max()
            worst = max(worst, error)
        print(f"{options.exporter}: {options.steps} steps, greatest error {worst:.2e} of the greatest logit; "
              f"a step takes {median(ours) * 1e3:.2f} ms, in ONNX Runtime {median(theirs) * 1e3:.2f} ms "
              f"({options.threads} threads)")
        if not worst < 1e-4:
            raise SystemExit("the logits differ")


main()
