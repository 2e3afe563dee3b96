"""What papers printed and what suites measured, and how both are written down (bench/papers.py)."""
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
UNITS = {"s": 1.0, "ms": 1e-3}


def number(value, digits=3):
    """With that many significant digits, but all those before the point."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def ms(seconds):
    return "-" if seconds is None else number(seconds * 1e3)


def times(ratio):
    return "-" if ratio is None else f"{number(ratio, 2 if ratio < 100 else 3)}x"


def geometric_mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratio(a, b):
    return a / b if a and b else None


def known(values):
    return [v for v in values if v is not None]


def span(ratios):
    """From the least to the largest of those that there are."""
    ratios = known(ratios)
    if not ratios:
        return "-"
    least, most = times(min(ratios)), times(max(ratios))
    return least if least == most else f"{least} to {most}"


class Results:
    """What a suite measured on one machine, in one run or in several that each had some of its cells. No paths: nothing."""

    def __init__(self, paths=()):
        self.paths = list(paths)
        self.records = [json.loads(p.read_text()) for p in self.paths]
        self.data = self.records[0] if self.records else None
        self.cells = [c for r in self.records for c in r["cells"]]
        self.timed = [c for c in self.cells if c["state"] == "timed"]
        self.by_place = {(c["table"], c["row"], c["column"]): c for c in self.cells}
        self.by_place |= {(c["table"], c["row"], c["column"]): c for c in self.timed}
        for path, record in zip(self.paths, self.records):
            if record["wrong"] or any(c["checked_against"] is None for c in record["cells"] if c["state"] == "timed"):
                sys.exit(f"{path}: cells are wrong or not checked: that is no result of record")
            if "date" not in record:
                sys.exit(f"{path}: it has no date: its suite was another one")

    def __bool__(self):
        return bool(self.records)

    def cell(self, table, row, column):
        found = self.by_place.get((table, row, column))
        return found if found and found["state"] == "timed" else None

    def seconds(self, table, row, column, phase=None):
        """Of the method alone, or of one of its phases; None where it was not timed."""
        found = self.cell(table, row, column)
        return found and (found["phases"].get(phase) if phase else found["seconds"])

    def shown(self, table, row, column, phase=None):
        """In ms, and marked where it was run but once."""
        found = self.cell(table, row, column)
        return ms(self.seconds(table, row, column, phase)) + ("*" if found and found["runs"] == 1 else "")

    def wall(self, table, row, column):
        found = self.cell(table, row, column)
        return found and found["wall_seconds"]

    def wins(self, table, row, column):
        found = self.cell(table, row, column)
        return found and found["production_wins"]

    def production(self, table, row, column):
        """Also beside a method that would have taken too long."""
        found = self.by_place.get((table, row, column), {}).get("production")
        return found and found["seconds"]

    def params(self, table, row, column):
        """A cell's parameters, by name."""
        found = self.cell(table, row, column)
        return dict(p.split("=") for p in found["params"].split(",")) if found and found["params"] else {}

    def columns(self, table):
        return list(dict.fromkeys(c["column"] for c in self.cells if c["table"] == table))

    def rows(self, table):
        return list(dict.fromkeys(c["row"] for c in self.cells if c["table"] == table))

    def machine(self):
        if not self:
            return "no run is on record"
        gpu = self.data["gpu"]
        cpu = f"{self.data['machine']['cpu']}, {self.data['threads']} threads, {self.data['isa']}"
        return f"{gpu['name']} beside {cpu}" if gpu else cpu

    def sum_up(self, device):
        """How many times as fast the production method is, over all Euclidean cells of methods of that device: sorted."""
        return sorted(c["production_wins"] for c in self.timed if c["method"].endswith(device)
                      and not c["method"].startswith(("chamfer/", "raster/")))


class Paper:
    """What a paper printed."""

    def __init__(self, name):
        self.data = json.loads((HERE / "papers" / f"{name}.json").read_text())
        self.name = self.data["paper"]

    def seconds(self, table, row, column, hardware=None):
        for e in self.data["entries"]:
            if (e["table"], e["row"], e["column"]) == (table, row, column) and hardware in (None, e["hardware"]):
                return e["value"] * UNITS[e["unit"]]
        return None

    def value(self, table, row, column, hardware):
        for e in self.data["entries"]:
            if (e["table"], e["row"], e["column"], e["hardware"]) == (table, row, column, hardware):
                return e["value"]
        return None

    def figure(self, name):
        return next(f["says"] for f in self.data["figures"] if f["figure"] == name)


def table(head, rows):
    """Markdown; columns of nothing but dashes are left in, since they say that something is not there."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" if i == 0 else "--:" for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def grid(results, name, rows, columns, wins=False):
    """A table of times: a row for each of `rows`, which are the suite's names or pairs of a name and a label."""
    pairs = [(r, r) if isinstance(r, str) else r for r in rows]
    cell = lambda r, c: results.shown(name, r, c) + (f" / {times(results.wins(name, r, c))}" if wins else "")
    return table(["", *columns], [[label] + [cell(row, c) for c in columns] for row, label in pairs])


def gains(results, name, slow, fast, columns):
    """How many times as fast one row is as another, from the least to the largest."""
    return span(ratio(results.seconds(name, slow, c), results.seconds(name, fast, c)) for c in columns)


def verdict(results, device, production="minplus"):
    """How the production method does beside all cells of the paper's methods on a device."""
    wins = results.sum_up(device)
    place = "GPU" if device == "/cuda" else "CPU"
    if not wins:
        return f"On the {place} no run is on record."
    return (f"On the {place} {production} is {times(wins[0])} to {times(wins[-1])} as fast as the cells above, "
            f"{times(wins[len(wins) // 2])} in the middle one of {len(wins)}.")
