"""The wheel of svod: the package and the libraries of the runtime, in the same bytes each time. Also what pip asks for a wheel.

usage: svod_wheel.py FOLDER-OF-LIBRARIES VERSION OUTPUT-FOLDER
"""
import base64
import hashlib
import platform
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARIES = "libsvod-*.so*"  # the runtime, and components for devices
LICENSES = ("LICENSE", "THIRD-PARTY.md")  # beside the libraries
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


def make(libraries, version, folder):
    """Writes the wheel, and returns its name."""
    tag = f"py3-none-linux_{platform.machine()}"
    info = f"svod-{version}.dist-info"
    files = {f"svod/{path.name}": path.read_bytes() for path in (HERE / "svod").iterdir() if path.suffix == ".py" or path.name == "py.typed"}
    files |= {f"svod/{path.name}": path.read_bytes() for path in Path(libraries).glob(LIBRARIES)}
    files |= {f"{info}/licenses/{name}": (Path(libraries) / name).read_bytes() for name in LICENSES}
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
             for name, data in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    name = f"svod-{version}-{tag}.whl"
    Path(folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if ".so" in path else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: the folder has the library and the version beside this file."""
    return make(HERE, (HERE / "version").read_text().strip(), wheel_directory)


if __name__ == "__main__":
    print(make(*sys.argv[1:]))
