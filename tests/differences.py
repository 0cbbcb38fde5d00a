"""How far results are from a reference."""

from __future__ import annotations

import numpy as np

EPS = {"float32": 2.0 ** -23, "bfloat16": 2.0 ** -7, "float16": 2.0 ** -10, "float64": 2.0 ** -52,
       "complex64": 2.0 ** -23, "complex128": 2.0 ** -52}


def distance(a: np.ndarray, b: np.ndarray) -> float:
  """Largest difference; infinite if only one of the two is not finite."""
  if a.size == 0:
    return 0.0
  same = (a == b) | (np.isnan(a) & np.isnan(b))
  if not np.array_equal(np.isfinite(a) | same, np.isfinite(b) | same):
    return np.inf
  with np.errstate(invalid="ignore"):
    return float(np.where(same, 0.0, np.abs(a - b)).max())


def bound(reference: np.ndarray, eps: float, depth: int) -> float:
  """The largest difference that rounding explains: 4 eps for each node on the path, of the largest value.

  Intermediate values are near 1, so that a much smaller result comes from cancellation: the scale is at least 0.1.
  """
  finite = np.abs(reference[np.isfinite(reference)])
  scale = float(finite.max()) if finite.size else 0.0
  return 4 * eps * (depth + 4) * max(scale, 0.1)
