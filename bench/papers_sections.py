"""The sections of docs/papers.md: text, and what is taken from the figures (bench/papers.py). All can do without a GPU's results,
or without a CPU's; sentences that need them are then left out."""
from papers_esf import esf
from papers_figures import gains, geometric_mean, grid, known, ms, ratio, span, table, times, verdict


def known_records(results):
    return [(suite, record) for suite, pair in results.items() for one in pair for record in one.records]


def runs_of(record):
    counts = [c["runs"] for c in record["cells"] if c["state"] == "timed"]
    return f"{min(counts)} to {max(counts)}" if counts else "-"


def record_rows(results):
    rows = []
    for suite, r in known_records(results):
        timed = [c for c in r["cells"] if c["state"] == "timed"]
        once = sum(c["runs"] == 1 for c in timed)
        rows.append([suite, r["gpu"]["name"] if r["gpu"] else "none", f"{r['machine']['cpu']}, {r['isa']}", str(r["threads"]),
                     f"`{r['commit']}`", r["date"][:10], f"{runs_of(r)}" + (f"; {once} cells once" if once else ""), str(len(timed)),
                     str(sum(c["checked_against"] is not None for c in timed)), str(r["not_timed"]),
                     "yes" if r["whole"] else "no, cut off"])
    return table(["suite", "GPU", "CPU", "threads", "commit", "date", "runs to a cell", "timed", "checked", "not timed", "whole"], rows)


def introduction(results, cluster):
    missing = [s for s, (gpu, _) in results.items() if not gpu]
    note = "" if not missing else f"""
**No run on a GPU is on record** of {", ".join(f"`{s}`" for s in missing)}: the kernels were changed, and what was measured before is not
shown. Their GPU columns have dashes until the suites are run on one again.
"""
    bare = [s for s, (_, cpu) in results.items() if not cpu]
    note += "" if not bare else f"""
**No run without a GPU is on record** of {", ".join(f"`{s}`" for s in bare)}, likewise.
"""
    return f"""# The papers' methods, measured again

Five papers' methods are in distmap under their own names. `distmap bench --suite NAME` goes through the tables and figures of each on
today's machine, and this page sets what the papers printed beside that. `python3 bench/papers.py` makes it from
[`bench/papers/`](../bench/papers) and [`bench/results/`](../bench/results).
{note}
{record_rows({**results, "cluster": (cluster,)})}
- **Times** are in ms, of the method alone: on a GPU by events around its kernels, from and to the GPU's memory. A cell has a warm-up and
  then several runs, of which the median is shown. What takes over 10 seconds is run once, without a warm-up, and has a star.
- **With transfers** is the time of a call from ordinary host memory to ordinary host memory.
- **minplus** is the production method, timed in turns with the paper's on the same image in the same process, and *wins* says how many
  times as fast it is. Of edge strengths the production method is **blocked**.
- **Checks**: distances and sites equal minplus's to the bit. Distances of other metrics equal brute force's, or where that takes over a
  second those of a second method with no code in common. Edge strengths equal those of the image's first method.
- The machine of the CPU record is a virtual one that others' work runs on too: its ratios say more than its times.
- A dash: not printed, not measured, or not possible. The results say why.
- The papers' machines are from 2008 to 2017. A paper's time beside today's says how far hardware has come, not what a method is worth;
  ratios within a paper and within today are what compares.
- The papers' pictures are not ours to print or ship; images of the same kind are drawn in their place.
"""


# ---- man-edm ----

MODES = ["VV-HH", "HH-VV", "VH-VH", "HV-HV", "VTV-VTV"]
OLD_GPUS = ["Tesla C1060", "GTX 480", "GTX 580"]


def edm_printed(paper):
    rows = []
    for card in OLD_GPUS:
        for mode in ("VH-VH", "VTV-VTV"):
            rows.append([f"{card}, {mode}"] + [ms(paper.seconds("Table 1", mode, c, card)) for c in ("step 1", "step 2", "total")]
                        + [f"{paper.value('Table 1', mode, c + ', speed-up', card) or '-'}" for c in ("step 1", "step 2", "total")])
    rows.append(["Core i7, one thread"] + [ms(paper.seconds("Table 1", "CPU", c)) for c in ("step 1", "step 2", "total")] + ["1"] * 3)
    return table(["printed", "step 1", "step 2", "total", "speed-up: step 1", "step 2", "total"], rows)


