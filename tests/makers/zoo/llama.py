"""A Llama-like decoder in plain TensorFlow, 125 M parameters.

RMSNorm, rotary embedding, grouped-query attention, SwiGLU.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from zoo import network

LAYERS, WIDTH, HEADS, GROUPS, HIDDEN, VOCABULARY = 12, 768, 12, 4, 2048, 32000
SIZE = WIDTH // HEADS
LENGTH = 512  # of the cache


def _weight(*shape: int, scale: float | None = None) -> tf.Variable:
  scale = 1 / math.sqrt(shape[0]) if scale is None else scale
  return tf.Variable(tf.random.normal(shape, 0, scale))


class Decoder(tf.Module):
  """The weights, and one pass over some tokens with a cache."""

  def __init__(self):
    super().__init__()
    self.embedding = _weight(VOCABULARY, WIDTH, scale=1.0)
    self.head = _weight(WIDTH, VOCABULARY)
    self.last_norm = _weight(WIDTH, scale=0.1)
    self.layers = [{
        "attention_norm": _weight(WIDTH, scale=0.1),
        "query": _weight(WIDTH, HEADS * SIZE),
        "key": _weight(WIDTH, GROUPS * SIZE),
        "value": _weight(WIDTH, GROUPS * SIZE),
        "output": _weight(HEADS * SIZE, WIDTH),
        "feed_forward_norm": _weight(WIDTH, scale=0.1),
        "gate": _weight(WIDTH, HIDDEN),
        "up": _weight(WIDTH, HIDDEN),
        "down": _weight(HIDDEN, WIDTH),
    } for _ in range(LAYERS)]

  @staticmethod
  def _norm(x: Any, weight: Any) -> Any:
    mean = tf.reduce_mean(tf.square(x), -1, keepdims=True)
    return x * tf.math.rsqrt(mean + 1e-6) * (1 + weight)

  @staticmethod
  def _rotate(x: Any, positions: Any) -> Any:
    """Rotary embedding of x [B, T, H, D] at positions [T]."""
    half = SIZE // 2
    frequency = 10000.0 ** (-tf.range(half, dtype=tf.float32) / half)
    angle = tf.cast(positions, tf.float32)[:, None] * frequency
    cos, sin = tf.cos(angle)[:, None, :], tf.sin(angle)[:, None, :]
    first, second = x[..., :half], x[..., half:]
    return tf.concat([first * cos - second * sin, second * cos + first * sin],
                     -1)

  def _attend(self, layer: dict, x: Any, cache: Any, start: Any) -> Any:
    """Attention of the tokens x [B, T, width] from position `start`."""
    batch, count = tf.shape(x)[0], tf.shape(x)[1]
    positions = start + tf.range(count)

    def heads(weight: Any, number: int) -> Any:
      return tf.reshape(tf.matmul(x, weight), [batch, count, number, SIZE])

    query = self._rotate(heads(layer["query"], HEADS), positions)
    key = self._rotate(heads(layer["key"], GROUPS), positions)
    value = heads(layer["value"], GROUPS)
    added = tf.stack([key, value])
    everything = tf.concat([cache[:, :, :start], added], 2)
    keys = tf.repeat(everything[0], HEADS // GROUPS, axis=2)
    values = tf.repeat(everything[1], HEADS // GROUPS, axis=2)
    scores = tf.einsum("bthd,bshd->bhts", query, keys) / math.sqrt(SIZE)
    visible = tf.range(start + count)[None, :] <= positions[:, None]
    scores = tf.where(visible, scores, -1e9)
    mixed = tf.einsum("bhts,bshd->bthd", tf.nn.softmax(scores), values)
    mixed = tf.reshape(mixed, [batch, count, WIDTH])
    return tf.matmul(mixed, layer["output"]), added

  def __call__(self, token_ids: Any, cache: Any, start: Any) -> dict[str, Any]:
    """Logits of the last token, and the keys and values that the tokens add."""
    x = tf.gather(self.embedding, token_ids)
    added = []
    for i, layer in enumerate(self.layers):
      mixed, new = self._attend(
          layer, self._norm(x, layer["attention_norm"]), cache[i], start)
      added.append(new)
      x += mixed
      h = self._norm(x, layer["feed_forward_norm"])
      h = tf.nn.silu(tf.matmul(h, layer["gate"])) * tf.matmul(h, layer["up"])
      x += tf.matmul(h, layer["down"])
    last = self._norm(x[:, -1], self.last_norm)
    return {"logits": tf.matmul(last, self.head), "added": tf.stack(added)}


def prefill() -> network.Network:
  """128 tokens at once, no cache."""
  decoder = Decoder()

  def call(token_ids: Any) -> Any:
    empty = tf.zeros([LAYERS, 2, tf.shape(token_ids)[0], 0, GROUPS, SIZE])
    return decoder(token_ids, empty, 0)["logits"]

  return network.Network(
      call=call, variables=list(decoder.variables),
      specs={"token_ids": tf.TensorSpec((None, None), tf.int32)},
      inputs=network.integers(VOCABULARY, token_ids=(128,)))


def decode() -> network.Network:
  """One token after 400, whose keys and values are an input."""
  decoder = Decoder()

  def inputs(rng: np.random.Generator, batch: int) -> network.Arrays:
    shape = (LAYERS, 2, batch, LENGTH, GROUPS, SIZE)
    return {"token_ids": rng.integers(0, VOCABULARY, (batch, 1)).astype(np.int32),
            "cache": rng.normal(0, 1, shape).astype(np.float32),
            "start": np.int32(400)}

  return network.Network(
      call=lambda **x: decoder(**x), variables=list(decoder.variables),
      specs={"token_ids": tf.TensorSpec((None, 1), tf.int32),
             "cache": tf.TensorSpec((LAYERS, 2, None, LENGTH, GROUPS, SIZE),
                                    tf.float32),
             "start": tf.TensorSpec((), tf.int32)},
      inputs=inputs)
