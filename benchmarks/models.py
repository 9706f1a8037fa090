#!/usr/bin/env python3
"""Models as PyTorch exports them: compiled by svodc, run by svod-run, compared with ONNX Runtime.

usage: benchmarks/models.py --work FOLDER [--only PATTERN] [--bin FOLDER] [--json FILE] [--markdown FILE]

Every row of benchmarks/zoo is made with random weights from a fixed seed, exported with both exporters, with fixed and
with free sizes, and kept in --work; what did not change is not exported again. Each export, compilation and run is a process
with a limit of time and memory. Needs torch, torchvision, transformers, timm, diffusers, onnx, onnxscript and
onnxruntime, and no network. Exits with 1 when a model that ONNX Runtime runs is not compiled and run alike.
"""
import argparse
import fnmatch
import json
import sys
from pathlib import Path

from zoo import report
from zoo.model import Derived, versions


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, help="folder of exported models and results")
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"),
                        help="folder of svodc and svod-run")
    parser.add_argument("--svodc", type=Path, help="instead of the one in --bin")
    parser.add_argument("--svod-run", type=Path, help="instead of the one in --bin")
    parser.add_argument("--only", default="*",
                        help="pattern (or several, with commas) of MODEL or MODEL/EXPORTER/FORM")
    parser.add_argument("--failed", action="store_true", help="only what is not known to pass")
    parser.add_argument("--export-only", action="store_true",
                        help="export and run ONNX Runtime, but compile nothing")
    parser.add_argument("--report", action="store_true", help="run nothing; --json and --markdown of what is known")
    parser.add_argument("--list", action="store_true", help="print the variants and stop")
    parser.add_argument("--cache-dir", type=Path, help="a cache of kernels for svodc; default: none")
    parser.add_argument("--seconds", type=int, default=300,
                        help="limit of one process, of processor time for svodc and svod-run")
    parser.add_argument("--memory", type=float, default=8, help="limit of one process in GiB")
    parser.add_argument("--json", type=Path, help="write all results of --work to a file")
    parser.add_argument("--markdown", type=Path,
                        help="write all results of --work into the place for them in a file")
    return parser.parse_args()


def variants(rows, only, failed, work):
    """(row, exporter, form) of the rows that `only` names, in the order of its patterns."""
    all_of_them = [(row, exporter, form) for row in rows for exporter, form in row.variants]
    names = {f"{row.name}/{exporter}/{form}": (row, exporter, form) for row, exporter, form in all_of_them}
    chosen = [
        n for p in only.split(",") for n in names
        if fnmatch.fnmatch(n, p) or fnmatch.fnmatch(n.split("/")[0], p)
    ]
    return [names[n] for n in dict.fromkeys(chosen) if not (failed and report.passed(report.read(work / n)))]


class Runner:
    """Exports and checks variants, and keeps the result of each in its folder."""

    def __init__(self, options, rows, libraries):
        from zoo.check import Checker      # needs what `versions` asks for, as do the rows
        from zoo.export import Exporter
        self.work, self.rows = options.work, {row.name: row for row in rows}
        memory = int(options.memory * 2**30)
        self.exporter = Exporter(options.seconds * 2, memory * 2)
        self.checker = Checker(options.svodc or options.bin / "svodc", options.svod_run
                               or options.bin / "svod-run", options.seconds, memory, options.cache_dir)
        self.libraries = libraries

    def exported(self, row, exporter, form):
        """What became of the export of a row, and of the one it is made from."""
        base_folder, rows = None, [row]
        if isinstance(row, Derived):
            base = self.rows[row.base]
            made = self.exported(base, exporter, form)
            if "exporter" in made:
                return made
            base_folder = self.work / base.name / exporter / form
            rows.append(base)
        from zoo.export import stamp_of
        stamp = stamp_of(rows, exporter, form, self.libraries)
        return self.exporter.export(row, exporter, form, self.work / row.name / exporter / form, base_folder,
                                    stamp)

    def result(self, row, exporter, form, export_only):
        folder = self.work / row.name / exporter / form
        made = self.exported(row, exporter, form)
        for stage in ("exporter", "onnxruntime"):
            if stage in made and not (folder / "cases").exists():
                return {"failed": stage, "message": made[stage]}
        if export_only:
            return {"failed": "not compiled", "message": ""}
        reference = "PyTorch" if "onnxruntime" in made else "ONNX Runtime"
        result = self.checker.check(folder, row.tolerance, row.flags if form == "dynamic" else ())
        if "failed" in result and made["sizes"]:
            bounds = [
                x for name, (low, high) in made["sizes"].items() for x in ("--var", f"{name}={low}:{high}")
            ]
            again = self.checker.check(folder, row.tolerance, (*row.flags, *bounds))
            result = again | {"flags": " ".join(bounds), "without": result["message"]}
        return {"reference": reference} | result

    def run(self, row, exporter, form, export_only):
        result = {"family": row.family} | self.result(row, exporter, form, export_only)
        folder = self.work / row.name / exporter / form
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "result.json").write_text(json.dumps(result))
        return result


def main():
    options = arguments()
    try:
        libraries = versions()
    except ImportError as error:
        sys.exit(f"models.py: {error}")
    if options.report:
        report.write(options.work, libraries, options.json, options.markdown)
        return 0
    from zoo.rows import ROWS
    chosen = list(variants(ROWS, options.only, options.failed, options.work or Path()))
    if options.list:
        print("\n".join(f"{row.name}/{exporter}/{form}" for row, exporter, form in chosen))
        return 0
    if not options.work:
        sys.exit("models.py: --work FOLDER says where exported models are kept")
    runner, good = Runner(options, ROWS, libraries), True
    for row, exporter, form in chosen:
        result = runner.run(row, exporter, form, options.export_only)
        good &= report.passed(result) or not report.counts(result)
        print(f"{row.name + '/' + exporter + '/' + form:50} {report.line(result)}", flush=True)
    report.write(options.work, libraries, options.json, options.markdown)
    return 0 if good or options.export_only else 1


if __name__ == "__main__":
    sys.exit(main())
