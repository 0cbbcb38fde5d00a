"""What every trained network is: a SavedModel, and sample inputs."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np

from recording import Arrays, Inputs


@dataclasses.dataclass(frozen=True)
class Trained:
  """One network.

  Attributes:
    save: writes the SavedModel into a folder, which does not exist yet.
    inputs: takes (rng, batch), gives arrays by input name of serving_default.
  """

  save: Callable[[pathlib.Path], None]
  inputs: Inputs


def uniform(low: float, high: float, **shapes: tuple[int, ...]) -> Inputs:
  """Random numbers; each shape without the batch."""
  return lambda rng, batch: {
      name: rng.uniform(low, high, (batch, *shape)).astype(np.float32)
      for name, shape in shapes.items()}


def numbers(low: int, high: int, dtype: type = np.float32,
            **shapes: tuple[int, ...]) -> Inputs:
  """Random ids, `high` not among them; Keras 2's embeddings take them as floats."""
  return lambda rng, batch: {
      name: rng.integers(low, high, (batch, *shape)).astype(dtype)
      for name, shape in shapes.items()}


def one_hot(depth: int, **lengths: int) -> Inputs:
  """Random sequences, such as of the four bases of DNA."""
  return lambda rng, batch: {
      name: np.eye(depth, dtype=np.float32)[rng.integers(0, depth, (batch, n))]
      for name, n in lengths.items()}


def joined(*parts: Inputs, **constants: np.ndarray) -> Inputs:
  """The inputs of all parts, and some that are always the same."""

  def make(rng: np.random.Generator, batch: int) -> Arrays:
    result = {}
    for part in parts:
      result.update(part(rng, batch))
    return {**result, **constants}

  return make
