"""As much of Markdown as docs/papers.md uses: headings, paragraphs, lists, tables, code, bold, links' texts."""

import html
import re


def inline(text):
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def cells(line, tag):
    parts = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return "<tr>" + "".join(f"<{tag}>{inline(part.strip())}</{tag}>" for part in parts) + "</tr>"


def block(lines):
    if lines[0].startswith("|"):
        body = [line for line in lines if not re.fullmatch(r"[|:\- ]+", line)]
        return ('<div class="wide"><table><thead>' + cells(body[0], "th") + "</thead><tbody>"
                + "".join(cells(line, "td") for line in body[1:]) + "</tbody></table></div>")
    if found := re.match(r"(#+) (.*)", lines[0]):
        level = min(len(found[1]) + 1, 5)
        rest = [line for line in lines[1:] if line]
        return f"<h{level}>{inline(found[2])}</h{level}>" + (block(rest) if rest else "")
    if lines[0].startswith(("- ", "* ")):
        items = re.split(r"(?m)^[-*] ", "\n".join(lines))[1:]
        return "<ul>" + "".join(f"<li>{inline(' '.join(item.split()))}</li>" for item in items) + "</ul>"
    return f"<p>{inline(' '.join(lines))}</p>"


def page(text):
    """HTML of a Markdown text."""
    blocks = (part.splitlines() for part in re.split(r"\n\s*\n", text.strip()))
    return "\n".join(block(lines) for lines in blocks if lines)
