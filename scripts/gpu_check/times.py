"""Times of timed.py's cases on a device beside torch, in turns, on random data; values are checked against torch in f64.

  times.py PLANS REPORT [--driver FILE] [--seconds N] [--only PREFIX]

Without torch, or on the driver of the tests, the plans run on memory of the host, and nothing stands beside them."""
import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy
import svod
import timed

try:
    import torch
except ImportError:
    torch = None

ROUNDS = 7
FEW_MS = 8  # that one round takes


class Host:
    """Arrays of numpy, and no peer."""

    @staticmethod
    def random(port, seed):
        kind = {"f32": "f4", "f16": "f2", "bf16": "u2"}[port.dtype]
        values = numpy.random.default_rng(seed).standard_normal(port.max_shape, dtype=numpy.float32)
        return (values.view(numpy.uint32) >> 16).astype(numpy.uint16) if port.dtype == "bf16" else values.astype(kind)

    @staticmethod
    def output(_):
        return None

    @staticmethod
    def peer(*_):
        return lambda: None

    @staticmethod
    def error(*_):
        return 0.0, None


class Device:
    """Tensors of torch that stay on the device."""

    def __init__(self):
        torch.backends.cuda.matmul.allow_tf32 = False
        self.types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64}

    def random(self, port, seed):
        generator = torch.Generator("cuda").manual_seed(seed)
        return torch.randn(port.max_shape, generator=generator, device="cuda").to(self.types[port.dtype])

    def output(self, port):
        return torch.full(port.max_shape, -1 if port.dtype == "i64" else float("nan"), device="cuda", dtype=self.types[port.dtype])

    def peer(self, case, inputs):
        """Milliseconds of one call, of a captured graph of about a millisecond of them."""
        def call():
            return case.peer(**inputs)
        for _ in range(3):
            call()
        count = max(1, min(20, int(1 / max(self.clocked(call, 1), 1e-3))))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(count):
                call()
        return lambda: self.clocked(graph.replay, max(1, int(FEW_MS / max(1e-3, self.clocked(graph.replay, 1))))) / count

    @staticmethod
    def clocked(call, repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repeats):
            call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / repeats

    @staticmethod
    def error(case, got, inputs):
        """The norm of the difference to f64 by that of the result, ours and torch's; of integers the part that differs."""
        want, peer = case.peer(**{name: value.double() for name, value in inputs.items()}), case.peer(**inputs)
        if not want.is_floating_point():
            return float((got != peer).double().mean()), 0.0
        return tuple(float((each.double() - want).norm() / want.norm()) for each in (got, peer))


class Ours:
    """A plan with its inputs bound. On a device it is put into the stream of torch, as often as a round is long."""

    def __init__(self, plan, arrays, driver):
        self.plan, self.devices = svod.load(plan), {None: {"driver": driver}} if driver else None
        self.inputs = {name: arrays.random(port, seed) for seed, (name, port) in enumerate(self.plan.inputs.items())}
        self.port = next(iter(self.plan.outputs.values()))
        out = arrays.output(self.port)
        self.out = None if out is None else {self.port.name: out}
        if self.out:
            torch.cuda.synchronize()
        self.steps, self.result = self.profiled()
        self.instance = self.plan.instance(devices=self.devices)
        if self.out:
            self.result.fill_(-1)
            self.instance.stream = torch.cuda.current_stream().cuda_stream
            self.instance.enqueue(out=self.out, **self.inputs)
            self.repeats = max(1, min(200, int(FEW_MS / max(1e-3, self.run(3)[0]))))

    def profiled(self):
        """Milliseconds of each step, by events around it, and the result."""
        instance = self.plan.instance(profile=True, devices=self.devices)
        result = instance(out=self.out, **self.inputs)
        if self.out:  # the first runs of a device are slow
            for _ in range(5):
                instance(out=self.out)
            instance.reset_profile()
            for _ in range(5):
                instance(out=self.out)
        return {f"{r.step} {r.kind} {r.name}": r.busy_ns / max(1, r.calls) / 1e6 for r in instance.profile()}, result[self.port.name]

    def run(self, repeats):
        """Milliseconds of a run, by events around all of them, and of the host for one."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        before = time.perf_counter()
        for _ in range(repeats):
            self.instance.enqueue()
        host = (time.perf_counter() - before) / repeats * 1e3
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / repeats, host

    def clocked(self):
        """Where there is no stream: a call by the clock of the host."""
        before = time.perf_counter()
        self.instance(**self.inputs)
        ms = (time.perf_counter() - before) * 1e3
        return ms, ms


def measure(case, plans, arrays, driver):
    ours = Ours(plans / case.name, arrays, driver)
    error, peer_error = arrays.error(case, ours.result, ours.inputs)
    peer = arrays.peer(case, ours.inputs)
    rounds = [(peer(), *ours.run(ours.repeats)) for _ in range(ROUNDS)] if ours.out else [(peer(), *ours.clocked())]
    ms = statistics.median(r[1] for r in rounds)
    row = {"ms": ms, "host_ms": statistics.median(r[2] for r in rounds), "error": error, "tolerance": max(case.tolerance, 2 * (peer_error or 0)),
           "tflops": case.flop / ms / 1e9, "tbs": case.bytes / ms / 1e9, "bar": case.bar, "steps": ours.steps}
    if rounds[0][0]:
        ratios = sorted(r[0] / r[1] for r in rounds)
        row |= {"peer_ms": statistics.median(r[0] for r in rounds), "ratio": statistics.median(ratios), "quartiles": [ratios[1], ratios[-2]],
                "peer_error": peer_error}
    return row


def line_of(name, row):
    if "failed" in row or "skipped" in row:
        return f"{name:26} {row.get('failed') or row['skipped']}"[:160]
    peer = f"{row['peer_ms']:9.4f} {row['ratio']:6.2f} {row['quartiles'][0]:5.2f} {row['quartiles'][1]:5.2f}" if "ratio" in row else " " * 28
    words = " WRONG" if is_wrong(row) else " below its bar" if is_slow(row) else ""
    return f"{name:26} {row['ms']:9.4f} {peer} {row['tflops']:8.1f} {row['tbs']:6.2f} {row['host_ms']:8.3f}  {row['error']:.1e}{words}"


def is_wrong(row):
    return "failed" in row or ("error" in row and not row["error"] <= row["tolerance"])


def is_slow(row):
    return row.get("bar") is not None and "ratio" in row and row["ratio"] < row["bar"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plans", type=Path)
    parser.add_argument("report", type=Path)
    parser.add_argument("--driver", default="")
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--only", default="")
    flags = parser.parse_args()
    arrays = Device() if torch and torch.cuda.is_available() and not flags.driver else Host()
    report, until = {}, time.monotonic() + flags.seconds
    print(f"{'case':26} {'ours ms':>9} {'torch ms':>9} {'ratio':>6} {'quartiles':>11} {'TFLOP/s':>8} {'TB/s':>6} {'host ms':>8}  error")
    for case in timed.all_timed():
        if not case.name.startswith(flags.only) or not (flags.plans / case.name).exists():
            continue
        try:
            row = {"skipped": "no time was left"} if time.monotonic() > until else measure(case, flags.plans, arrays, flags.driver)
        except Exception as error:  # noqa: BLE001: one case costs no other
            row = {"failed": f"{type(error).__name__}: {error}"}
        report[case.name] = row
        print(line_of(case.name, row), flush=True)
        flags.report.write_text(json.dumps(report, indent=1))
        if isinstance(arrays, Device):
            torch.cuda.empty_cache()
    return 1 if any(is_wrong(row) for row in report.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
