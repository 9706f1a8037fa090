"""The commands that pages show: where they stand, the files they name, and how they are run."""
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"(?:<!-- not run: [^\n]* -->\n)?```(?:sh|console)\n(.*?)```", re.S)
TOOL = re.compile(r"(?:\$ )?(svodc|svod-run|svod-opt) ")
# A page says how long a search may take; a test has less time.
SHORTER = [(re.compile(r"--budget \w+"), "--budget 1s"), (re.compile(r"--repeat \d+"), "--repeat 2")]
GRAPH = """svod 1
var n in [1, 16]
input x: f32[n, 8]
weight w: f32[8, 8] = ones
y = relu(matmul(x, w))
output y
"""
# Each input of a model, with its dims, has one output of the same dims.
ONNX = {
    "model.onnx": {"x": ["batch", 8]},
    "m.onnx": {"u": ["s10", "s86"], "v": ["height", 2], "cache": ["past", "seq", "total"], "sample": ["batch", 4, "rows", "columns"]},
}


@dataclass
class Block:
    """Commands of one code block. Those of a block with `<!-- not run: why -->` in front need another machine."""
    runs: bool
    commands: list


def blocks(text):
    for match in BLOCK.finditer(text):
        lines = match.group(1).replace("\\\n", " ").splitlines()
        commands = [line.removeprefix("$ ") for line in lines if TOOL.match(line)]
        if commands:
            yield Block(not match.group(0).startswith("<!--"), commands)


# --- the files that pages name

def field(number, value):
    """One field of a message: a number or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def onnx_value(name, dims):
    shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else field(1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def onnx_model(inputs, nodes, outputs):
    """An ONNX model of floats: inputs and outputs as name -> dims, nodes as (DOMAIN:OP, operands, results)."""
    def node(op, operands, results):
        domain, _, kind = op.rpartition(":")
        names = b"".join(field(1, name) for name in operands) + b"".join(field(2, name) for name in results)
        return field(1, names + field(4, kind) + (field(7, domain) if domain else b""))

    graph = b"".join(node(*row) for row in nodes)
    graph += field(2, "model")
    graph += b"".join(field(11, onnx_value(*row)) for row in inputs.items())
    graph += b"".join(field(12, onnx_value(*row)) for row in outputs.items())
    return field(1, 8) + field(7, graph) + field(8, field(2, 17)) + field(8, field(1, "com.acme") + field(2, 1))


def floats(*shape):
    """The bytes of a .npy file of ones."""
    count = 1
    for dim in shape:
        count *= dim
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{count}f", *[1.0] * count)


def prepare(root, tools, folder):
    """Files that pages take for granted: graphs, an ONNX model, inputs, and what the examples hold."""
    readme = (root / "README.md").read_text()
    for name in ("model.svod", "m.svod"):
        (folder / name).write_text(GRAPH)
    if found := re.search(r"```svod\n(.*?)```", readme, re.S):
        (folder / "alike.svod").write_text(found.group(1))
    for name, inputs in ONNX.items():
        nodes = [("Relu", [x], [f"{x}_relu"]) for x in inputs]
        (folder / name).write_bytes(onnx_model(inputs, nodes, {f"{x}_relu": dims for x, dims in inputs.items()}))
    scale = [("com.acme:Scale", ["x"], ["scaled"]), ("Relu", ["scaled"], ["y"])]
    (folder / "scale.onnx").write_bytes(onnx_model({"x": ["batch", 8]}, scale, {"y": ["batch", 8]}))
    (folder / "x.npy").write_bytes(floats(4, 8))
    for name in ("before", "after", "a", "b"):
        (folder / f"{name}.log").write_text("")
    for name, source in {"kernel.uop": "apply-opts-matmul", "graph.uop": "fuse-softmax"}.items():
        shutil.copy(root / f"tests/passes/{source}.uop", folder / name)
    (folder / "examples").symlink_to(root / "examples")
    for path in (root / "examples/digits").iterdir():
        shutil.copy(path, folder)


# --- running them

def run(command, tools, folder):
    for pattern, shorter in SHORTER:
        command = pattern.sub(shorter, command)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SVOD_")}
    environment |= {"PATH": f"{tools.resolve()}:{environment['PATH']}", "SVOD_CACHE_DIR": str(Path(folder) / "cache")}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def unknown_flags(command, tools):
    """Flags of a command that the program's --help does not list."""
    words = command.split("#")[0].split()
    name = [words[0], words[1]] if words[0] == "svodc" else [words[0]]
    text = subprocess.run([tools / name[0], *name[1:], "--help"], capture_output=True, text=True).stdout
    return [word for word in words if word.startswith("--") and not re.search(re.escape(word.split("=")[0]) + r"\b", text)]
