"""Plots as SVG for a page: text and axes take the page's colours, by day and by night, and widths are the page's
affair."""

import io
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from .records import FLOOR, NAMES  # noqa: E402

INK = "#010203"  # stands for the page's own colour
COLOURS = {"distmap": "#1f77d0", "opencv": "#d1741a", "edt": "#2a9d54", "edt-labels": "#74b816", "diplib": "#c2413b",
           "itk": "#8f63c9", "scipy": "#a0785a", "cupy": "#d1741a", "pba_plus": "#2a9d54", FLOOR: "#8a8f98"}
MARKERS = {"distmap": "o", "opencv": "s", "edt": "^", "edt-labels": "v", "diplib": "D", "itk": "P", "scipy": "X",
           "cupy": "s", "pba_plus": "^"}
STYLE = {"svg.fonttype": "none", "font.size": 11, "axes.titlesize": 12, "text.color": INK, "axes.labelcolor": INK,
         "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False,
         "axes.spines.right": False, "axes.facecolor": "none", "figure.facecolor": "none"}


def curve(rows, key):
    """{contestant: [(x, ns), ...]} over the rows."""
    series = {}
    for row in sorted(rows, key=key):
        for name, ns in row.ns.items():
            series.setdefault(name, []).append((key(row), ns))
    return {name: points for name, points in series.items() if len(points) > 1}


def plot(scope, series, title, x, ticks):
    """One plot, both axes logarithmic; None where there is no curve. `scope` and title are the plot's alone on its
    page."""
    if len(series.get("distmap", ())) < 2:
        return None
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": scope + title}):
        figure, axes = plt.subplots(figsize=(5.6, 3.9))
        for name in NAMES:
            if name not in series:
                continue
            line = {"linestyle": "--", "linewidth": 1.4} if name == FLOOR else {
                "marker": MARKERS[name], "markersize": 5, "linewidth": 2.6 if name == "distmap" else 1.5}
            axes.loglog(*zip(*series[name]), color=COLOURS[name], zorder=3 if name == "distmap" else 2, **line)
        axes.set(title=title, xlabel=x, ylabel="ns per element")
        axes.set_xticks(list(ticks), list(ticks.values()))
        axes.minorticks_off()
        axes.grid(color=INK, alpha=0.14, linewidth=0.6)
        figure.tight_layout()
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return for_page(out.getvalue(), f"{scope} {title}", title)


def for_page(svg, scope, title):
    """Without prologue and metadata, of no fixed size, in the page's colour and font, with a name for those who do not
    see it."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    head, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', head)[0]
    rest = rest.replace(INK, "currentColor").replace("xlink:href", "href")
    rest = re.sub(r"font: ([0-9.]+)px [^;\"]*", r"font-size: \1px", rest)
    tag = "plot-" + re.sub(r"[^a-z0-9]+", "-", scope.lower())  # ids are of the whole page
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', rest))
    rest = re.sub(r' id="([^"]+)"', lambda found: f' id="{tag}-{found[1]}"' if found[1] in used else "", rest)
    rest = re.sub(r"(url\(#|href=\"#)", rf"\1{tag}-", rest)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view} role="img" aria-label="{title}">{rest.strip()}'


def legend(names):
    """The contestants' colours, once for several plots."""
    keys = "".join(f'<li><span class="{"key dashed" if name == FLOOR else "key"}" style="--key:{COLOURS[name]}"></span>'
                   f"{NAMES[name]}</li>" for name in NAMES if name in names)
    return f'<ul class="legend">{keys}</ul>'


def figures(record):
    """(legend's names, [svg, ...]) of one record: time against size, then against density."""
    rows = [row for row in record.rows if row.threads == 1 and "distmap" in row.ns and
            (row.group[:2] in ("2d", "3d") or row.group == "size")]
    wanted = []
    for ndim, kind in ((2, "images"), (3, "volumes")):
        mine = [row for row in rows if len(row.shape) == ndim and len(set(row.shape)) == 1]
        for pattern, words in (("1%", "1% sites"), ("blobs", "smooth blobs"), ("circle", "sites on a circle")):
            of = [row for row in mine if row.pattern == pattern]
            sides = {row.elements: f"${row.shape[0]}^{ndim}$" for row in of}
            wanted.append((curve(of, lambda row: row.elements), f"{kind} by size, {words}", "elements", sides))
        by_shape = {}
        for row in mine:
            if row.pattern.endswith("%"):
                by_shape.setdefault(row.shape, []).append(row)
        for shape, of in sorted(by_shape.items()):
            if len(of) > 3:
                shares = {float(row.pattern[:-1]): row.pattern for row in of if row.pattern not in ("30%", "90%")}
                wanted.append((curve(of, lambda row: float(row.pattern[:-1])),
                               f"{'×'.join(map(str, shape))} by density", "share of sites", shares))
    drawn = [(series, plot(record.name, series, title, x, ticks)) for series, title, x, ticks in wanted]
    names = {name for series, svg in drawn if svg for name in series}
    return names, [svg for _, svg in drawn if svg]
