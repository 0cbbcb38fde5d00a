#!/usr/bin/env python3
"""Writes small models that JAX exports: StableHLO modules in XlaCallModule.

  tests/makers/jax_models.py --out tests/models/jax [NAME…]

As control_models.py, whose functions it uses, with a Python that also has jax (0.10.2).
"""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Callable

os.environ["KERAS_BACKEND"] = "jax"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import control_models as control  # sets the rest of the environment before TensorFlow is imported
import jax
import jax.numpy as jnp
import keras
import models
import numpy as np
import tensorflow as tf
from jax import lax
from jax.experimental import jax2tf
from keras import layers

floats = control.floats


def keras_model(make: Callable[[], keras.Model], runs: dict[str, control.Arrays]) -> Callable:
  def write(out: pathlib.Path, name: str) -> None:
    target = control.fresh(out, name)
    model = make()
    models.randomize(model, 23)
    path = target / "saved_model"
    model.export(str(path), format="tf_saved_model", verbose=False)
    for suffix, inputs in runs.items():
      control.save(target, suffix, inputs, models.run_signature(path, inputs))
  return write


def function(body: Callable, shapes: dict[str, str] | None, runs: dict[str, control.Arrays],
             by_jax: bool = False) -> Callable:
  """A function of the runs' inputs; `shapes` gives those with symbolic dimensions.

  by_jax: JAX computes the outputs, because TensorFlow 2.21 does not know the newer ops of StableHLO.
  """
  def write(out: pathlib.Path, name: str) -> None:
    target = control.fresh(out, name)
    first = runs[""]
    polymorphic = [(shapes or {}).get(key) for key in first]
    converted = jax2tf.convert(body, polymorphic_shapes=polymorphic, with_gradient=False,
                               native_serialization_platforms=("cpu",))
    specs = []
    for key, symbols in zip(first, polymorphic):
      x = np.asarray(first[key])
      dims = x.shape if symbols is None else [
          int(d) if d.strip().isdigit() else None for d in symbols.split(",")]
      specs.append(tf.TensorSpec(dims, x.dtype, key))
    net = tf.Module()
    net.run = tf.function(converted, input_signature=specs, autograph=False)
    path = target / "saved_model"
    tf.saved_model.save(net, str(path), signatures={"serving_default": net.run})
    for suffix, inputs in runs.items():
      if by_jax:
        with jax.disable_jit():  # each op rounds to its dtype
          outputs = {key: np.asarray(y) for key, y in body(
              **{k: jnp.asarray(x) for k, x in inputs.items()}).items()}
      else:
        outputs = models.run_signature(path, inputs)
      control.save(target, suffix, inputs, outputs)
  return write


def cnn() -> keras.Model:
  x = keras.Input([12, 14, 3], name="x")
  y = layers.Conv2D(8, 3, padding="same", use_bias=False)(x)
  y = layers.ReLU()(layers.BatchNormalization()(y))
  y = layers.DepthwiseConv2D(3, strides=2, padding="same")(y)
  y = layers.ReLU(max_value=6)(layers.BatchNormalization()(y))
  y = layers.MaxPooling2D(3, strides=2, padding="same")(y)
  shortcut = y
  y = layers.Conv2D(8, 1, activation="silu")(y)
  y = layers.Add()([y, shortcut])
  y = layers.AveragePooling2D(2, padding="same")(y)
  y = layers.Conv2DTranspose(4, 3, strides=2, padding="same", activation="relu")(y)
  y = layers.GlobalAveragePooling2D()(y)
  return keras.Model(x, {"y": layers.Dense(5, activation="softmax", name="y")(y)})


def encoder() -> keras.Model:
  ids = keras.Input([12], dtype="int32", name="ids")
  x = layers.Embedding(50, 16)(ids)
  a = layers.MultiHeadAttention(2, 8)(x, x)
  x = layers.LayerNormalization()(x + a)
  f = layers.Dense(16)(layers.Dense(32, activation="gelu")(x))
  x = layers.LayerNormalization()(x + f)
  return keras.Model(ids, {"y": layers.Dense(3, name="y")(x)})


