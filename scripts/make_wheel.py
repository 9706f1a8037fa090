#!/usr/bin/env python3
"""The wheel with everything that a build installs: svodc, svod-run, libraries, headers, the CMake package, pages and examples. And
a tarball of the same, where it is to be unpacked and not installed: the Python package is its folder python.

usage: make_wheel.py BUILD-FOLDER OUTPUT-FOLDER

Programs are those of BUILD-FOLDER/relocatable where it has them, as build/test has, and those that `cmake --install` puts there
otherwise. Its tag names the oldest glibc with which all of them run.
"""
import gzip
import io
import platform
import re
import subprocess
import sys
import tarfile
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


def entry_of(path, mode):
    """Of nobody and of no time, so that equal contents are equal bytes."""
    entry = tarfile.TarInfo(path)
    entry.mode = mode
    return entry


def write_tarball(files, version, path):
    """`files` are those of the wheel. The folders that the Python package looks into are links to those of the tarball."""
    top = f"svod-{version}"
    with path.open("wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, (data, is_program) in sorted(files.items()):
            folder, _, inner = name.partition("/")
            if folder != "svod" and "/licenses/" not in name:
                continue
            place = Path(name).name if folder != "svod" else inner if "/" in inner else f"python/{name}"
            entry = entry_of(f"{top}/{place}", 0o755 if is_program else 0o644)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for folder in ("bin", "include", "lib", "share"):
            entry = entry_of(f"{top}/python/svod/{folder}", 0o777)
            entry.type, entry.linkname = tarfile.SYMTYPE, f"../../{folder}"
            archive.addfile(entry)


def main(build, output):
    sys.path.insert(0, str(build / "python"))
    import svod_wheel
    version = (build / "python/version").read_text().strip()
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder)
        stage(build, prefix)
        tag = platform_tag(prefix)
        print(Path(output) / svod_wheel.make(prefix, version, output, tag))
        write_tarball(svod_wheel.contents(prefix, version, tag), version, output / f"svod-{version}-{tag}.tar.gz")


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
