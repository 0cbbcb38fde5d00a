"""Reductions over various axes, and the norms that consist of them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from builder import Builder, Scope, Value


def axes_of(b: Builder, x: Value) -> list[int]:
  """Some axes, sometimes counted from the end."""
  axes = sorted(b.random.sample(range(x.rank), b.whole(1, x.rank)))
  return [a - x.rank for a in axes] if b.chance(0.3) else axes


def reduced(x: Value, axes: list[int], keep: bool) -> list[Any]:
  gone = {a % x.rank for a in axes}
  return [1 if i in gone else s for i, s in enumerate(x.sizes) if keep or i not in gone]


def finite(b: Builder, t: Any) -> Any:
  """Without what reductions of nothing give."""
  return tf.where(tf.math.is_finite(t), t, b.number(0.5))


def reduce(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  axes, keep = axes_of(b, x), b.chance(0.6)
  how = b.whole(0, 6)
  if how == 0:
    y = tf.tanh(b.number(0.25) * tf.reduce_sum(x.t, axes, keepdims=keep))
  elif how == 1:
    y = tf.tanh(tf.reduce_sum(tf.square(x.t), axes, keepdims=keep) * 0.1)
  elif how == 2:
    y = tf.reduce_prod(tf.tanh(x.t), axes, keepdims=keep)
  elif how == 3:
    y = finite(b, tf.reduce_logsumexp(x.t, axes, keepdims=keep)) * 0.5
  else:
    op = b.among([tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_mean])
    y = finite(b, op(x.t, axes, keepdims=keep))
  return Value(y, reduced(x, axes, keep))


def difference(b: Builder, scope: Scope) -> Value | None:
  """Sums of a product or of a squared difference of two tensors."""
  x = scope.pick(lambda v: v.rank > 0)
  fits = [(y, s) for y in scope.floats()
          if (s := b.broadcast(x.sizes, y.sizes)) is not None] if x else []
  if x is None or not fits:
    return None
  y, shape = b.among(fits)
  z = Value(b.among([lambda p, q: tf.square(p - q), tf.math.squared_difference, tf.multiply,
                     lambda p, q: tf.abs(p - q)])(x.t, y.t), shape)
  axes, keep = axes_of(b, z), b.chance(0.5)
  op = b.among([lambda t: tf.reduce_sum(t, axes, keepdims=keep) * 0.1,
                lambda t: finite(b, tf.reduce_mean(t, axes, keepdims=keep))])
  return Value(tf.tanh(op(z.t)), reduced(z, axes, keep))


def softmax(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  axis = b.whole(0, x.rank - 1) if b.chance(0.4) else -1
  how = b.whole(0, 3)
  if how == 0:
    return Value(tf.nn.log_softmax(x.t, axis) * 0.3, x.sizes)
  if how == 1:
    e = tf.exp(x.t - finite(b, tf.reduce_max(x.t, axis, keepdims=True)))
    return Value(e / tf.reduce_sum(e, axis, keepdims=True), x.sizes)
  scaled = x.t * b.among([1.0, 0.5, 2.0])
  return Value(tf.nn.softmax(scaled, axis), x.sizes)


def layer_norm(b: Builder, scope: Scope) -> Value | None:
  """Of the last dimension, or of others, in the spellings that exporters use."""
  x = scope.pick(lambda v: v.rank > 1)
  if x is None:
    return None
  axes = [-1] if b.chance(0.6) else axes_of(b, x)
  mean = tf.reduce_mean(x.t, axes, keepdims=True)
  how = b.whole(0, 3)
  if how == 0:
    mean, variance = tf.nn.moments(x.t, axes, keepdims=True)
  elif how == 1:
    variance = tf.reduce_mean(tf.math.squared_difference(x.t, tf.stop_gradient(mean)), axes, keepdims=True)
  elif how == 2:
    variance = tf.reduce_mean(tf.square(x.t - mean), axes, keepdims=True)
  else:
    mean = b.number(0.0)
    variance = tf.reduce_mean(x.t * x.t, axes, keepdims=True)
  inverse = tf.math.rsqrt(variance + 0.1)
  last = x.sizes[-1]
  gamma: Any = b.const(last, scale=0.2, near=1.0) if isinstance(last, int) and b.chance(0.7) else b.number(1.0)
  beta: Any = b.const(last) if isinstance(last, int) and b.chance(0.7) else b.number(0.25)
  if how == 3:
    y = x.t * inverse * gamma
  elif b.chance(0.4):
    y = x.t * (inverse * gamma) + (beta - mean * (inverse * gamma))
  elif b.chance(0.5):
    y = (x.t - mean) / tf.sqrt(variance + 0.1) * gamma + beta
  else:
    y = (x.t - mean) * inverse * gamma + beta
  return Value(y, x.sizes)


def unit_length(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  return x and Value(tf.math.l2_normalize(x.t + 0.5, b.whole(0, x.rank - 1), epsilon=0.1), x.sizes)


def scan(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  axis = b.whole(0, x.rank - 1)
  return Value(tf.tanh(0.2 * tf.cumsum(x.t, axis, exclusive=b.chance(0.3), reverse=b.chance(0.3))), x.sizes)


def of_input(b: Builder, scope: Scope) -> Any:
  """Positions and orders, of inputs only: rounding would change those of results."""
  x = scope.pick(lambda v: v.fed and v.rank > 0 and b.positive(v.sizes[-1]))
  if x is None:
    return None
  how = b.whole(0, 3)
  if how == 0:
    y = tf.cast(tf.argmax(x.t, -1), b.dtype) * 0.1
    return Value(y, x.sizes[:-1])
  if how == 1:
    values, at = tf.math.top_k(x.t, 1)
    return [Value(values, (*x.sizes[:-1], 1)), Value(tf.cast(at, b.dtype) * 0.1, (*x.sizes[:-1], 1))]
  if how == 2:
    return Value(tf.sort(x.t, -1, b.among(["ASCENDING", "DESCENDING"])), x.sizes)
  return Value(tf.cast(tf.math.count_nonzero(x.t > 0.0, -1), b.dtype) * 0.1, x.sizes[:-1])


def segments(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  ids = tf.range(tf.shape(x.t)[0]) % 3
  return Value(tf.tanh(tf.math.unsorted_segment_sum(x.t, ids, 3) * 0.3), (3, *x.sizes[1:]))


KINDS = [(reduce, 6), (difference, 3), (softmax, 3), (layer_norm, 4), (unit_length, 1), (scan, 2), (of_input, 2), (segments, 1)]
