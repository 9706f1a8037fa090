"""What programs that are linked with a C library rely on, as text: its functions with their parameters, layouts, the name of the library."""
import re
import subprocess
import tempfile
from pathlib import Path


def output(*words):
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True).stdout


def members(body):
    """Names in the body of a struct, which may be pointers to functions, arrays, or several of one type."""
    for declaration in filter(None, map(str.strip, body.split(";"))):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        yield from [pointer[1]] if pointer else (re.findall(r"\w+", re.sub(r"\[.*", "", part))[-1] for part in declaration.split(","))


class Interface:
    """A header that says all of it, in the first of the folders that its programs include, and the shared library."""

    def __init__(self, header, includes, shared):
        self.header, self.includes, self.shared = header, includes, shared
        self.text = re.sub(r"/\*.*?\*/", " ", (includes[0] / header).read_text(), flags=re.S)

    def prototypes(self):
        """One line per function, in the order of the header."""
        return [" ".join(text.split()) for text in re.findall(r"^SVOD_API ([^;]+);", self.text, re.M)]

    def functions(self):
        return sorted(re.search(r"(svod_\w+)\(", text)[1] for text in self.prototypes())

    def layouts(self, lines):
        """Sizes and offsets as the C compiler of this machine has them; `lines` print what else matters."""
        lines = list(lines)
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", self.text, re.S):
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            lines += [f'printf("  {m} %zu+%zu\\n", offsetof({name}, {m}), sizeof((({name}*)0)->{m}));' for m in members(body)]
        for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\} \1;", self.text, re.S):
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            lines += [f'printf("  {word} %d\\n", (int){word});' for word in re.findall(r"[A-Za-z]\w*", body)]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "layouts.c"
            source.write_text(f"#include <stdio.h>\n#include <{self.header}>\nint main(void) {{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
            output("cc", *(word for folder in self.includes for word in ("-I", folder)), source, "-o", Path(folder) / "layouts")
            return output(Path(folder) / "layouts").splitlines()

    def present(self, made_by, lines=()):
        soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", self.shared))[1]
        return "\n".join([f"# Made by {made_by} --update, on x86-64.", soname, *self.prototypes(), *self.layouts(lines), ""])

    def exported(self):
        return sorted(line.split()[-1] for line in output("nm", "-D", "--defined-only", self.shared).splitlines())
