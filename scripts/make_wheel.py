#!/usr/bin/env python3
"""The wheel with everything that a build installs: svodc, svod-run, libraries, headers, the CMake package, pages and examples.

usage: make_wheel.py BUILD-FOLDER OUTPUT-FOLDER

Programs are those of BUILD-FOLDER/relocatable where it has them, as build/test has, and those that `cmake --install` puts there
otherwise. Its tag names the oldest glibc with which all of them run.
"""
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = ("svodc", "svod-run")
SYSTEM = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}  # what every Linux with glibc has


def stage(build, prefix):
    """What the wheel has beside the Python package."""
    for component in ("runtime", "dev", "compiler"):
        subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--strip", "--component", component], check=True, stdout=subprocess.DEVNULL)
    for file in prefix.rglob("*svod-opt*"):  # a tool of those who work on svod
        file.unlink()
    for name in PROGRAMS:
        if (build / "relocatable" / name).exists():
            subprocess.run(["strip", "-o", prefix / "bin" / name, build / "relocatable" / name], check=True)


def platform_tag(prefix):
    """By the newest version of glibc that a program or library asks for."""
    newest = (2, 5)
    for file in sorted(path for path in prefix.rglob("*") if path.is_file() and path.open("rb").read(4) == b"\x7fELF"):
        said = subprocess.run(["readelf", "--dynamic", "--version-info", "--wide", file], check=True, capture_output=True, text=True).stdout
        others = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said)) - SYSTEM
        if others:
            sys.exit(f"make_wheel.py: {file.name} needs {', '.join(sorted(others))}, which other systems lack: build the preset package")
        newest = max([newest, *((int(major), int(minor)) for major, minor in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", said))])
    return f"manylinux_{newest[0]}_{newest[1]}_{platform.machine()}"


def main(build, output):
    sys.path.insert(0, str(build / "python"))
    import svod_wheel
    version = (build / "python/version").read_text().strip()
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder)
        stage(build, prefix)
        print(Path(output) / svod_wheel.make(prefix, version, output, platform_tag(prefix)))


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
