#!/usr/bin/env python3
"""Writes results of scripts/onnx_conformance.sh --json FILE into docs/onnx.md: scripts/onnx_table.py FILE

The table stands between two marks of the page and replaces what was there.
"""
import json
import pathlib
import sys
import textwrap

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "onnx.md"
BEGIN, END = "<!-- conformance: scripts/onnx_table.py -->\n", "<!-- end of conformance -->\n"


def table(results):
    yield f"{results['passed']} of {results['passed'] + results['failed']} published cases pass (tier 1, inputs that"
    yield "decide shapes given at compile time). By operator, `passed/cases`:\n"
    counts = {op: (row.get("pass", 0), row.get("pass", 0) + row.get("fail", 0))
              for op, row in sorted(results["by_op"].items())}
    words = ", ".join(f"{op} {good}/{all}" for op, (good, all) in counts.items() if all) + "."
    yield textwrap.fill(words, 118, break_on_hyphens=False)


def main():
    with open(sys.argv[1]) as f:
        text = BEGIN + "\n" + "\n".join(table(json.load(f))) + "\n\n" + END
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text((before if rest else page + "\n## Conformance\n\n") + text + after)


if __name__ == "__main__":
    main()
