"""The section of docs/papers.md on the edge strength function (bench/papers.py). It can do without a GPU's results."""
from math import prod

from papers_figures import geometric_mean, known, ms, number, ratio, span, table, times

SIZES = ["4 MB", "16 MB", "64 MB", "256 MB"]
ALL_THREADS = "CPU, blocked, all threads"
ON_CPU = {"serial": "CPU", "plain": "CPU, plain", "blocked": "CPU, blocked"}
ON_GPU = {"shared": "GPU (SM)", "texture": "GPU (TM)", "blocked": "GPU, blocked"}
TABLES = ["Table 1", "Table 2", "Table 3"]
STEPS = {"Table 1": "lines, 50 steps", "Table 2": "lines, 200 steps", "Table 3": "regions, 200 steps",
         "Figure 7": "all shape, 200 steps"}
IMAGES = {"lines": "Table 2", "regions": "Table 3"}  # at rest, beside 200 steps of the same
REST_SIZES = SIZES[:3]
SOLVERS = ["multigrid", "over-relaxation"]


def cpu_table(paper, cpu, name):
    """Ratios are those of runs in turns."""
    head = ["", "paper: serial", "today: serial", "plain", "blocked", f"blocked, {cpu.data['threads']} threads",
            "blocked wins over serial", "over plain"]
    return table(head, [[size, ms(paper.seconds(name, "CPU", size))]
                        + [ms(cpu.seconds(name, row, size)) for row in [*ON_CPU.values(), ALL_THREADS]]
                        + [times(cpu.wins(name, ON_CPU[k], size)) for k in ("serial", "plain")] for size in SIZES])


def gpu_table(paper, gpu, name):
    head = ["", "paper: shared", "texture", "today: shared", "texture", "blocked", "with transfers: shared", "texture",
            "blocked", "blocked wins over shared", "over texture"]
    return table(head, [[size] + [ms(paper.seconds(name, ON_GPU[k], size)) for k in ("shared", "texture")]
                        + [ms(gpu.seconds(name, row, size)) for row in ON_GPU.values()]
                        + [ms(gpu.wall(name, row, size)) for row in ON_GPU.values()]
                        + [times(gpu.wins(name, ON_GPU[k], size)) for k in ("shared", "texture")] for size in SIZES])


def speedup(source, name, row, size):
    """Over the serial solver of the same machine."""
    return ratio(source.seconds(name, "CPU", size), source.seconds(name, row, size))


def speedup_in_turns(results, name, kernel, size):
    """The same of a kernel of one thread, by what blocked took in turns with either."""
    serial = results.wins(name, "CPU", size)
    return serial if kernel == "blocked" else ratio(serial, results.wins(name, ON_CPU[kernel], size))


def speedup_table(paper, gpu, cpu):
    head = ["", "paper: shared", "texture", "today, CPU: plain", "blocked"] + (["GPU: shared", "texture", "blocked"] if gpu else [])
    rows = []
    for figure, name in (("Figure 7", "Figure 7"), ("Figure 8", "Table 1"), ("Figure 9", "Table 3")):
        for size in SIZES:
            row = [f"{figure}, {size}"] + [times(speedup(paper, name, ON_GPU[k], size)) for k in ("shared", "texture")]
            row += [times(speedup_in_turns(cpu, name, k, size)) for k in ("plain", "blocked")]
            rows.append(row + [times(speedup(gpu, name, r, size)) for r in ON_GPU.values()] if gpu else row)
    return table(head, rows)


