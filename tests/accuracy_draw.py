"""Random shapes and values for tests/accuracy_families.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Draw:
  """Seeded draws; every case has its own, so that more cases leave the others as they are."""

  def __init__(self, *seed: int):
    self.rng = np.random.default_rng(seed)

  def integer(self, low: int, high: int) -> int:
    """Both ends included."""
    return int(self.rng.integers(low, high + 1))

  def pick(self, *values: Any) -> Any:
    return values[self.rng.integers(len(values))]

  def shape(self, rank: int = 0, most: int = 20_000) -> tuple[int, ...]:
    """One to four dimensions, or `rank`; long ones are rare, as in models."""
    dims = [self.pick(self.integer(1, 9), self.integer(8, 70), self.integer(60, 400))
            for _ in range(rank or self.integer(1, 4))]
    while np.prod(dims) > most:
      dims[int(np.argmax(dims))] //= 2
    return tuple(dims)

  def normal(self, *shape: int, scale: float = 1) -> np.ndarray:
    return self.rng.standard_normal(shape, np.float32) * np.float32(scale)

  def uniform(self, low: float, high: float, *shape: int) -> np.ndarray:
    return self.rng.uniform(low, high, shape).astype(np.float32)

  def integers(self, high: int, *shape: int) -> np.ndarray:
    return self.rng.integers(0, high, shape)


class Problem(NamedTuple):
  """What a row of a family draws. Values from `constants` on are constants of the graph."""
  values: list[np.ndarray]
  build: Callable[..., Any]  # gets TensorFlow and the values
  constants: int = 99
  shape: str = ""  # empty: the shapes of the values


def wide(x: Any) -> bool:
  """Whether the graph at hand is the one in float64; many raw ops have no such kernel."""
  return bool(x.dtype.size == 8)


def gradient(build: Callable[..., Any], of: int = 0) -> Callable[..., Any]:
  """The gradient of `build` by its input number `of`; the last input is the result's gradient."""

  def run(tf: Any, *inputs: Any) -> Any:
    *values, upstream = inputs
    return tf.gradients(build(tf, *values), values[of], upstream)[0]

  return run
