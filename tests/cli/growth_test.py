"""Every reader takes time that grows about linearly with what it reads, right or wrong. Each row makes an input of a size
and of four times as much, and bounds how the user time of the command grows. SVOD_SHOW_SCALING=1 prints what rows cost."""
import json
import os
import struct
import subprocess

from svodc import BIN, ToolTest, clean_environment, main, winner

LEAST_S = 0.15  # below it is mostly what any command takes
MOST_GROWTH = 8  # from n to 4n: linear is 4, quadratic 16
MOST_S = 60  # a command that takes longer has failed


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(at, value):
    """A field of a protobuf message: a number, a text or a message."""
    if isinstance(value, int):
        return number(at << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(at << 3 | 2) + number(len(data)) + data


def each(at, values):
    return b"".join(field(at, value) for value in values)


def value_info(name, dims=(4,)):
    shape = each(1, [field(1, d) if isinstance(d, int) else field(2, d) for d in dims])
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, outputs, more=b""):
    return each(1, inputs) + each(2, outputs) + field(4, op) + more


def tensor(name):
    return field(1, 4) + field(2, 1) + field(8, name) + field(9, struct.pack("<4f", 1, 2, 3, 4))


def onnx(nodes, inputs=("x",), outputs=("y",), more=b"", beside=b""):
    graph = each(1, nodes) + field(2, "g") + each(11, [value_info(n) for n in inputs]) + each(12, [value_info(n) for n in outputs])
    return field(1, 8) + field(7, graph + more) + field(8, field(2, 17)) + beside


RELU = node("Relu", ["x"], ["y"])


def text(*lines):
    return "svod 1\ninput x: f32[4]\n" + "\n".join(lines) + "\noutput y = x * 2\n"


def safetensors(n):
    header = {f"t{i}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(n)}
    line = json.dumps(header).encode()
    return struct.pack("<Q", len(line)) + line + bytes(4 * n)


def with_tensors(folder, n, used):
    (folder / "w.safetensors").write_bytes(safetensors(n))
    return text(*(f'weight w{i}: f32[1] = "w.safetensors:t{i}"' for i in range(used)))


def npy(folder, n):
    shape = "(" + "1, " * n + ")"
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    (folder / "w.npy").write_bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header)) + header + bytes(4))
    return text('weight w: f32[1] = "w.npy"')


def graph_json(n, statement):
    return json.dumps({"svod": 1, "statements": [statement(i) for i in range(n)]})


def candidates(n, kernel="a", **more):
    return "".join(winner((kernel * 32)[:32], "x", f"vector(n0,{i})", **more) for i in range(n))


def member_line(n):
    return json.dumps(json.loads(winner("a" * 32, "x", "")) | {f"m{i}": i for i in range(n)}) + "\n"


def plan(folder, n):
    """The manifest of a plan with n outputs, read in its place."""
    graph = folder / "g.svod"
    graph.write_text(text(*(f"output y{i} = x * {i}" for i in range(n))))
    made = folder / f"plan{n}"
    subprocess.run([BIN / "svodc", "compile", graph, "-o", made, "-O0"], env=clean_environment(), check=True, stdout=subprocess.DEVNULL)
    return made


