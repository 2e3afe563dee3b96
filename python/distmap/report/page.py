"""The page around it all: one file, no script, no request; colours by the reader's choice of day or night."""

import html
import re

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #5a6472; --line: #d9dee5; --tint: #f4f6f9;
  --good: #14713d; --wrong: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #14171c; --soft: #9aa5b3; --line: #323a45;
  --tint: #1c2129; --good: #6fd397; --wrong: #ff8f85; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: .5rem 0 0; font-size: 1.9rem; } h2 { margin: 2.5rem 0 .5rem; font-size: 1.4rem; } h3 { font-size: 1.15rem;
} h1 + p { color: var(--soft); margin-top: 0; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: 1rem 0; } a { color: inherit; }
.run { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 1rem; }
figure { margin: 0; } .plots svg { display: block; width: 100%; height: auto; font-family: inherit; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; padding: 0; margin: .6rem 0; font-size:
.95rem; } .key { display: inline-block; width: 1.6em; margin-right: .4em; border-top: 3px solid var(--key);
vertical-align: middle; } .key.dashed { border-top-style: dashed; }
.wide { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-size: .85rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { font-weight: 600; } th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); }
thead th { background: var(--tint); } thead th:first-child { background: var(--tint); }
#methods td { text-align: left; white-space: normal; min-width: 9rem; }
.good { color: var(--good); } .wrong { color: var(--wrong); } .dim, .place { color: var(--soft); }
.place { font-size: .8rem; }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; font-size: 1.1rem; }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 220px), 1fr)); gap: 1rem; }
.gallery img { width: 100%; height: auto; display: block; border-radius: 6px; } figcaption { font-size: .9rem; color:
var(--soft); }
"""

INTRODUCTION = """<p>Exact distance maps at memory speed: distmap beside the field, on the same arrays in the same
run.</p> <p>Times are nanoseconds per element, from a uint8 mask to float32 distances, one thread where nothing else is
said; on a GPU from device memory to device memory. The floor is reading the mask once and writing the map once at the
bandwidth of a copy measured in the same run. A ratio is the median of the ratios of rounds in which the contestants
took turns; figures of different runs are never divided by each other (PBA+, published elsewhere, is the exception, and
an indication). ≠ marks results that are not exact. The last column of a table says in which row of the
file named above it a figure stands, counted from 0.</p>"""


def anchor(title):
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def details(title, content, is_open):
    return f"<details{' open' if is_open else ''}><summary>{html.escape(title)}</summary>{content}</details>"


def merged(sections):
    """Sections of one title, as of several files from one machine, become one."""
    together = {}
    for title, content in sections:
        together[title] = together.get(title, "") + content
    return together


def page(sections):
    links = "".join(f'<a href="#{anchor(title)}">{html.escape(title)}</a>' for title in sections)
    body = "\n".join(f'<section id="{anchor(title)}"><h2>{html.escape(title)}</h2>\n{content}</section>'
                     for title, content in sections.items())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>distmap: report</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<h1>distmap</h1>
{INTRODUCTION}
<nav>{links}</nav>
{body}
</body>
</html>
"""
