#!/usr/bin/env python3
"""Writes results of scripts/onnx_conformance.sh --json FILE into docs/onnx.md: scripts/onnx_table.py FILE ...

The tables stand between two marks of the page and replace what was there. Files are results of tier 1 with
--bake-inputs shape, of tier 1 without, and of tier 2.
"""
import json
import pathlib
import sys
import textwrap

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "onnx.md"
BEGIN, END = "<!-- conformance: scripts/onnx_table.py -->\n", "<!-- end of conformance -->\n"


def listed(results, wanted):
    """`passed/cases` of every operator that `wanted` accepts."""
    counts = {op: (row.get("pass", 0), sum(row.values())) for op, row in sorted(results["by_op"].items())}
    words = ", ".join(f"{op} {good}/{all}" for op, (good, all) in counts.items() if wanted(good, all))
    return "```text\n" + textwrap.fill(words, 118, break_on_hyphens=False) + "\n```"


def table(results):
    tier, isBaked = next(iter(results["by_tier"])), results["bake_inputs"] == "shape"
    inputs = "inputs that decide shapes given " + ("at compile time" if isBaked else "in the run")
    statuses = ", ".join(f"{count} {status}" for status, count in results["statuses"].items() if status != "pass")
    text = f"**Tier {tier}, {inputs}**: {results['passed']} of {results['passed'] + results['failed']} published cases pass"
    text += f"; the others: {statuses}. " if statuses else ". "
    text += "By operator, `passed/cases`" + (":" if isBaked else ", where some do not pass:")
    yield textwrap.fill(text, 118) + "\n\n"
    yield listed(results, lambda good, all: all and (isBaked or good < all)) + "\n\n"


def main():
    files = [json.loads(pathlib.Path(name).read_text()) for name in sys.argv[1:]]
    text = BEGIN + "\n" + "".join(part for results in files for part in table(results)) + END
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text((before if rest else page + "\n## Conformance\n\n") + text + after)


if __name__ == "__main__":
    main()