def signals() -> keras.Model:
  x = keras.Input([9, 5], name="x")
  y = layers.Conv1D(6, 3, padding="causal", activation="relu")(x)
  y = layers.MaxPooling1D(2)(y)
  y = layers.LSTM(6, return_sequences=True)(y)
  y = layers.GRU(4)(y)
  return keras.Model(x, {"y": layers.Dense(3, name="y")(y)})


def indexing(x, ids):
  rows = jnp.take(x, ids, axis=0)  # NaN outside of x
  clipped = jnp.take(x, ids, axis=1, mode="clip")
  order = jnp.argsort(x, axis=1)
  best, places = lax.top_k(x, 3)
  return {
      "rows": jnp.nan_to_num(rows, nan=-1.0), "clipped": clipped,
      "corner": lax.dynamic_slice(x, (ids[0], ids[1]), (2, 3)),
      "updated": lax.dynamic_update_slice(x, x[:2, :2] * 2, (ids[1], ids[2])),
      "added": x.at[ids].add(1.5), "set": x.at[1:3, ::2].set(0.0),
      "largest": x.at[ids, 1].max(0.25), "order": order.astype(jnp.int32),
      "sorted": jnp.sort(x, axis=0), "best": best, "places": places,
      "along": jnp.take_along_axis(x, order, axis=1), "pairs": x[jnp.array([0, 2]), jnp.array([1, 3])],
      "last": x[:, -1], "reversed": x[::-1, 1:], "rolled": jnp.roll(x, 2, axis=1),
      "padded": lax.pad(x, 0.5, ((1, 0, 1), (-1, 2, 0)))}


def numbers(x, i, j):
  u = i.astype(jnp.uint32)
  key = jax.random.wrap_key_data(u[:2])
  half = x.astype(jnp.bfloat16)
  return {
      "bits": (u << 3) ^ (u >> j.astype(jnp.uint32)), "shifted": i >> jnp.minimum(j, 40),
      "divided": i // (j + 1), "remainder": i % (j + 1), "rem": lax.rem(i, j), "div": lax.div(i, j),
      "count": lax.population_count(i), "zeros": lax.clz(i), "inverted": ~i,
      "float": i.astype(jnp.float32) / 3, "trunc": x.astype(jnp.int32), "round": jnp.round(x * 4),
      "away": lax.round(x * 4, lax.RoundingMethod.AWAY_FROM_ZERO),
      "cbrt": jnp.cbrt(x), "tan": jnp.tan(x), "log1p": jnp.log1p(jnp.abs(x)), "erf": lax.erf(x),
      "fmod": lax.rem(x, jnp.float32(0.7)), "sign": jnp.sign(x), "atan2": jnp.arctan2(x, x + 1),
      "pow": jnp.abs(x) ** 1.7, "cube": x ** 3, "clamp": jnp.clip(x, -0.5, 0.5),
      "finite": jnp.isfinite(x / (x - x[0])), "as_ints": lax.bitcast_convert_type(x, jnp.int32),
      "where": jnp.where((x > 0) & (i[:4] > 2) | (x < -1), x, -x), "both": (x > 0) ^ (i[:4] > 2),
      "half": (half * half + 1).astype(jnp.float32), "uniform": jax.random.uniform(key, (2, 3)),
      "normal": jax.random.normal(key, (3,)), "iota": lax.broadcasted_iota(jnp.int32, (2, 3), 1) + i[0]}


def flow(x, n):
  doubled, count = lax.while_loop(lambda s: s[1] < n, lambda s: (s[0] * 1.5 + x[0], s[1] + 1), (x, 0))
  last, all_sums = lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x)
  return {
      "doubled": doubled, "count": count, "last": last, "sums": all_sums,
      "cond": lax.cond(n > 2, lambda v: v * 2 + x, lambda v: v - x, x + 1),
      "switch": lax.switch(n, [lambda v: v, lambda v: v * x, lambda v: v.sum() + x], x + 2),
      "loop": lax.fori_loop(0, 3, lambda i, v: v.at[i % 3].add(i * 1.0), x),
      "mapped": lax.map(lambda r: r / (1 + jnp.abs(r).sum()), x)}


