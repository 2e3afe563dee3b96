"""The sections of docs/papers.md: text, and what is taken from the figures (bench/papers.py)."""
from papers_esf import esf
from papers_figures import geometric_mean, known, ms, number, ratio, span, table, times

GTX = "GTX 580"


def short(got, wanted):
    """What a heading says of a table that the run of record did not reach the end of."""
    return f" (up to {got[-1]}: the run of record ended there)" if got and len(got) < len(wanted) else ""


def runs(results):
    return [one for pair in results.values() for one in pair if one]


def singles(results):
    counts = []
    for gpu in (True, False):
        cells = [c for one in runs(results) for c in one.timed if (one.data["gpu"] is not None) == gpu]
        once = [c for c in cells if c["runs"] == 1]
        of_cpu = sum(c["method"].endswith("/cpu") for c in once)
        counts.append(f"{len(once)} of {len(cells)} cells of the {'GPU' if gpu else 'CPU'} runs"
                      + (f", {of_cpu} of them of the CPU's methods beside it" if gpu else ""))
    return "; ".join(counts)


def wins_sentence(results, device):
    least, middle, most, count = results.sum_up(device)
    place = "GPU" if device == "/cuda" else "CPU"
    if least == most:
        return f"On the {place} minplus is {times(least)} as fast, in one cell."
    return (f"On the {place} minplus is {times(least)} to {times(most)} as fast over {count} cells, {times(middle)} in the middle "
            f"one{'' if least > 1 else ': it does not win all of them'}.")


def introduction(results):
    gpu, cpu = results["pba"]
    skipped = {}
    for one in runs(results):
        for reason, count in one.reasons().items():
            kind = "for want of a GPU" if reason.startswith("needs a GPU") else "for their time or memory"
            skipped[(one.data["gpu"] is None, kind)] = skipped.get((one.data["gpu"] is None, kind), 0) + count
    left_out = "; ".join(f"{count} cells of the {'CPU' if of_cpu else 'GPU'} runs {kind}"
                         for (of_cpu, kind), count in sorted(skipped.items())) or "none"
    parts = [f"{one.data['suite']} on the {'GPU' if one.data['gpu'] else 'CPU'}" for one in runs(results)
             if not one.data["whole"]]
    cut_off = f" Cut off before the end: {', '.join(parts)}." if parts else ""
    return f"""# The papers' methods, measured again

Five papers' methods are in distmap under their own names, and `distmap bench --suite NAME` goes through the tables and figures
of each on today's machine. This page sets what the papers printed beside that. It is made by `python3 bench/papers.py` from
[`bench/papers/`](../bench/papers) and [`bench/results/`](../bench/results): all times and ratios, those in sentences too.

- GPU: {gpu.machine()}. CPU: {cpu.machine()}.
- **Today** is the least time of the runs of the method alone, in ms: on a GPU by events around its kernels. *With transfers* is
  the time of a call from ordinary host memory to ordinary host memory. Runs are 2 to 20, but one for what takes long:
  {singles(results)}. A single run of a CPU's method has the first touch of its memory in it, mostly in its first phase.
- **minplus** is the production method, timed in turns with the paper's on the same image in the same process, and *wins* says how
  many times as fast it is. Every result was compared with minplus's to the bit (chamfer distances with brute force's). Of edge
  strengths the production method is **blocked**, and what the first method gave is what all others must give, to the bit.
- The papers' machines are from 2008 to 2017, so a paper's time beside today's says how far hardware has come, not what a method is
  worth; ratios within a paper and within today are what compares.
- The papers' pictures are not ours to print or ship; images of the same kind are drawn in their place.
- Not measured: {left_out}. The results say which and why.{cut_off}
"""


