#!/usr/bin/env python3
"""Includes go downward only: checks #include lines, CMake DEPS and source lists against lib/layers.txt, which allows what
is used and nothing else.

usage: lint_layers.py [ROOT]
"""
import re
import sys
from pathlib import Path

from lint_common import CODE_FOLDERS, Report, sources

LAYERS = "lib/layers.txt"
CHECKS = ("layers", "include", "deps", "sources", "one-type", "idle", "target-name")
TYPE = re.compile(r"^(?:struct|class|enum|enum class) (\w+)(?: final)?\s*(?::|\{|$)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


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


def check_include(root, path, number, quote, text, room, layers, report):
    """The room that is included, where it is another one."""
    if quote == "<":
        if text.split("/")[0] == "svod" or included_room(text, layers) is None:
            return None
        report.error("include", path, number, f"<{text}> is a file of this project: write it with quotes")
    if text.startswith(("lib/", "../", "./")):
        report.error("include", path, number, f'"{text}": write includes as "room/file.h"')
        return None
    target = included_room(text, layers)
    if target is None:
        if not (root / path.parent / text).exists():
            report.error("include", path, number,
                         f'"{text}" names no room of {LAYERS}; use <...> for files of other projects')
        return None
    if target != room and target not in layers[room]:
        report.error("include", path, number,
                     f"'{room}' may not include '{target}' (\"{text}\"): move the code to a room below, pass the "
                     f"value in, or add '{target}' to the '{room}' line of {LAYERS} if it lies below")
    return target if target != room else None


def check_linked(cmake, text, call, room, layers, report):
    """Libraries of other rooms by their full names: what DEPS would say, past its check."""
    for name in re.findall(r"\bsvod_([\w-]+)", call.group(0)):
        owner = max((other for other in layers if name == other or name.startswith(other + "_")), key=len, default=room)
        if owner != room and owner not in layers[room]:
            report.error("deps", cmake, text.count("\n", 0, call.start()) + 1,
                         f"svod_{name} is linked: the '{room}' line of {LAYERS} does not list '{owner}'")


def check_cmake(root, folder, room, layers, report):
    """DEPS stay within the layers, and every source file of the room is built. The rooms that DEPS name, or None."""
    cmake = folder / "CMakeLists.txt"
    if not (root / cmake).exists():
        return None
    named = set()
    text = re.sub(r"#[^\n]*", "", (root / cmake).read_text())
    for own in sorted((root / folder).glob("*/CMakeLists.txt")):  # whose names are of its folder
        calls = re.sub(r"#[^\n]*", "", own.read_text())
        text += re.sub(r"[\w/.-]+\.(?:cpp|c)\b", lambda name: f"{own.parent.name}/{name.group()}", calls)
    for call in re.finditer(r"\b(?:target_link_libraries\s*\(|LIBS\b)[^)]*\)", text):
        check_linked(cmake, text, call, room, layers, report)
    for call in re.finditer(r"\bsvod_(?:library|tool)\s*\(([^)]*)\)", text):
        line = text.count("\n", 0, call.start()) + 1
        deps = re.search(r"\bDEPS\b(.*?)(?:\b(?:LIBS|SOURCES|COMPONENT)\b|$)", call.group(1), re.S)
        for dep in deps.group(1).split() if deps else []:
            dep = dep if dep in layers or f"tools/{dep}" not in layers else f"tools/{dep}"
            named.add(dep)
            if dep not in layers[room]:
                report.error("deps", cmake, line, f"DEPS {dep}: the '{room}' line of {LAYERS} does not list '{dep}'")
    for path in sources(root, [folder], {".cpp", ".c"}):
        listed = path.relative_to(folder)
        if not re.search(rf"(?<![\w/.-]){re.escape(str(listed))}(?![\w.-])", text):
            report.error("sources", path, 1, f"not built: add {listed} to SOURCES in {cmake}")
    return named


def check_idle(room, included, named, layers, report):
    """What a room may include it does include, and DEPS are what it includes."""
    for other in sorted(layers[room] - included):
        report.error("idle", LAYERS, 1, f"'{room}' includes nothing of '{other}': take it out of the line", room)
    for other in sorted((named or set()) - included):
        report.error("idle", LAYERS, 1, f"DEPS of '{room}' name '{other}', of which it includes nothing", room)
    for other in sorted(included - named if named is not None else set()):
        report.error("idle", LAYERS, 1, f"'{room}' includes '{other}', which its DEPS do not name", room)


def device_targets(root):
    """Folders of targets whose kernels run on devices: those of the host, cpu and c, are words of every program."""
    return [path.parent.name for path in sorted((root / "lib/target").glob("*/target.cpp"))
            if "DeviceKind::Cpu" not in path.read_text()]


def check_target_names(root, names, report):
    """A target stands in its folder, its row and its component; rows lead everything else to it."""
    if not names:
        return
    word = re.compile(rf"(?<![a-z])(?:{'|'.join(names)})(?![a-z])", re.I)
    for path in sources(root, CODE_FOLDERS + ("cmake", "python"), {".cpp", ".h", ".c", ".def", ".cmake", ".py", ".txt"}):
        parts = path.parts
        if str(path) == LAYERS or (parts[:2] == ("lib", "target") and (parts[2] in names or len(parts) == 3)) or parts[0].removeprefix("runtime-") in names:
            continue
        comment = r"#.*" if path.suffix in (".cmake", ".py", ".txt") else r"//.*|/\*(?s:.*?)\*/"
        text = re.sub(comment, lambda m: re.sub(r"[^\n]", " ", m.group(0)), (root / path).read_text())
        for number, line in enumerate(text.splitlines(), 1):
            if match := word.search(line):
                report.error("target-name", path, number, f"'{match.group(0)}' is a target: ask the rows of lib/target/target.h")


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
    owners, included = {}, {room: set() for room in layers}
    for path in sources(root, CODE_FOLDERS):
        room = room_of(path, layers)
        if room not in layers:
            report.error("layers", path, 1, f"its folder is no room: add it to {LAYERS}")
            continue
        if path.suffix == ".h":
            check_type_names(root, path, room, owners, report)
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            if match := INCLUDE.match(line):
                included[room].add(check_include(root, path, number, *match.groups(), room, layers, report))
    for room in layers:
        folder = Path("lib") / room if (root / "lib" / room).is_dir() else Path(room)
        named = check_cmake(root, folder, room, layers, report)
        check_idle(room, included[room] - {None}, named, layers, report)
    check_target_names(root, device_targets(root), report)
    return report.finish(CHECKS)


if __name__ == "__main__":
    sys.exit(main())
