"""Compile time and memory grow about linearly with every count a graph can have. Each row compiles a graph at n and at 4n
and bounds how much user time and memory grow; the margins allow for a busy machine and for a logarithm, not for a square.
SVOD_SHOW_SCALING=1 prints what the rows cost."""
import os
import subprocess

from svodc import BIN, ToolTest, clean_environment, main

NOTHING_S, NOTHING_KIB = 0.08, 40_000  # what any compilation takes, roughly
MOST_GROWTH = 8  # of time from n to 4n: linear is 4, quadratic 16
MOST_MEMORY_GROWTH = 7


def lines(*parts):
    return "svod 1\n" + "\n".join(parts) + "\n"


def repeated(n, line):
    return "\n".join(line.format(i=i, next=i + 1) for i in range(n))


def unrolled(n):
    return lines("input x: f32[8, 8]", "temp h: f32[8, 8] = 0", f"loop t < {n}, unroll=true {{", "  assign h = tanh(matmul(h, x) + x)",
                 "}", "output h")


def assigns(n):
    return lines(f"state s: f32[{n}] = 0",
                 repeated(n, "assign slice(s, starts=[{i}], ends=[{next}]) = full({i}, shape=[1], dtype=f32)"))


def outputs(n):
    return lines("input x: f32[64]", "h = exp(x)", repeated(n, "output y{i} = h * {i}.5"))


def consumers(n):
    return lines("input x: f32[64, 64]", "h = exp(x)", repeated(n, "s{i} = sum(h * {i}.5, axes=1)"), "output y = s0" +
                 "".join(f" + s{i}" for i in range(1, n)))


def chain(n):
    return lines("input x: f32[64]", "output y = " + " + ".join(["x"] * n))


def elementwise(n):
    return lines("input x: f32[64]", "v0 = x", repeated(n, "v{next} = abs(v{i}) * 1.5 - x"), f"output y = v{n}")


def ports(n):
    return lines(repeated(n, "input x{i}: f32[8]\nweight w{i}: f32[8] = [1, 2, 3, 4, 5, 6, 7, {i}]\noutput y{i} = x{i} + w{i}"))


def concat(n):
    return lines("input x: f32[4096, 8]", "output y = concat(" +
                 ", ".join(f"slice(x, starts=[{i}], ends=[{i + 1}])" for i in range(0, 2 * n, 2)) + ", axis=0)")


def loops(n):
    return lines("state s: f32[8] = 0", repeated(n, "loop i < 3 {{\n  assign s = s * {next}.5\n}}"))


def steps(n):
    return lines("input x: f32[16, 16]", "v0 = x", repeated(n, "v{next} = matmul(v{i}, x)"), f"output y = v{n}")


def states(n):
    return lines(repeated(n, "state s{i}: f32[4] = 0\nassign s{i} = s{i} + {i}"))


def swaps(n):
    return lines("state a: f32[8] = 0", "state b: f32[8] = 1", repeated(n, "t{i} = a + b\nassign a = b * 2\nassign b = t{i}"))


def reads(n):
    return lines(f"state s: f32[{n}] = 0",
                 repeated(n, "r{i} = sum(s)\nassign slice(s, starts=[{i}], ends=[{next}]) = reshape(r{i}, shape=[1])"))


def branches(n):
    return lines("input x: f32[4]", "temp h: f32[4] = x",
                 repeated(n, "if gt(sum(h), {i}) {{\n  assign h = h * 2\n}} else {{\n  assign h = h + 1\n}}"), "output h")


def calls(n):
    return lines("input x: f32[4]", repeated(n, "_ = custom(x, function=f, shape=[4], values=[{i}])"), "output y = x + 1")


def variables(n):
    """Few: where a part begins is the sum of the sizes before it, so what is written grows with the square."""
    return lines(repeated(n, "var n{i} in [1, 8]\ninput x{i}: f32[n{i}]"),
                 "output y = concat(" + ", ".join(f"x{i}" for i in range(n)) + ", axis=0)")


def numbers(n):
    return lines(f"input x: f32[{n}]", f"weight w: f32[{n}] = [{', '.join(str(i) + '.5' for i in range(n))}]", "output y = x * w")


ROWS = [("unrolled iterations", unrolled, 800), ("assigned slices of a state", assigns, 250), ("outputs", outputs, 400),
        ("consumers of one value", consumers, 300), ("terms of a sum", chain, 8000), ("ops in a row", elementwise, 3000),
        ("inputs, weights and outputs", ports, 800), ("operands of concat", concat, 400), ("loops", loops, 200),
        ("steps with one kernel", steps, 1000), ("states", states, 200), ("states that swap", swaps, 150),
        ("reads between writes of a state", reads, 100), ("branches", branches, 150), ("calls of host functions", calls, 1000),
        ("variables in one size", variables, 9), ("numbers in the text", numbers, 60_000)]


class Scaling(ToolTest):
    def cost(self, path):
        """User seconds, and KiB at most."""
        words = [BIN / "svodc", "compile", path, "-o", self.folder / "plan", "--no-cache", "-j", "1"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=clean_environment())
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        self.assertEqual(process.returncode, 0, errors)
        return usage.ru_utime, usage.ru_maxrss

    def test_growth(self):
        for name, make, n in ROWS:
            with self.subTest(name):
                small, large = [self.graph(make(count), f"{make.__name__}{count}.svod") for count in (n, 4 * n)]
                costs = self.cost(small), self.cost(large)
                if self.growth(costs) > 1:  # the machine may have been busy with something else
                    costs = tuple(tuple(map(min, zip(a, self.cost(path)))) for a, path in zip(costs, (small, large)))
                if os.environ.get("SVOD_SHOW_SCALING"):
                    print(f"{name}: {n} and {4 * n}:", *(f"{s:.2f} s {m // 1024} MiB" for s, m in costs), flush=True)
                self.assertLess(self.growth(costs), 1, costs)

    @staticmethod
    def growth(costs):
        """Of time or memory, as a share of what is allowed."""
        (seconds, memory), (more_seconds, more_memory) = costs
        return max(more_seconds / (MOST_GROWTH * max(seconds, NOTHING_S)),
                   more_memory / (MOST_MEMORY_GROWTH * max(memory, NOTHING_KIB)))


if __name__ == "__main__":
    main()