def edm_today(results, image, rows):
    return table([image, "step 1", "step 2", "total", "with transfers", "minplus", "wins"], [
        [row] + [results.shown("Table 1", row, image, p) for p in ("step 1", "step 2", None)]
        + [ms(results.wall("Table 1", row, image)), ms(results.production("Table 1", row, image)),
           times(results.wins("Table 1", row, image))] for row in rows])


def edm_threads(results):
    rows = [r for r in results.rows("Table 1") if r.startswith("CPU")]
    one = results.seconds("Table 1", "CPU", "regions")
    return table(["threads", "step 1", "step 2", "total", "speed-up", "minplus", "wins"], [
        [row.split(", ")[1].split()[0] if ", " in row else "1"]
        + [results.shown("Table 1", row, "regions", p) for p in ("step 1", "step 2", None)]
        + [times(ratio(one, results.seconds("Table 1", row, "regions"))), ms(results.production("Table 1", row, "regions")),
           times(results.wins("Table 1", row, "regions"))] for row in rows])


def edm_sweep(gpu, cpu, figure):
    rows = []
    for share in gpu.columns(figure) or cpu.columns(figure):
        vtv, beside = gpu.seconds(figure, "VTV-VTV", share), gpu.seconds("Figure 20", "CPU", share)
        row = [share] + [gpu.shown(figure, m, share) for m in ("VH-VH", "VTV-VTV")] + [ms(gpu.wall(figure, "VTV-VTV", share))]
        row += [times(gpu.wins(figure, "VTV-VTV", share))]
        if figure == "Figure 19":
            row += [ms(beside), times(ratio(beside, vtv)), times(ratio(beside, gpu.wall(figure, "VTV-VTV", share))),
                    cpu.shown("Figure 20", "CPU", share), times(cpu.wins("Figure 20", "CPU", share))]
        rows.append(row)
    head = ["sites", "VH-VH", "VTV-VTV", "with transfers", "minplus wins"]
    if figure == "Figure 19":
        head += ["CPU beside the GPU, one thread", "VTV-VTV's speed-up", "with transfers", "CPU of the CPU record, one thread",
                 "minplus wins"]
    return table(head, rows)


def edm_gained(gpu, cpu):
    lines = []
    total = {m: gpu.seconds("Table 1", m, "regions") for m in MODES}
    if all(total.values()):
        order = sorted(MODES, key=total.get)
        lines.append("Access modes, fastest first: " + ", ".join(f"{m} {times(total[m] / total[order[0]])}" for m in order) + ".")
    pad = gains(gpu, "Figure 17", "VTV-VTV, not padded", "VTV-VTV, padded", gpu.columns("Figure 17"))
    if pad != "-":
        lines.append(f"Padded tiles: {pad} as fast as tiles whose columns lie in one bank.")
    for name, one in (("the CPU record", cpu), ("the CPU beside the GPU", gpu)):
        spread = known(one.seconds("Figure 20", "CPU", c) for c in one.columns("Figure 20"))
        if spread:
            lines.append(f"Density, {name}: the slowest takes {times(max(spread) / min(spread))} as long as the fastest, where the paper "
                         "finds no significant effect.")
    speed = known(ratio(gpu.seconds("Figure 20", "CPU", c), gpu.seconds("Figure 19", "VTV-VTV", c)) for c in gpu.columns("Figure 19"))
    if speed:
        lines.append(f"Speed-up of VTV-VTV over one thread beside it: {span(speed)}.")
    voronoi = [ratio(gpu.seconds("Voronoi map", m, i), gpu.seconds("Table 1", m, i)) for m in ("VH-VH", "VTV-VTV")
               for i in ("regions", "strapwork")]
    if known(voronoi):
        lines.append(f"The Voronoi map takes {span(voronoi)} the time of the distance map on the GPU.")
    alone = known(ratio(cpu.seconds("Voronoi map", "CPU", i), cpu.seconds("Table 1", "CPU", i)) for i in ("regions", "strapwork"))
    if alone:
        lines.append(f"The Voronoi map takes {span(alone)} the time of the distance map on one thread of the CPU.")
    return "\n".join(f"- {line}" for line in lines)