def man_edm(paper, gpu, cpu):
    modes = ["VV-HH", "HH-VV", "VH-VH", "HV-HV", "VTV-VTV"]

    def modes_table(image):
        rows = []
        for mode in modes:
            printed = [paper.seconds("Table 1", mode, c, GTX) for c in ("step 1", "step 2", "total")]
            rows.append([mode, *map(ms, printed), ms(gpu.seconds("Table 1", mode, image, "step 1")),
                         ms(gpu.seconds("Table 1", mode, image, "step 2")), ms(gpu.seconds("Table 1", mode, image)),
                         ms(gpu.wall("Table 1", mode, image)), ms(gpu.production("Table 1", mode, image)),
                         times(gpu.wins("Table 1", mode, image))])
        return table(["mode", f"{GTX}: step 1", "step 2", "total", "today: step 1", "step 2", "total", "with transfers",
                      "minplus", "wins"], rows)

    def threads_table():
        head, rows = ["threads", "step 1", "step 2", "total", "speed-up", "minplus", "wins"], []
        printed = [paper.seconds("Table 1", "CPU", c) for c in ("step 1", "step 2", "total")]
        rows.append(["paper: 1, Core i7", *map(ms, printed), "-", "-", "-"])
        for name, results in (("beside the GPU", gpu), ("CPU", cpu)):
            one = results.seconds("Table 1", "CPU", "regions")
            for row in [r for r in results.rows("Table 1") if r.startswith("CPU")]:
                count = row.split(", ")[1].split()[0] if ", " in row else "1"
                t = results.seconds("Table 1", row, "regions")
                rows.append([f"{name}: {count}", ms(results.seconds("Table 1", row, "regions", "step 1")),
                             ms(results.seconds("Table 1", row, "regions", "step 2")), ms(t), times(ratio(one, t)),
                             ms(results.production("Table 1", row, "regions")), times(results.wins("Table 1", row, "regions"))])
        return table(head, rows)

    def sweep(figure, with_cpu):
        rows = []
        for share in gpu.columns(figure):
            vh, vtv = (gpu.seconds(figure, m, share) for m in ("VH-VH", "VTV-VTV"))
            row = [share, ms(vh), ms(vtv), ms(gpu.wall(figure, "VH-VH", share)), ms(gpu.wall(figure, "VTV-VTV", share)),
                   ms(gpu.production(figure, "VTV-VTV", share)), times(gpu.wins(figure, "VTV-VTV", share))]
            if with_cpu:
                alone = gpu.seconds("Figure 20", "CPU", share)
                row[5:5] = [ms(alone), times(ratio(alone, vtv))]
            rows.append(row)
        head = ["sites", "VH-VH", "VTV-VTV", "with transfers: VH-VH", "VTV-VTV", "minplus", "wins"]
        if with_cpu:
            head[5:5] = ["CPU, 1 thread", "VTV-VTV's speed-up"]
        return table(head, rows)

    total = {m: gpu.seconds("Table 1", m, "regions") for m in modes}
    order = sorted(modes, key=total.get)
    gain = {m: ratio(total[m], total["VTV-VTV"]) for m in modes}
    printed = ratio(*(paper.seconds("Table 1", m, "total", GTX) for m in ("VH-VH", "VTV-VTV")))
    random = [(c, gpu.seconds("Figure 19", "VTV-VTV", c)) for c in gpu.columns("Figure 19")]
    slowest = max(random, key=lambda r: r[1])
    speedups = [ratio(gpu.seconds("Figure 20", "CPU", c), t) for c, t in random if gpu.seconds("Figure 20", "CPU", c)]
    alone = [cpu.seconds("Figure 20", "CPU", c) for c in cpu.columns("Figure 20")]
    beside = known(gpu.seconds("Figure 20", "CPU", c) for c in gpu.columns("Figure 20"))
    spread = max(known(alone)) / min(known(alone))
    step1 = [gpu.seconds("Figure 19", "VTV-VTV", c, "step 1") for c, _ in random]
    even = known(ratio(gpu.seconds("Figure 22", "VTV-VTV", c), gpu.seconds("Figure 19", "VTV-VTV", c))
                 for c in gpu.columns("Figure 22"))
    share2 = gpu.seconds("Table 1", "VTV-VTV", "regions", "step 2") / total["VTV-VTV"]
    vh_less = geometric_mean([ratio(gpu.seconds("Figure 19", "VH-VH", c), t) for c, t in random])
    return f"""## Proximate points and access modes: edm

{paper.name}.

A plane in two steps: the distance to the nearest site of each line, then, for each line across, the sites that are nearest
somewhere on it, by a stack. Both steps take linear time and every line is a thread's; so the paper is about memory. Threads
that go down columns (V) read and write together, threads along rows (H) a row apart, and a mode says which of the two happens
where. VTV-VTV transposes in padded shared memory, and has all accesses together but those to the stacks.

### Table 1: 9216 x 9216

A field of large regions in place of the paper's portrait. Times in ms.

{modes_table("regions")}
The same with strapwork:

{modes_table("strapwork")}
Processors, on regions:

{threads_table()}
### Figures 19 to 21: sites at random

The paper: {paper.figure("Figure 19")}. Figure 20, {paper.figure("Figure 20")}. Figure 21, {paper.figure("Figure 21")}.

{sweep("Figure 19", True)}
Figure 20 on the machine of the CPU run, one thread:

{table(["", *cpu.columns("Figure 20")],
       [["CPU"] + [ms(t) for t in alone],
        ["minplus"] + [ms(cpu.production("Figure 20", "CPU", c)) for c in cpu.columns("Figure 20")],
        ["wins"] + [times(cpu.wins("Figure 20", "CPU", c)) for c in cpu.columns("Figure 20")]])}
### Figure 22: sites evenly spread{short(gpu.columns("Figure 22"), gpu.columns("Figure 19"))}

The paper: {paper.figure("Figure 22")}.

{sweep("Figure 22", False)}
### What the idea gained

- Access modes: fastest to slowest today are {", ".join(f"{m} ({ms(total[m])} ms)" for m in order)}. VV-HH takes
  {times(gain["VV-HH"])} as long as VTV-VTV, VH-VH {times(gain["VH-VH"])}; on the GTX 580 VH-VH took {times(printed)} as long.
- Density: VTV-VTV is slowest at {slowest[0]} today, where the paper says about 40%; step 1 takes {ms(min(step1))} to {ms(max(step1))} ms
  over all densities. Over those VH-VH takes {times(vh_less)} as long as VTV-VTV in the mean.
- Even spacing takes {times(min(even))} to {times(max(even))} the time of random sites of the same number: it is
  {"still" if max(even) > 1.05 else "not"} the worst case.
- On the CPU the slowest density takes {times(spread)} as long as the fastest; beside the GPU,
  {times(max(beside) / min(beside))} over the densities that were measured there.
- Against one thread of the CPU in the same machine VTV-VTV is {times(min(speedups))} to {times(max(speedups))} as fast.

### Verdict

{wins_sentence(gpu, "/cuda")} {wins_sentence(cpu, "/cpu")} Step 2 takes {number(100 * share2, 2)}% of VTV-VTV's time: the
stacks, 8 bytes per element, are written and read again, and how far back a thread has to look depends on its data. minplus reads
a quarter of a byte per pixel and keeps candidates in registers. As a method for any image in linear time on a CPU with little memory, and as the
simplest one to write down, the two steps are still good.
"""