def reductions(x):
  return {
      "sum": x.sum((0, 2)), "max": x.max(), "prod": x.prod(1), "mean": x.mean(1),
      "var": x.var((0, 1)), "any": (x > 2).any(1), "all": (x > -2).all((1, 2)),
      "argmax": x.argmax(1), "argmin": x.argmin(-1), "logsumexp": jax.nn.logsumexp(x, -1),
      "softmax": jax.nn.softmax(x, 1), "cumsum": x.cumsum(1), "cumprod": jnp.cumprod(x, 2),
      "cummax": lax.cummax(x, 1, reverse=True), "median": jnp.median(x, 1),
      "custom": lax.reduce(x, np.float32(0), lambda a, b: a + b - a * b * 0.25, (1,)),
      "windows": lax.reduce_window(x, np.float32(0), lax.add, (1, 2, 2), (1, 1, 2), "SAME"),
      "largest": lax.reduce_window(x, -np.inf, lax.max, (1, 3, 1), (1, 2, 1), "VALID"),
      "start": lax.reduce(x, np.float32(1.5), lax.add, (0,))}


def symbolic(x, y):
  n = x.shape[0]
  m = y.shape[0]
  grid = jnp.arange(n)[:, None] * 10 + jnp.arange(m)[None, :]
  both = jnp.concatenate([x, jnp.broadcast_to(y.mean(0), (n, 4))], 1)
  return {
      "outer": jnp.einsum("ni,mi->nm", x, y), "grid": grid.astype(jnp.int32), "both": both,
      "flat": x.reshape(-1), "tail": x[1:], "mean": x.mean(0), "count": jnp.float32(n) * m,
      "padded": jnp.pad(x, ((1, 1), (0, 0))), "softmax": jax.nn.softmax(x @ y.T, -1),
      "rows": x[jnp.arange(n) % 2], "sorted": jnp.sort(x, 0), "cumsum": x.cumsum(0),
      "zeros": jnp.zeros((n, m)) + x[:, :1], "scan": lax.scan(lambda c, r: (c + r, c), y[0], x)[0]}


def algebra(a, b, i):
  f = jnp.fft.fft(a)
  return {
      "abs": jnp.abs(f), "angle": jnp.real(f * jnp.conj(f)), "back": jnp.real(jnp.fft.ifft2(f)),
      "real": jnp.imag(jnp.fft.rfft(a, axis=1)), "irfft": jnp.fft.irfft(jnp.fft.rfft(a), 4),
      "ints": i @ i.T, "wide": lax.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16),
                                       preferred_element_type=jnp.float32),
      "batched": jnp.einsum("bij,bkj->kbi", jnp.stack([a, a + 1]), jnp.stack([a, a * 2])),
      "conv": lax.conv_general_dilated(a[None, None], b[None, None, :2, :2], (1, 2), ((1, 1), (0, 2)),
                                       lhs_dilation=(2, 1), rhs_dilation=(1, 2)),
      "volume": lax.conv_general_dilated(
          jnp.stack([a, -a])[None, None], b[None, None, :2, :2, None], (1, 1, 1), "SAME"),
      "grouped": lax.conv_general_dilated(
          jnp.stack([a, -a, 2 * a, a])[None], jnp.stack([b[:2, :2]] * 4).reshape(4, 1, 2, 2), (1, 1),
          "VALID", feature_group_count=4)}


def integers(x, a, b):
  """Conversions of numbers that the dtype does not have, and remainders of all widths."""
  key = jax.random.key(3)
  types = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
  found = {f"to_{t}": x.astype(t) for t in types}
  found |= {f"half_to_{t}": x.astype(jnp.float16).astype(t) for t in types}
  found |= {f"rem_{t}": lax.rem(a.astype(t), b.astype(t)) for t in types}
  found |= {f"div_{t}": lax.div(a.astype(t), b.astype(t)) for t in types}
  found["randint"] = jax.random.randint(key, (7,), -5, 100)
  found["bytes"] = jax.random.randint(key, (7,), 0, 200, dtype=jnp.uint8)
  return found


