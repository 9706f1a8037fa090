#!/usr/bin/env python3
"""Shows what the digits network read. usage: show.py DIRECTORY (with digit.npy and probability.npy)"""
import ast
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHADES = " .:-=+*#%@"
SHOWN = 6


def load(path):
    """A small .npy file as (shape, flat list of numbers); needs nothing but Python."""
    data = Path(path).read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:start].decode())
    code = {"<f4": "f", "<i4": "i"}[header["descr"]]
    return header["shape"], list(struct.unpack(f"<{(len(data) - start) // 4}{code}", data[start:]))


def main():
    results = Path(sys.argv[1])
    _, pixels = load(HERE / "samples.npy")
    _, digits = load(results / "digit.npy")
    _, probability = load(results / "probability.npy")
    labels = [int(line) for line in (HERE / "labels.txt").read_text().split()]

    shown = [digits.index(digit) for digit in sorted(set(digits))][:SHOWN]
    for row in range(8):
        line = ""
        for i in shown:
            at = i * 64 + row * 8
            line += "".join(SHADES[int(value * 9)] * 2 for value in pixels[at:at + 8]) + "  "
        print("  " + line.rstrip())
    answers = [f"{digits[i]} ({probability[i * 10 + digits[i]]:.1%})" for i in shown]
    print("  " + "".join(f"{answer:<18}" for answer in answers).rstrip())
    right = sum(a == b for a, b in zip(digits, labels))
    print(f"\n  {right} of {len(labels)} images read correctly ({right / len(labels):.1%})")


if __name__ == "__main__":
    main()