CHECK = ("check",)
# What it is, the name of the file, what it holds at n, n, the command.
ROWS = [
    ("weights", "g.svod", lambda f, n: text(*(f"weight w{i}: f32[2] = [1, {i}]" for i in range(n))), 8000, CHECK),
    ("unknown names", "g.svod", lambda f, n: text(*(f"v{i} = x + nothing{i}" for i in range(n))), 8000, CHECK),
    ("unknown ops", "g.svod", lambda f, n: text(*(f"v{i} = nothing{i}(x)" for i in range(n))), 8000, CHECK),
    ("names that occur twice", "g.svod", lambda f, n: text(*("input x: f32[4]" for _ in range(n))), 8000, CHECK),
    ("unknown attributes", "g.svod", lambda f, n: text("v = relu(x, " + ", ".join(f"a{i}={i}" for i in range(n)) + ")"), 8000, CHECK),
    ("operands of one call", "g.svod", lambda f, n: text("v = concat(" + "x, " * n + "axis=0)"), 4000, CHECK),
    ("a long line that is wrong", "g.svod", lambda f, n: text("v = " + "x + " * n + ")"), 20_000, CHECK),
    ("lines that are wrong", "g.svod", lambda f, n: text(*("v = (" for _ in range(n))), 20_000, CHECK),
    ("a long name", "g.svod", lambda f, n: text("a" * n + " = x", *(f"v{i} = " + "a" * n for i in range(20))), 100_000, CHECK),
    ("brackets", "g.svod", lambda f, n: text("v = " + "(" * n + "x" + ")" * n), 20_000, CHECK),
    ("minus signs", "g.svod", lambda f, n: text("v = " + "-" * n + "x"), 20_000, CHECK),
    ("variables", "g.svod", lambda f, n: text(*(f"var n{i} in [1, 8]\ninput x{i}: f32[n{i}]" for i in range(n))), 2000, CHECK),
    ("terms of a size", "g.svod", lambda f, n: "svod 1\nvar n in [1, 8]\ninput x: f32[" + "n + " * n + "1]\noutput y = x\n", 4000, CHECK),
    ("functions", "g.svod", lambda f, n: text(*(f"def f{i}(a) {{\n  return a + {i}\n}}\nv{i} = f{i}(x)" for i in range(n))), 1000, CHECK),
    ("tensors of a file", "g.svod", lambda f, n: with_tensors(f, n, 1), 20_000, CHECK),
    ("tensors of a file, all used", "g.svod", lambda f, n: with_tensors(f, n, n), 4000, CHECK),
    ("dims of a npy file", "g.svod", npy, 10_000, CHECK),
    ("statements in JSON", "g.json", lambda f, n: graph_json(n, lambda i: {"state": f"x{i}", "dtype": "f32", "shape": [4], "data": 0}), 8000, CHECK),
    ("members in JSON", "g.json", lambda f, n: json.dumps({"svod": 1} | {f"m{i}": i for i in range(n)}), 20_000, CHECK),
    ("members of a statement in JSON", "g.json", lambda f, n: graph_json(1, lambda i: {f"m{k}": k for k in range(n)}), 20_000, CHECK),
    ("lists in lists in JSON", "g.json", lambda f, n: "[" * n + "]" * n, 100_000, CHECK),
    ("nodes of ONNX", "g.onnx", lambda f, n: onnx([RELU] + [node("Relu", ["x"], [f"v{i}"]) for i in range(n)]), 4000, CHECK),
    ("nodes in the other order", "g.onnx", lambda f, n: onnx([node("Relu", [f"v{i + 1}"], [f"v{i}"]) for i in range(n)] +
                                                           [node("Relu", ["x"], [f"v{n}"]), node("Relu", ["v0"], ["y"])]), 4000, CHECK),
    ("unknown names of ONNX", "g.onnx", lambda f, n: onnx([RELU] + [node("Relu", [f"nothing{i}"], [f"v{i}"]) for i in range(n)]), 4000, CHECK),
    ("unknown ops of ONNX", "g.onnx", lambda f, n: onnx([RELU] + [node(f"Nothing{i}", ["x"], [f"v{i}"]) for i in range(n)]), 4000, CHECK),
    ("outputs of one node", "g.onnx", lambda f, n: onnx([node("Split", ["x"], ["y"] + [f"v{i}" for i in range(n)])]), 8000, CHECK),
    ("inputs of one node", "g.onnx", lambda f, n: onnx([node("Sum", ["x"] * n, ["y"])]), 4000, CHECK),
    ("outputs that nothing makes", "g.onnx", lambda f, n: onnx([RELU], outputs=["y"] + [f"v{i}" for i in range(n)]), 8000, CHECK),
    ("outputs that are one value", "g.onnx", lambda f, n: onnx([RELU], outputs=["y"] * n), 4000, CHECK),
    ("outputs of ONNX", "g.onnx", lambda f, n: onnx([RELU] + [node("Relu", ["x"], [f"v{i}"]) for i in range(n)],
                                                  outputs=["y"] + [f"v{i}" for i in range(n)]), 4000, CHECK),
    ("outputs of other dims", "g.onnx", lambda f, n: onnx([RELU] + [node("Relu", ["x"], [f"v{i}"]) for i in range(n)], outputs=[],
                                                         more=each(12, [value_info(f"v{i}", [5]) for i in range(n)])), 4000, CHECK),
    ("nodes in circles", "g.onnx", lambda f, n: onnx([RELU] + [node("Relu", [f"v{(i + 1) % n}"], [f"v{i}"]) for i in range(n)]), 2000, CHECK),
    ("inputs of ONNX", "g.onnx", lambda f, n: onnx([RELU], inputs=["x"] + [f"v{i}" for i in range(n)]), 4000, CHECK),
    ("dims with names", "g.onnx", lambda f, n: onnx([RELU], more=each(11, [value_info(f"v{i}", [f"d{i}"]) for i in range(n)])), 2000, CHECK),
    ("initializers", "g.onnx", lambda f, n: onnx([RELU], more=each(5, [tensor(f"w{i}") for i in range(n)])), 8000, CHECK),
    ("attributes of one node", "g.onnx", lambda f, n: onnx([node("Relu", ["x"], ["y"], each(5, [field(1, f"a{i}") + field(3, 1) + field(20, 2) for i in range(n)]))]), 8000, CHECK),
    ("functions of ONNX", "g.onnx", lambda f, n: onnx([RELU], beside=each(25, [field(1, f"f{i}") + field(10, "own") for i in range(n)])), 8000, CHECK),
    ("opsets", "g.onnx", lambda f, n: onnx([RELU], beside=each(8, [field(1, f"d{i}") + field(2, 1) for i in range(n)])), 8000, CHECK),
    ("members of a line of a log", "t.log", lambda f, n: member_line(n), 50_000, ("log", "stats")),
    ("lists of one kernel in a log", "t.log", lambda f, n: candidates(n), 5000, ("log", "stats")),
    ("kernels of a log", "t.log", lambda f, n: "".join(winner(f"{i:032x}", "x", "") for i in range(n)), 5000, ("log", "stats")),
    ("kernels of a page", "t.log", lambda f, n: "".join(winner(f"{i:032x}", "x", "") for i in range(n)), 1000, ("log", "html")),
    ("decisions of a line", "t.log", lambda f, n: winner("a" * 32, "x", "", decisions=[f"d{i}" for i in range(n)]), 50_000, ("log", "stats")),
    ("opts of a line", "t.log", lambda f, n: winner("a" * 32, "x", "vector(n0,4) " * n), 20_000, ("log", "best")),
    ("manifest of a plan", plan, lambda f, n: b"", 500, ("inspect",)),
    ("words of a response file", "words", lambda f, n: "\n".join(["check"] + [f"g{i}.svod" for i in range(n)]), 20_000, ()),
]


