"""The section of docs/cuda.md that says what devices did, from benchmarks/gpu: the newest result of each device.

  page.py [--check]"""
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/cuda.md"
BEGIN, END = "<!-- from benchmarks/gpu, by scripts/gpu_check/page.py -->\n", "<!-- end -->\n"


def newest():
    """Reports by device."""
    reports = {}
    for file in sorted((ROOT / "benchmarks/gpu").glob("*.json"), key=lambda f: (json.loads(f.read_text())["date"], f.name)):
        report = json.loads(file.read_text())
        reports[report["device"].split(",")[1].strip()] = (report, file.name)
    return reports


def steps_table(report):
    yield "| step | result | seconds | |"
    yield "|---|---|---|---|"
    for name, step in report["steps"].items():
        last = step["output"].rstrip().split("\n")[-1].strip().strip("= ") if name not in ("times", "counters", "devices") else ""
        yield f"| {name} | {step['status']} | {step['seconds']} | {last} |"


def times_table(report):
    yield "| case | ms | torch ms | torch / svod | quartiles | TFLOP/s | TB/s | error | of torch |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, row in report.get("times", {}).items():
        if "ratio" not in row:
            continue
        tflops = f"{row['tflops']:.0f}" if row["tflops"] else ""
        tbs = f"{row['tbs']:.2f}" if row["tbs"] else ""
        bar = " (bar " + str(row["bar"]) + ")" if row.get("bar") else ""
        yield (f"| {name} | {row['ms']:.4f} | {row['peer_ms']:.4f} | {row['ratio']:.2f}{bar} | {row['quartiles'][0]:.2f} to {row['quartiles'][1]:.2f} "
               f"| {tflops} | {tbs} | {row['error']:.1e} | {row['peer_error']:.1e} |")


def section():
    reports = newest()
    if not reports:
        return "No kernel has ever run on a GPU.\n"
    parts = []
    for device, (report, file) in sorted(reports.items()):
        parts.append(f"### {device}, {report['date']}\n\nCommit `{report['commit']}`, plans for {report['architecture']} "
                     f"([all of it](../benchmarks/gpu/{file})). {report['device']}.\n\n"
                     + "\n".join(steps_table(report)) + "\n\n" + "\n".join(times_table(report)) + "\n")
    return "\n".join(parts)


def main():
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    wanted = before + BEGIN + "\n" + section() + "\n" + END + after
    if "--check" in sys.argv[1:]:
        if text != wanted:
            print(f"{PAGE} is not what benchmarks/gpu says: scripts/gpu_check/page.py writes it", file=sys.stderr)
        return int(text != wanted)
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
