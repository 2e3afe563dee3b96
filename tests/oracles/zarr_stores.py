# needs: numpy, ome_zarr, ome_zarr_models, tensorstore, zarr
"""Zarr beside zarr-python, tensorstore and ome-zarr: drawn arrays that they write are read, those that we write they read.

    DISTMAP_CONVERT=oracles_convert python zarr_stores.py DISTMAP PROJECT

in an empty folder. DISTMAP_TEST_SEED repeats a run, DISTMAP_TEST_SCALE makes more or fewer arrays.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import warnings

import numpy as np
import ome_zarr.io
import ome_zarr.reader
import ome_zarr_models
import tensorstore
import zarr
from zarr.codecs import (BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec)

warnings.simplefilter("ignore")
convert, distmap = os.environ["DISTMAP_CONVERT"], sys.argv[1]
seed = int(os.environ.get("DISTMAP_TEST_SEED") or random.SystemRandom().randrange(1 << 30))
print("seed", seed)
draw = random.Random(seed)
scale = float(os.environ.get("DISTMAP_TEST_SCALE") or 1)
numbers = np.random.default_rng(seed)
work = pathlib.Path.cwd()
DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


def run(program, *arguments, good=True):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, "SEED": str(draw.randrange(1 << 30))})
    assert (done.returncode == 0) == good, (program, arguments, done)
    return done.stdout if good else done.stderr


def read(path):
    """By us: the elements, spacing and unit."""
    pathlib.Path("out.npy").unlink(missing_ok=True)
    *spacing, unit = run(convert, path, "out.npy").rstrip("\n").split(" ")
    return np.load("out.npy"), [float(s) for s in spacing], unit


def write(array, path, chunks=""):
    np.save("in.npy", array)
    run(convert, "in.npy", path, chunks)


def equal(got, want, of):
    assert got.dtype == want.dtype and got.shape == want.shape, (of, got.dtype, want.dtype, got.shape, want.shape)
    assert got.tobytes() == np.ascontiguousarray(want).tobytes(), of


def draw_array(dtype, shape):
    array = numbers.integers(0, 256, (*shape, np.dtype(dtype).itemsize), "u1").view(dtype)[..., 0] if dtype != "bool" else numbers.random(shape) < 0.5
    if draw.random() < 0.7 and dtype != "bool":  # what packs well
        array = (array.astype("f8" if np.dtype(dtype).kind == "f" else dtype) * 0 + numbers.integers(0, 3, shape)).astype(dtype)
    return array


def draw_fill(dtype):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return draw.random() < 0.5
    if kind == "f":
        return draw.choice([0.0, -1.5, float("nan"), float("inf"), float("-inf")])
    limits = np.iinfo(dtype)
    return draw.choice([0, int(limits.min), int(limits.max), draw.randint(int(limits.min), int(limits.max))])


def draw_packers():
    packers = [lambda: GzipCodec(level=draw.randint(0, 9)), lambda: ZstdCodec(level=draw.randint(0, 9), checksum=draw.random() < 0.5),
               lambda: BloscCodec(cname=draw.choice(["lz4", "lz4hc", "blosclz", "zstd", "zlib"]), clevel=draw.randint(0, 9),
                                  shuffle=draw.choice(["noshuffle", "shuffle", "bitshuffle"])), Crc32cCodec]
    return [draw.choice(packers)() for _ in range(draw.choice([0, 1, 1, 1, 2, 3]))]


def draw_codecs(ndim, chunk, shards=2):
    codecs = []
    for _ in range(draw.choice([0, 0, 1, 2])):
        order = draw.sample(range(ndim), ndim)
        codecs.append(TransposeCodec(order=order))
        chunk = [chunk[a] for a in order]
    if shards and draw.random() < 0.5:
        inner = [draw.choice([d for d in range(1, n + 1) if n % d == 0]) for n in chunk]
        index = [BytesCodec(endian=draw.choice(["little", "big"]))] + [Crc32cCodec()] * draw.randint(0, 1)
        codecs.append(ShardingCodec(chunk_shape=inner, codecs=draw_codecs(ndim, inner, shards - 1), index_codecs=index,
                                    index_location=draw.choice(["start", "end"])))
        if draw.random() < 0.8:
            return codecs
    else:
        codecs.append(BytesCodec(endian=draw.choice(["little", "big"])))
    return codecs + draw_packers()


def draw_form():
    ndim = draw.randint(1, 4)
    shape = [draw.randint(1, 24 if ndim < 4 else 9) for _ in range(ndim)]
    return draw.choice(DTYPES), shape, [draw.randint(1, n + 3) for n in shape]


def holes(array, shape, fill, values):
    """Puts values into a part of the array alone; what is not there is the fill value."""
    want = np.full(shape, fill, values.dtype)
    part = tuple(slice(*sorted((draw.randint(0, n), draw.randint(0, n)))) for n in shape) if draw.random() < 0.5 else ...
    array[part] = values[part]
    want[part] = values[part]
    return want


def test_v3_of_zarr_python(cases=1 + int(150 * scale)):
    done = 0
    while done < cases:
        dtype, shape, chunk = draw_form()
        fill = draw_fill(dtype)
        keys = {"name": draw.choice(["default", "v2"]), "separator": draw.choice("./")}
        codecs = draw_codecs(len(shape), chunk)
        shutil.rmtree("a.zarr", ignore_errors=True)
        try:
            array = zarr.create(store="a.zarr", shape=shape, dtype=dtype, chunks=chunk, codecs=codecs, zarr_format=3, fill_value=fill,
                                chunk_key_encoding=(keys["name"], keys["separator"]))
        except ValueError as error:  # it takes shards' chunks for those of the array as it was before transpose
            assert "divisible" in str(error), error
            continue
        want = holes(array, shape, fill, draw_array(dtype, shape))
        try:
            equal(np.asarray(array[...]), want, "zarr-python itself")
        except AssertionError:  # it reads some fill values' NaNs as others
            assert fill != fill
            continue
        done += 1
        equal(read("a.zarr")[0], want, pathlib.Path("a.zarr/zarr.json").read_text())


def test_v3_of_tensorstore(cases=1 + int(100 * scale)):
    for case in range(cases):
        dtype, shape, chunk = draw_form()
        order = draw.sample(range(len(shape)), len(shape))
        turned = [chunk[a] for a in order]
        inner = [draw.choice([d for d in range(1, n + 1) if n % d == 0]) for n in turned]
        bytes_ = {"name": "bytes", "configuration": {"endian": draw.choice(["little", "big"])}} if np.dtype(dtype).itemsize > 1 else {"name": "bytes"}
        packer = draw.choice([[], [{"name": "zstd", "configuration": {"level": 3}}], [{"name": "gzip", "configuration": {"level": 3}}],
                              [{"name": "blosc", "configuration": {"cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "typesize": np.dtype(dtype).itemsize, "blocksize": 0}}],
                              [{"name": "crc32c"}]])
        shard = {"name": "sharding_indexed", "configuration": {
            "chunk_shape": inner, "codecs": [bytes_, *packer], "index_location": draw.choice(["start", "end"]),
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}
        codecs = [{"name": "transpose", "configuration": {"order": order}}, *draw.choice([[shard], [bytes_, *packer]])]
        shutil.rmtree("t.zarr", ignore_errors=True)
        fill = draw_fill(dtype)
        spelled = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(fill), fill)
        array = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(work / "t.zarr")}, "create": True, "metadata": {
            "shape": shape, "data_type": dtype, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
            "fill_value": spelled, "codecs": codecs}}).result()
        want = holes(array, shape, fill, draw_array(dtype, shape))
        equal(read("t.zarr")[0], want, pathlib.Path("t.zarr/zarr.json").read_text())


def test_v2_of_zarr_python(cases=1 + int(60 * scale)):
    import numcodecs
    packers = [None, numcodecs.Zstd(2), numcodecs.Zlib(2), numcodecs.GZip(2), numcodecs.BZ2(2), numcodecs.LZ4(), numcodecs.Blosc("zstd", 3, 2)]
    for case in range(cases):
        dtype, shape, chunk = draw_form()
        fill = draw_fill(dtype)
        shutil.rmtree("a.zarr", ignore_errors=True)
        array = zarr.create_array("a.zarr", shape=shape, chunks=chunk, dtype=np.dtype(dtype).newbyteorder(draw.choice("<>")), zarr_format=2,
                                  fill_value=fill, compressors=draw.choice(packers), order=draw.choice("CF"),
                                  chunk_key_encoding={"name": "v2", "separator": draw.choice("./")})
        want = holes(array, shape, fill, draw_array(dtype, shape))
        equal(read("a.zarr")[0], want, pathlib.Path("a.zarr/.zarray").read_text())


def test_many_chunks():
    """So many that the folder is listed: those that are there, beside files that are none."""
    for version, separator in (2, "."), (2, "/"), (3, "."), (3, "/"):
        shutil.rmtree("a.zarr", ignore_errors=True)
        encoding = {"name": "v2" if version == 2 else "default", "separator": separator}
        array = zarr.create_array("a.zarr", shape=[67, 71], chunks=[1, 1], dtype="int16", fill_value=-7, zarr_format=version,
                                  compressors=None, chunk_key_encoding=encoding)
        want = np.full([67, 71], -7, "int16")
        for _ in range(40):
            at = draw.randrange(67), draw.randrange(71)
            array[at] = want[at] = draw.randrange(1000)
        start = "" if version == 2 else "c" + separator
        for name in "067", "71", "1x", "-1", "99999999999999999999", "":
            stray = pathlib.Path(f"a.zarr/{start}1{separator}{name}")
            stray.parent.mkdir(parents=True, exist_ok=True)
            if name or separator == ".":
                stray.write_bytes(b"")
        equal(read("a.zarr")[0], want, (version, separator))
        part = pathlib.Path("a.zarr", ".zarray" if version == 2 else "zarr.json")
        form = json.loads(part.read_text())
        if version == 2:
            part.write_text(json.dumps({**form, "fill_value": None}))
            said = run(convert, "a.zarr", "refused.npy", good=False)
            assert "is missing, and there is no fill value" in said, said


def test_fills_by_bits():
    for dtype, bits in ("float32", "0x7fc01234"), ("float64", "0xfff8000000000abc"), ("float32", "0x3f800000"):
        shutil.rmtree("f.zarr", ignore_errors=True)
        zarr.create_array("f.zarr", shape=[3], chunks=[2], dtype=dtype)
        form = json.loads(pathlib.Path("f.zarr/zarr.json").read_text())
        form["fill_value"] = bits
        pathlib.Path("f.zarr/zarr.json").write_text(json.dumps(form))
        got = read("f.zarr")[0]
        assert all(int(word) == int(bits, 16) for word in got.view(f"u{got.itemsize}")), (bits, got)


def test_ours(cases=1 + int(60 * scale)):
    for case in range(cases):
        dtype, shape, chunk = draw_form()
        version = draw.choice([2, 3])
        shutil.rmtree("g.zarr", ignore_errors=True)
        zarr.create_group("g.zarr", zarr_format=version)
        values = draw_array(dtype, shape)
        write(values, "g.zarr/a/b", ",".join(map(str, chunk)))
        equal(zarr.open_group("g.zarr", mode="r")["a/b"][...], values, "zarr-python")
        assert zarr.open_array("g.zarr/a/b", mode="r").metadata.zarr_format == version
        opened = tensorstore.open({"driver": "zarr3" if version == 3 else "zarr", "kvstore": {"driver": "file", "path": str(work / "g.zarr/a/b")}}).result()
        equal(opened.read().result(), values, "tensorstore")
        equal(read("g.zarr")[0], values, "ourselves")


def read_by_tensorstore(path, driver="zarr3"):
    return tensorstore.open({"driver": driver, "kvstore": {"driver": "file", "path": str(work / path)}}).result().read().result()


def test_our_shards(cases=1 + int(30 * scale)):
    """Any lengths are asked for; shards become whole chunks, and an output has its input's."""
    for case in range(cases):
        dtype, shape, chunk = draw_form()
        want, shards = draw_array(dtype, shape), [draw.randint(1, 2 * n + 3) for n in shape]
        shutil.rmtree("a.zarr", ignore_errors=True)
        write(want, "a.zarr", ",".join(map(str, chunk)) + "/" + ",".join(map(str, shards)))
        array = zarr.open_array("a.zarr", mode="r")
        small = [min(c, n) for c, n in zip(chunk, shape)]
        assert list(array.chunks) == small and list(array.shards) == [-(-min(s, n) // c) * c for s, n, c in zip(shards, shape, small)], (shape, chunk, shards, array.chunks, array.shards)
        equal(array[...], want, (shape, chunk, shards))
        equal(read_by_tensorstore("a.zarr"), want, (shape, chunk, shards))
        equal(read("a.zarr")[0], want, (shape, chunk, shards))
        if case % 4 == 0 and dtype == "uint8":
            shutil.rmtree("b.zarr", ignore_errors=True)
            run(distmap, "edt", "a.zarr", "-o", "b.zarr", "--axes", ",".join(map(str, range(len(shape)))))
            made = zarr.open_array("b.zarr", mode="r")
            assert made.shards == array.shards and made.chunks == array.chunks, (made.shards, array.shards)


def test_layout_by_choice(cases=1 + int(12 * scale)):
    """--chunks, --shards, --zarr-format and imwrite()'s arguments give an array of that layout, which both libraries read."""
    sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "python"))
    import distmap as package
    for _ in range(cases):
        ndim, version = draw.randint(1, 3), draw.choice([2, 3])
        shape = [draw.randint(1, 40) for _ in range(ndim)]
        chunk, many = [draw.randint(1, 12) for _ in range(ndim)], [draw.randint(1, 4) for _ in range(ndim)]
        shards = [c * m for c, m in zip(chunk, many)] if version == 3 and draw.random() < 0.7 else None
        want = numbers.integers(0, 2, shape, "u1")
        shutil.rmtree("out.zarr", ignore_errors=True)
        if draw.random() < 0.5:
            np.save("in.npy", want)
            lengths = {"--chunks": chunk, **({"--shards": shards} if shards else {}), "--zarr-format": [version]}
            options = [word for option, values in lengths.items() for word in (option, ",".join(map(str, values)))]
            run(distmap, "morph", "in.npy", "--op", "dilate", "--radius", "0", "--dtype", "uint8", "-o", "out.zarr", "--quiet", *options)
        else:
            package.imwrite("out.zarr", want, chunks=chunk, shards=shards, zarr_format=version)
        array = zarr.open_array("out.zarr", mode="r")
        assert array.metadata.zarr_format == version, (array.metadata, version)
        whole = [min(c, n) for c, n in zip(chunk, shape)]
        assert list(array.chunks) == whole, (array.chunks, chunk, shape)
        files = [min(s, -(-n // c) * c) for s, n, c in zip(shards, shape, whole)] if shards else None
        grown = files and [-(-s // c) * c for s, c in zip(files, whole)]
        assert (list(array.shards) if array.shards else None) == grown, (array.shards, grown, shards, shape, chunk)
        equal(array[...], want, array.metadata)
        equal(read_by_tensorstore("out.zarr", "zarr3" if version == 3 else "zarr"), want, array.metadata)
        equal(read("out.zarr")[0], want, array.metadata)


def test_shards_by_several_processes(cases=1 + int(6 * scale)):
    """What several processes write has whole shards each, and is what one writes."""
    for _ in range(cases):
        shape, chunk = [draw.randint(1, 60) for _ in range(2)], [draw.randint(1, 9) for _ in range(2)]
        for name in ("a", "mid", "out", "one"):
            shutil.rmtree(f"{name}.zarr", ignore_errors=True)
            shutil.rmtree(f"{name}.zarr.pass", ignore_errors=True)
        write((numbers.random(shape) < 0.9).astype("u1"), "a.zarr", "{},{}/{},{}".format(*chunk, *(c * draw.randint(1, 3) for c in chunk)))
        run(distmap, "edt", "a.zarr", "-o", "one.zarr", "--sites", "zero")
        for source, result, axis in (("a", "mid", 1), ("mid", "out", 0)):
            processes = draw.randint(1, 4)
            for number in draw.sample(range(1, processes + 1), processes):
                run(distmap, "pass", f"{source}.zarr", "-o", f"{result}.zarr", "--axis", axis, "--shard", f"{number}/{processes}",
                    *(["--sites", "zero"] if source == "a" else []), *(["--compress", "blosc"] if source == "mid" else []))
        out, one = (zarr.open_array(f"{name}.zarr", mode="r") for name in ("out", "one"))
        assert out.shards == one.shards == zarr.open_array("a.zarr", mode="r").shards, (shape, chunk, out.shards, one.shards)
        equal(out[...], one[...], (shape, chunk))
        equal(read_by_tensorstore("out.zarr"), one[...], (shape, chunk))


def test_consolidated():
    for version in 2, 3:
        shutil.rmtree("c.zarr", ignore_errors=True)
        group = zarr.create_group("c.zarr", zarr_format=version, attributes={"number": 0.1, "text": "\u00fc"})
        group.create_group("inner").create_array("first", shape=[3], dtype="u1")[...] = 7
        zarr.consolidate_metadata("c.zarr", zarr_format=version)
        values = draw_array("uint16", [5, 7])
        write(values, "c.zarr/inner/more/second")
        opened = zarr.open_consolidated("c.zarr", zarr_format=version)
        equal(opened["inner/more/second"][...], values, version)
        assert dict(opened.attrs) == {"number": 0.1, "text": "\u00fc"} and opened["inner/first"][2] == 7
        assert sorted(opened["inner"].keys()) == ["first", "more"], list(opened["inner"].keys())
        assert not [name for name in os.listdir("c.zarr") if name.startswith(".distmap")]


def test_ome():
    for version in "0.4", "0.5":
        for names, scale, chosen in ("yx", [0.5, 0.25], 0), ("zyx", [2, 0.5, 0.25], 0), ("tczyx", [1, 1, 2, 0.5, 0.25], 2):
            shutil.rmtree("m.zarr", ignore_errors=True)
            kinds = {"t": "time", "c": "channel"}
            shape = [1 if name in "tc" else draw.randint(8, 20) for name in names]
            values = draw_array("uint16", shape)
            axes = [{"name": name, "type": kinds.get(name, "space"), **({} if name in "tc" else {"unit": "micrometer"})} for name in names]
            group = zarr.create_group("m.zarr", zarr_format=2 if version == "0.4" else 3)
            from ome_zarr.format import FormatV04, FormatV05
            from ome_zarr.writer import write_multiscale
            half = values[..., ::2, ::2]
            smaller = [s * (2 if name in "yx" else 1) for s, name in zip(scale, names)]
            write_multiscale([values, half], group, axes=axes, fmt=FormatV04() if version == "0.4" else FormatV05(),
                             coordinate_transformations=[[{"type": "scale", "scale": scale}], [{"type": "scale", "scale": smaller}]])
            for path, elements, pitches in ("m.zarr", values, scale), ("m.zarr/0", values, scale), ("m.zarr/1", half, smaller), \
                    ("m.zarr/s0", values, scale), ("m.zarr/s1", half, smaller):
                if not pathlib.Path(path).exists():
                    continue
                got, spacing, unit = read(path)
                kept = len(names) - got.ndim
                equal(got.reshape(elements.shape), elements, path)
                assert spacing == pitches[kept:] and unit == "um", (path, spacing, unit)
    for version in "0.4", "0.5":
        for name in "p.zarr", "p.ome.zarr":
            shutil.rmtree(name, ignore_errors=True)
        group = zarr.create_group("p.zarr", zarr_format=2 if version == "0.4" else 3)
        axes = [{"name": "t", "type": "time", "unit": "second"}] + [{"name": name, "type": "space", "unit": "nanometer"} for name in "zyx"]
        steps = [{"type": "scale", "scale": [0.5, 40, 8, 4]}, {"type": "translation", "translation": [0, 120, 0, -16]}]
        write_multiscale([draw_array("uint8", [2, 5, 9, 8])], group, axes=axes, fmt=FormatV04() if version == "0.4" else FormatV05(),
                         coordinate_transformations=[steps])
        run(distmap, "edt", "p.zarr", "-o", "p.ome.zarr", "--threshold", "128", "--quiet")
        told = zarr.open_group("p.ome.zarr", mode="r").attrs["ome"]["multiscales"][0]
        assert told["axes"] == axes and told["datasets"][0]["coordinateTransformations"] == steps, told
    for version in 2, 3:
        for shape, spacing in ([9, 11], "0.5,0.25"), ([4, 9, 11], "2,0.5,0.25"):
            shutil.rmtree("n.zarr", ignore_errors=True)
            zarr.create_group("n.zarr", zarr_format=version)
            np.save("in.npy", numbers.integers(0, 2, shape, "u1"))
            run(distmap, "edt", "in.npy", "-o", "n.zarr/out.ome.zarr", "--spacing", spacing, "--quiet")
            image = ome_zarr_models.open_ome_zarr(zarr.open_group("n.zarr/out.ome.zarr", mode="r"))
            multiscale = (image.attributes.ome if version == 3 else image.attributes).multiscales[0]
            assert "".join(axis.name for axis in multiscale.axes) == "tzyx"[-len(shape):]
            assert ",".join(f"{s:g}" for s in multiscale.datasets[0].coordinateTransformations[0].scale) == spacing
            nodes = list(ome_zarr.reader.Reader(ome_zarr.io.parse_url(str(work / "n.zarr/out.ome.zarr")))())
            assert nodes[0].data[0].shape == tuple(shape)


def test_refused():
    cases = [("codecs", [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zfp"}], "codec zfp, which is not known"),
             ("chunk_grid", {"name": "rectilinear"}, "chunk_grid is rectilinear"), ("data_type", "complex64", "element type is complex64"),
             ("data_type", {"name": "numpy.datetime64", "configuration": {}}, "element type is numpy.datetime64"),
             ("mystery", {"a": 1}, "extension mystery"), ("storage_transformers", [{"name": "magic"}], "storage transformer magic"),
             ("fill_value", "0x12", "fill_value is no number"), ("fill_value", "NaN", "fill_value is no number"), ("fill_value", None, "fill_value is no number"),
             ("codecs", [], "make no bytes"), ("codecs", [{"name": "zstd"}, {"name": "bytes"}], "zstd does not stand where it can"),
             ("chunk_key_encoding", {"name": "x"}, "chunk_key_encoding is x"), ("shape", [4, -1], "no lists of as many lengths"),
             ("shape", [1 << 62, 1 << 62], "absurd size")]
    for member, value, text in cases:
        shutil.rmtree("r.zarr", ignore_errors=True)
        zarr.create_array("r.zarr", shape=[4, 6], chunks=[2, 3], dtype="uint16")[...] = 1
        form = json.loads(pathlib.Path("r.zarr/zarr.json").read_text())
        form[member] = value
        pathlib.Path("r.zarr/zarr.json").write_text(json.dumps(form))
        said = run(convert, "r.zarr", "refused.npy", good=False)
        assert text in said and said.count("\n") == 1 and not pathlib.Path("refused.npy").exists(), (member, value, said)
        if member == "mystery":
            form[member] = {"must_understand": False}
            pathlib.Path("r.zarr/zarr.json").write_text(json.dumps(form))
            read("r.zarr")


tests = [value for name, value in list(globals().items()) if name.startswith("test_")]
for test in tests:
    test()
    print("ok", test.__name__)
