"""Models of one node: written, compiled, run and compared with what numpy computes from the definition of the op."""
import os
import struct
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
BIN = (ROOT / os.environ.get("SVOD_BIN_DIR", "build/dev/bin")).resolve()
FLAGS = os.environ.get("SVOD_ONNX_FLAGS", "").split()  # more flags for svodc, such as -O0
ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
                 "float16": 10, "float64": 11}
# Types numpy has not: the number in ONNX, bits, how .npy files hold them.
CODED_TYPES = {"float8e4m3fn": (17, 8, np.uint8), "float8e4m3fnuz": (18, 8, np.uint8), "float8e5m2": (19, 8, np.uint8),
               "float8e5m2fnuz": (20, 8, np.uint8), "uint4": (21, 4, np.uint8), "int4": (22, 4, np.int8),
               "float4e2m1": (23, 4, np.uint8), "float8e8m0": (24, 8, np.uint8), "uint2": (25, 2, np.uint8),
               "int2": (26, 2, np.int8)}
cases = []


class Coded(np.ndarray):
    """Elements of a type numpy has not: integers by their value, floats by their bits."""


def coded(kind, items):
    array = np.array(items).astype(CODED_TYPES[kind][2]).view(Coded)
    array.kind = kind
    return array


def element_type(array):
    return CODED_TYPES[array.kind][0] if isinstance(array, Coded) else ELEMENT_TYPES[str(array.dtype)]


def raw_data(array):
    bits = CODED_TYPES[array.kind][1] if isinstance(array, Coded) else 8
    if bits == 8:
        return np.ascontiguousarray(array).tobytes()
    codes = np.asarray(array).astype(np.uint8).ravel() & (1 << bits) - 1
    codes = np.append(codes, np.zeros(-codes.size % (8 // bits), np.uint8)).reshape(-1, 8 // bits)
    return np.bitwise_or.reduce(codes << np.arange(0, 8, bits, dtype=np.uint8), 1).astype(np.uint8).tobytes()


def case(name, op, opset, operands, results, attributes=None, rtol=1e-4, atol=1e-5, const=()):
    """Operands and results are arrays, or None where they are omitted; operands at `const` are initializers. Integers may
    differ by `atol` where it is 1 or more. An op outside of the default domain is DOMAIN::OP."""
    operands = [None if a is None else np.asanyarray(a) for a in operands]
    results = [None if r is None else np.asanyarray(r) for r in results]
    cases.append((name, op, opset, operands, results, attributes or {}, rtol, atol, const))


# --- Protobuf


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(field, value):
    return varint(field << 3) + varint(value)


def number(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def tensor(name, array):
    dims = b"".join(integer(1, d) for d in array.shape)
    return dims + integer(2, element_type(array)) + message(8, name) + message(9, raw_data(array))


def attribute(name, value):
    head = message(1, name)
    if isinstance(value, (bool, int, np.integer)):
        return head + integer(3, int(value)) + integer(20, 2)
    if isinstance(value, float):
        return head + number(2, value) + integer(20, 1)
    if isinstance(value, str):
        return head + message(4, value) + integer(20, 3)
    if isinstance(value, np.ndarray):
        return head + message(5, tensor(name, value)) + integer(20, 4)
    if isinstance(value[0], str):
        return head + b"".join(message(9, v) for v in value) + integer(20, 8)
    if isinstance(value[0], float):
        return head + b"".join(number(7, v) for v in value) + integer(20, 6)
    return head + b"".join(integer(8, int(v)) for v in value) + integer(20, 7)


def value_info(name, kind, shape=None):
    kind = integer(1, kind)
    if shape is not None:
        kind += message(2, b"".join(message(1, integer(1, d)) for d in shape))
    return message(1, name) + message(2, message(1, kind))


def model(op, opset, operands, results, attributes, const):
    names = ["" if a is None else f"i{k}" for k, a in enumerate(operands)]
    domain, op = op.split("::") if "::" in op else ("", op)
    outputs = ["" if a is None else f"o{k}" for k, a in enumerate(results)]
    node = b"".join(message(1, n) for n in names) + b"".join(message(2, n) for n in outputs)
    node += message(4, op) + b"".join(message(5, attribute(k, v)) for k, v in attributes.items()) + message(7, domain)
    graph = message(1, node) + message(2, "g")
    for k, array in enumerate(operands):
        if array is None:
            continue
        graph += message(5, tensor(names[k], array)) if k in const else message(
            11, value_info(names[k], element_type(array), array.shape))
    for k, array in enumerate(results):
        if array is not None:
            graph += message(12, value_info(f"o{k}", element_type(array)))
    opsets = message(8, integer(2, 21 if domain else opset))
    return integer(1, 10) + message(7, graph) + opsets + (message(8, message(1, domain) + integer(2, opset)) if domain else b"")


# --- Running


def difference(want, got, rtol, atol):
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    isFloat = want.dtype.kind == "f"
    if isFloat:
        same = np.isclose(got, want, rtol, atol, equal_nan=True)
    else:
        same = np.abs(got.astype(np.int64) - want.astype(np.int64)) <= atol if want.dtype != bool else got == want
    if np.all(same):
        return None
    first = tuple(int(axis[0]) for axis in np.nonzero(~same)) if want.ndim else ()
    return f"{np.sum(~same)} of {want.size} differ; at {first} {got[first]}, expected {want[first]}"


def problem(one):
    """What is wrong with a case, or None."""
    name, op, opset, operands, results, attributes, rtol, atol, const = one
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "m.onnx").write_bytes(model(op, opset, operands, results, attributes, const))
        commands = [[BIN / "svodc", "compile", folder / "m.onnx", "-o", folder / "plan", *FLAGS]]
        commands.append([BIN / "svod-run", folder / "plan", "--output-dir", folder / "out"])
        for k, array in enumerate(operands):
            if array is not None and k not in const:
                np.save(folder / f"i{k}.npy", np.asarray(array))
                commands[1] += ["--input", f"i{k}={folder}/i{k}.npy"]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                return f"{name}: {command[0].name} ended with {done.returncode}: {done.stderr.strip()[:500]}"
        for k, want in enumerate(results):
            if want is None:
                continue
            wrong = difference(np.asarray(want), np.load(folder / "out" / f"o{k}.npy"), rtol, atol)
            if wrong:
                return f"{name}: output {k}: {wrong}"
    return None


def run(only=""):
    """Runs the cases whose names contain `only`; the exit status."""
    chosen = [c for c in cases if only in c[0]]
    with ThreadPoolExecutor(2) as pool:
        problems = [p for p in pool.map(problem, chosen) if p]
    print("\n".join(problems + [f"{len(chosen) - len(problems)} of {len(chosen)} cases pass"]))
    return 1 if problems or not chosen else 0
