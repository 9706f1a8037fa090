"""Pages of Markdown as HTML, for packages; links lead to the HTML of other pages, and to the files beside them."""
import html
import posixpath
import re

from lint_docs import anchors
from page_blocks import blocks, spans

STYLE = """body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; color: #1b1f24; background: #fff; }
pre, code { font-family: monospace; font-size: 0.92em; background: #f3f4f6; border-radius: 3px; }
code { padding: 0 0.2em; } pre { padding: 0.7rem; overflow-x: auto; } pre code { padding: 0; }
table { border-collapse: collapse; display: block; overflow-x: auto; } td, th { border: 1px solid #ccd1d8; padding: 0.3rem 0.6rem; text-align: left; }
td, th { vertical-align: top; } img { max-width: 100%; } a { color: #0b57d0; }
@media (prefers-color-scheme: dark) { body { color: #dfe3e8; background: #15181c; } pre, code { background: #23272d; } a { color: #8ab4f8; }
td, th { border-color: #414750; } img { background: #fff; } }"""


def href(target, pages):
    """Where a link leads from the HTML of a page: `pages` says which files are pages, by their path from this one."""
    path, sharp, anchor = target.partition("#")
    if not path or ":" in path:
        return target
    if path in pages:
        return (path.removesuffix(".md") + ".html" if path.endswith(".md") else path) + sharp + anchor
    return posixpath.join("..", path) + sharp + anchor  # files stand beside the folder of HTML


def inline(text, pages):
    made = ""
    for kind, words, *rest in spans(text):
        if kind == "text":
            made += html.escape(words, quote=False)
        elif kind == "code":
            made += f"<code>{html.escape(words, quote=False)}</code>"
        elif kind == "bold":
            made += f"<strong>{inline(words, pages)}</strong>"
        elif kind == "image":
            made += f'<img src="{html.escape(href(rest[0], pages))}" alt="{html.escape(words)}">'
        else:
            made += f'<a href="{html.escape(href(rest[0], pages))}">{inline(words, pages)}</a>'
    return made


def table(rows, pages):
    head, *body = rows
    made = "<tr>" + "".join(f"<th>{inline(cell, pages)}</th>" for cell in head) + "</tr>\n" if any(head) else ""
    return "<table>\n" + made + "".join("<tr>" + "".join(f"<td>{inline(cell, pages)}</td>" for cell in row) + "</tr>\n" for row in body) + "</table>"


def html_page(text, pages):
    """The page as HTML."""
    names, title, parts = iter(list(anchors(text))), "svod", []
    for kind, *block in blocks(text):
        if kind == "heading":
            title = re.sub(r"[`*]", "", block[1]) if block[0] == 1 and title == "svod" else title
            parts.append(f'<h{block[0]} id="{next(names)}">{inline(block[1], pages)}</h{block[0]}>')
        elif kind == "code":
            parts.append(f"<pre><code>{html.escape(block[0], quote=False)}</code></pre>")
        elif kind == "table":
            parts.append(table(block[0], pages))
        elif kind == "list":
            tag = "ol" if block[0] else "ul"
            parts.append(f"<{tag}>\n" + "".join(f"<li>{inline(item, pages)}</li>\n" for item in block[1]) + f"</{tag}>")
        elif kind == "html":
            parts.append(block[0])
        else:
            parts.append(f"<p>{inline(block[0], pages)}</p>")
    body = "\n".join(parts)
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
            f"<title>{html.escape(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n")
