"""What the lint scripts share: the files they look at, the allow list and how findings are reported."""
import re
import sys
from pathlib import Path

SOURCE_SUFFIXES = {".cpp", ".h", ".c", ".def", ".inc"}
COMPONENTS = tuple(sorted(path.name for path in Path(__file__).resolve().parent.parent.glob("runtime-*")))
CODE_FOLDERS = ("lib", *COMPONENTS, "tools")
ALLOW_FILE = "scripts/lint_allow.txt"


def sources(root, folders, suffixes=frozenset(SOURCE_SUFFIXES)):
    """Files under the folders, sorted, as paths relative to root."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(root)


def blank_comments_and_strings(text):
    """The same text with comments and the insides of literals replaced by spaces; line numbers stay."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
        re.S)

    def blank(match):
        piece = match.group(0)
        if piece[0] in "\"'":
            return piece[0] + re.sub(r"[^\n]", " ", piece[1:-1]) + piece[-1]
        return re.sub(r"[^\n]", " ", piece)

    return token.sub(blank, text)


class Report:
    """Collects findings. An allow-list line is `check path[:name] reason`; one that hides nothing is an error."""

    def __init__(self, root):
        self.errors = []
        self.warnings = []
        self.allowed = {}
        self.used = set()
        path = root / ALLOW_FILE
        for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
            words = line.split(None, 2)
            if not words or words[0].startswith("#"):
                continue
            if len(words) < 3:
                self.errors.append(f"{ALLOW_FILE}:{number}: error: write `check path[:name] reason`")
                continue
            self.allowed[(words[0], words[1])] = number

    def error(self, check, path, line, message, name=""):
        key = (check, f"{path}:{name}" if name else str(path))
        if key in self.allowed:
            self.used.add(key)
        else:
            self.errors.append(f"{path}:{line}: error: {message} [{check}]")

    def warn(self, check, path, line, message):
        self.warnings.append(f"{path}:{line}: warning: {message} [{check}]")

    def finish(self, checks, verbose=False):
        for key, number in self.allowed.items():
            if key[0] in checks and key not in self.used:
                self.errors.append(f"{ALLOW_FILE}:{number}: error: nothing left to allow here; delete the line")
        if verbose:
            print("\n".join(self.warnings))
        elif self.warnings:
            print(f"{Path(sys.argv[0]).name}: {len(self.warnings)} warnings (--verbose shows them)")
        if self.errors:
            print("\n".join(self.errors), file=sys.stderr)
        return 1 if self.errors else 0
