from collections.abc import Sequence
from typing import Literal, overload

from torch import Tensor, dtype as DType

Sites = Literal["zero", "nonzero"] | float | tuple[float | None, float | None]
Axes = int | Sequence[int] | None
Pitches = float | Sequence[float] | Tensor | None

@overload
def edt(
    mask: Tensor, sampling: Pitches = None, sites: Sites = "zero", *, indices: Literal[False] = False, labels: bool = False,
    limit: float | None = None, border: bool = False, fill: float | None = None, axes: Axes = None, dtype: DType = ...,
) -> Tensor: ...
@overload
def edt(
    mask: Tensor, sampling: Pitches = None, sites: Sites = "zero", *, indices: Literal[True], labels: bool = False,
    limit: float | None = None, border: bool = False, fill: float | None = None, axes: Axes = None, dtype: DType = ...,
) -> tuple[Tensor, Tensor]: ...
def edt_squared(
    mask: Tensor, sampling: Pitches = None, sites: Sites = "zero", *, labels: bool = False, limit: float | None = None,
    border: bool = False, fill: float | None = None, axes: Axes = None, dtype: DType = ...,
) -> Tensor: ...
def signed_distance(
    mask: Tensor, sampling: Pitches = None, sites: Sites = "zero", *, positive: Literal["outside", "inside"] = "outside",
    surface: Literal["centre", "half"] = "centre", limit: float | None = None, border: bool = False, fill: float | None = None,
    axes: Axes = None, dtype: DType = ...,
) -> Tensor: ...
def feature_transform(
    mask: Tensor, sampling: Pitches = None, sites: Sites = "zero", *, coords: bool = False, limit: float | None = None,
    border: bool = False, axes: Axes = None,
) -> Tensor: ...
def expand_labels(labels: Tensor, distance: float = 1, sampling: Pitches = None, *, axes: Axes = None) -> Tensor: ...
@overload
def generalized_distance(
    samples: Tensor, sampling: Pitches = None, *, indices: Literal[False] = False, axes: Axes = None, dtype: DType | None = None,
) -> Tensor: ...
@overload
def generalized_distance(
    samples: Tensor, sampling: Pitches = None, *, indices: Literal[True], axes: Axes = None, dtype: DType | None = None,
) -> tuple[Tensor, Tensor]: ...
