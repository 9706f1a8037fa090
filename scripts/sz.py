#!/usr/bin/env python3
"""Prints the size of the project: files and code lines per room, and how many rows its tables have."""
import re
import sys
from pathlib import Path

from lint_common import blank_comments_and_strings, sources


def code_lines(text):
    return sum(1 for line in blank_comments_and_strings(text).splitlines() if line.strip())


def count(root, folders, pattern):
    return sum(len(re.findall(pattern, (root / path).read_text(), re.M)) for path in sources(root, folders))


def count_passes(root):
    """Rows of every `constexpr Pass kName[] = { ... };` table."""
    table = re.compile(r"\bPass k\w+\[\]\s*=\s*\{(.*?)^\};", re.S | re.M)
    return sum(len(re.findall(r'^\s*\{\s*"', body, re.M))
               for path in sources(root, ["lib"]) for body in table.findall((root / path).read_text()))


def rooms(root):
    for line in (root / "lib/layers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            room = line.split(":")[0]
            yield room, Path("lib") / room if (root / "lib" / room).is_dir() else Path(room)
    yield "tests", Path("tests")


def main():
    root = Path(__file__).resolve().parent.parent
    total_files = total_lines = 0
    print(f"{'room':<16}{'files':>6}{'lines':>8}{'longest':>9}")
    for room, folder in rooms(root):
        lines = [code_lines((root / path).read_text()) for path in sources(root, [folder])]
        if lines:
            print(f"{room:<16}{len(lines):>6}{sum(lines):>8}{max(lines):>9}")
            total_files += len(lines)
            total_lines += sum(lines)
    print(f"{'total':<16}{total_files:>6}{total_lines:>8}\n")
    tables = {
        "ops": count(root, ["lib"], r"^\s*OP\("),
        "rules": count(root, ["lib"], r"\b(?:rule|native)\(\s*\""),
        "passes": count_passes(root),
        "flags": count(root, ["lib", "tools"], r"^\s*FLAG\("),
        "diagnostics": count(root, ["lib"], r"^\s*DIAG\("),
    }
    print("  ".join(f"{name} {number}" for name, number in tables.items()))


if __name__ == "__main__":
    sys.exit(main())
