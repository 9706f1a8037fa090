"""Copies and graphs of a device on memory of the host that is not pinned, in every mode of the runtime: sizes and addresses that change
from run to run, states, and runs that are repeated.

  copies.py FOLDER [--driver FILE]"""
import argparse
import sys
from pathlib import Path

import numpy
import svod

MODES = {"usual": {}, "no graphs": {"graphs": "off"}, "wait for each": {"wait": "on"}}


def options(mode, driver):
    return {None: {**mode, **({"driver": driver} if driver else {})}}


def lines(folder, mode, driver):
    """Sizes up and down, each time in new memory."""
    for name, columns, sizes in (("line", (), (3, 8, 1, 8, 3)), ("block", (256,), (1, 4096, 7, 4096, 1000))):
        instance = svod.load(folder / name).instance(devices=options(mode, driver))
        for n in sizes:
            for start in (0, 5):
                x = numpy.arange(start, start + n * (columns[0] if columns else 1), dtype=numpy.float32).reshape(n, *columns)
                y = instance(x=x)["y"]
                if not numpy.array_equal(y, x * 2 + 1):
                    return f"{name} of {n}: {numpy.argwhere(y != x * 2 + 1)[0]} is wrong"
    return ""


def states(folder, mode, driver):
    instance = svod.load(folder / "state").instance(devices=options(mode, driver))
    x = numpy.ones((1000, 33), numpy.float32)
    for number in range(1, 6):
        y = instance(x=x * number)["y"]
        expected = number * (number + 1)
        if not (y == expected).all():
            return f"after {number} runs the state is {y.flat[0] / 2}, not {expected / 2}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--driver", default="")
    flags = parser.parse_args()
    wrong = [f"{mode}, {words}" for mode, chosen in MODES.items() for test in (lines, states) if (words := test(flags.folder, chosen, flags.driver))]
    print("\n".join(wrong) or f"{len(MODES)} modes, sizes and addresses that change, states: all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