PBA_SIDES = ["512^2", "1024^2", "2048^2", "4096^2", "8192^2", "16384^2", "32768^2"], \
            ["64^3", "128^3", "256^3", "512^3", "768^3", "1024^3"]
PBA_SHARES = ["0.01%", "1%", "10%", "30%", "50%", "70%", "90%"]


def pba(paper, gpu, cpu):
    card = "GTX 1080 Ti"

    def params_table(name, row):
        rows = []
        for sides in PBA_SIDES:
            for side in sides:
                cell = gpu.cell(name, row, side)
                today = [p.split("=")[1] for p in cell["params"].split(",")[1:]] if cell else ["-"] * 3
                printed = [paper.value(name, row, f"{side}, m{k}", card) for k in (1, 2, 3)]
                if not cell and not any(printed):
                    continue
                rows.append([side, *(str(p or "-") for p in printed), *today, ms(cell and cell["seconds"])])
        return table(["", f"{card}: m1", "m2", "m3", "today: m1", "m2", "m3", "ms"], rows)

    def times_table(sides):
        rows = []
        for share in PBA_SHARES:
            for version in ("PBA", "PBA+"):
                row = f"{share} random, {version}"
                rows.append([f"{share}, {version}"] + [
                    f"{ms(paper.seconds('Table 3', row, s))} / {ms(gpu.seconds('Table 3', row, s))} / {times(gpu.wins('Table 3', row, s))}"
                    for s in sides])
        return table(["sites", *sides], rows)

    def production_table(results, row_of, sides):
        return table(["sites", *sides], [[share] + [ms(results.production("Table 3", row_of(share), s)) for s in sides]
                                         for share in PBA_SHARES])

    def phases_table():
        rows = []
        for share in PBA_SHARES:
            row = [share]
            for version in ("PBA", "PBA+"):
                name = f"{share} random, {version}"
                row += [ms(gpu.seconds("Table 3", name, "8192^2", f"phase {k}")) for k in (1, 2, 3)]
                row += [ms(gpu.seconds("Table 3", name, "8192^2"))]
            rows.append(row)
        return table(["sites", "PBA: phase 1", "phase 2", "phase 3", "all", "PBA+: phase 1", "phase 2", "phase 3", "all"], rows)

    def gain(seconds, sides):
        return geometric_mean([ratio(seconds("Table 3", f"{p} random, PBA", s), seconds("Table 3", f"{p} random, PBA+", s))
                               for p in PBA_SHARES for s in sides])

    flat, deep = PBA_SIDES
    shared = flat[:5], deep[:4]
    plus = [c for c in gpu.timed if c["table"] == "Table 3" and c["row"].endswith("PBA+")]
    wins = sorted(c["production_wins"] for c in plus)
    slowest = {k: max(PBA_SHARES, key=lambda p: gpu.seconds("Table 3", f"{p} random, PBA+", "8192^2", f"phase {k}") or 0)
               for k in (1, 2, 3)}
    lost = [f"{c['row'].split(' random')[0]} at {c['column']} ({times(c['production_wins'])})" for c in plus
            if c["production_wins"] < 1]
    envelopes = lambda share: f"{share} random, envelopes"
    return f"""## Parallel banding: pba

{paper.name}.

Nearest sites in three phases, each in bands so that there are threads enough even for small images: floods along rows
(m1 bands), the list of proximate sites of every column (m2 bands, merged by two and two), colouring columns from their lists
(m3 threads to a column); volumes do the last two again. PBA+ fuses the two transpositions with their neighbours,
tests dominance in integers, and lets the threads of the third phase work alone instead of in step.

### Tables 1 and 2: the best m1, m2, m3

Searched from the GTX 1080 Ti's by factors of two, at 50% sites. PBA:

{params_table("Table 1", "PBA")}
PBA+:

{params_table("Table 2", "PBA+")}
### Table 3: sizes and densities

Paper ({card}) / today / how many times as fast minplus is, in ms. Both give the nearest site of every element. Parameters are
the defaults.

{times_table(flat)}
{times_table(deep)}
minplus alone, with sites (beside PBA+), in ms:

{production_table(gpu, lambda share: f"{share} random, PBA+", flat)}
{production_table(gpu, lambda share: f"{share} random, PBA+", deep)}
Figure 6 is the row at 50%, on three GPUs.

### Figure 7: phases at 8192 x 8192

The paper: {paper.figure("Figure 7")}.

{phases_table()}
### Without a GPU

PBA needs one. minplus on the CPU, with sites, in ms:

{production_table(cpu, envelopes, [s for s in flat if cpu.production("Table 3", envelopes("50%"), s)])}
{production_table(cpu, envelopes, [s for s in deep if cpu.production("Table 3", envelopes("50%"), s)])}
### What the idea gained

- PBA+ against PBA, in the mean over densities and the paper's sizes: planes {times(gain(paper.seconds, shared[0]))} in the paper,
  {times(gain(gpu.seconds, shared[0]))} today; volumes {times(gain(paper.seconds, shared[1]))} and {times(gain(gpu.seconds, shared[1]))}.
- Phase 1 is slowest at {slowest[1]}, phase 2 at {slowest[2]}, phase 3 at {slowest[3]} of the densities.

### Verdict

minplus is {times(wins[0])} to {times(wins[-1])} as fast as PBA+ over {len(wins)} cells, {times(wins[len(wins) // 2])} in the middle one.
{("Cells in which it is not faster: " + ", ".join(lost) + ".") if lost else "There is no cell in which it is not faster."}
PBA+ is the best of the published methods here: linear work, no limit on the distance, and bands that keep a large GPU
busy on small images. It writes and reads a word per element in every phase, which minplus goes without where sites are near;
where they are far and all must be searched, as in volumes with few sites, that is worth less.
"""