def man_edm(paper, gpu, cpu):
    images = ("regions", "strapwork")
    return f"""## Proximate points and access modes: edm

{paper.name}.

**The paper** makes a distance map in two steps: the distance to the nearest site of each line, then, for each line across, the sites that
are nearest somewhere on it, by a stack. A line is a thread's, so the paper is about memory: threads that go down columns (V) read and
write together, threads along rows (H) a row apart. VTV-VTV transposes in padded tiles of shared memory. **Here** all modes are
`edm/cuda`, by `mode`; padding by `pad`; the sequential and the parallel version `edm/cpu`. **What differs**: threads read 16 elements at
a time, prefetch, and keep the top of the stack in registers and shared memory, which the paper does not say of its kernels. So step 2 is
quicker than a transcription would be. Columns first or rows first is a mode's order, as in the paper.

### Table 1: 9216 x 9216, averages of 20 runs in the paper

{edm_printed(paper)}
With transfers the paper gives speed-ups of about 10, 30 and 34 on its three GPUs. Today, a field of large regions in place of the paper's
portrait, and strapwork:

{"".join(edm_today(gpu, image, MODES) + chr(10) for image in images)}Today's processors, on regions: beside the GPU,
then on the machine of the CPU record.

{edm_threads(gpu)}
{edm_threads(cpu)}
Voronoi map, the same images (Figure 17: padded tiles and others, distance map):

{grid(gpu, "Voronoi map", ["VH-VH", "VTV-VTV", ("CPU", "CPU beside the GPU, one thread")], images, True)}
{grid(cpu, "Voronoi map", [("CPU", "CPU record, one thread")], images, True)}
{grid(gpu, "Figure 17", ["VTV-VTV, padded", "VTV-VTV, not padded"], images)}
### Figures 19 to 21: sites at random

The paper: {paper.figure("Figure 19")}. Figure 20, {paper.figure("Figure 20")}. Figure 21, {paper.figure("Figure 21")}.

{edm_sweep(gpu, cpu, "Figure 19")}
### Figure 22: sites evenly spread

The paper: {paper.figure("Figure 22")}.

{edm_sweep(gpu, cpu, "Figure 22")}
### What each idea gained

{edm_gained(gpu, cpu)}

### Verdict

{verdict(gpu, "/cuda")} {verdict(cpu, "/cpu")} The stacks, 8 bytes per element, are written and read again, and how far back a thread has
to look depends on its data. As a method for any image in linear time on a CPU with little memory, and as the simplest one to write down,
the two steps are still good.
"""


# ---- pba ----

PLANES = ["512^2", "1024^2", "2048^2", "4096^2", "8192^2", "16384^2", "32768^2"]
VOLUMES = ["64^3", "128^3", "256^3", "512^3", "768^3", "1024^3", "1280^3"]
SHARES = ["0.01%", "1%", "10%", "30%", "50%", "70%", "90%"]
CARD = "GTX 1080 Ti"
PBA_CARDS = ["GTX 1070", "GTX 980 Ti", "GTX 1080 Ti"]


def pba_params(paper, gpu):
    rows = []
    for name, row in (("Table 1", "PBA"), ("Table 2", "PBA+")):
        for side in PLANES + VOLUMES:
            printed = [", ".join(str(paper.value(name, row, f"{side}, m{k}", card) or "-") for k in (1, 2, 3)) for card in PBA_CARDS]
            today = gpu.params(name, row, side)
            if today or any(p != "-, -, -" for p in printed):
                rows.append([f"{row}, {side}", *printed, ", ".join(today.get(f"m{k}", "-") for k in (1, 2, 3)),
                             gpu.shown(name, row, side)])
    return table(["m1, m2, m3", *PBA_CARDS, "today", "ms"], rows)


