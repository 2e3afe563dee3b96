"""The section of docs/papers.md on the edge strength function (bench/papers.py). It can do without a GPU's results."""
from math import prod

from papers_figures import geometric_mean, known, ms, number, ratio, span, table, times, verdict

SIZES = ["4 MB", "16 MB", "64 MB", "256 MB"]
ALL_THREADS = "CPU, blocked, all threads"
ON_CPU = {"paper's": "CPU", "every element": "CPU, every element", "plain": "CPU, plain", "blocked": "CPU, blocked"}
ON_GPU = {"shared": "GPU (SM)", "texture": "GPU (TM)", "linear": "GPU (TM), linear memory", "blocked": "GPU, blocked"}
TABLES = ["Table 1", "Table 2", "Table 3"]
STEPS = {"Table 1": "lines, 50 steps", "Table 2": "lines, 200 steps", "Table 3": "regions, 200 steps",
         "Figure 7": "all shape, 200 steps"}
IMAGES = {"lines": "Table 2", "regions": "Table 3"}  # at rest, beside 200 steps of the same
REST_SIZES = SIZES[:3]
SOLVERS = ["multigrid", "over-relaxation"]


def cpu_table(paper, cpu):
    """Ratios are those of runs in turns."""
    threads = f"blocked, {cpu.data['threads']} threads" if cpu else "blocked, all threads"
    return table(["one thread", "paper", "today, the paper's", "every element", "plain", "blocked", threads,
                  "blocked wins over the paper's", "over plain"],
                 [[f"{name}, {what}, {size}", ms(paper.seconds(name, "CPU", size))]
                  + [cpu.shown(name, row, size) for row in [*ON_CPU.values(), ALL_THREADS]]
                  + [times(cpu.wins(name, ON_CPU[k], size)) for k in ("paper's", "plain")]
                  for name, what in STEPS.items() for size in SIZES])


def gpu_table(paper, gpu):
    head = ["", "paper: shared", "texture", "today: shared", "texture", "linear", "blocked", "with transfers: shared", "texture", "blocked",
            "blocked wins over shared", "over texture"]
    return table(head, [[f"{name}, {what}, {size}"] + [ms(paper.seconds(name, ON_GPU[k], size)) for k in ("shared", "texture")]
                        + [gpu.shown(name, row, size) for row in ON_GPU.values()]
                        + [ms(gpu.wall(name, ON_GPU[k], size)) for k in ("shared", "texture", "blocked")]
                        + [times(gpu.wins(name, ON_GPU[k], size)) for k in ("shared", "texture")]
                        for name, what in STEPS.items() for size in SIZES])


def speedup(source, name, row, size):
    """Over the paper's serial program of the same machine."""
    return ratio(source.seconds(name, "CPU", size), source.seconds(name, row, size))


def speedup_table(paper, gpu):
    rows = []
    for figure, name in (("Figure 7", "Figure 7"), ("Figure 8", "Table 1"), ("Figure 9", "Table 3")):
        for size in SIZES:
            rows.append([f"{figure}, {size}"] + [times(speedup(paper, name, ON_GPU[k], size)) for k in ("shared", "texture")]
                        + [times(speedup(gpu, name, row, size)) for row in ON_GPU.values()])
    return table(["", "paper: shared", "texture", "today: shared", "texture", "linear", "blocked"], rows)


def phases_table(gpu):
    phases = ["upload", "load", "steps", "store", "download"]
    return table(["Table 2, 256 MB", *phases], [[kernel] + [gpu.shown("Table 2", row, "256 MB", p) for p in phases]
                                                for kernel, row in ON_GPU.items()])


def at_rest(results, device, solver, column):
    """The time, and how many cycles or sweeps."""
    cell = results.cell("At rest", f"{device}, {solver}", column)
    return [ms(cell["seconds"]), str(cell["esf"]["iterations"])] if cell else ["-", "-"]


def rest_table(results, device):
    """Beside 200 steps by the same device, all its threads."""
    steps = ALL_THREADS if device == "CPU" else ON_GPU["blocked"]
    rows = []
    for image, name in IMAGES.items():
        for size in REST_SIZES:
            column = f"{size} {image}"
            rows.append([f"{device}, {image}, {size}"] + [t for s in SOLVERS for t in at_rest(results, device, s, column)]
                        + [times(results.wins("At rest", f"{device}, over-relaxation", column)),
                           results.shown(name, steps, size)])
    return table(["", "multigrid", "cycles", "over-relaxation", "sweeps", "multigrid wins", "200 steps, blocked"], rows)


def per_step(results, name, row, size):
    """Nanoseconds per pixel and step."""
    cell = results.cell(name, row, size)
    return cell and cell["seconds"] * 1e9 / prod(cell["shape"]) / cell["esf"]["steps"]


def nanoseconds(values):
    values = known(values)
    return f"{number(min(values), 2)} to {number(max(values), 2)} ns" if values else "-"


def over_tables(value, sizes=SIZES):
    return [value(name, size) for name in TABLES for size in sizes]


def regions_against_lines(source, row):
    return [ratio(source.seconds("Table 3", row, s), source.seconds("Table 2", row, s)) for s in SIZES]