def psds(paper, gpu, cpu):
    def points_table(name):
        rows = []
        two_pass = ["city-block", "chessboard", "2-3", "3-4", "5-7"]
        for points in gpu.columns(name):
            row = [points]
            for method in ("PSDS", "enumeration, GPU", "enumeration, CPU"):
                row += [ms(paper.seconds(name, method, points)), ms(gpu.seconds(name, method, points))]
            row += [ms(paper.seconds(name, "two-pass", points))]
            row += [ms(gpu.seconds(name, f"two-pass, {m}", points)) for m in two_pass]
            row += [ms(gpu.seconds(name, "3-4 on the GPU", points)), ms(gpu.production(name, "PSDS", points)),
                    times(gpu.wins(name, "PSDS", points))]
            rows.append(row)
        return table(["points", "PSDS: paper", "today", "enumeration, GPU: paper", "today", "enumeration, CPU: paper",
                      "today", "two-pass, CPU: paper", *two_pass, "3-4 on the GPU", "minplus", "wins over PSDS"], rows)

    def cpu_table():
        rows = []
        for name in ("Table 1", "Table 2"):
            for points in cpu.columns(name):
                row = [points] + [ms(cpu.seconds(name, r, points)) for r in
                                  ("PSDS on the CPU", "enumeration, CPU", "two-pass, 3-4", "two-pass, 5-7")]
                rows.append(row + [ms(cpu.production(name, "PSDS on the CPU", points)),
                                   times(cpu.wins(name, "PSDS on the CPU", points))])
        return table(["points", "PSDS", "enumeration", "two-pass, 3-4", "5-7", "minplus", "wins over PSDS"], rows)

    def sweep(figure, param):
        names = gpu.rows(figure)
        if not names:
            return "The run of record ended before it.\n"
        rows = [["PSDS", *(ms(gpu.seconds(figure, n, "100")) for n in names)],
                ["with transfers", *(ms(gpu.wall(figure, n, "100")) for n in names)],
                ["wins", *(times(gpu.wins(figure, n, "100")) for n in names)]]
        return table([param, *(n.split("=")[1] for n in names)], rows)

    columns = gpu.columns("Table 1") + gpu.columns("Table 2")
    place = lambda points: "Table 1" if int(points) < 100 else "Table 2"
    meets = lambda source: next((p for p in columns if (source.seconds(place(p), "enumeration, GPU", p) or 0) >
                                 (source.seconds(place(p), "PSDS", p) or float("inf"))), "no number here")
    timed = [c for c in columns if gpu.seconds(place(c), "PSDS", c)]
    first, last = timed[0], timed[-1]
    grows = lambda source: ratio(source.seconds(place(last), "PSDS", last), source.seconds(place(first), "PSDS", first))
    best = lambda figure: min(gpu.rows(figure), key=lambda r: gpu.seconds(figure, r, "100"))
    worst = lambda figure: max(gpu.rows(figure), key=lambda r: gpu.seconds(figure, r, "100"))
    phases = gpu.cell(place(last), "PSDS", last)["phases"]
    figures = "" if not gpu.rows("Figure 13") else f"""- {best("Figure 12")} and {best("Figure 13")} are the fastest here, {worst("Figure 12")} and {worst("Figure 13")} the slowest.
"""
    two_pass = sorted(c["seconds"] for c in gpu.timed if c["method"] == "chamfer/cpu")
    chamfer = [c for c in gpu.timed + cpu.timed if c["method"] == "chamfer/cpu"]
    checked = sum(c["checked_against"] is not None for c in chamfer)
    return f"""## The parallel shortest distance scan: psds

{paper.name}.

Rows are scanned from both ends by the doubling steps of Hillis and Steele, then columns, for the distance to the nearest row with
a site above and below. Then every element goes up and down through those rows until the way there alone is too long. The scans
take the same time whatever the image; the search takes longer the more rows have sites that are not near enough.

### Tables 1 and 2: 6144 x 6144, few sites{short(timed, cpu.columns("Table 1") + cpu.columns("Table 2"))}

In ms. Two-pass scans are those of `chamfer/cpu`, whose distances are not Euclidean; the paper does not say which mask its one
has. Of {len(chamfer)} such cells of both runs {checked} were checked against brute force; on a CPU that takes too long for the others.

{points_table("Table 1")}
{points_table("Table 2")}
On the CPU ({cpu.machine()}), in ms:

{cpu_table()}
### Figures 12 and 13: blocks and threads

100 points. The paper: {paper.figure("Figure 12")}; {paper.figure("Figure 13")}. Blocks of 256 threads:

{sweep("Figure 12", "blocks")}
Threads to each of 6144 blocks:

{sweep("Figure 13", "threads")}
### What the idea gained

- Against enumeration on the same GPU the scan is the faster one from {meets(gpu)} points on; in the paper from {meets(paper)}.
- From {first} to {last} points the scan's time grows by {times(grows(gpu))} today, by {times(grows(paper))} in the paper.
- At {last} points the row scans take {ms(phases["row scans"])} ms, the column scans {ms(phases["column scans"])} ms, the search
  {ms(phases["search"])} ms.
{figures}
### Verdict

{wins_sentence(gpu, "/cuda")} {wins_sentence(cpu, "/cpu")} Doubling
scans do log n steps for what two sequential passes do in one, which pays only where nothing else keeps the GPU busy; and
the search has no bound but the image's height. A two-pass chamfer scan on the
CPU takes the same time however many points there are, as the paper says too: {ms(two_pass[0])} to {ms(two_pass[-1])} ms here.
"""