class Growth(ToolTest):
    def cost(self, words):
        """User seconds. How it ends is its own affair, unless that is by a signal."""
        with open(os.devnull, "w") as nowhere:
            process = subprocess.Popen([BIN / "svodc", *words], stdout=nowhere, stderr=nowhere, env=clean_environment())
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertGreaterEqual(process.returncode, 0, words)
        return usage.ru_utime + usage.ru_stime

    def test_growth(self):
        chosen = os.environ.get("SVOD_GROWTH", "")
        for name, file, make, n, command in ROWS:
            if chosen not in name:
                continue
            with self.subTest(name):
                runs = []
                for count in (n, 4 * n):
                    content = make(self.folder, count)
                    if callable(file):
                        path = file(self.folder, count)
                    else:
                        path = self.folder / file
                        path.write_bytes(content if isinstance(content, bytes) else content.encode())
                    words = [*command, path] if command else [f"@{path}"]
                    runs.append(min(self.cost(words) for _ in range(1 if count > n else 2)))
                if os.environ.get("SVOD_SHOW_SCALING"):
                    print(f"{name}: {n} and {4 * n}: {runs[0]:.2f} s {runs[1]:.2f} s", flush=True)
                self.assertLess(runs[1], MOST_S)
                self.assertLess(runs[1], MOST_GROWTH * max(runs[0], LEAST_S))


if __name__ == "__main__":
    main()
