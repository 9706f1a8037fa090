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
    parser.add_argument("--new", action="store_true", help="only what has no result, so that a run that was cut goes on")
    parser.add_argument("--export-only", action="store_true",
                        help="export and run ONNX Runtime, but compile nothing")
    parser.add_argument("--kept", action="store_true", help="check again what was exported, and load no library to export")
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


def chosen(names, options):
    """Those of MODEL/EXPORTER/FORM that the options name, in the order of the patterns of `only`."""
    found = [
        n for p in options.only.split(",") for n in names
        if fnmatch.fnmatch(n, p) or fnmatch.fnmatch(n.split("/")[0], p)
    ]

    def wanted(name):
        known = report.read(options.work / name)
        return not (options.failed and report.passed(known)) and not (options.new and known)

    return [n for n in dict.fromkeys(found) if wanted(n)]


class Exports:
    """What the rows are exported to: all of it, made where it is not there yet."""

    def __init__(self, options, libraries):
        from zoo.export import Exporter, stamp_of      # these need the libraries
        from zoo.rows import ROWS
        self.work, self.libraries, self.stamp_of = options.work, libraries, stamp_of
        self.rows = {row.name: row for row in ROWS}
        self.exporter = Exporter(options.seconds * 2, int(options.memory * 2**31))
        self.names = [f"{row.name}/{exporter}/{form}" for row in ROWS for exporter, form in row.variants]

    def made(self, name):
        """What became of the export of a variant, and of the one it is made from."""
        model, exporter, form = name.split("/")
        row, base_folder = self.rows[model], None
        rows = [row]
        if isinstance(row, Derived):
            rows.append(self.rows[row.base])
            base_folder = self.work / row.base / exporter / form
            made = self.made(f"{row.base}/{exporter}/{form}")
            if "exporter" in made:
                return made | {"family": row.family}
        stamp = self.stamp_of(rows, exporter, form, self.libraries)
        return self.exporter.export(row, exporter, form, self.work / name, base_folder, stamp)


class Kept:
    """What was exported before; needs none of the libraries."""

    def __init__(self, work):
        self.work = work
        self.names = ["/".join(p.relative_to(work).parts[:3]) for p in sorted(work.glob("*/*/*/export.json"))]

    def made(self, name):
        return json.loads((self.work / name / "export.json").read_text())


def checked(checker, folder, made):
    """The result of a variant; where it fails, once more with the bounds that its cases have."""
    for stage in ("exporter", "onnxruntime"):
        if stage in made and not (folder / "cases").exists():
            return {"failed": stage, "message": made[stage]}
    reference = {"reference": "PyTorch" if "onnxruntime" in made else "ONNX Runtime"}
    flags = made["flags"]
    result = checker.check(folder, made["tolerance"], flags)
    given = {flag.split("=")[0] for flag in flags}
    bounds = [
        x for name, (low, high) in made["sizes"].items() if name not in given
        for x in ("--var", f"{name}={low}:{high}")
    ]
    if "failed" in result and bounds:
        again = checker.check(folder, made["tolerance"], [*flags, *bounds])
        return reference | again | {"flags": " ".join([*flags, *bounds]), "without": result["message"]}
    return reference | result | ({"flags": " ".join(flags), "without": "not tried"} if flags else {})


def run(checker, work, name, made):
    folder = work / name
    folder.mkdir(parents=True, exist_ok=True)
    result = {"family": made["family"]} | checked(checker, folder, made)
    (folder / "result.json").write_text(json.dumps(result))
    print(f"{name:50} {report.line(result)}", flush=True)
    return report.passed(result) or not report.counts(result)


def main():
    options = arguments()
    try:
        libraries = versions()
    except ImportError as error:
        sys.exit(f"models.py: {error}")
    if not options.work:
        sys.exit("models.py: --work FOLDER says where exported models are kept")
    good = True
    if not options.report:
        from zoo.check import Checker
        exports = Kept(options.work) if options.kept else Exports(options, libraries)
        checker = Checker(options.svodc or options.bin / "svodc", options.svod_run or options.bin / "svod-run",
                          options.seconds, int(options.memory * 2**30), options.cache_dir)
        for name in chosen(exports.names, options):
            if options.list:
                print(name)
            elif options.export_only:
                exports.made(name)
            else:
                good &= run(checker, options.work, name, exports.made(name))
    report.write(options.work, libraries, options.json, options.markdown)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
