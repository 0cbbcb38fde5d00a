"""How far outputs are from the right ones."""

from __future__ import annotations

import numpy as np

# Beyond this a contestant computes something else; bfloat16 has 8 bits, and
# what int8 costs is part of the result.
LARGEST = {"fp32": 1e-3, "bf16": 5e-2, "int8": 1}


def scaled(got: list[np.ndarray], wanted: list[np.ndarray]) -> float:
  """The largest difference, over the scale of its output: NaN if one is, infinite if shapes differ.

  Outputs that are no numbers must be equal.
  """
  if [g.shape for g in got] != [w.shape for w in wanted]:
    return np.inf
  largest = 0.0
  for g, w in zip(got, wanted):
    if not np.issubdtype(w.dtype, np.number) or not w.size:
      if not np.array_equal(g, w):
        return np.inf
      continue
    found = float(np.abs(g - w).max() / max(np.abs(w).max(), 1e-30))
    if not found <= largest:  # NaN, too
      largest = found
  return largest
