#!/usr/bin/env python3
"""The man page svod-graph(5): docs/graph-format.md, and the ops that svodc lists.

usage: graph_manual.py OUTPUT SVODC
"""
import json
import subprocess
import sys
from pathlib import Path

from manuals import roff
from page_blocks import blocks, spans

PAGE = Path(__file__).resolve().parent.parent / "docs/graph-format.md"
HEAD = """.TH SVOD\\-GRAPH 5 "" "svod" "svod"
.ad l
.SH NAME
svod\\-graph \\- graph files of svodc, as text and as JSON
"""


def inline(text):
    fonts = {"code": "\\fB{}\\fR", "bold": "\\fI{}\\fR"}
    return "".join(fonts.get(kind, "{}").format(roff(words) if kind != "link" else inline(words)) for kind, words, *_ in spans(text))


def line(text):
    """Text that begins no request."""
    made = inline(text)
    return "\\&" + made if made.startswith((".", "'")) else made


def block_roff(kind, *block):
    if kind == "heading":
        return "" if block[0] == 1 else f".{'SH' if block[0] == 2 else 'SS'} {inline(block[1])}\n"
    if kind == "code":
        return ".PP\n.nf\n" + "".join("\\&" + roff(each) + "\n" for each in block[0].splitlines()) + ".fi\n"
    if kind == "table":
        return "".join(f".TP\n{line(row[0]) or '-'}\n{line('; '.join(cell for cell in row[1:] if cell)) or '-'}\n" for row in block[0] if any(row))
    if kind == "list":
        return "".join(f".IP {f'{number}.' if block[0] else '-'} 3\n{line(item)}\n" for number, item in enumerate(block[1], 1))
    return "" if kind == "html" else f".PP\n{line(block[0])}\n"


def op_roff(op):
    calls = ", ".join(part for part in (op["operands"], op["attributes"]) if part)
    return f".TP\n\\fB{roff(op['name'])}\\fR({roff(calls)})\n{roff(op['what'])}\n"


def page(text, ops):
    body = "".join(block_roff(*block) for block in blocks(text))
    return (HEAD + ".SH DESCRIPTION\n" + body + ".SH OPS\n[x] may be left out, x.. is any number; attributes have a type and a default.\n"
            + "".join(map(op_roff, ops)) + ".SH SEE ALSO\n\\fBsvodc\\fR(1)\n")


if __name__ == "__main__":
    listed = subprocess.run([sys.argv[2], "--list-ops", "--json"], check=True, capture_output=True, text=True).stdout
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(page(PAGE.read_text(), json.loads(listed)))