def phases_table(gpu):
    phases = ["upload", "load", "steps", "store", "download"]
    return table([""] + phases, [[kernel] + [ms(gpu.seconds("Table 2", row, "256 MB", p)) for p in phases]
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
            rows.append([f"{image}, {size}"] + [t for s in SOLVERS for t in at_rest(results, device, s, column)]
                        + [times(results.wins("At rest", f"{device}, over-relaxation", column)),
                           ms(results.seconds(name, steps, size))])
    return table(["", "multigrid", "cycles", "over-relaxation", "sweeps", "multigrid wins", "200 steps, blocked"], rows)


def per_step(results, name, row, size):
    """Nanoseconds per pixel and step."""
    cell = results.cell(name, row, size)
    return cell and cell["seconds"] * 1e9 / prod(cell["shape"]) / cell["esf"]["steps"]


def nanoseconds(values):
    values = known(values)
    return f"{number(min(values), 2)} to {number(max(values), 2)} ns" if values else "-"


def residual(results, name, size):
    cell = results.cell(name, ON_CPU["blocked"], size)
    return cell and cell["esf"]["residual"]


def regions_against_lines(source, row):
    return [ratio(source.seconds("Table 3", row, s), source.seconds("Table 2", row, s)) for s in SIZES]


def over_tables(value, sizes=SIZES):
    return [value(name, size) for name in TABLES for size in sizes]


def gained_on_cpu(paper, cpu):
    wins = lambda kernel, sizes: span(over_tables(lambda t, s: cpu.wins(t, ON_CPU[kernel], s), sizes))
    cost = lambda kernel: nanoseconds(over_tables(lambda t, s: per_step(cpu, t, ON_CPU[kernel], s)))
    threads = over_tables(lambda t, s: ratio(cpu.seconds(t, ON_CPU["blocked"], s), cpu.seconds(t, ALL_THREADS, s)))
    white = span(cpu.wins("Figure 7", ON_CPU["plain"], s) for s in SIZES)
    mean = lambda row: times(geometric_mean(regions_against_lines(cpu, row)))
    return f"""- A pixel and step take one thread {cost("serial")} by the serial solver, {cost("plain")} vectorised, {cost("blocked")} where
  several steps are made of what lies in the cache. blocked is {wins("serial", SIZES)} as fast as serial. Over plain it wins
  {wins("plain", SIZES[:1])} at 4 MB, and {wins("plain", SIZES[2:])} at 64 and 256 MB, where each pass of plain goes to memory.
  With {cpu.data["threads"]} threads blocked is {times(geometric_mean(threads))} as fast as with one, in the mean.
- All shape: over plain, which looks at every element, blocked wins {white}, since it visits no tile.
- Regions against lines: the paper finds larger speed-ups, and puts that down to its GPU's threads. By its own tables the GPU
  takes {span(regions_against_lines(paper, ON_GPU["shared"]))} the time of the lines, but the CPU {span(regions_against_lines(paper, "CPU"))}.
  Today, in the mean, serial takes {mean(ON_CPU["serial"])}, plain {mean(ON_CPU["plain"])}, blocked {mean(ON_CPU["blocked"])}.
"""


def gained_on_gpu(paper, gpu):
    longer = lambda source: span(over_tables(lambda t, s: ratio(source.seconds(t, ON_GPU["texture"], s),
                                                                source.seconds(t, ON_GPU["shared"], s))))
    wins = lambda kernel: span(over_tables(lambda t, s: gpu.wins(t, ON_GPU[kernel], s)))
    over = lambda source, kernel: span(over_tables(lambda t, s: speedup(source, t, ON_GPU[kernel], s)))
    cells = {k: gpu.cell("Table 2", row, SIZES[-1]) for k, row in ON_GPU.items()}
    step = {k: ms(c and c["seconds"] / c["esf"]["steps"]) for k, c in cells.items()}
    return f"""- A step of {SIZES[-1]} takes {step["shared"]} ms by shared, {step["texture"]} ms by texture, {step["blocked"]} ms by blocked, coming and going included.
- Textures take {longer(gpu)} as long as shared memory, {longer(paper)} in the paper: all values are copied once more for each step.
- blocked is {wins("shared")} as fast as shared, {wins("texture")} as fast as texture.
- Over the serial solver beside it shared is {over(gpu, "shared")} as fast, blocked {over(gpu, "blocked")}; in the paper shared is
  {over(paper, "shared")}, texture {over(paper, "texture")}.
- On regions shared takes {span(regions_against_lines(gpu, ON_GPU["shared"]))} the time of the lines.
"""


def rest_sentence(results, device):
    steps = ALL_THREADS if device == "CPU" else ON_GPU["blocked"]
    longer = span(ratio(results.seconds("At rest", f"{device}, multigrid", f"{size} {image}"), results.seconds(name, steps, size))
                  for image, name in IMAGES.items() for size in REST_SIZES)
    wins = span(results.wins("At rest", f"{device}, over-relaxation", c) for c in results.columns("At rest"))
    return f"On the {device} multigrid takes {longer} the time of 200 steps, and is {wins} as fast as over-relaxation."


def tables_of(table_of, *sources):
    return "\n".join(f"{name}, {what}:\n\n{table_of(*sources, name)}" for name, what in STEPS.items())


def printed_part(paper):
    rows = [[f"{name}, {STEPS[name]}, {kernel}"] + [ms(paper.seconds(name, ON_GPU[kernel], size)) for size in SIZES]
            for name in TABLES for kernel in ("shared", "texture")]
    return f"""### Tables 1 to 3: GPU

No run on a GPU is on record yet. The paper (GTX 970), in ms:

{table(["", *SIZES], rows)}
"""


def gpu_part(paper, gpu):
    return f"""### Tables 1 to 3 and Figure 7: GPU

In ms.

{tables_of(gpu_table, paper, gpu)}
Where the time of Table 2 goes at 256 MB:

{phases_table(gpu)}
"""


def esf(paper, gpu, cpu):
    rest = next(c["esf"] for c in cpu.cells if c["table"] == "At rest")
    tolerance = format(rest["tolerance"], "g").replace("e-0", "e-")
    rho = next(c["esf"]["rho"] for c in cpu.cells if c["table"] == "Table 2")
    changes = {image: number(max(known(residual(cpu, name, s) for s in SIZES)), 2) for image, name in IMAGES.items()}
    worth = lambda results, row: times(geometric_mean(over_tables(lambda t, s: results.wins(t, row, s), SIZES[2:])))
    on_gpu = "" if not gpu else f"On the GPU:\n\n{rest_table(gpu, 'GPU')}\n"
    return f"""## Edge strengths by explicit steps: esf

{paper.name}.

v is 1 on a shape and falls off around it, dv/dt = (Laplacian - 1/rho^2) v. A step makes of every v a sum of it and its four
neighbours. The paper makes one step to a launch, from tiles with an apron in shared memory (SM), or from a texture (TM) to which all
values are copied before each step. Both are here, as `kernel=shared` and `kernel=texture` of `esf/cuda`; its CPU's solver is
`kernel=serial` of `esf/cpu`, on one thread. `plain` is the same pass vectorised. `blocked` makes several steps of a tile while it
lies in the cache, or in a GPU's registers, and passes over tiles that the front has not reached or that are all shape. All of them
give the same bits. The paper's Seljuk pattern has strapwork in its place, its portrait a random field of large regions.

### Tables 1 to 3 and Figure 7: CPU

In ms; sizes are those of an image of float32, 1024 x 1024 to 8192 x 8192. One thread, unless it says otherwise.

{tables_of(cpu_table, paper, cpu)}
{gpu_part(paper, gpu) if gpu else printed_part(paper)}### Figures 7 to 9: speed-up over the serial solver

Both times are of one machine. The paper: {paper.figure("Figure 7")}. Figure 8, {paper.figure("Figure 8")}. Figure 9,
{paper.figure("Figure 9")}. The first is printed without figures; those of the other two are ratios of Tables 1 and 3.

{speedup_table(paper, gpu, cpu)}
### At rest

Steps approach a state that can be computed at once: by multigrid, or by over-relaxation of the two colours of a checkerboard, the
simple solver beside it. rho = {number(rest["rho"], 2)}, until the residual is at most {tolerance} everywhere, which was checked at
every element. In ms; the CPU with all its threads.

{rest_table(cpu, "CPU")}
{on_gpu}### What the idea gained

{gained_on_cpu(paper, cpu)}{gained_on_gpu(paper, gpu) if gpu else ""}
### Verdict

One step to a pass, in whatever memory, is bound by that memory: what counts is how many steps are made each time a value has come.
At 64 and 256 MB that is worth, in the mean, {worth(cpu, ON_CPU["plain"])} on the CPU{f", {worth(gpu, ON_GPU['shared'])} on the GPU" if gpu else ""}. Who wants the state that steps tend to should not
make steps: after 200, with rho = {number(rho, 2)}, v still changes by up to {changes["lines"]} per unit of time with lines, by
{changes["regions"]} with regions. {rest_sentence(cpu, "CPU")}{" " + rest_sentence(gpu, "GPU") if gpu else ""}
"""