def pba_times(paper, gpu, sides):
    rows = []
    for share in SHARES:
        for version in ("PBA", "PBA+", "PBA+, bits"):
            name = f"{share} random, {version}"
            rows.append([f"{share}, {version}"] + [
                f"{ms(paper.seconds('Table 3', name, s, CARD))} / {gpu.shown('Table 3', name, s)} / {times(gpu.wins('Table 3', name, s))}"
                for s in sides])
    return table(["sites", *sides], rows)


def pba_phases(gpu):
    rows = []
    for share in SHARES:
        row = [share]
        for version in ("PBA", "PBA+"):
            name = f"{share} random, {version}"
            row += [gpu.shown("Table 3", name, "8192^2", p) for p in ("phase 1", "phase 2", "phase 3", None)]
        rows.append(row)
    return table(["sites", "PBA: phase 1", "phase 2", "phase 3", "all", "PBA+: phase 1", "phase 2", "phase 3", "all"], rows)


def pba_ideas(gpu):
    rows, columns = gpu.rows("Ideas"), gpu.columns("Ideas")
    body = [[row] + [f"{gpu.shown('Ideas', row, c)} / "
                     f"{times(ratio(gpu.seconds('Ideas', rows[max(i - 1, 0)], c), gpu.seconds('Ideas', row, c)))}" for c in columns]
            for i, row in enumerate(rows)]
    return table(["ms / as fast as the row above", *columns], body)


def pba_mean(source, sides):
    return geometric_mean([ratio(source.seconds("Table 3", f"{p} random, PBA", s), source.seconds("Table 3", f"{p} random, PBA+", s))
                           for p in SHARES for s in sides])


def pba_gained(paper, gpu):
    lines = []
    if gpu:
        lines.append(f"PBA+ against PBA, in the mean over densities and sizes that the paper has for both: planes "
                     f"{times(pba_mean(paper, PLANES[:5]))} in the paper, {times(pba_mean(gpu, PLANES[:5]))} today; volumes "
                     f"{times(pba_mean(paper, VOLUMES[:4]))} and {times(pba_mean(gpu, VOLUMES[:4]))}.")
        bits = [ratio(gpu.seconds("Table 3", f"{p} random, PBA+", s), gpu.seconds("Table 3", f"{p} random, PBA+, bits", s))
                for p in SHARES for s in PLANES + VOLUMES]
        lines.append(f"Bits instead of coordinates in phase 1, which are this project's: {span(bits)} as fast as PBA+ as printed.")
    else:
        lines.append(f"PBA+ against PBA, in the paper, in the mean over densities and sizes that it has for both: planes "
                     f"{times(pba_mean(paper, PLANES[:5]))}, volumes {times(pba_mean(paper, VOLUMES[:4]))}.")
    return "\n".join(f"- {line}" for line in lines)


def pba_production(cpu, sides):
    return table(["sites", *sides], [[p] + [f"{cpu.shown('Table 3', f'{p} random, envelopes', s)} / "
                                            f"{ms(cpu.production('Table 3', f'{p} random, envelopes', s))}" for s in sides]
                                       for p in SHARES])


