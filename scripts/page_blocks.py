"""A page of Markdown as blocks, and what stands inside of lines as spans: what HTML and man pages are made of."""
import re

SPAN = re.compile(r"(?P<code>``.+?``|`[^`]+`)|(?P<link>!?\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]*)\))|\*\*(?P<bold>.+?)\*\*", re.S)
ITEM = re.compile(r"^( *)(?:[-*+]|(\d+)\.) +(.*)$")
FENCE = re.compile(r"^( *)(```|~~~)")


def cells(line):
    covered = re.sub(r"``.+?``|`[^`]+`", lambda m: m[0].replace("|", "\0"), line.strip().replace("\\|", "\0"))
    return [cell.strip().replace("\0", "|") for cell in covered.removeprefix("|").removesuffix("|").split("|")]


def blocks(text):
    """("heading", level, text), ("code", text), ("table", rows), ("list", is_numbered, items), ("html", text), ("text", text)."""
    lines, at = re.sub(r"<!--.*?-->", "", text, flags=re.S).splitlines(), 0

    def taken(goes_on):
        nonlocal at
        start = at
        while at < len(lines) and goes_on(lines[at]):
            at += 1
        return lines[start:at]

    def begins(line):
        return not line.strip() or FENCE.match(line) or ITEM.match(line) or line.startswith(("#", "|"))

    while at < len(lines):
        line = lines[at]
        if fence := FENCE.match(line):
            at += 1
            body = taken(lambda each: not each.strip().startswith(fence[2]))
            at += 1
            yield "code", "\n".join(each.removeprefix(fence[1]) for each in body)
        elif heading := re.match(r"(#+) +(.*)", line):
            at += 1
            yield "heading", len(heading[1]), heading[2].strip()
        elif line.startswith("|"):
            rows = [cells(each) for each in taken(lambda each: each.startswith("|"))]
            yield "table", [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
        elif item := ITEM.match(line):
            items = []
            while at < len(lines) and (found := ITEM.match(lines[at])):
                at += 1
                items.append(" ".join([found[3], *(each.strip() for each in taken(lambda each: not begins(each)))]))
            yield "list", item[2] is not None, items
        elif not line.strip():
            at += 1
        elif re.match(r"</?\w", line):
            at += 1
            yield "html", line
        else:
            at += 1
            yield "text", " ".join([line.strip(), *(each.strip() for each in taken(lambda each: not begins(each)))])


def spans(text):
    """("text", text), ("code", text), ("bold", text), ("link", text, target) and ("image", text, target), in order."""
    at = 0
    for found in SPAN.finditer(text):
        if found.start() > at:
            yield "text", text[at:found.start()]
        at = found.end()
        if found["code"]:
            ticks = 2 if found["code"].startswith("``") else 1
            yield "code", found["code"][ticks:-ticks].strip() if ticks == 2 else found["code"][1:-1]
        elif found["link"]:
            yield "image" if found["link"].startswith("!") else "link", found["text"], found["target"]
        else:
            yield "bold", found["bold"]
    if at < len(text):
        yield "text", text[at:]
