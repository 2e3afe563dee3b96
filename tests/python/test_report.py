"""The report: one whole page of HTML that asks nobody for anything, with every ratio of the results in it."""

import json
import re
import resource
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
from distmap.report import markdown, records, tables  # noqa: E402
from distmap.report.__main__ import main  # noqa: E402

RESULTS = Path(__file__).resolve().parents[2] / "bench/results"
VOID = {"meta", "link", "img", "br"}


class Reader(HTMLParser):
    """Tags must close in order, ids be unique, links lead to ids of the page."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.tags = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        if "href" in attributes:
            self.links.append(attributes["href"])
        assert attributes.get("src", "data:").startswith("data:image/png;base64,") or "src" not in attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:], self.getpos())
        self.open.pop()


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    place = tmp_path_factory.mktemp("report") / "report.html"
    assert main([str(RESULTS), "-o", str(place), "-q"]) == 0
    return place.read_text()


def test_page_is_whole(text):
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    assert len(set(reader.ids)) == len(reader.ids) and "script" not in reader.tags and reader.tags.count("svg") >= 8
    for link in reader.links:
        assert link == "data:," or link[0] == "#" and link[1:] in reader.ids, link
    assert set(re.findall(r"https?://[^\"'\s<>)]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {f"#{name}" for name in reader.ids}
    assert len(text) < 3e6


def test_every_ratio_is_there(text):
    found = 0
    for record in records.load(records.find([RESULTS])):
        for at, raw in enumerate(record.data["rows"]):
            peers = raw.get("peers") or {name: raw[name] for name in ("cupy", "pba_plus")
                                         if "ratio" in raw.get(name, {})}
            ratios = [f"{tables.figure(peer['ratio'])}×" for peer in peers.values() if "ratio" in peer]
            if not ratios:
                continue
            line = next(line for line in text.split("<tr>") if f'title="{record.name}">row {at}<' in line)
            assert all(ratio in line for ratio in ratios), (record.name, at)
            found += len(ratios)
    assert found > 100


def test_conduct_of_peers(tmp_path):
    """The groups cases and peak, and who is not exact."""
    data = json.loads(next(RESULTS.glob("amd*2d-3d.json")).read_text())
    data["rows"] = data["rows"][:2] + [
        {"group": "cases", "row": "5x7 ones", "pass": True, "peers": {
            "distmap": {"outcome": "equal", "returns": "inf"}, "scipy": {"outcome": "differs",
                                                                         "returns": "<24> values"},
            "itk": {"outcome": "refused", "text": "no \"dimension\" <here>"}, "edt": {"outcome": "crashed",
                                                                                      "text": "status -11"}}},
        {"group": "peak", "row": "4096^2", "pass": True,
         "peers": {"distmap": {"outcome": "equal", "bytes_per_element": 4.04}}}]
    data["rows"][0]["peers"]["opencv"]["equal"] = False
    (tmp_path / "some.json").write_text(json.dumps(data))
    (tmp_path / "suite.json").write_text(json.dumps({"suite": "pba", "gpu": None, "cells": []}))
    place = tmp_path / "report.html"
    assert main([str(tmp_path), "-o", str(place), "-q"]) == 0
    text = place.read_text()
    Reader().feed(text)
    for words in ("× ≠", "&lt;24&gt; values", "crashed", "4.0<", 'title="no &quot;dimension&quot; &lt;here&gt;"'):
        assert words in text, words


def test_errors(tmp_path, capsys):
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    out = tmp_path / "out.html"
    for given, words in ((broken, "broken.json: is no JSON"), (tmp_path / "none", "there is no such file or folder"),
                         (Path(__file__).parent, "holds no results of the benches")):
        assert main([str(given), "-o", str(out)]) == 1
        told = capsys.readouterr().err
        assert told.startswith("distmap: report: ") and words in told and told.count("\n") == 1
    assert main([str(RESULTS), "-o", str(tmp_path / "no/folder.html")]) == 1
    assert not out.exists()
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 2


def test_markdown():
    text = markdown.page("# A & b\n\nSome `a < b`, **bold** and [a link](http://x).\nOn.\n\n"
                         "| a | b |\n|---|--:|\n| 1 | 2 |\n\n- x\n  y\n- z")
    assert "<h2>A &amp; b</h2>" in text and "<p>Some <code>a &lt; b</code>, <b>bold</b> and a link. On.</p>" in text
    assert "<tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr>" in text
    assert "<ul><li>x y</li><li>z</li></ul>" in text
    Reader().feed(text)


def test_no_room(tmp_path, capsys):
    """A limit on the size of files does what a full disk does: one line with the file's name, and nothing is left."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        assert main(["-o", str(tmp_path / "r.html")]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert capsys.readouterr().err == f"distmap: report: {tmp_path}/r.html: cannot write: File too large\n"
    assert not list(tmp_path.iterdir())
