"""Tables that benchmarks write into the pages of docs: between a line that begins them and one that ends them."""


def table(titles, rows):
    """Lines of Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def write_between(path, begin, end, lines):
    """Nothing is written where the page lacks one of the two lines."""
    before, mark, rest = path.read_text().partition(begin + "\n")
    _, stop, after = rest.partition(end + "\n")
    if not mark or not stop:
        raise RuntimeError(f"{path} has no lines '{begin}' and '{end}': nothing is written")
    path.write_text("\n".join([before + begin, *lines, end, after]))
