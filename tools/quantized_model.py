"""NumPy model of the quantized ops that TensorFlow has in oneDNN only."""

from __future__ import annotations

from typing import Any

import numpy as np


def _clipped_relu(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """QuantizedReluX: TensorFlow defines it, but registers no kernel."""
  x, bound, low, high = values
  info = np.iinfo(x.dtype)
  steps = 2.0 ** (8 * x.itemsize)
  scale = (steps - 1) / float(high - low)

  def quantize(v: float) -> int:
    q = round(v * scale) - round(float(low) * scale) + info.min
    return int(np.clip(q, info.min, info.max))

  return [np.clip(x, quantize(0.0), quantize(float(bound))).astype(x.dtype),
          low, high]


OPS = {"QuantizedReluX": _clipped_relu}


def compute(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """The outputs of a case whose op is in OPS."""
  return OPS[case.op](case, values)