def gained_on_cpu(paper, cpu):
    cost = lambda kernel: nanoseconds(over_tables(lambda t, s: per_step(cpu, t, ON_CPU[kernel], s)))
    wins = lambda kernel, sizes: span(over_tables(lambda t, s: cpu.wins(t, ON_CPU[kernel], s), sizes))
    white = span(ratio(cpu.seconds("Figure 7", "CPU, every element", s), cpu.seconds("Figure 7", "CPU", s)) for s in SIZES)
    mean = lambda row: times(geometric_mean(regions_against_lines(cpu, row)))
    return f"""- A pixel and step take one thread {cost("paper's")} by the paper's program, {cost("plain")} vectorised,
  {cost("blocked")} where several
  steps are made of what lies in the cache. Blocked wins {wins("paper's", SIZES)} over the paper's, and over plain
  {wins("plain", SIZES[:1])} at 4 MB,
  {wins("plain", SIZES[2:])} at 64 and 256 MB.
- All shape: that the paper's program computes nothing there makes it {white} as fast as one that computes every element. So Figure 7
  compares reading and writing.
- Regions against lines: by the paper's tables the GPU takes {span(regions_against_lines(paper, ON_GPU["shared"]))} the time of
  the lines, the CPU
  {span(regions_against_lines(paper, "CPU"))}. Today, in the mean, the paper's program takes {mean("CPU")}, plain
  {mean(ON_CPU["plain"])}, blocked {mean(ON_CPU["blocked"])}.
"""


def gained_on_gpu(paper, gpu):
    against = lambda source, a, b: span(over_tables(lambda t, s: ratio(source.seconds(t, ON_GPU[a], s), source.seconds(t, ON_GPU[b], s))))
    wins = lambda kernel: span(over_tables(lambda t, s: gpu.wins(t, ON_GPU[kernel], s)))
    over = lambda source, kernel: span(over_tables(lambda t, s: speedup(source, t, ON_GPU[kernel], s)))
    return f"""- Textures over an array take {against(gpu, "texture", "shared")} as long as shared memory,
  {against(paper, "texture", "shared")} in the paper; over linear
  memory {against(gpu, "linear", "shared")}. Both copy all values once more for each step, which reads and writes 4 bytes per element.
- blocked is {wins("shared")} as fast as shared, {wins("texture")} as fast as texture.
- Over the paper's program beside it shared is {over(gpu, "shared")} as fast, texture {over(gpu, "texture")}; in the paper
  {over(paper, "shared")} and {over(paper, "texture")}.
"""


def esf(paper, gpu, cpu):
    rest = next((c["esf"] for c in cpu.cells + gpu.cells if c["table"] == "At rest"), None)
    rest_says = "" if not rest else f"""rho = {number(rest["rho"], 2)}, until the residual is at most
  {format(rest["tolerance"], "g").replace("e-0", "e-")} everywhere, which was
checked at every element; the CPU with all its threads."""
    return f"""## Edge strengths by explicit steps: esf

{paper.name}.

v is 1 on a shape and falls off around it, dv/dt = (Laplacian - 1/rho^2) v. A step makes of every v a sum of it and its four neighbours.
**The paper** makes one step to a launch, from tiles with an apron in shared memory (SM), or from a texture over a CUDA array to which all
values are copied before each step (TM). Values within 1e-5 of 1 are the shape's, and nothing is computed there. It compares both with a
serial program. **Here** they are `kernel=shared` and `kernel=texture` of `esf/cuda`, and `kernel=skipping` of `esf/cpu`, on one thread.
`linear` is the texture over rows in linear memory, `every element` a serial program that skips nothing, `plain` a vectorised one, and
`blocked` makes several steps of a tile while it lies in the cache or in a GPU's registers, and passes over tiles that the front has not
reached or that are all shape. **What differs**: the shape is where v is 1, not within 1e-5, so that all kernels give the same bits; with
rho = 64 there is no difference, as beside the shape v stays below 1 - 6e-5. Kernels on the GPU know the shape by a bit per
element; and shared
memory's tiles are larger than the paper's and are copied by 16 bytes. The Seljuk pattern has strapwork in its place, the portrait a
random field of large regions.

### Tables 1 to 3 and Figure 7: CPU

Sizes are those of an image of float32, 1024 x 1024 to 8192 x 8192. The machine of the CPU record:

{cpu_table(paper, cpu)}
{"The CPU beside the GPU:" + chr(10) + chr(10) + cpu_table(paper, gpu) if gpu else ""}
### Tables 1 to 3 and Figure 7: GPU

{gpu_table(paper, gpu)}
{phases_table(gpu)}
### Figures 7 to 9: speed-up over the serial program

Both times are of one machine. The paper: {paper.figure("Figure 7")}. Figure 8, {paper.figure("Figure 8")}. Figure 9,
{paper.figure("Figure 9")}. The first is printed without figures; those of the other two are ratios of Tables 1 and 3.

{speedup_table(paper, gpu)}
### At rest

Steps approach a state that can be computed at once: by multigrid, or by over-relaxation of the two colours of a checkerboard, the
simple solver beside it. {rest_says}

{rest_table(cpu, "CPU")}
{rest_table(gpu, "GPU")}
### What each idea gained

{gained_on_cpu(paper, cpu) if cpu else ""}{gained_on_gpu(paper, gpu) if gpu else ""}
### Verdict

{verdict(gpu, "/cuda", "blocked")} {verdict(cpu, "/cpu", "blocked")} One step to a pass, in whatever memory, is bound by that
memory: what counts
is how many steps are made each time a value has come. Who wants the state that steps tend to should not make steps.
"""
