#!/usr/bin/env python3
"""Includes go downward only: checks #include lines, CMake DEPS and source lists against lib/layers.txt.

usage: lint_layers.py [ROOT]
"""
import re
import sys
from pathlib import Path

from lint_common import CODE_FOLDERS, Report, sources

LAYERS = "lib/layers.txt"
CHECKS = ("layers", "include", "deps", "sources", "one-type")
TYPE = re.compile(r"^(?:struct|class|enum|enum class) (\w+)(?: final)?\s*(?::|\{|$)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def read_layers(root, report):
    """Room -> rooms it may include, in file order. A room lists only rooms above its own line."""
    layers = {}
    for number, line in enumerate((root / LAYERS).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        room, _, below = line.partition(":")
        for other in below.split():
            if other not in layers:
                report.error("layers", LAYERS, number, f"'{room}' lists '{other}', which no line above it defines")
        layers[room.strip()] = set(below.split())
    return layers


def room_of(path, layers):
    """The room a repository path lies in: lib/ROOM/..., or the longest listed folder (tools/svodc/...)."""
    parts = Path(path).parts
    if parts[0] == "lib":
        return parts[1] if len(parts) > 2 else None
    for length in range(len(parts) - 1, 0, -1):
        if "/".join(parts[:length]) in layers:
            return "/".join(parts[:length])
    return None


def included_room(text, layers):
    """The room an include text such as "ir/uop.h" names, or None."""
    parts = text.split("/")
    if parts[0] == "svod":  # runtime-min/include/svod: the installed header
        return "runtime-min" if "runtime-min" in layers else None
    for length in range(len(parts) - 1, 0, -1):
        if "/".join(parts[:length]) in layers:
            return "/".join(parts[:length])
    return None


def check_include(root, path, number, text, room, layers, report):
    if text.startswith(("lib/", "../", "./")):
        report.error("include", path, number, f'"{text}": write includes as "room/file.h"')
        return
    target = included_room(text, layers)
    if target is None:
        if not (root / path.parent / text).exists():
            report.error("include", path, number,
                         f'"{text}" names no room of {LAYERS}; use <...> for files of other projects')
        return
    if target != room and target not in layers[room]:
        report.error("include", path, number,
                     f"'{room}' may not include '{target}' (\"{text}\"): move the code to a room below, pass the "
                     f"value in, or add '{target}' to the '{room}' line of {LAYERS} if it lies below")


def check_cmake(root, folder, room, layers, report):
    """DEPS stay within the layers, and every source file of the room is built."""
    cmake = folder / "CMakeLists.txt"
    if not (root / cmake).exists():
        return
    text = re.sub(r"#[^\n]*", "", (root / cmake).read_text())
    for own in sorted((root / folder).glob("*/CMakeLists.txt")):  # whose names are of its folder
        calls = re.sub(r"#[^\n]*", "", own.read_text())
        text += re.sub(r"[\w/.-]+\.(?:cpp|c)\b", lambda name: f"{own.parent.name}/{name.group()}", calls)
    for call in re.finditer(r"\bsvod_(?:library|tool)\s*\(([^)]*)\)", text):
        line = text.count("\n", 0, call.start()) + 1
        deps = re.search(r"\bDEPS\b(.*?)(?:\bLIBS\b|\bSOURCES\b|$)", call.group(1), re.S)
        for dep in deps.group(1).split() if deps else []:
            if dep not in layers[room]:
                report.error("deps", cmake, line, f"DEPS {dep}: the '{room}' line of {LAYERS} does not list '{dep}'")
    for path in sources(root, [folder], {".cpp", ".c"}):
        listed = path.relative_to(folder)
        if not re.search(rf"(?<![\w/.-]){re.escape(str(listed))}(?![\w.-])", text):
            report.error("sources", path, 1, f"not built: add {listed} to SOURCES in {cmake}")


def check_type_names(root, path, room, owners, report):
    """All rooms share one namespace and meet in one program, where equal names would be one type to the linker."""
    for name in TYPE.findall((root / path).read_text()):
        owner = owners.setdefault(name, (room, path))
        if owner[0] != room:
            report.error("one-type", path, 1, f"'{name}' is also a type of '{owner[0]}' ({owner[1]}): rename one", name)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    report = Report(root)
    layers = read_layers(root, report)
    owners = {}
    for path in sources(root, CODE_FOLDERS):
        room = room_of(path, layers)
        if room not in layers:
            report.error("layers", path, 1, f"its folder is no room: add it to {LAYERS}")
            continue
        if path.suffix == ".h":
            check_type_names(root, path, room, owners, report)
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            if match := INCLUDE.match(line):
                check_include(root, path, number, match.group(1), room, layers, report)
    for room in layers:
        folder = Path("lib") / room if (root / "lib" / room).is_dir() else Path(room)
        check_cmake(root, folder, room, layers, report)
    return report.finish(CHECKS)


if __name__ == "__main__":
    sys.exit(main())