def sorting(x, i):
  """Orders by one key and by several, ascending and descending, with ties, NaN and both zeros."""
  coarse = jnp.round(x)
  bits = x.astype(jnp.bfloat16)
  return {
      "rows": jnp.sort(x, 1), "columns": jnp.sort(x, 0), "down": jnp.sort(x, 1, descending=True),
      "order": jnp.argsort(coarse, 1).astype(jnp.int32),
      "order_down": jnp.argsort(coarse, 1, descending=True).astype(jnp.int32),
      "integers": jnp.sort(i), "order_integers": jnp.argsort(i % 5).astype(jnp.int32),
      "unsigned": jnp.sort(i.astype(jnp.uint8)), "flags": jnp.sort(i > 3),
      "narrow": jnp.sort(bits, 1).astype(jnp.float32), "median": jnp.median(jnp.nan_to_num(x), 1),
      "lexicographic": jnp.lexsort((i, i % 3)).astype(jnp.int32),
      "pairs": jnp.stack(lax.sort((coarse[1], x[1], x[0]), num_keys=2)),
      "reverse": lax.sort((i % 4, i), num_keys=1, is_stable=True)[1],
      "permutation": jax.random.permutation(jax.random.key(5), 20),
      "unique": jnp.unique(i % 5, size=6, fill_value=-1)}


MODELS = {
    "cnn": keras_model(cnn, {"": {"x": floats(1, 12, 14, 3)}, "_b2": {"x": floats(2, 12, 14, 3)}}),
    "encoder": keras_model(encoder, {
        "": {"ids": np.arange(12, dtype=np.int32)[None] * 4 % 50},
        "_b2": {"ids": np.arange(24, dtype=np.int32).reshape(2, 12) * 7 % 50}}),
    "signals": keras_model(signals, {"": {"x": floats(1, 9, 5)}, "_b2": {"x": floats(2, 9, 5)}}),
    "indexing": function(indexing, None, {
        "": {"x": floats(5, 6), "ids": np.array([1, 4, 2], np.int32)},
        "_outside": {"x": floats(5, 6), "ids": np.array([-2, 9, 3], np.int32)}}, by_jax=True),
    "numbers": function(numbers, None, {
        "": {"x": floats(4), "i": np.array([-7, 3, 100, -2147483648, 5, 0], np.int32),
             "j": np.array([2, -3, 0, -1, 33, 4], np.int32)}}, by_jax=True),
    "integers": function(integers, None, {
        "": {"x": np.array([np.nan, np.inf, -np.inf, 1e12, -1e12, 300.7, -300.7, 127.9, -128.9, 255.5,
                            65535.9, -0.5, 2147483520, 2147483648, -2147483648, 4294967040, 3.99],
                           np.float32),
             "a": np.array([7, -7, 100, -128, 255, 30000, -32768, 2147483647, -2147483648, 0, 5], np.int32),
             "b": np.array([3, 3, -7, -1, 16, 7, -1, 10, -1, 5, 0], np.int32)}}, by_jax=True),
    "sorting": function(sorting, None, {
        "": {"x": np.array([[0.5, -0.0, 2.5, np.nan, -np.inf, 0.0, -2.6],
                            [1.5, -1.5, 1.5, 3.25, 0.0, -7.0, 1.5],
                            [np.inf, 4.0, np.nan, -4.0, 4.0, -np.nan, 1e-42]], np.float32),
             "i": np.array([5, 3, -2, 9, 3, 200, 0, -100, 7, 3], np.int32)}}, by_jax=True),
    "flow": function(flow, None, {
        "": {"x": floats(3, 4), "n": np.int32(4)}, "_none": {"x": floats(3, 4), "n": np.int32(0)}}),
    "reductions": function(reductions, None, {"": {"x": floats(3, 5, 4)}}),
    "symbolic": function(symbolic, {"x": "n, 4", "y": "m, 4"}, {
        "": {"x": floats(3, 4), "y": floats(2, 4)}, "_other": {"x": floats(5, 4), "y": floats(5, 4)}}),
    "algebra": function(algebra, None, {
        "": {"a": floats(4, 4), "b": floats(4, 4), "i": np.arange(6, dtype=np.int32).reshape(2, 3)}}),
}


if __name__ == "__main__":
  sys.exit(control.command_line(__doc__, MODELS))