def pba(paper, gpu, cpu):
    return f"""## Parallel banding: pba

{paper.name}.

**The papers** find nearest sites in three phases, each in bands so that there are threads enough even for small images: floods along
rows (m1 bands), the list of proximate sites of every column (m2 bands, merged by two and two), colouring columns from their lists (m3
threads to a column); volumes do the last two again. PBA+ fuses the two transpositions with their neighbours, tests dominance in
integers, lets the threads of the third phase work alone instead of in step, and drops the conversions of lists in volumes. **Here** each
of these is a parameter of `pba/cuda` (`flood`, `test`, `lists`, `colouring`), and `variant` a set of them: PBA as printed is
`variant=pba,test=float,lists=converted`, PBA+ as printed `variant=pba+,flood=coordinates`. **What differs**: rows come first, and the
slowest axis last, so that of equally near sites the lowest index wins; `test=float` is FP64, since FP32 cannot tell takeovers apart
beyond some 45 elements a side, and is refused where FP64 cannot; in Tables 1 and 3, which go beyond that, PBA has the integer test;
PBA's textures are not here, which by the addendum make no difference. `variant=pba+` by itself floods bits instead of coordinates in
phase 1: that is this project's, and has rows of its own.

### Tables 1 and 2: the best m1, m2, m3

Today's are searched from the {CARD}'s by factors of two, at 50% sites.

{pba_params(paper, gpu)}
### Table 3: sizes and densities

Paper ({CARD}) / today / how many times as fast minplus is. All give the nearest site of every element, with the parameters of Tables 1
and 2. 1280^3 is beyond the ten bits to a coordinate that the paper packs; words have 64 bits there.

{pba_times(paper, gpu, PLANES)}
{pba_times(paper, gpu, VOLUMES)}
Figure 6 is the row at 50%, on three GPUs; the paper prints it as curves: {paper.figure("Figure 6").split(": ")[1]}.

### Figure 7: phases at 8192 x 8192

The paper: {paper.figure("Figure 7")}.

{pba_phases(gpu)}
### Each idea by itself

From PBA as printed to PBA+ as printed, and on; one thing changes from row to row, with PBA's parameters, at 50% sites.

{pba_ideas(gpu)}
### Without a GPU

PBA needs one. Lower envelopes of parabolas, which are no method of the paper but linear too / minplus, on the CPU, with sites
({cpu.machine()}):

{pba_production(cpu, PLANES[:6])}
{pba_production(cpu, VOLUMES[:5])}
### What each idea gained

{pba_gained(paper, gpu)}

### Verdict

{verdict(gpu, "/cuda")} PBA+ has linear work, no limit on the distance, and bands that keep a large GPU busy on small images. It writes and
reads a word per element in every phase, which minplus goes without where sites are near; where they are far and all must be searched, as
in volumes with few sites, that is worth less.

**The applications** of the paper are the commands `skeleton` (the integer medial axis, in planes and volumes), `morph` (volumes by balls)
and `cvt` (weighted centroidal Voronoi diagrams). The paper prints no times of them.
"""


# ---- psds ----

MASKS = ["city-block", "chessboard", "2-3", "3-4", "5-7"]


def psds_place(points):
    return "Table 1" if int(points) < 100 else "Table 2"


def psds_points(results):
    return results.columns("Table 1") + results.columns("Table 2")


def psds_gpu_table(paper, gpu, points):
    rows = []
    for n in points:
        name = psds_place(n)
        rows.append([n, ms(paper.seconds(name, "PSDS", n)), gpu.shown(name, "PSDS", n), ms(paper.seconds(name, "enumeration, GPU", n))]
                    + [gpu.shown(name, r, n) for r in ("enumeration, GPU", "enumeration, GPU, device's list", "enumeration, GPU, shared",
                                                       "sweeps, 3-4, GPU")]
                    + [ms(gpu.production(name, "PSDS", n)), times(gpu.wins(name, "PSDS", n))])
    return table(["points", "PSDS: paper", "today", "enumeration: paper", "today, the paper's kernel", "list by the device",
                  "tiles in shared memory", "sweeps, 3-4", "minplus", "wins over PSDS"], rows)


def psds_cpu_table(paper, results, points):
    rows = []
    for n in points:
        name = psds_place(n)
        rows.append([n, ms(paper.seconds(name, "enumeration, CPU", n))]
                    + [results.shown(name, f"enumeration, CPU, {k}", n) for k in ("one thread", "all threads")]
                    + [ms(paper.seconds(name, "two-pass", n))] + [results.shown(name, f"two-pass, {m}", n) for m in MASKS]
                    + [results.shown(name, f"sweeps, 3-4, {k}", n) for k in ("one thread", "all threads")]
                    + [results.shown(name, "PSDS on the CPU", n), ms(results.production(name, "PSDS on the CPU", n)
                                                                     or results.production(name, "PSDS", n))])
    k = results.data["threads"] if results else "all"
    return table(["points", "enumeration: paper, one thread", "today, one thread", f"{k} threads", "two-pass scan: paper, one thread",
                  *(f"today, one thread: {m}" if m == MASKS[0] else m for m in MASKS), "sweeps, 3-4, one thread", f"{k} threads",
                  f"PSDS, {k} threads", f"minplus, {k} threads"], rows)