def erosion(paper, gpu, cpu):
    columns = gpu.columns("Table 1")
    printed_rows = ["Eggers-CPU", "1D-LZ-CPU", "2D-GPU", "1D-GPU", "1D-LZ-GPU"]

    def paper_table():
        return table(["", *columns], [[row] + [
            f"{ms(paper.seconds('Table 1', row, c))} / {ms(gpu.seconds('Table 1', row, c))} / {times(gpu.wins('Table 1', row, c))}"
            for c in columns] for row in printed_rows])

    def other_table(results, rows):
        return table(["", *columns], [[row] + [
            f"{ms(results.seconds('Table 1', row, c))} / {times(results.wins('Table 1', row, c))}" for c in columns]
            for row in rows] + [["minplus"] + [ms(results.production("Table 1", rows[0], c)) for c in columns]])

    def gain(source, slow, fast):
        return [ratio(source.seconds("Table 1", slow, c), source.seconds("Table 1", fast, c)) for c in columns]

    tiles = [ratio(gpu.seconds("Table 1", row, c), gpu.seconds("Table 1", f"{row}, default tiles", c))
             for row in printed_rows[2:] for c in columns]
    far = {row: ratio(gpu.seconds("Table 1", row, "1024^2 img3"), gpu.seconds("Table 1", row, "1024^2 img1"))
           for row in printed_rows}
    far_then = {row: ratio(paper.seconds("Table 1", row, "1024^2 img3"), paper.seconds("Table 1", row, "1024^2 img1"))
                for row in printed_rows}
    cpu_times = [gpu.seconds("Table 1", row, c) for row in printed_rows[:2] for c in columns]
    against_eggers = gain(gpu, "Eggers-CPU", "1D-LZ-GPU")
    return f"""## Erosions with structuring functions: erosion, eggers, lz

{paper.name}.

The squared distance map is an erosion of the image, and that a sequence of erosions with small functions b_1, b_2, ... whose
values vary from step to step, until nothing changes. 2D uses 3 x 3 functions; 1D takes columns, then rows, with eight
one-dimensional ones added up; 1D-LZ does the columns by two sequential passes. Beside them the paper has the best of the CPU's:
Eggers' sufficient propagation, and Lotufo and Zampirolli's queues.

### Table 1

img1 has small objects, img2 large regions, img3 one far site. Paper (GeForce 9400M and Core 2 Duo) / today / how many times as
fast minplus is on the same device, in ms. GPU rows have the paper's configuration, blocks of 16 x 16 and one function to a launch;
CPU rows one thread.

{paper_table()}
With larger tiles and several functions to a launch (the defaults), today / wins:

{other_table(gpu, [f"{row}, default tiles" for row in printed_rows[2:]])}
The same kernels, and the paper's two methods, on the CPU ({cpu.machine()}; one thread each), today / wins:

{other_table(cpu, ["Eggers-CPU", "1D-LZ-CPU", "2D on the CPU", "1D on the CPU", "1D-LZ on the CPU"])}
### What the idea gained

- One-dimensional erosions against two-dimensional ones: {span(gain(gpu, "2D-GPU", "1D-GPU"))} as fast today,
  {span(gain(paper, "2D-GPU", "1D-GPU"))} in the paper.
- Sequential passes for the columns: {span(gain(gpu, "1D-GPU", "1D-LZ-GPU"))} as fast as 1D today, {span(gain(paper, "1D-GPU", "1D-LZ-GPU"))}
  in the paper, whose passes are on the CPU.
- Larger tiles and several functions to a launch: {span(tiles)} as fast as the paper's configuration.
- The far site takes {", ".join(f"{row} {times(far[row])}" for row in printed_rows)} as long as the small objects at 1024^2; in the paper
  {", ".join(times(far_then[row]) for row in printed_rows)}.
- 1D-LZ-GPU is {span(against_eggers)} as fast as one thread of Eggers' method; in the paper {span(gain(paper, "Eggers-CPU", "1D-LZ-GPU"))}.

### Verdict

{wins_sentence(gpu, "/cuda")} {wins_sentence(cpu, "/cpu")} Erosions do as many rounds as the longest
distance asks for, over everything that still changes; and as only the GPU knows when it is done, small objects pay for launches
in vain. The decomposition into one dimension is what counts, and carried to its end it is the separable methods. Of Eggers' and
Lotufo and Zampirolli's on one thread beside the GPU the slower takes {ms(max(known(cpu_times)))} ms at most.
"""


SECTIONS = {"man-edm": man_edm, "pba": pba, "psds": psds, "erosion": erosion, "esf": esf}
WITHOUT_GPU = {"esf"}  # sections that are right, if shorter, as long as no GPU's results are on record
