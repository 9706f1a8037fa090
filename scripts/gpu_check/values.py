"""Cases of tests/cuda/gpu_cases.cpp on a device: every result within its bound of the interpreter's.

  values.py FOLDER REPORT [--driver FILE] [--workers N] [--here PREFIX..]

One process runs many cases, because a context takes long to make. A case that fails on the device, or that hangs, costs its process alone:
the next one goes on behind it."""
import argparse
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

SECONDS = 60  # that a case may take, with the start of its process


def decode(array, dtype):
    """Elements as f64, of types that numpy does not know as well."""
    import numpy
    if dtype == "bf16":
        return (array.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    small = {"f8e4m3": (4, 7, False), "f8e4m3fnuz": (4, 8, True), "f8e5m2": (5, 15, False), "f8e5m2fnuz": (5, 16, True)}.get(dtype)
    if dtype == "f8e8m0":
        return numpy.where(array == 255, numpy.nan, 2.0 ** (array.astype(numpy.float64) - 127))
    if dtype == "f4e2m1":
        return numpy.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])[array.view(numpy.uint8) & 15]
    if small is None:
        return array.astype(numpy.float64) if array.dtype.kind == "f" else array
    bits, bias, fnuz = small
    fraction_bits = 7 - bits
    code = array.astype(numpy.int64)
    exponent, fraction = code >> fraction_bits & (1 << bits) - 1, (code & (1 << fraction_bits) - 1) / 2.0 ** fraction_bits
    value = numpy.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - float(bias)))
    value = numpy.where(code >> 7 & 1, -value, value)
    if fnuz:
        return numpy.where(code == 0x80, numpy.nan, value)
    if dtype == "f8e4m3":
        return numpy.where((code & 0x7f) == 0x7f, numpy.nan, value)
    special = exponent == 31
    return numpy.where(special, numpy.where(fraction == 0, numpy.where(code >> 7 & 1, -numpy.inf, numpy.inf), numpy.nan), value)


def difference(got, want, bound, dtype):
    """"" where all elements are as near as they must be, else the first that is not."""
    import numpy
    if got.shape != want.shape:
        return f"the shape is {got.shape}, not {want.shape}"
    a, b = decode(got, dtype), decode(want, dtype)
    with numpy.errstate(invalid="ignore"):
        good = (a == b) | ((a != a) & (b != b))
        if bound is not None:
            good |= ~numpy.isfinite(bound) | (numpy.abs(a.astype(numpy.float64) - b.astype(numpy.float64)) <= bound)
    wrong = numpy.argwhere(~good)
    if not len(wrong):
        return ""
    at = tuple(wrong[0])
    within = "" if bound is None else f" within {bound[at]:g}"
    return f"{len(wrong)} of {a.size} elements, first {[int(i) for i in at]}: {a[at]!r}, expected {b[at]!r}{within}"


def box_of(array):
    return tuple(slice(size) for size in array.shape)


def state_of(instance, name, like, dtype):
    """Elements of 2 and 4 bits are the low ones of a byte each."""
    array = instance.states[name][box_of(like)].view(like.dtype)
    bits = {"i2": 2, "i4": 4, "u2": 2, "u4": 4, "f4e2m1": 4}.get(dtype)
    if bits is None:
        return array
    low = array & (1 << bits) - 1
    return low - ((low >> bits - 1) << bits) if dtype[0] == "i" else low


def run_case(folder, driver):
    import numpy
    import svod
    case = json.loads((folder / "case.json").read_text())
    plan = svod.load(folder / "plan")
    instance = plan.instance(devices={None: {"driver": driver}} if driver else None)
    given = {}
    for name, port in case["ports"].items():
        file = folder / "in" / f"{port['number']}.npy"
        if file.exists() and name in plan.inputs:
            given[name] = numpy.load(file)
        elif file.exists() and name in plan.states:
            array, whole = numpy.load(file), numpy.array(instance.states[name])
            whole[box_of(array)] = array  # a state is laid out for its greatest sizes
            instance.states[name] = whole
    for name, value in case["variables"].items():
        if name in plan.variables and not plan.variables[name].is_fixed:
            try:
                instance.variables[name] = value
            except svod.SvodError:
                pass  # a size that the shape of an input gives
    results = dict(instance(**given))
    words = []
    for name, port in case["ports"].items():
        want = folder / "want" / f"{port['number']}.npy"
        if not want.exists():
            continue
        expected = numpy.load(want)
        got = numpy.asarray(results[name] if name in results else state_of(instance, name, expected, port["dtype"]))
        bound = folder / "bound" / f"{port['number']}.npy"
        wrong = difference(got, expected, numpy.load(bound) if bound.exists() else None, port["dtype"])
        if wrong:
            words.append(f"{name}: {wrong}")
    return "; ".join(words)


def work(driver):
    """Folders come in by lines; out goes one line of JSON for each."""
    for line in sys.stdin:
        folder = Path(line.strip())
        try:
            wrong, broken = run_case(folder, driver), False
        except Exception as error:  # noqa: BLE001: whatever it is, it is the result of the case
            wrong, broken = f"{type(error).__name__}: {error}", True
        print(json.dumps({"wrong": wrong}), flush=True)
        if broken:
            return  # the context may be lost


class Worker:
    def __init__(self, driver):
        self.process = subprocess.Popen([sys.executable, __file__, "--work", *(["--driver", driver] if driver else [])], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, folder):
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(f"{folder}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return json.loads(line)["wrong"]
        code = self.process.wait()
        return f"took more than {SECONDS} s" if code == -9 else f"ended with code {code}: {self.process.stderr.read()[-300:]}"


def run_all(folders, driver, workers):
    waiting, results = queue.SimpleQueue(), {}
    for folder in folders:
        waiting.put(folder)

    def serve():
        worker = Worker(driver)
        while True:
            try:
                folder = waiting.get_nowait()
            except queue.Empty:
                worker.process.kill()
                return
            wrong = results[f"{folder.parent.name}/{folder.name}"] = worker.run(folder)
            if wrong:
                worker.process.kill()
                worker = Worker(driver)

    threads = [threading.Thread(target=serve) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def run_here(folders, driver):
    """All in this process, for tools that look at one."""
    results = {}
    for folder in folders:
        results[f"{folder.parent.name}/{folder.name}"] = run_case(folder, driver)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("report", nargs="?")
    parser.add_argument("--driver", default="")
    parser.add_argument("--workers", type=int, default=max(1, min(8, (os.cpu_count() or 1) // 2)))
    parser.add_argument("--here", nargs="*", metavar="PREFIX", help="in this process, those whose names begin so")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.work:
        return work(flags.driver)
    folders = sorted(path.parent for path in Path(flags.folder).glob("*/*/case.json"))
    if flags.here is not None:
        taken = [f for f in folders if f"{f.parent.name}/{f.name}".startswith(tuple(flags.here))]
        results = run_here(taken, flags.driver)
    else:
        results = run_all(folders, flags.driver, flags.workers)
    wrong = {name: words for name, words in sorted(results.items()) if words}
    Path(flags.report).write_text(json.dumps({"cases": len(results), "wrong": wrong}, indent=1))
    for name, words in wrong.items():
        print(f"{name}: {words[:300]}")
    print(f"{len(results)} cases, {len(wrong)} wrong")
    return 1 if wrong or not results else 0


if __name__ == "__main__":
    sys.exit(main())