def psds_sweep(gpu, figure, param):
    names = gpu.rows(figure)
    return table([param, *(n.split("=")[1] for n in names)], [
        ["PSDS", *(gpu.shown(figure, n, "100") for n in names)], ["with transfers", *(ms(gpu.wall(figure, n, "100")) for n in names)],
        ["wins", *(times(gpu.wins(figure, n, "100")) for n in names)]])


def psds_gained(paper, gpu, cpu):
    lines = []
    points = [n for n in psds_points(gpu) if gpu.seconds(psds_place(n), "PSDS", n)]

    def meets(source, numbers):
        return next((n for n in numbers if (source.seconds(psds_place(n), "enumeration, GPU", n) or 0) >
                     (source.seconds(psds_place(n), "PSDS", n) or float("inf"))), "no number here")
    if points:
        grows = lambda source: ratio(source.seconds(psds_place(points[-1]), "PSDS", points[-1]),
                                     source.seconds(psds_place(points[0]), "PSDS", points[0]))
        lines.append(f"Against the paper's enumeration on the same GPU the scan is the faster one from {meets(gpu, points)} points on; "
                     f"in the paper from {meets(paper, points)}.")
        lines.append(f"From {points[0]} to {points[-1]} points the scan's time grows by {times(grows(gpu))} today, by "
                     f"{times(grows(paper))} in the paper.")
    for place, one in (("the CPU record", cpu), ("the CPU beside the GPU", gpu)):
        raster = known(one.seconds(psds_place(n), "two-pass, 3-4", n) for n in psds_points(one))
        faster = [ratio(one.seconds(psds_place(n), "two-pass, 3-4", n), one.seconds(psds_place(n), "sweeps, 3-4, one thread", n))
                  for n in psds_points(one)]
        if raster:
            lines.append(f"Two-pass scan, 3-4, {place}: {ms(min(raster))} to {ms(max(raster))} ms whatever the points, as the paper "
                         f"says; the row-first sweeps are {span(faster)} as fast on one thread.")
    return "\n".join(f"- {line}" for line in lines)


def psds(paper, gpu, cpu):
    points = psds_points(gpu) or psds_points(cpu)
    return f"""## The parallel shortest distance scan: psds

{paper.name}.

**The paper** scans rows from both ends by the doubling steps of Hillis and Steele, then columns, for the distance to the nearest row with
a site above and below. Then every element goes up and down through those rows until the way there alone is too long. It compares that
with enumeration, on a GPU and on a CPU, and with the two-pass scan of Rosenfeld and Pfaltz on a CPU. **Here** the scan is `psds`, with
`blocks` and `threads`; enumeration is `brute`, on the GPU with `sites=texture,list=host` as the paper's: the CPU lists the sites, a
texture holds them, a block takes a row; the two-pass scan is `raster/cpu`, raster order, one thread. `chamfer` is what this
project made of it: row-first sweeps, in vectors, on all threads, and on the GPU. **What differs**: `list=host` makes its list from a
copy of the sites that comes from the GPU, as a method's input lies there; that copy is in its time. The paper does not say which
weights its two-pass scan has. Chamfer distances are not Euclidean.

### Tables 1 and 2: 6144 x 6144, few sites, GPU

{psds_gpu_table(paper, gpu, points)}
### Tables 1 and 2: CPU

The machine of the CPU record:

{psds_cpu_table(paper, cpu, psds_points(cpu))}
{"The CPU beside the GPU:" + chr(10) + chr(10) + psds_cpu_table(paper, gpu, points) if gpu else ""}
### Figures 12 and 13: blocks and threads

100 points. The paper: {paper.figure("Figure 12")}; {paper.figure("Figure 13")}. Blocks of 256 threads:

{psds_sweep(gpu, "Figure 12", "blocks")}
Threads to each of 6144 blocks:

{psds_sweep(gpu, "Figure 13", "threads")}
### What each idea gained

{psds_gained(paper, gpu, cpu)}

### Verdict

{verdict(gpu, "/cuda")} {verdict(cpu, "/cpu")} Doubling scans do log n steps for what two sequential passes do in one, which pays only
where nothing else keeps the GPU busy; and the search has no bound but the image's height.
"""


