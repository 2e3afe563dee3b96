from collections.abc import Iterable
from typing import Any, Literal

def distance_transform_edt(
    input: Any, sampling: float | Iterable[float] | None = None, return_distances: bool = True,
    return_indices: bool = False, distances: Any = None, indices: Any = None, *, block_params: Any = None,
    float64_distances: bool = True, ties: Literal["scipy"] | None = None,
) -> Any: ...
def distance_transform_bf(
    input: Any, metric: str = "euclidean", sampling: float | Iterable[float] | None = None,
    return_distances: bool = True, return_indices: bool = False, distances: Any = None, indices: Any = None,
) -> Any: ...
def distance_transform_cdt(
    input: Any, metric: Any = "chessboard", return_distances: bool = True, return_indices: bool = False,
    distances: Any = None, indices: Any = None,
) -> Any: ...
