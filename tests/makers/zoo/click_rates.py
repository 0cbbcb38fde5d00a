"""Models of click rates: many embeddings, small layers."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops

from zoo import network


class Interactions(layers.Layer):
  """The second-order term of a factorization machine: fields [B, F, K]."""

  def call(self, fields):
    square_of_sum = ops.square(ops.sum(fields, 1))
    sum_of_squares = ops.sum(ops.square(fields), 1)
    return 0.5 * ops.sum(square_of_sum - sum_of_squares, 1, keepdims=True)


def deepfm(fields: int = 26, vocabulary: int = 10000,
           size: int = 16) -> network.Network:
  """26 fields of 10,000 values, 13 numbers, as Criteo's data have."""
  categories = keras.Input((fields,), dtype="int32", name="categories")
  numbers = keras.Input((13,), name="numbers")
  offset = categories + np.arange(fields, dtype=np.int32) * vocabulary
  embedded = layers.Embedding(fields * vocabulary, size)(offset)
  linear = layers.Flatten()(layers.Embedding(fields * vocabulary, 1)(offset))
  linear = layers.Dense(1)(layers.Concatenate()([linear, numbers]))
  x = layers.Concatenate()([layers.Flatten()(embedded), numbers])
  for units in (400, 400, 400):
    x = layers.Dense(units, activation="relu")(x)
  total = layers.Add()([linear, Interactions()(embedded), layers.Dense(1)(x)])
  model = keras.Model([categories, numbers],
                      layers.Activation("sigmoid")(total))

  def inputs(rng: np.random.Generator, batch: int) -> network.Arrays:
    return {"categories": rng.integers(0, vocabulary, (batch, fields)
                                       ).astype(np.int32),
            "numbers": rng.normal(0, 1, (batch, 13)).astype(np.float32)}

  return network.of_keras(model, inputs)


class Attention(layers.Layer):
  """DIN's weights of a history [B, T, K] for a candidate [B, K]."""

  def __init__(self):
    super().__init__()
    self.hidden = layers.Dense(36, activation="sigmoid")
    self.score = layers.Dense(1)

  def call(self, candidate, history, length):
    steps = history.shape[1]
    each = ops.repeat(candidate[:, None], steps, axis=1)
    x = ops.concatenate([each, history, each - history, each * history], -1)
    scores = self.score(self.hidden(x))[..., 0]
    inside = ops.arange(steps)[None] < length
    weights = ops.softmax(ops.where(inside, scores, -1e9))
    return ops.sum(weights[..., None] * history, 1)


def din(steps: int = 50, items: int = 60000, size: int = 32) -> network.Network:
  """A candidate against a history of 50 items."""
  candidate = keras.Input((1,), dtype="int32", name="candidate")
  history = keras.Input((steps,), dtype="int32", name="history")
  length = keras.Input((1,), dtype="int32", name="length")
  table = layers.Embedding(items, size)
  wanted = layers.Flatten()(table(candidate))
  seen = Attention()(wanted, table(history), length)
  x = layers.Concatenate()([wanted, seen])
  for units in (200, 80):
    x = layers.Dense(units, activation="sigmoid")(x)
  model = keras.Model([candidate, history, length],
                      layers.Dense(1, activation="sigmoid")(x))

  def inputs(rng: np.random.Generator, batch: int) -> network.Arrays:
    return {"candidate": rng.integers(0, items, (batch, 1)).astype(np.int32),
            "history": rng.integers(0, items, (batch, steps)).astype(np.int32),
            "length": rng.integers(1, steps + 1, (batch, 1)).astype(np.int32)}

  return network.of_keras(model, inputs)