# ---- erosion ----

EROSION_ROWS = ["Eggers-CPU", "1D-LZ-CPU", "2D-GPU", "1D-GPU", "1D-LZ-GPU"]
IDEAS = ["16 x 1 + 1 x 16", "counted launches", "skipping", "larger tiles", "all of it"]


def erosion_paper_table(paper, results, rows, columns):
    return table(["", *columns], [[row] + [
        f"{ms(paper.seconds('Table 1', row, c))} / {results.shown('Table 1', row, c)} / {times(results.wins('Table 1', row, c))}"
        for c in columns] for row in rows])


def erosion_ideas(gpu, columns):
    rows = []
    for kernel in ("2D-GPU", "1D-GPU", "1D-LZ-GPU"):
        for idea in IDEAS + ["columns on the GPU"]:
            row = f"{kernel}, {idea}"
            if row in gpu.rows("Ideas"):
                rows.append([row] + [f"{gpu.shown('Ideas', row, c)} / "
                                     f"{times(ratio(gpu.seconds('Table 1', kernel, c), gpu.seconds('Ideas', row, c)))}" for c in columns])
    return table(["ms / as fast as the paper's configuration", *columns], rows)


def erosion_far(source, row):
    return times(ratio(source.seconds("Table 1", row, "1024^2 img3"), source.seconds("Table 1", row, "1024^2 img1")))


def erosion_gained(paper, gpu, cpu, columns):
    lines = []
    if gpu:
        lines.append("One-dimensional erosions against two-dimensional ones, both as printed: "
                     f"{gains(gpu, 'Table 1', '2D-GPU', '1D-GPU', columns)} "
                     f"as fast today, {gains(paper, 'Table 1', '2D-GPU', '1D-GPU', columns)} in the paper.")
        lines.append(f"Columns on the CPU: {gains(gpu, 'Table 1', '1D-GPU', '1D-LZ-GPU', columns)} as fast as 1D-GPU today, "
                     f"{gains(paper, 'Table 1', '1D-GPU', '1D-LZ-GPU', columns)} in the paper.")
    printed = ", ".join(f"{row} {erosion_far(paper, row)}" for row in EROSION_ROWS)
    lines.append(f"The far site (img3) against the small objects (img1) at 1024^2, in the paper: {printed}.")
    for place, one in (("beside the GPU and on it", gpu), ("on the machine of the CPU record", cpu)):
        rows = [r for r in EROSION_ROWS if one.seconds("Table 1", r, "1024^2 img3")]
        if rows:
            lines.append(f"The same today, {place}: " + ", ".join(f"{r} {erosion_far(one, r)}" for r in rows) + ".")
    growth = times(ratio(paper.seconds("Table 1", "1D-LZ-CPU", "1024^2 img3"), paper.seconds("Table 1", "1D-LZ-CPU", "512^2 img3")))
    lines.append(f"1D-LZ-CPU at the far site: from 512^2 to 1024^2, four times the elements, the printed time grows by {growth}, as n "
                 "rounds over all n^2 elements would. With one far site the columns' passes leave one column of distances, and in the rows "
                 "one element is in a queue at a time, so that `lz/cpu` does work in proportion to n^2. So the paper's program visited "
                 "more than its queues' elements there, or its img3 was another kind of image; the method does not ask for it.")
    return "\n".join(f"- {line}" for line in lines)


