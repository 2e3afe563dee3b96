"""The tables of the report. A cell is text, or (text, class of CSS); every row ends with its place in a file of
results."""

import html

from .records import FLOOR, NAMES


def table(head, rows, caption=""):
    def cell(value, tag="td"):
        text, kind = value if isinstance(value, tuple) else (value, "")
        return f"<{tag}{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{text}</{tag}>"
    body = "".join(f"<tr>{cell(row[0], 'th')}{''.join(map(cell, row[1:]))}</tr>" for row in rows)
    top = "".join(cell(text, "th") for text in head)
    caption = f"<caption>{caption}</caption>" if caption else ""
    return (f'<div class="wide"><table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>')


def figure(value):
    """Three digits, without an exponent."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def place(row):
    file, _, number = html.escape(row.place, quote=True).rpartition(", ")
    return (f'<span title="{file}">{number}</span>', "place")


def ratios(record):
    """Times as fast as each peer; who was not exact is marked."""
    rows = [row for row in record.rows if "distmap" in row.ns and row.ratio]
    peers = [name for name in NAMES if any(name in row.ratio for row in rows)]
    if not rows:
        return ""
    body = []
    for row in rows:
        cells = [row.name + (f", {row.threads} threads" if row.threads > 1 else ""), figure(row.ns["distmap"]),
                 figure(row.ns["distmap"] * row.elements / 1e6)]
        for name in peers:
            if name not in row.ratio:
                cells.append("")
            elif row.right.get(name) is False:
                cells.append((f"{figure(row.ratio[name])}× ≠", "wrong"))
            else:
                cells.append((f"{figure(row.ratio[name])}×", "good" if row.ratio[name] > 1 else "wrong"))
        floor = row.ns.get(FLOOR)
        cells += [f"{100 * floor / row.ns['distmap']:.0f}%" if floor else "", place(row)]
        body.append(cells)
    head = ["image", "distmap, ns", "ms", *(NAMES[name] for name in peers), "share of the floor", "record"]
    return table(head, body, "times as fast as each")


SHARES = {"index": "distances alone", "host": "the transfers", "order": "C order", "capped": "all shared memory"}


def others(record):
    """Rows of their own kinds: indices, threads, worst cases, pitches, orders, operations, transfers."""
    body = []
    for row in record.rows:
        raw = row.raw
        if row.group in ("index", "threads", "worst", "pitch", "order", "operations") and "ratio" in raw:
            body.append([f"{row.group}: {row.name}", f"{raw['ratio']:.2f}× against {html.escape(str(raw['rival']))}",
                         place(row)])
        elif row.group in SHARES and "value" in raw:
            body.append([f"{row.group}: {row.name}", f"{raw['value']:.2f}× of {SHARES[row.group]}", place(row)])
        elif "of_unit" in raw:
            body.append([f"{row.group}: {row.name}", f"{raw['of_unit']:.2f}× of unit pitch", place(row)])
    return table(["row", "ratio", "record"], body) if body else ""


def memory(record):
    """Scratch of distmap as it tells it, and everybody's peak."""
    body = []
    for row in record.rows:
        raw = row.raw
        if row.group == "memory":
            body.append([f"scratch: {row.name}, {raw['threads']} thread{'s' * (raw['threads'] > 1)}",
                         f"{raw['bytes_per_element']:.3f}", place(row)])
        elif row.group == "scratch" and "value" in raw:
            body.append([f"scratch: {row.name}", f"{raw['value']:.2f}", place(row)])
    text = table(["distmap", "bytes per element", "record"], body) if body else ""
    peaks = [row for row in record.rows if row.group == "peak"]
    if peaks:
        names = [name for name in NAMES if any(name in row.raw["peers"] for row in peaks)]
        body = [[row.name, *(f"{found['bytes_per_element']:.1f}"
                             if "bytes_per_element" in (found := row.raw["peers"].get(name, {}))
                             else found.get("outcome", "") for name in names), place(row)] for row in peaks]
        text += table(["peak of one call, bytes per element", *(NAMES[name] for name in names), "record"], body,
                      "resident memory, the result of 4 or 8 bytes included, the input not")
    return text


def conduct(record):
    """What everybody does with odd shapes and where there is no site."""
    rows = [row for row in record.rows if row.group == "cases"]
    if not rows:
        return ""
    names = [name for name in NAMES if any(name in row.raw["peers"] for row in rows)]

    def cell(found):
        outcome = found.get("outcome", "")
        text = html.escape(found.get("returns", "") or {"equal": "exact"}.get(outcome, outcome))
        why = html.escape(found.get("text", ""), quote=True)
        text = f'<span title="{why}">{text}</span>' if why else text
        return (text, "good" if outcome == "equal" else "wrong" if outcome in ("differs", "crashed") else "dim")
    body = [[row.name, *(cell(row.raw["peers"].get(name, {})) for name in names), place(row)] for row in rows]
    return table(["image", *(NAMES[name] for name in names), "record"], body)


def methods():
    """The methods of the library that makes the report."""
    import distmap
    body = [[html.escape(m.name), html.escape(m.summary), html.escape(m.source),
             ", ".join(p.name for p in m.params)] for m in distmap.methods()]
    return table(["method", "what", "source", "parameters"], body)
