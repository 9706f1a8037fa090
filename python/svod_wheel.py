"""The wheel of svod: the package and what a prefix has, in the same bytes each time. Also what pip asks for a wheel.

usage: svod_wheel.py PREFIX VERSION OUTPUT-FOLDER
"""
import base64
import hashlib
import platform
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PARTS = ("bin", "include", "lib", "share")  # of the prefix; they become folders of the package
LICENSES = ("LICENSE", "THIRD-PARTY.md")  # beside this file
METADATA = """Metadata-Version: 2.1
Name: svod
Version: {version}
Summary: Plans of svod: compile a graph, load the plan, run it on arrays
License: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY.md
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: svod\nRoot-Is-Purelib: false\nTag: {tag}\n"
# What pip puts in PATH for a program of the package. It imports nothing of it, and starts in a few ms.
PROGRAM = """#!python
import importlib.util
import os
import signal
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # of `pip install --target`
package = importlib.util.find_spec("svod").submodule_search_locations[0]
for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
    signal.signal(number, signal.SIG_DFL)
os.execv(os.path.join(package, "bin", "{name}"), sys.argv)
"""


def contents(prefix, version, tag):
    """{path in the wheel: (bytes, whether it is a program)}"""
    info = f"svod-{version}.dist-info"
    package = [path for path in (HERE / "svod").iterdir() if path.suffix == ".py" or path.name == "py.typed"]
    files = {f"svod/{path.name}": (path.read_bytes(), False) for path in package}
    for path in (path for part in PARTS for path in (Path(prefix) / part).rglob("*") if path.is_file()):
        name = path.relative_to(prefix)
        files[f"svod/{name}"] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        if name.parts[0] == "bin":
            files[f"svod-{version}.data/scripts/{name.name}"] = (PROGRAM.replace("{name}", name.name).encode(), True)
    files |= {f"{info}/licenses/{name}": ((HERE / name).read_bytes(), False) for name in LICENSES}
    files[f"{info}/METADATA"] = (METADATA.format(version=version).encode(), False)
    files[f"{info}/WHEEL"] = (WHEEL.format(tag=tag).encode(), False)
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
             for name, (data, _) in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*lines, f"{info}/RECORD,,", ""]).encode(), False)
    return files


def make(prefix, version, folder, system=f"linux_{platform.machine()}"):
    """Writes the wheel, and returns its name."""
    tag = f"py3-none-{system}"
    name = f"svod-{version}-{tag}.whl"
    Path(folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (data, is_program) in sorted(contents(prefix, version, tag).items()):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: the folder has the libraries and the version beside this file."""
    return make(HERE, (HERE / "version").read_text().strip(), wheel_directory)


if __name__ == "__main__":
    print(make(*sys.argv[1:]))
