"""Writes the report: python -m distmap.report [RESULTS ...] -o OUT.html"""

import argparse
import html
import os
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="distmap report", description="Results of the benches as one HTML page.")
    parser.add_argument("results", nargs="*",
                        help="files, or folders of them; default: the source tree's bench/results")
    parser.add_argument("-o", "--output", required=True, metavar="OUT.html")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    options = parser.parse_args(arguments)
    if not options.results:
        if not (TREE / "bench/results").is_dir():
            parser.error("there is no source tree here: name the files that `make bench` and `make bench-gpu` wrote")
        options.results = [TREE / "bench/results"]
    return options


def make(options):
    from . import gallery, markdown, page, plots, records, tables
    found = records.load(records.find(options.results))
    if not found:
        raise ValueError(f"{', '.join(map(str, options.results))}: holds no results of the benches")
    sections = []
    for record in found:
        names, figures = plots.figures(record)
        parts = [f'<p class="run">{html.escape(record.run)}</p>']
        if figures:
            parts += [plots.legend(names),
                      f'<div class="plots">{"".join(f"<figure>{svg}</figure>" for svg in figures)}</div>']
        for title, table in (("How many times as fast", tables.ratios), ("Against itself", tables.others),
                             ("Memory", tables.memory), ("On odd shapes, and without a site", tables.conduct)):
            if made := table(record):
                parts.append(page.details(title, made, is_open=table is tables.ratios))
        sections.append((record.machine, "".join(parts)))
    if (TREE / "docs/papers.md").exists():
        papers = markdown.page((TREE / "docs/papers.md").read_text())
        sections.append(("The papers", page.details("Tables of the papers, printed and today", papers, is_open=False)))
    try:
        sections += [("Maps", gallery.gallery(TREE / "data")), ("Methods", tables.methods())]
    except ImportError as error:  # there are results, but no library to compute maps with
        sections.append(("Maps", f"<p>Left out: {html.escape(str(error))}</p>"))
    return page.page(page.merged(sections))


def write_whole(output, text):
    """The file gets its name when all is written; else nothing is left of it."""
    beside = Path(f"{output}.part{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, output)
    except OSError as error:
        raise OSError(f"{output}: cannot write: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)


def main(arguments=None):
    options = parse(arguments)
    try:
        text = make(options)
        write_whole(options.output, text)
    except (OSError, ValueError, RuntimeError, ImportError, KeyError) as error:
        why = f"results lack {error}" if isinstance(error, KeyError) else str(error)
        print(f"distmap: report: {why}", file=sys.stderr)
        return 1
    if not options.quiet:
        print(f"{options.output}: {len(text.encode()) / 1e6:.1f} MB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
