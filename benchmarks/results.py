"""The results of bench.py as a table for docs/performance.md."""
import os

BEGIN, END = "<!-- ./dev bench writes what follows -->", "<!-- up to here -->"


def heading(results):
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    rates = [f"{name} {rate * 1e-9:.0f} GFLOP/s" for name, rate in results["roofs"]["compute"].items()]
    rates += [f"{name} {rate * 1e-9:.1f} GB/s" for name, rate in results["roofs"]["memory"].items()]
    threads = "1 thread" if results["threads"] == 1 else f"{results['threads']} threads"
    return f"{results['machine']}; {versions}. With {threads}: {'; '.join(rates)}."


def cells(row, with_peer):
    """Times in ms and the ratio. The peer may be another one with other threads: it is named once."""
    ratio = [f"{row['ratio']:.2f}", f"{row['low']:.2f}-{row['high']:.2f}"]
    peer = [row["peer"], f"{min(row['seconds'][row['peer']]) * 1e3:.3f}"] if with_peer else []
    return [f"{min(row['seconds']['svod']) * 1e3:.3f}", *peer, *ratio]


def table(results, beside=None):
    """Rows with a peer. `beside`: results of the same cases with other threads, three more columns."""
    titles = ["work", "svod ms", "peer", "peer ms", "ratio", "quartiles"]
    others = {row["case"]: row for row in beside["results"] if row["peer"]} if beside else {}
    if beside:
        titles += [f"{beside['threads']} threads: svod ms", "ratio", "quartiles"]
    rows = [titles, ["---"] * len(titles)]
    for row in results["results"]:
        if row["peer"]:
            more = [cells(others[row["case"]], False) if row["case"] in others else ["", "", ""]] if beside else []
            rows.append([row["case"], *cells(row, True), *sum(more, [])])
    return ["|" + "|".join(r) + "|" if r[0] == "---" else "| " + " | ".join(r) + " |" for r in rows]


def write(results, beside, path):
    """Between the two marks of a page that has them; otherwise the table is the file."""
    page = ""
    if os.path.exists(path):
        with open(path) as f:
            page = f.read()
    before, mark, after = page.partition(BEGIN + "\n")
    _, end, after = after.partition(END + "\n")
    if mark and not end:
        raise RuntimeError(f"{path} has no line '{END}': nothing is written")
    lines = "\n".join([heading(results), "", *table(results, beside), ""])
    with open(path, "w") as f:
        f.write(f"{before}{BEGIN}\n{lines}{END}\n{after}" if mark else lines)
