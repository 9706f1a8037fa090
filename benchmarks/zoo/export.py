"""Exports of models with what ONNX Runtime, or else PyTorch, makes of them; each in a process of its own.

A folder per variant: model.onnx, SIZE/in/NAME.npy, SIZE/out/NAME.npy, export.json. It is made anew only when the
row, a function or class it names, or a library has changed.
"""
import functools
import hashlib
import inspect
import json
import multiprocessing
import os
import resource
import shutil
import sys
import traceback
from pathlib import Path

import numpy as np

from .model import DYNAMO, TORCHSCRIPT, Derived, file_name, flat

OPSET = {TORCHSCRIPT: 17, DYNAMO: 18}
SEED = 7


def described(value):
    """The text of a row, or of a part of it: functions and classes by their source, so that a change of it shows."""
    if isinstance(value, functools.partial):
        return ["partial", described(value.func), described(value.args), described(value.keywords)]
    if isinstance(value, dict):
        return [[str(k), described(v)] for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [described(v) for v in value]
    if inspect.isfunction(value):
        closed = [described(c.cell_contents) for c in value.__closure__ or ()]
        return [inspect.getsource(value), closed]
    if inspect.isclass(value):
        return inspect.getsource(value) if value.__module__.startswith("zoo") else value.__name__
    return repr(value)


def stamp_of(rows, exporter, form, libraries):
    """Changes when what is exported may have changed; `rows` are the row and what it is made from."""
    text = [described(vars(row)) for row in rows
            ] + [exporter, form, libraries, inspect.getsource(export_torch) + inspect.getsource(stir)]
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def seed():
    import torch
    torch.manual_seed(SEED)
    np.random.seed(SEED)


def axes_of(row, arguments):
    """`dynamic` in the order and nesting of the arguments, one dict per tensor."""

    def of(name, value):
        axes = row.dynamic.get(name, {})
        if not isinstance(value, (tuple, list)):
            return dict(axes)
        return tuple(dict(axes[i % len(axes)] if isinstance(axes, tuple) else axes) for i in range(len(value)))

    return tuple(of(name, value) for name, value in arguments.items())


def stir(module):
    """Gives what is constant when it is made (heads of 0, scales of 1 or 1e-6, statistics) values that show."""
    import torch
    with torch.no_grad():
        for value in module.parameters():
            if value.numel() and (value == value.flatten()[0]).all():
                value.add_(torch.randn_like(value) * 0.1)
        for name, value in module.named_buffers():
            if name.endswith("running_mean"):
                value.normal_(0, 0.1)
            elif name.endswith("running_var"):
                value.uniform_(0.5, 1.5)
    return module


def export_torch(row, exporter, form, path):
    import torch
    seed()
    torch.backends.mha.set_fastpath_enabled(
        False)     # an operator of PyTorch alone, for which TorchScript has no ONNX
    module = stir(row.make()).eval()
    arguments = row.inputs(**row.sizes[0 if form == "static" else 1])
    names = list(flat(arguments))
    options = dict(input_names=names, opset_version=OPSET[exporter], dynamo=exporter == DYNAMO, verbose=False)
    axes = axes_of(row, arguments)
    if exporter == DYNAMO:
        options |= dict(external_data=False)
        if form == "dynamic":
            options["dynamic_shapes"] = axes
    elif form == "dynamic":
        by_tensor = flat(dict(zip(arguments, axes)))
        options["dynamic_axes"] = {name: by_tensor[name] for name in names if by_tensor[name]}
    with torch.no_grad():
        program = torch.onnx.export(module, tuple(arguments.values()),
                                    None if exporter == DYNAMO else str(path), **options)
        if exporter == DYNAMO:
            program.save(str(path), external_data=False)
    return module


def numpy_of(tensor):
    """Bit for bit; bf16 as the u16 of the same bits."""
    import torch
    return tensor.view(torch.uint16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


def session_of(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def save(folder, arrays):
    folder.mkdir(parents=True)
    for name, array in arrays.items():
        np.save(folder / f"{file_name(name)}.npy", array)


def cases_of(row, form):
    """Arguments by tensor name, for every size."""
    seed()
    rows = row.sizes[:1] if form == "static" else row.sizes
    return [{name: numpy_of(t) for name, t in flat(row.inputs(**sizes)).items()} for sizes in rows]


def reference(path, cases, folder):
    """Runs ONNX Runtime on every case and keeps what goes in and comes out."""
    session = session_of(path)
    wanted = [i.name for i in session.get_inputs()]
    outputs = [o.name for o in session.get_outputs()]
    for i, case in enumerate(cases):
        fed = {name: case[name] for name in wanted}
        save(folder / str(i) / "in", fed)
        save(folder / str(i) / "out", dict(zip(outputs, session.run(outputs, fed))))


def torch_reference(row, module, path, folder, form):
    """The same by PyTorch, for types that ONNX Runtime has no kernels for."""
    import onnx
    import torch
    model = onnx.load(str(path), load_external_data=False).graph
    wanted, outputs = [i.name for i in model.input], [o.name for o in model.output]
    seed()
    for i, sizes in enumerate(row.sizes[:1] if form == "static" else row.sizes):
        arguments = row.inputs(**sizes)
        with torch.no_grad():
            results = module(*arguments.values())
        results = flat({"": results if isinstance(results, (tuple, list)) else (results, )}).values()
        given = flat(arguments)
        save(folder / str(i) / "in", {name: numpy_of(given[name]) for name in wanted})
        save(folder / str(i) / "out", {name: r.float().numpy() for name, r in zip(outputs, results)})


def said(error):
    """The line of an error that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Error" in line and not line.startswith(("Failed", "##"))]
    return f"{type(error).__name__}: {(causes or lines or [''])[-1 if causes else 0]}"[:400]


def ranges_of(path, folder):
    """The least and the greatest size that the cases give to each named dim of the inputs."""
    import onnx
    found = {}
    for port in onnx.load(str(path), load_external_data=False).graph.input:
        for axis, dim in enumerate(port.type.tensor_type.shape.dim):
            for case in folder.iterdir() if dim.dim_param else ():
                size = np.load(case / "in" / f"{file_name(port.name)}.npy").shape[axis]
                least, greatest = found.get(dim.dim_param, (size, size))
                found[dim.dim_param] = min(least, size), max(greatest, size)
    return found


def export_in_child(name, exporter, form, folder, base_folder, memory):
    """The body of a process: everything of a variant, and what became of it in export.json."""
    from .rows import ROWS
    rows = {row.name: row for row in ROWS}
    row = rows[name]
    base = rows[row.base] if isinstance(row, Derived) else row
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    log = os.open(folder / "export.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    import torch
    torch.set_num_threads(1)
    path, result = folder / "model.onnx", {}
    try:
        if isinstance(row, Derived):
            module = None
            row.change(base_folder / "model.onnx", path, cases_of(base, form))
        else:
            module = export_torch(row, exporter, form, path)
    except BaseException as error:
        traceback.print_exc()
        result["exporter"] = said(error)
    if not result:
        try:
            reference(path, cases_of(base, form), folder / "cases")
        except BaseException as error:
            traceback.print_exc()
            result["onnxruntime"] = said(error)
            shutil.rmtree(folder / "cases", ignore_errors=True)
            if module is not None and row.family == "floats":
                torch_reference(row, module, path, folder / "cases", form)
    if (folder / "cases").exists():
        result["sizes"] = ranges_of(path, folder / "cases")
    (folder / "export.json").write_text(json.dumps(result))


class Exporter:
    """Forks a process for every export, so that the libraries are loaded once and nothing of one reaches another."""

    def __init__(self, seconds, memory):
        self.seconds, self.memory = seconds, memory
        self.context = multiprocessing.get_context("fork")

    def export(self, row, exporter, form, folder, base_folder, stamp):
        """What export.json says of the variant in `folder`, which is made anew unless it has this stamp."""
        kept = folder / "export.json"
        result = json.loads(kept.read_text()) if kept.exists() else {}
        if result.get("stamp") != stamp:
            result = self.exported(row, exporter, form, folder, base_folder) | {"stamp": stamp}
        result |= {"family": row.family, "tolerance": row.tolerance, "flags": row.flags if form == "dynamic" else []}
        kept.write_text(json.dumps(result))
        return result

    def exported(self, row, exporter, form, folder, base_folder):
        kept = folder / "export.json"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        arguments = row.name, exporter, form, folder, base_folder, self.memory
        child = self.context.Process(target=export_in_child, args=arguments)
        child.start()
        child.join(self.seconds)
        if child.is_alive():
            child.kill()
            child.join()
            return {"exporter": f"no result within {self.seconds} s"}
        return json.loads(kept.read_text()) if kept.exists() else {"exporter": f"ended with {child.exitcode}"}
