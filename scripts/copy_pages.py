#!/usr/bin/env python3
"""Copies what users read, README.md, docs/ and the licenses, for packages: links to files that these do not have become plain text.
The folder html has the same pages as HTML.

usage: copy_pages.py OUTPUT    whose folder `examples` will have those of the repository
"""
import posixpath
import re
import shutil
import sys
from pathlib import Path

from html_pages import html_page
from lint_docs import LINK

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY.md", "docs"]


def is_copied(path):
    return any(path.is_relative_to(ROOT / name) for name in [*PAGES, "examples"])


def for_packages(page):
    """The text of a page, whose links lead to copied files or to the web."""
    def link(match):
        target = re.search(r"\]\(([^)#]*)", match[0])[1]
        leads = not target or ":" in target or is_copied((page.parent / target).resolve())
        return match[0] if leads else match[1]
    return LINK.sub(link, page.read_text())


def write_html(output, page):
    others = [name for name in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")] if is_copied(name)]
    paths = {posixpath.relpath(other, page.parent) for other in [*others, *(ROOT / "docs").glob("*.svg")]}
    copy = output / "html" / page.relative_to(ROOT).with_suffix(".html")
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(html_page(for_packages(page), paths))


def main(output):
    shutil.rmtree(output, ignore_errors=True)
    for name in PAGES:
        for file in [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).iterdir()):
            copy = output / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".md":
                copy.write_text(for_packages(file))
                write_html(output, file)
            else:
                shutil.copyfile(file, copy)
    for picture in sorted((ROOT / "docs").glob("*.svg")):
        shutil.copyfile(picture, output / "html/docs" / picture.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
