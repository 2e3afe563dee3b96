from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, overload

# An array is one of NumPy, CuPy, PyTorch or another library with __cuda_array_interface__ or DLPack, or what NumPy makes an
# array of; results are of the same library. A dtype is a name, or a dtype or type of such a library.
Array = Any
DType = Any
Sites = Literal["zero", "nonzero", "none"] | float | tuple[float | None, float | None]
Axes = int | Iterable[int] | None
Spacing = float | Iterable[float] | None
Metric = Literal["euclidean", "cityblock", "chessboard", "chamfer"]
Kind = Literal["mask", "labels", "sampled"]
Sign = Literal["none", "outside", "inside"]
Surface = Literal["centre", "half"]
Progress = Callable[[float], Any] | None
Output = Literal["distance", "squared", "index", "coords", "label", "strength", "mask", "within", "beyond", "sites",
                 "centroids", "energies"]

FLAG_NO_SITE: int
FLAG_NAN: int
FLAG_UNREST: int
INDEX_NONE: int
INDEX_BORDER: int
__version__: str

def version() -> str: ...
@overload
def edt(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *, squared: bool = False, indices: Literal[False] = False,
    labels: bool = False, limit: float | None = None, border: bool = False, signed: bool = False,
    surface: Surface = "centre", fill: float | None = None, axes: Axes = None, dtype: DType | None = None,
    scale: float | None = None, offset: float | None = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
@overload
def edt(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *, squared: bool = False, indices: Literal[True],
    labels: bool = False, limit: float | None = None, border: bool = False, signed: bool = False,
    surface: Surface = "centre", fill: float | None = None, axes: Axes = None, dtype: DType | None = None,
    scale: float | None = None, offset: float | None = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> tuple[Array, Array]: ...
@overload
def edt_many(
    masks: Iterable[Array], sampling: Spacing = None, sites: Sites = "zero", *, squared: bool = False, indices: Literal[False] = False,
    labels: bool = False, limit: float | None = None, border: bool = False, signed: bool = False,
    surface: Surface = "centre", axes: Axes = None, dtype: DType | None = None, out: Sequence[Array] | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> list[Array]: ...
@overload
def edt_many(
    masks: Iterable[Array], sampling: Spacing = None, sites: Sites = "zero", *, squared: bool = False, indices: Literal[True],
    labels: bool = False, limit: float | None = None, border: bool = False, signed: bool = False,
    surface: Surface = "centre", axes: Axes = None, dtype: DType | None = None, out: Sequence[Array] | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> tuple[list[Array], list[Array]]: ...
@overload
def signed_distance(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *, positive: Literal["outside", "inside"] = "outside",
    squared: bool = False, indices: Literal[False] = False, limit: float | None = None, border: bool = False,
    surface: Surface = "centre", fill: float | None = None, axes: Axes = None, dtype: DType | None = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
@overload
def signed_distance(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *, positive: Literal["outside", "inside"] = "outside",
    squared: bool = False, indices: Literal[True], limit: float | None = None, border: bool = False,
    surface: Surface = "centre", fill: float | None = None, axes: Axes = None, dtype: DType | None = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> tuple[Array, Array]: ...
def expand_labels(
    labels: Array, distance: float = 1, sampling: Spacing = None, *, axes: Axes = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
@overload
def feature_transform(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *, coords: bool = False, distances: Literal[False] = False,
    limit: float | None = None, border: bool = False, axes: Axes = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
@overload
def feature_transform(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *, coords: bool = False, distances: Literal[True],
    limit: float | None = None, border: bool = False, axes: Axes = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> tuple[Array, Array]: ...
def chamfer(
    mask: Array, weights: Literal["cityblock", "chessboard"] | Sequence[int] | None = None, sites: Sites = "zero", *,
    dtype: DType = "int32", limit: float | None = None, border: bool = False, fill: float | None = None, axes: Axes = None,
    out: Array | None = None, device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
@overload
def esf(
    mask: Array, rho: float, *, steps: int | None = None, tolerance: float | None = None, dt: float | None = None,
    sites: Sites = "nonzero", axes: Axes = None, dtype: DType | None = None, out: Array | None = None,
    convergence: Literal[False] = False, device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
@overload
def esf(
    mask: Array, rho: float, *, steps: int | None = None, tolerance: float | None = None, dt: float | None = None,
    sites: Sites = "nonzero", axes: Axes = None, dtype: DType | None = None, out: Array | None = None,
    convergence: Literal[True], device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> tuple[Array, Convergence]: ...
@overload
def skeleton(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *,
    pruning: Literal["square_root", "linear", "constant"] = "square_root", gamma: float | None = None,
    distances: Literal[False] = False, border: bool = False, axes: Axes = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
@overload
def skeleton(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *,
    pruning: Literal["square_root", "linear", "constant"] = "square_root", gamma: float | None = None,
    distances: Literal[True], border: bool = False, axes: Axes = None, out: Array | None = None,
    device: str | None = None, threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> tuple[Array, Array]: ...
def dilate(
    mask: Array, radius: float, sampling: Spacing = None, sites: Sites = "nonzero", *, outside: bool = False,
    labels: bool = False, axes: Axes = None, out: Array | None = None, device: str | None = None, threads: int | None = None,
    method: str | None = None,
    progress: Progress = None,
) -> Array: ...
def erode(
    mask: Array, radius: float, sampling: Spacing = None, sites: Sites = "nonzero", *, outside: bool = False,
    labels: bool = False, axes: Axes = None, out: Array | None = None, device: str | None = None, threads: int | None = None,
    method: str | None = None,
    progress: Progress = None,
) -> Array: ...
def opening(
    mask: Array, radius: float, sampling: Spacing = None, sites: Sites = "nonzero", *, outside: bool = False,
    labels: bool = False, axes: Axes = None, out: Array | None = None, device: str | None = None, threads: int | None = None,
    method: str | None = None,
    progress: Progress = None,
) -> Array: ...
def closing(
    mask: Array, radius: float, sampling: Spacing = None, sites: Sites = "nonzero", *, outside: bool = False,
    axes: Axes = None, out: Array | None = None, device: str | None = None, threads: int | None = None,
    method: str | None = None,
    progress: Progress = None,
) -> Array: ...
def compare(
    a: Array, b: Array, sampling: Spacing = None, sites: Sites = "nonzero", *,
    points: Literal["surface", "set"] = "surface", tolerance: float = 0, percentiles: float | Sequence[float] = 95,
    device: str | None = None, threads: int | None = None, method: str | None = None,
) -> Agreement: ...
def local_thickness(
    mask: Array, sampling: Spacing = None, sites: Sites = "zero", *, squared_radius: bool = False, border: bool = False,
    fill: float | None = None, axes: Axes = None, dtype: DType | None = None, out: Array | None = None, device: str | None = None,
    threads: int | None = None, method: str | None = None,
    progress: Progress = None,
) -> Array: ...
def cvt(
    density: Array, points: int, sampling: Spacing = None, *, steps: int = 30, omega: float = 1.0, seed: int = 0,
    grids: int | None = None, labels: bool = False, device: str | None = None, threads: int | None = None,
    method: str | None = None, progress: Progress = None,
) -> Cvt: ...
def transform(
    input: Array, *, kind: Kind = "mask", want: Output | Iterable[Output] | Mapping[Output, DType | None] = "distance",
    axes: Axes = None, sites: Sites = "zero", metric: Metric = "euclidean", chamfer: Sequence[int] | None = None,
    spacing: Spacing = None, limit: float | None = None, border: bool = False, payload: Array | None = None,
    esf: Mapping[str, Any] | None = None, skeleton: Mapping[str, Any] | None = None,
    morphology: Mapping[str, Any] | None = None, thickness: bool = False, cvt: Mapping[str, Any] | None = None,
    sign: Sign | None = None, surface: Surface = "centre", fill: float | None = None,
    out: Array | Mapping[Output, Array] | None = None, device: str | None = None, threads: int | None = None,
    method: str | None = None, params: Mapping[str, int | str] | None = None,
    progress: Progress = None,
) -> Result: ...
def scratch_bytes(
    shape: Sequence[int], dtype: DType, want: Mapping[Output, DType], *, context: Context | None = None,
    method: str | None = None, params: Mapping[str, int | str] | None = None, host_views: bool = False, **options: Any,
) -> int: ...
def methods() -> list[Method]: ...
def devices() -> list[Device]: ...

def imread(path: str | PathLike[str], *, channel: int | str | None = None, time: int | None = None) -> Image: ...
def imwrite(
    path: str | PathLike[str], array: Array | Image, like: Image | None = None, *, axes: Sequence[Axis] | None = None,
    nodata: float | None = None, kind: Literal["mask", "labels", "intensity", "unknown"] | None = None,
    compress: bool | str | None = None, chunks: int | Sequence[int] | None = None, shards: int | Sequence[int] | None = None,
    zarr_format: Literal[2, 3] | None = None, sync: bool = True,
) -> None: ...

class Axis:
    name: str
    type: Literal["space", "time", "channel", "other"]
    pitch: float | None
    unit: str
    def __init__(
        self, name: str = "", type: Literal["space", "time", "channel", "other"] = "space", pitch: float | None = None,
        unit: str = "",
    ) -> None: ...

class Image:
    array: Any
    axes: tuple[Axis, ...]
    affine: Any
    world: Literal["unknown", "ras", "lps", "projected", "geographic"]
    crs: str | None
    nodata: float | None
    kind: Literal["unknown", "mask", "labels", "intensity"]
    sample: str | None
    format: str
    packing: str
    native: tuple[tuple[str, str, bytes], ...]
    def __init__(
        self, array: Any, axes: tuple[Axis, ...] = (), affine: Any = None,
        world: Literal["unknown", "ras", "lps", "projected", "geographic"] = "unknown", crs: str | None = None,
        nodata: float | None = None, kind: Literal["unknown", "mask", "labels", "intensity"] = "unknown",
        sample: str | None = None, format: str = "", packing: str = "", native: tuple[tuple[str, str, bytes], ...] = (),
    ) -> None: ...
    @property
    def pitches(self) -> tuple[float, ...]: ...
    @property
    def unit(self) -> str: ...
    @property
    def space(self) -> tuple[int, ...]: ...

class Result:
    distance: Any
    squared: Any
    index: Any
    coords: Any
    label: Any
    strength: Any
    mask: Any
    within: Any
    beyond: Any
    sites: Any
    centroids: Any
    energies: Any
    flags: int | None
    method: str
    convergence: Convergence | None
    @property
    def arrays(self) -> dict[str, Any]: ...

class Directed(NamedTuple):
    points: int
    within: int
    hausdorff: float
    mean: float
    rms: float
    percentiles: dict[float, float]

class Agreement(NamedTuple):
    hausdorff: float
    mean: float
    rms: float
    percentiles: dict[float, float]
    surface_dice: float
    dice: float
    jaccard: float
    forward: Directed
    backward: Directed
    elements: tuple[int, int]
    common: int
    method: str

class Context:
    device: str
    def __init__(
        self, device: str = "cpu", threads: int | None = None, stream: int | None = None,
        progress: Progress = None,
    ) -> None: ...
    @property
    def isa(self) -> str: ...
    @property
    def threads(self) -> int: ...
    def set_stream(self, stream: int | None, keep: object = None) -> None: ...

class Cvt(NamedTuple):
    sites: Any
    centroids: Any
    energies: Any
    labels: Any

class Description(NamedTuple):
    method: str
    isa: str
    threads: int
    scratch_bytes: int
    integer: bool
    squared_bits: int
    unit: float
    multiples: tuple[int, ...]

class Convergence(NamedTuple):
    iterations: int
    residual: float

class Phase(NamedTuple):
    name: str
    kind: Literal["compute", "transfer"]
    seconds: float

class Plan:
    context: Context
    def __init__(
        self, shape: Sequence[int], dtype: DType, want: Mapping[Output, DType], *, context: Context | None = None,
        method: str | None = None, params: Mapping[str, int | str] | None = None, host_views: bool = False,
        scratch: Array | None = None, timed: bool = False, **options: Any,
    ) -> None: ...
    def bind(
        self, input: Array, payload: Array | None = None, other: Array | None = None, **outputs: Array,
    ) -> Callable[[], None]: ...
    def __call__(
        self, input: Array, payload: Array | None = None, other: Array | None = None, **outputs: Array,
    ) -> None: ...
    def wait(self) -> None: ...
    @property
    def flags(self) -> int: ...
    def phases(self) -> list[Phase]: ...
    def convergence(self) -> Convergence: ...
    def agreement(self) -> Any: ...
    def describe(self) -> Description: ...

class Param:
    name: str
    default: int
    lowest: int
    highest: int
    summary: str
    names: tuple[str, ...]

class Method:
    name: str
    summary: str
    source: str
    device: str
    exact: bool
    metrics: tuple[str, ...]
    params: tuple[Param, ...]
    field: Literal["distance", "edge_strength", "skeleton", "morphology", "comparison", "thickness", "cvt"]

class Device:
    device: str
    name: str
    memory_bytes: int
    multiprocessors: int
    capability: tuple[int, int]
    driver: tuple[int, int]
    runtime: tuple[int, int]
    shared_bytes: int
