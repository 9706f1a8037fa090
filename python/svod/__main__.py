"""python -m svod: where the files of the wheel are, for other builds."""
from __future__ import annotations

import argparse
from pathlib import Path

PREFIX = Path(__file__).resolve().parent
FOLDERS = {"prefix": ("", "bin, lib, include and share: for CMAKE_PREFIX_PATH"), "cmake-dir": ("lib/cmake/svod", "for svod_DIR of find_package(svod)"),
           "pkg-config-dir": ("lib/pkgconfig", "for PKG_CONFIG_PATH")}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m svod", description="Prints where the wheel has its files.")
    which = parser.add_mutually_exclusive_group(required=True)
    for flag, (folder, why) in FOLDERS.items():
        which.add_argument(f"--{flag}", action="store_const", dest="folder", const=folder, help=why)
    folder = PREFIX / parser.parse_args().folder
    if not (PREFIX / "include").exists():
        parser.exit(74, f"{parser.prog}: this package has the runtime alone: install the wheel that ./dev wheel makes\n")
    print(folder)


if __name__ == "__main__":
    main()
