#!/usr/bin/env python3
"""Random models of ai.onnx.ml against ONNX Runtime: linear models, support vectors, trees.

benchmarks/classic.py [--count N] [--op OP] [--seed S] [--bin DIR] [-v]; needs onnx, onnxruntime and numpy. Every model is one node; it is
compiled, run and compared: labels exactly, scores within 1e-4. What differs or is refused is listed by op.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32).round(2)


def listed(x):
    return [float(v) for v in np.ravel(x)]


def labels(rng, count):
    return [int(v) for v in rng.permutation(20)[:count] - 5]


def linear_regressor(rng, features):
    targets = int(rng.integers(1, 4))
    return {"coefficients": listed(floats(rng, targets, features)), "intercepts": listed(floats(rng, targets)),
            "targets": targets}, ["y"]


def linear_classifier(rng, features):
    classes = int(rng.integers(2, 5))
    rows = 1 if classes == 2 and rng.random() < 0.5 else classes
    return {"coefficients": listed(floats(rng, rows, features) / 4), "intercepts": listed(floats(rng, rows) / 4),
            "classlabels_ints": labels(rng, classes), "post_transform": str(rng.choice(TRANSFORMS)),
            "multi_class": int(rng.integers(0, 2))}, ["label", "scores"]


def kernel(rng):
    return {"kernel_type": str(rng.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])),
            "kernel_params": [float(rng.choice([0.1, 0.5])), float(rng.choice([0, 0.5])), float(rng.choice([2, 3]))]}


def svm_regressor(rng, features):
    count = int(rng.integers(1, 6))
    return {**kernel(rng), "coefficients": listed(floats(rng, count)), "support_vectors": listed(floats(rng, count, features)),
            "n_supports": count, "rho": listed(floats(rng, 1)), "one_class": int(rng.integers(0, 2))}, ["y"]


def svm_classifier(rng, features):
    classes = int(rng.integers(2, 5))
    per = [int(v) for v in rng.integers(1, 4, classes)]
    pairs = classes * (classes - 1) // 2
    made = {**kernel(rng), "classlabels_ints": labels(rng, classes), "vectors_per_class": per,
            "coefficients": listed(floats(rng, classes - 1, sum(per))),
            "support_vectors": listed(floats(rng, sum(per), features)), "rho": listed(floats(rng, pairs)),
            "post_transform": str(rng.choice(TRANSFORMS[:4]))}
    if rng.random() < 0.5:
        made.update(prob_a=listed(-abs(floats(rng, pairs))), prob_b=listed(floats(rng, pairs)), post_transform="NONE")
    return made, ["label", "scores"]


def trees(rng, features, outputs, prefix):
    """Random trees; every leaf has a weight for one output or several."""
    nodes, leaves = collections.defaultdict(list), collections.defaultdict(list)
    for tree in range(int(rng.integers(1, 4))):
        count = 0
        pending = [(0, 0)]
        count = 1
        while pending:
            node, depth = pending.pop(0)
            is_leaf = depth == 3 or (depth > 0 and rng.random() < 0.3)
            below = (0, 0) if is_leaf else (count, count + 1)
            values = (tree, node, int(rng.integers(features)), "LEAF" if is_leaf else str(rng.choice(MODES[:4])),
                      0.0 if is_leaf else float(floats(rng, 1)[0]), *below, int(rng.integers(0, 2)))
            for key, value in zip(("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
                                   "missing_value_tracks_true"), values):
                nodes["nodes_" + key].append(value)
            if is_leaf:
                for output in rng.permutation(outputs)[:int(rng.integers(1, outputs + 1))]:
                    for key, value in (("treeids", tree), ("nodeids", node), ("ids", int(output)),
                                       ("weights", float(floats(rng, 1)[0]))):
                        leaves[f"{prefix}_{key}"].append(value)
            else:
                pending += [(count, depth + 1), (count + 1, depth + 1)]
                count += 2
    return {**nodes, **leaves}


def tree_regressor(rng, features):
    targets = int(rng.integers(1, 4))
    made = trees(rng, features, targets, "target")
    made.update(n_targets=targets, aggregate_function=str(rng.choice(["SUM", "AVERAGE", "MIN", "MAX"])))
    if rng.random() < 0.5:
        made["base_values"] = listed(floats(rng, targets))
    return made, ["y"]


def tree_classifier(rng, features):
    classes = int(rng.integers(2, 5))
    is_binary = classes == 2 and rng.random() < 0.5
    made = trees(rng, features, 1 if is_binary else classes, "class")
    made.update(classlabels_int64s=labels(rng, classes), post_transform=str(rng.choice(TRANSFORMS)))
    return made, ["label", "scores"]


ALL_OPS = {"LinearRegressor": linear_regressor, "LinearClassifier": linear_classifier, "SVMRegressor": svm_regressor,
       "SVMClassifier": svm_classifier, "TreeEnsembleRegressor": tree_regressor, "TreeEnsembleClassifier": tree_classifier}


def model_of(op, attributes, outputs, features):
    node = helper.make_node(op, ["x"], outputs, domain="ai.onnx.ml", **attributes)
    kinds = {"label": TensorProto.INT64}
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", features])],
                              [helper.make_tensor_value_info(o, kinds.get(o, TensorProto.FLOAT), None) for o in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)],
                             ir_version=8)


def difference(model, outputs, x, folder, tools):
    """How svod differs from ONNX Runtime: "", or a text; "refused: .." where svod does not compile the model."""
    path = folder / "m.onnx"
    onnx.save(model, path)
    want = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(outputs, {"x": x})
    done = subprocess.run([tools / "svodc", "compile", path, "-o", folder / "m.plan", "-O0", "--target", "cpu"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return "refused: " + next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)[-160:]
    np.save(folder / "x.npy", x)
    done = subprocess.run([tools / "svod-run", folder / "m.plan", "--input", f"x={folder / 'x.npy'}", "--output-dir",
                           folder / "out"], capture_output=True, text=True, check=False)
    if done.returncode:
        return "run: " + done.stderr[-200:]
    for name, expected in zip(outputs, want):
        got = np.load(folder / "out" / f"{name}.npy")
        if got.size != expected.size:
            return f"{name}: {got.shape} for {expected.shape}"
        same = np.isclose(got.reshape(expected.shape), expected, 1e-4, 1e-4, equal_nan=True)
        if not same.all():
            at = tuple(np.argwhere(~same)[0])
            return f"{name}{list(map(int, at))}: {got.reshape(expected.shape)[at]} for {expected[at]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20, help="models per op")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--op", action="append", choices=ALL_OPS, help="of these ops only")
    parser.add_argument("-v", action="store_true", help="the attributes of what differs")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    failed = 0
    for op, make in ALL_OPS.items():
        if options.op and op not in options.op:
            continue
        same, refused, notes = 0, 0, []
        for i in range(options.count):
            rng = np.random.default_rng([options.seed, list(ALL_OPS).index(op), i])
            features = int(rng.integers(1, 6))
            attributes, outputs = make(rng, features)
            x = floats(rng, int(rng.integers(1, 9)), features)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    text = difference(model_of(op, attributes, outputs, features), outputs, x, pathlib.Path(folder),
                                      options.bin.resolve())
                except Exception as error:  # ONNX Runtime refuses it: no reference
                    notes.append(f"{i}: no reference: {str(error)[-120:]}")
                    continue
            same += not text
            refused += text.startswith("refused")
            if text:
                notes.append(f"{i} {attributes.get('post_transform', attributes.get('aggregate_function', ''))}: {text}")
                if options.v:
                    notes.append(f"  {attributes} {x.tolist()}")
        failed += options.count - same
        print(f"{op}: {same} of {options.count} alike, {refused} refused", *notes, sep="\n  ", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
