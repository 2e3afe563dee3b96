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
    """What a suite measured on one machine."""

    def __init__(self, path):
        self.path = path
        self.data = json.loads(path.read_text())
        self.cells = self.data["cells"]
        self.by_place = {(c["table"], c["row"], c["column"]): c for c in self.cells}
        self.timed = [c for c in self.cells if c["state"] == "timed"]
        if self.data["wrong"]:
            sys.exit(f"{path}: {self.data['wrong']} cells are wrong: that is no result of record")

    def cell(self, table, row, column):
        found = self.by_place.get((table, row, column))
        return found if found and found["state"] == "timed" else None

    def seconds(self, table, row, column, phase=None):
        """Of the method alone, or of one of its phases; None where it was not timed."""
        found = self.cell(table, row, column)
        return found and (found["phases"].get(phase) if phase else found["seconds"])

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

    def columns(self, table):
        return list(dict.fromkeys(c["column"] for c in self.cells if c["table"] == table))

    def rows(self, table):
        return list(dict.fromkeys(c["row"] for c in self.cells if c["table"] == table))

    def machine(self):
        gpu = self.data["gpu"]
        cpu = f"{self.data['machine']['cpu']}, {self.data['threads']} threads, {self.data['isa']}"
        return f"{gpu['name']} beside {cpu}" if gpu else cpu

    def sum_up(self, device):
        """How many times as fast the production method is, over all Euclidean cells of methods of that device: least, middle,
        most, and how many there are."""
        wins = sorted(c["production_wins"] for c in self.timed
                      if c["method"].endswith(device) and not c["method"].startswith("chamfer/"))
        return wins[0], wins[len(wins) // 2], wins[-1], len(wins)

    def reasons(self):
        """Why cells were not timed: how many for each reason, numbers in it aside."""
        count = {}
        for cell in self.cells:
            if cell["reason"]:
                count[cell["reason"]] = count.get(cell["reason"], 0) + 1
        return count


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
