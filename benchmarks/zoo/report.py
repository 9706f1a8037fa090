"""Results as lines, as JSON and as the tables of docs/models.md."""
import json
import re

BEGIN, END = "<!-- models: benchmarks/models.py -->", "<!-- end of models -->"


def read(folder):
    """The kept result of a variant, or None."""
    path = folder / "result.json"
    return json.loads(path.read_text()) if path.exists() else None


def passed(result):
    return result is not None and "failed" not in result


def counts(result):
    """Whether there is a reference to compare with."""
    return result is not None and result.get("failed") not in ("exporter", "onnxruntime")


def line(result):
    if passed(result):
        return f"ok {result['error']:.0e}  {result['kernels']} kernels, {result['seconds']:.1f} s, {result['mib']} MiB" + (
            f"  with bounds; without: {result['without']}" if "flags" in result else "")
    used = f"  ({result['seconds']:.1f} s)" if "seconds" in result else ""
    bounds = f"  with bounds; without: {result['without']}" if result.get(
        "without", result["message"]) != result["message"] else ""
    return f"{result['failed']}: {result['message']}{used}{bounds}"


MARKS = {"flags": "flags", "own": "varies"}
COLUMNS = [(e, f) for e in ("torchscript", "dynamo") for f in ("static", "dynamic")]


def cell(result):
    if result is None:
        return ""
    if passed(result):
        return f"{result['error']:.0e}" + "".join(f" *{word}*" for key, word in MARKS.items() if key in result)
    return {"exporter": "not exported", "onnxruntime": "no reference"}.get(result["failed"], "**fails**")


def header(first, columns):
    yield f"| {first} | " + " | ".join(columns) + " |"
    yield "|---|" + "---|" * len(columns)


def tables(results):
    """A row per model, by kind."""
    yield from header("model", ["kind", *(f"{e}, {f}" for e, f in COLUMNS)])
    kinds = {name: result["family"] for (name, _, _), result in results.items()}
    for name, kind in sorted(kinds.items(), key=lambda item: item[::-1]):
        cells = [cell(results.get((name, *column))) for column in COLUMNS]
        yield f"| {name} | {kind} | " + " | ".join(cells) + " |"


COUNTED = {
    "tried": lambda r: True,
    "exported": lambda r: r.get("failed") != "exporter",
    "with a reference": counts,
    "right": passed,
    "right without flags": lambda r: passed(r) and "flags" not in r,
}


def totals(results):
    yield from header("", [f"{e}, {f}" for e, f in COLUMNS])
    for name, test in COUNTED.items():
        numbers = [sum(test(r) for key, r in results.items() if key[1:] == column) for column in COLUMNS]
        yield f"| {name} | " + " | ".join(map(str, numbers)) + " |"


def listed(results, chosen, words):
    for key, result in results.items():
        if chosen(result):
            yield f"- {', '.join(key)}: {words(result)}"


def failure(result):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result["message"])  # exporters color their messages
    return f"{result['failed']}: `{plain}`"


def slowest(results, count=8):
    yield from header("variant", ["CPU seconds", "peak memory", "kernels"])
    known = [(r["seconds"], "/".join(key), r) for key, r in results.items() if "seconds" in r]
    for seconds, name, r in sorted(known, key=lambda item: item[:2], reverse=True)[:count]:
        yield f"| {name} | {seconds:.1f} | {r['mib']} MiB | {r.get('kernels', '')} |"


LISTS = [
    ("What fails", lambda r: counts(r) and not passed(r), failure),
    ("What needs flags", lambda r: passed(r) and "flags" in r, lambda r: f"`{r['flags']}`; without: `{r['without']}`"),
    ("Where ONNX Runtime varies", lambda r: passed(r) and "own" in r,
     lambda r: f"its answers differ by {r['own']:.0e}, the nearest from svod's by {r['error']:.0e}"),
    ("What has nothing to compare with", lambda r: not counts(r), failure),
]


def text(results, libraries):
    models = len({name for name, _, _ in results})
    yield f"{models} models, {len(results)} variants, with " + ", ".join(f"{k} {v}" for k, v in libraries.items()) + "."
    yield from ("", *totals(results), "", *tables(results))
    for title, chosen, words in LISTS:
        lines = list(listed(results, chosen, words))
        if lines:
            yield from ("", f"### {title}", "", *lines)
    yield from ("", "### The slowest to compile", "", *slowest(results))


def write(work, libraries, json_file, markdown):
    """All results that `work` has."""
    found = sorted(path.parent for path in work.glob("*/*/*/result.json"))
    results = {folder.relative_to(work).parts: read(folder) for folder in found}
    if json_file:
        by_name = {"/".join(key): result for key, result in results.items()}
        json_file.write_text(json.dumps({"versions": libraries, "results": by_name}, indent=1))
    if markdown:
        page = markdown.read_text() if markdown.exists() else f"{BEGIN}\n{END}\n"
        before, rest = page.split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        body = "\n".join(text(results, libraries))
        markdown.write_text(f"{before}{BEGIN}\n\n{body}\n\n{END}{after}")
