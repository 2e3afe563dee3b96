from typing import Any

from . import Axes, DType, Sites, Spacing

def edt(
    array: Any, sampling: Spacing = None, sites: Sites = "zero", *, squared: bool = False, limit: float | None = None,
    border: bool = False, axes: Axes = None, dtype: DType | None = None, threads: int = 1,
) -> Any: ...