def erosion(paper, gpu, cpu):
    columns = gpu.columns("Table 1") or cpu.columns("Table 1")
    return f"""## Erosions with structuring functions: erosion, eggers, lz

{paper.name}.

**The paper** makes the squared distance map by a sequence of erosions with small functions b_1, b_2, ... until nothing changes. 2D-GPU has
3 x 3 functions on blocks of 16 x 16, one to a launch; 1D-GPU takes columns, then rows, with 1 x 16 functions, eight one-dimensional ones
added up; 1D-LZ-GPU does the columns by sequential passes on the CPU. The host ends the loop when a launch changed nothing. Beside them it
has the best of the CPU's: Eggers' sufficient propagation, and Lotufo and Zampirolli's queues. **Here** that is `erosion/cuda` with
`kernel=2d`, `1d` and `1d-lz`, and `tile=16,steps=1,skip=0,stop=host`, for `1d-lz` with `columns=cpu`: the rows of Table 1. `split=1`
makes a 3 x 3 function of a 3 x 1 and a 1 x 3 one. **What differs**: `columns=cpu` copies the map from the GPU and back, as a method's
input lies there; those copies are in its time, as `columns, copies` in the results. A function of 1 x 16 reaches 8 elements to either
side, 17 with its middle.

### Table 1

img1 has small objects, img2 large regions, img3 one far site. Paper (GeForce 9400M and Core 2 Duo) / today / how many times as fast
minplus is on the same device. CPU rows have one thread.

{erosion_paper_table(paper, gpu, EROSION_ROWS, columns)}
On the machine of the CPU record ({cpu.machine()}; one thread):

{erosion_paper_table(paper, cpu, EROSION_ROWS[:2], columns)}
The paper's kernels on that CPU, with this project's tiles, today / wins; one thread:

{grid(cpu, "On the CPU", ["2D on the CPU", "1D on the CPU", "1D-LZ on the CPU"], columns, True)}
### Each idea by itself

One thing changed in the paper's configuration. *Counted launches*: as many as the longest way needs, none waits for the host. *Skipping*:
tiles around which nothing changed. *Larger tiles*: with several functions to a launch. *All of it*: the defaults.

{erosion_ideas(gpu, columns)}
### What each idea gained

{erosion_gained(paper, gpu, cpu, columns)}

### Verdict

{verdict(gpu, "/cuda")} {verdict(cpu, "/cpu")} Erosions do as many rounds as the longest distance asks for, over everything that still
changes. The decomposition into one dimension is what counts, and carried to its end it is the separable methods.
"""


# ---- cluster ----


def cluster_table(cluster):
    cells = [c for c in cluster.timed if c["row"] != "sequential"]
    counts = sorted({c["ranks"] for c in cells})
    blocks = list(dict.fromkeys(c["row"].split(", ")[1] for c in cells))
    place = {(c["ranks"], c["row"].split(", ")[1]): c for c in cells}
    crowded = {n: any(c["oversubscribed"] for c in cells if c["ranks"] == n) for n in counts}

    def cell(n, block):
        c = place.get((n, block))
        return f"{ms(c['seconds'])} / {times(c['speed_up'])}" if c else "-"
    heads = [f"{n} rank{'s' if n > 1 else ''}" + (", more than processors" if crowded[n] else "") for n in counts]
    return table(["block, rows x columns", *heads],
                 [[b, *(cell(n, b) for n in counts)] for b in blocks])


def on_cluster(cluster):
    one = cluster.cell("Cluster", "sequential", "3840^2")
    measured = "No run is on record yet.\n" if not one else f"""One rank, the whole image as one block: {ms(one["seconds"])} ms.
In the table ms / speed-up over that:

{cluster_table(cluster)}"""
    return f"""## The two-pass scan on a cluster

S. J. Shyu, T. W. Chou, T. L. Chia, Distance Transformation in Parallel, 2006, as the paper on the parallel shortest distance scan cites it.

**The paper** spreads the scan of Rosenfeld and Pfaltz over sixteen PCs, in strips that are cut into blocks like parallelograms, and has a
speed-up of 8.18 at 3840 x 3840, or 13.44 if the time to read the data counts. **Here** that is `mpirun -n R distmap bench --suite cluster`,
weights 3 and 4. **What differs**: ranks are processes of one machine; the image is made in memory, so that nothing is read, and 8.18 is
what to compare with. Where there are more ranks than processors, times tell how they share them, not what the method is worth.

{measured}"""


SECTIONS = {"man-edm": man_edm, "pba": pba, "psds": psds, "erosion": erosion, "esf": esf}
