#!/usr/bin/env python3
"""Sizes of files, classes, functions and lines, and things that must not appear in the code.

usage: lint_code.py [ROOT] [--verbose]
"""
import re
import sys
from pathlib import Path

from lint_common import CODE_FOLDERS, COMPONENTS, Report, blank_comments_and_strings, sources

FILE_LINES = (500, 800)      # warn above the first, fail above the second
FUNCTION_LINES = (80, 150)
CLASS_LINES = 200            # of what is shipped, from its first line to its closing brace
LINE_COLUMNS = 120           # rows of tables in .def files may be longer
CHECKS = ("file-length", "class-length", "function-length", "line-length", "environment", "machine-path", "leftover", "pragma-once")

ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\b|\benviron\b|\bargv\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|Users|mnt)/\w")
LEFTOVER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
CLASS = re.compile(r"(?<!enum )\b(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*)?(?:alignas\([^)]*\)\s*)?([\w:]+)(?:\s+final)?\s*(?::(?!:).*)?$", re.S)
NO_FUNCTION = re.compile(r"\b(?:namespace|class|struct|union|enum)\b[^()=]*$|\bextern\b\s*\"|=\s*$")


def braced(text):
    """(what stands in front, first line, number of lines, the same of those around it) of everything in braces."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)
    line, start, stack = 1, 0, []
    for position, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char in ";{}":
            head = text[start:position].strip()
            if char == "{":
                stack.append((head, line - head.count("\n")))
            elif char == "}" and stack:
                opened_by, first = stack.pop()
                yield opened_by, first, line - first + 1, [around for around, _ in stack]
            start = position + 1


def is_function(head):
    return ")" in head and not NO_FUNCTION.search(head)


def functions(text):
    """(name, first line, number of lines) of every outermost braced body that follows a parameter list."""
    for head, first, lines, around in braced(text):
        if is_function(head) and not any(map(is_function, around)):
            name = re.search(r"(operator\s*\S+?|~?\w+)\s*\(", head)
            yield (name.group(1) if name else "lambda", first, lines)


def classes(text):
    """(name, first line, number of lines) of every class, struct and union with a body."""
    for head, first, lines, _ in braced(text):
        if name := CLASS.search(head):
            yield name.group(1), first, lines


def check_sizes(path, text, report):
    lines = text.count("\n")
    if lines > FILE_LINES[1]:
        report.error("file-length", path, 1, f"{lines} lines, at most {FILE_LINES[1]}: split it by theme")
    elif lines > FILE_LINES[0]:
        report.warn("file-length", path, 1, f"{lines} lines")
    if path.suffix in (".def", ".inc"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE_COLUMNS:
            report.error("line-length", path, number, f"{len(line)} columns, at most {LINE_COLUMNS}")
    code = blank_comments_and_strings(text)
    for name, first, length in classes(code) if path.parts[0] in CODE_FOLDERS else ():
        if length > CLASS_LINES:
            report.error("class-length", path, first,
                         f"'{name}' has {length} lines, at most {CLASS_LINES}: what has data or an invariant of its own "
                         "becomes a class of its own, and what has neither a function", name)
    for name, first, length in functions(code):
        if length > FUNCTION_LINES[1]:
            report.error("function-length", path, first,
                         f"'{name}' has {length} lines, at most {FUNCTION_LINES[1]}: name its parts", name)
        elif length > FUNCTION_LINES[0]:
            report.warn("function-length", path, first, f"'{name}' has {length} lines")


def check_lines(path, text, pattern, check, message, report):
    for number, line in enumerate(text.splitlines(), 1):
        if match := pattern.search(line):
            report.error(check, path, number, f"'{match.group(0)}': {message}")


def check_everywhere(root, report):
    """Text of every kind: no path of somebody's machine, no unfinished business."""
    folders = CODE_FOLDERS + ("tests", "cmake", "scripts", "docs", "examples")
    suffixes = {".cpp", ".h", ".c", ".def", ".inc", ".py", ".sh", ".cmake", ".txt", ".md", ".uop", ".svod", ".json"}
    for path in sources(root, folders, suffixes):
        if path.name == Path(__file__).name:
            continue  # holds the patterns themselves
        text = (root / path).read_text(errors="replace")
        check_lines(path, text, MACHINE_PATH, "machine-path", "a path of one machine; pass it in or make it relative", report)
        if path.suffix not in (".md", ".json"):
            check_lines(path, text, LEFTOVER, "leftover", "finish it or open an issue", report)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--verbose"]
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    report = Report(root)
    for path in sources(root, CODE_FOLDERS + ("tests",)):
        text = (root / path).read_text()
        check_sizes(path, text, report)
        if path.suffix == ".h" and "#pragma once" not in text:
            report.error("pragma-once", path, 1, "a header needs #pragma once")
        if path.parts[0] in ("lib", *COMPONENTS):
            check_lines(path, blank_comments_and_strings(text), ENVIRONMENT, "environment",
                        "only tools/ read the command line and the environment; pass the value in", report)
    check_everywhere(root, report)
    return report.finish(CHECKS, "--verbose" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
