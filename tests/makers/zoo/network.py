"""What every network of the zoo is: a callable, its variables, sample inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from recording import Arrays, Inputs


@dataclasses.dataclass(frozen=True)
class Network:
  """One network, built.

  Attributes:
    call: takes tensors by input name, gives a tensor or a dict of tensors.
    variables: every variable that `call` reads.
    specs: shape and dtype by input name; None where the size is free.
    inputs: takes (rng, batch), gives arrays by input name.
  """

  call: Callable[..., Any]
  variables: list[tf.Variable]
  specs: dict[str, tf.TensorSpec]
  inputs: Inputs


def of_keras(model: Any, inputs: Inputs) -> Network:
  """A functional Keras 3 model whose inputs have names."""
  specs = {x.name: tf.TensorSpec(x.shape, x.dtype) for x in model.inputs}
  return Network(
      call=lambda **tensors: model(
          [tensors[n] for n in specs] if len(specs) > 1 else
          next(iter(tensors.values())), training=False),
      variables=[v.value for v in model.variables], specs=specs, inputs=inputs)


def normal(**shapes: tuple[int, ...]) -> Callable[..., Arrays]:
  """Standard normal inputs; each shape without the batch."""
  return lambda rng, batch: {
      name: rng.normal(0, 1, (batch, *shape)).astype(np.float32)
      for name, shape in shapes.items()}


def image(name: str, height: int, width: int,
          channels_first: bool = False) -> Callable[..., Arrays]:
  """Images with structure: coarse colors and some noise, in -1 to 1."""

  def make(rng: np.random.Generator, batch: int) -> Arrays:
    coarse = rng.uniform(-1, 1, (batch, 5, 7, 3))
    rows = np.arange(height) * 5 // height
    columns = np.arange(width) * 7 // width
    value = 0.8 * coarse[:, rows][:, :, columns]
    value += rng.uniform(-0.2, 0.2, value.shape)
    if channels_first:
      value = value.transpose(0, 3, 1, 2)
    return {name: value.astype(np.float32)}

  return make


def integers(high: int, **shapes: tuple[int, ...]) -> Callable[..., Arrays]:
  """Random int32 ids below `high`; each shape without the batch."""
  return lambda rng, batch: {
      name: rng.integers(0, high, (batch, *shape)).astype(np.int32)
      for name, shape in shapes.items()}
