#!/usr/bin/env python3
"""Pages that are easy to read: words per sentence, words per table cell, links that lead somewhere.

usage: lint_docs.py [ROOT] [--verbose]    --verbose also prints the figures of every page and its longest sentences
"""
import re
import sys
from pathlib import Path

from lint_common import Report

MEAN_WORDS = 18        # of the sentences of a page
NINE_TENTHS_WORDS = 28  # nine of ten sentences have at most so many words
CELL_WORDS = 40        # of a cell of a table
CHECKS = ("sentence-length", "cell-length", "link", "repeated")

FENCE = re.compile(r"^( *)(```|~~~)[^\n]*\n.*?^\1\2[ \t]*$", re.S | re.M)
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE = re.compile(r"``.+?``|`[^`\n]+(?:\n[^`\n]+)?`")
TESTS = re.compile(r'`[^`\n]+` "[^"]+"(?:, "[^"]+")*')  # a file of tests and names of some of them
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# Where a sentence ends: a mark, perhaps with closing brackets or quotes, before a blank. A lone letter and `..` end none.
END = re.compile(r"(?<!\.\.)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)[.!?][)\"'*_]*(?=\s|$)")
PATH = re.compile(r"`((?:lib|docs|tests|tools|cmake|scripts|runtime-min)/(?!ROOM)[\w./-]+\.\w+)`")


def pages(root):
    """Every page that a reader is led to, sorted."""
    found = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "lib/README.md", "examples/README.md")]
    return sorted([page for page in found if page.exists()] + list((root / "docs").glob("*.md")))


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def prose(text):
    """The text without code blocks and comments; line numbers stay."""
    return COMMENT.sub(blank, FENCE.sub(blank, text))


def words(text):
    """How many words there are. A span of code counts as one, and so do tests with their file; a link's target as none."""
    text = LINK.sub(r"\1", CODE.sub("code", TESTS.sub("tests", text)))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def paragraphs(text):
    """(first line, text) of paragraphs and items of lists; neither headings nor tables."""
    first, gathered = 0, []
    for number, line in enumerate([*prose(text).splitlines(), ""], 1):
        stripped = line.strip().lstrip("> ")
        starts = re.match(r"(?:[-*+]|\d+\.)\s+", stripped)
        if gathered and (not stripped or starts or stripped[0] in "|#"):
            yield first, " ".join(gathered)
            gathered = []
        if not stripped or stripped[0] in "|#":
            continue
        if not gathered:
            first = number
        gathered.append(stripped[starts.end():] if starts else stripped)


def sentences(text):
    """(line on which its paragraph begins, words, sentence) of every sentence with two words or more."""
    for line, paragraph in paragraphs(text):
        covered = CODE.sub(lambda m: "`" + "x" * (len(m.group(0)) - 2) + "`", paragraph)
        start = 0
        for end in [*(m.end() for m in END.finditer(covered)), len(paragraph)]:
            sentence = paragraph[start:end].strip()
            start = end
            if (count := words(sentence)) > 1:
                yield line, count, sentence


def cells(text):
    """(line, cell) of every cell of a table."""
    for number, line in enumerate(prose(text).splitlines(), 1):
        if line.startswith("|"):
            covered = CODE.sub(lambda m: m.group(0).replace("|", "\0"), line.replace("\\|", "\0"))
            for cell in covered.strip().strip("|").split("|"):
                yield number, cell.replace("\0", "|")


def anchors(text):
    """The names of the headings of a page, as links write them."""
    found = {}
    for heading in re.findall(r"^#+ +(.*?) *$", FENCE.sub(blank, text), re.M):
        plain = re.sub(r"[^\w\- ]", "", LINK.sub(r"\1", heading).lower()).strip().replace(" ", "-")
        count = found[plain] = found.get(plain, -1) + 1
        yield f"{plain}-{count}" if count else plain
    yield from re.findall(r'<a (?:id|name)="([^"]+)"', text)


def check_sentences(path, text, report, verbose):
    found = sorted(sentences(text), key=lambda row: row[1])
    if not found:
        return
    counts = [count for _, count, _ in found]
    mean, tenth = sum(counts) / len(counts), counts[(len(counts) * 9 + 9) // 10 - 1]
    if verbose:
        print(f"{path}: {len(counts)} sentences, mean {mean:.1f} words, nine tenths at most {tenth}")
    longest = f"; the longest has {counts[-1]}: {found[-1][2][:60]}.."
    if mean > MEAN_WORDS:
        report.error("sentence-length", path, found[-1][0], f"{mean:.1f} words per sentence, at most {MEAN_WORDS}{longest}")
    if tenth > NINE_TENTHS_WORDS:
        report.error("sentence-length", path, found[-1][0],
                     f"one sentence in ten has {tenth} words or more, at most {NINE_TENTHS_WORDS}{longest}")
    for line, count, sentence in found if verbose else ():
        if count > NINE_TENTHS_WORDS:
            report.warn("sentence-length", path, line, f"{count} words: {sentence[:90]}")


def check_cells(path, text, report):
    for line, cell in cells(text):
        if (count := words(cell)) > CELL_WORDS:
            report.error("cell-length", path, line,
                         f"a cell of {count} words, at most {CELL_WORDS}: say it in a paragraph; {cell.strip()[:60]}..")


def check_links(root, path, text, report):
    plain = CODE.sub(blank, prose(text))
    for match in re.finditer(r"\]\(([^)\s]+)\)", plain):
        line = plain.count("\n", 0, match.start()) + 1
        target, _, anchor = match.group(1).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        leads = (root / path).parent / target if target else root / path
        if not leads.exists():
            report.error("link", path, line, f"'{target}' does not exist")
        elif anchor and leads.suffix == ".md" and anchor not in anchors(leads.read_text()):
            report.error("link", path, line, f"'{match.group(1)}': that page has no heading '{anchor}'")
    for match in PATH.finditer(prose(text)):
        if not (root / match.group(1)).exists():
            report.error("link", path, text.count("\n", 0, match.start()) + 1, f"'{match.group(1)}' does not exist")


def check_repeated(path, text, report):
    seen = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## ") or len(line) > 100:
            if line in seen:
                report.error("repeated", path, number, f"the same line as {seen[line]}: say it once")
            seen.setdefault(line, number)


def main():
    verbose = "--verbose" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--verbose"]
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    report = Report(root)
    for page in pages(root):
        path, text = page.relative_to(root), page.read_text()
        check_sentences(path, text, report, verbose)
        check_cells(path, text, report)
        check_links(root, path, text, report)
        check_repeated(path, text, report)
    return report.finish(CHECKS, verbose)


if __name__ == "__main__":
    sys.exit(main())
