"""Elementwise steps: activations in several spellings, operands that broadcast."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf
from builder import Builder, Scope, Value

UNARY: list[Callable[[Any], Any]] = [
    tf.tanh, tf.nn.relu, tf.nn.relu6, tf.sigmoid, tf.abs, tf.negative, tf.nn.elu, tf.nn.selu, tf.sin,
    tf.nn.softplus, tf.math.erf, tf.identity, tf.stop_gradient, tf.nn.leaky_relu,
    lambda x: x * 0.5 + 0.25, lambda x: tf.square(x) * 0.3, lambda x: tf.minimum(x, 0.75),
    lambda x: tf.clip_by_value(x, -0.5, 1.0), lambda x: 1.0 - x, lambda x: x / 3.0,
    tf.nn.gelu, lambda x: tf.nn.gelu(x, approximate=True),
    lambda x: 0.5 * x * (1.0 + tf.math.erf(x / 1.4140625)),
    lambda x: x * tf.sigmoid(x), lambda x: x / (1.0 + tf.exp(-x)), tf.nn.silu,
    lambda x: x * tf.tanh(tf.math.softplus(x)), lambda x: x * tf.nn.relu6(x + 3.0) / 6.0,
    lambda x: x * tf.nn.relu6(x + 3.0) * 0.166015625, lambda x: tf.nn.relu6(x + 3.0) / 6.0,
    lambda x: tf.maximum(x, 0.25 * x), lambda x: tf.where(x > 0.0, x, 0.25 * x),
    lambda x: tf.math.rsqrt(tf.square(x) + 0.5), lambda x: tf.sqrt(tf.abs(x) + 0.5),
    lambda x: tf.exp(-tf.abs(x)), lambda x: tf.math.log1p(tf.abs(x)),
    lambda x: tf.pow(tf.abs(x) + 0.5, 0.5), lambda x: tf.math.atan(x),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.math.squared_difference,
    lambda x, y: x * tf.sigmoid(y), lambda x, y: x / (tf.abs(y) + 1.0),
    lambda x, y: tf.raw_ops.Add(x=x, y=y), lambda x, y: (x + y) * 0.5, lambda x, y: x + 0.25 * y,
    lambda x, y: tf.math.divide_no_nan(x, tf.square(y) + 0.5), lambda x, y: tf.math.atan2(x, tf.abs(y) + 0.5),
]


def unary(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick()
  return x and Value(b.among(UNARY)(x.t), x.sizes)


def binary(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick()
  fits = [(y, s) for y in scope.floats()
          if (s := b.broadcast(x.sizes, y.sizes)) is not None] if x else []
  if not x or not fits:
    return None
  y, shape = b.among(fits[-8:])
  first, second = (x, y) if b.chance(0.5) else (y, x)
  return Value(b.among(BINARY)(first.t, second.t), shape)


def with_constant(b: Builder, scope: Scope) -> Value | None:
  """A constant of the last dimensions, some of them 1."""
  x = scope.pick()
  if x is None:
    return None
  shape: list[int] = []
  for size in reversed(x.sizes):
    if b.chance(0.3):
      break
    shape.insert(0, size if isinstance(size, int) and b.chance(0.7) else 1)
  y = b.const(*shape)
  first, second = (x.t, y) if b.chance(0.6) else (y, x.t)
  return Value(b.among(BINARY)(first, second), x.sizes)


def affine(b: Builder, scope: Scope) -> Value | None:
  """Scale and offset of the channels, first or last."""
  x = scope.pick(lambda v: any(isinstance(s, int) for s in v.sizes), (2, 3, 4, 5))
  if x is None:
    return None
  axis = b.among([i for i, s in enumerate(x.sizes) if isinstance(s, int)])
  shape = [x.sizes[axis], *[1] * (x.rank - 1 - axis)]
  if b.chance(0.3):
    shape = [1] * (x.rank - len(shape)) + shape
  return Value(x.t * b.const(*shape, scale=0.2, near=1.0) + b.const(*shape), x.sizes)


def sum_of_several(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick()
  like = [v for v in scope.floats() if x and b.alike(v.sizes, x.sizes)]
  if not x or not like:
    return None
  return Value(tf.add_n([x.t, *(b.among(like).t for _ in range(b.whole(0, 2)))]) * 0.5, x.sizes)


def select(b: Builder, scope: Scope) -> Value | None:
  """By a comparison of inputs, whose result no rounding changes."""
  mask, x = scope.fed(), scope.pick()
  shape = b.broadcast(mask.sizes, x.sizes) if mask and x else None
  if mask is None or x is None or shape is None:
    return None
  fits = [y for y in scope.floats() if b.broadcast(shape, y.sizes) is not None]
  y = b.among(fits)
  shape = b.broadcast(shape, y.sizes)
  keep = mask.t > 0.125
  if b.chance(0.3):
    keep = tf.logical_and(keep, tf.logical_not(mask.t > 1.0))
  how = b.whole(0, 2)
  if how == 0:
    return Value(tf.where(keep, x.t, b.number(0.5)), b.broadcast(mask.sizes, x.sizes))
  if how == 1:
    return Value(x.t * tf.cast(keep, b.dtype), b.broadcast(mask.sizes, x.sizes))
  return Value(tf.where(keep, x.t, y.t), shape)


def rotary(b: Builder, scope: Scope) -> Value | None:
  """Halves of the last dimension, rotated."""
  x = scope.pick(lambda v: v.rank > 1 and isinstance(v.sizes[-1], int) and v.sizes[-1] % 2 == 0
                 and v.sizes[-1] > 0)
  if x is None:
    return None
  half = x.sizes[-1] // 2
  if b.chance(0.5):
    angle = b.const(half)
    first, second = tf.split(x.t, 2, -1)
    cos, sin = tf.cos(angle), tf.sin(angle)
    return Value(tf.concat([first * cos - second * sin, second * cos + first * sin], -1), x.sizes)
  angle = b.const(2 * half)
  turned = tf.concat([-x.t[..., half:], x.t[..., :half]], -1)
  return Value(x.t * tf.cos(angle) + turned * tf.sin(angle), x.sizes)


KINDS = [(unary, 8), (binary, 12), (with_constant, 5), (affine, 3), (sum_of_several, 2), (select, 3), (rotary, 1)]
