"""Integers, booleans, complex numbers, and parts in half or bfloat16 precision."""

from __future__ import annotations

from typing import Any

import sizes
import tensorflow as tf
from builder import Builder, Scope, Value

INTEGERS: list[Any] = [
    lambda x: x + 1, lambda x: x * 3 - 2, lambda x: x // 2, lambda x: x % 3, lambda x: -x, tf.abs,
    lambda x: tf.bitwise.bitwise_and(x, 6), lambda x: tf.bitwise.left_shift(x, 1),
    lambda x: tf.where(x % 2 == 0, x, -x), lambda x: tf.clip_by_value(x, -2, 5), lambda x: tf.maximum(x, 2),
    lambda x: x // -3, lambda x: tf.truncatemod(x, 4), tf.sign, tf.square,
]
PAIRS: list[Any] = [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum,
                    lambda x, y: x // (tf.abs(y) + 1), lambda x, y: tf.where(x > y, x, y * 2)]


def whole_numbers(b: Builder, scope: Scope) -> Any:
  """Of inputs, which no rounding changes; they stay below 100."""
  x = scope.fed()
  ids = scope.pick(lambda v: v.fed, None, tf.int32)
  if b.chance(0.5) and ids is not None:
    x = ids
  if x is None:
    return None
  dtype = b.among([tf.int32, tf.int32, tf.int64, tf.int16, tf.int8, tf.uint8])
  y = tf.clip_by_value(tf.floor(x.t * 4.0), -8.0, 8.0) if x is not ids else x.t
  t = tf.cast(tf.abs(y) if dtype == tf.uint8 else y, dtype)
  shape = x.sizes
  wide = dtype in (tf.int32, tf.int64)
  for _ in range(b.whole(1, 5)):
    if wide:
      t = b.among(INTEGERS)(t) if b.chance(0.6) else b.among(PAIRS)(t, t + 1)
      t = tf.clip_by_value(t, -50, 50)
    else:
      t = b.among([lambda v: tf.maximum(v, v // 2), lambda v: v // 2 + 1, lambda v: v % 5, lambda v: tf.minimum(v, 6)])(t)
  if wide and len(shape) > 0 and b.chance(0.5):
    axis = b.whole(0, len(shape) - 1)
    t = b.among([tf.reduce_sum, tf.reduce_max, tf.reduce_min])(tf.concat([t, tf.zeros_like(t), t], axis), axis)
    t = tf.clip_by_value(t, -99, 99)
    shape = (*shape[:axis], *shape[axis + 1:])
  if wide and b.chance(0.2):
    t = tf.cast(tf.cast(t, tf.float32) / 3.0, dtype)
  return [Value(t, shape), Value(tf.cast(t, b.dtype) * 0.125, shape)]


def truth(b: Builder, scope: Scope) -> Any:
  x = scope.fed()
  if x is None:
    return None
  t = tf.math.logical_xor(x.t > 0.0, tf.abs(x.t) > 1.0)
  shape = x.sizes
  if b.chance(0.5) and shape:
    axis = b.whole(0, len(shape) - 1)
    t = b.among([tf.reduce_any, tf.reduce_all])(t, axis)
    shape = (*shape[:axis], *shape[axis + 1:])
  if b.chance(0.3):
    t = tf.logical_not(tf.logical_and(t, tf.equal(t, tf.zeros_like(t))))
  return [Value(t, shape), Value(tf.cast(t, b.dtype), shape)]


def complex_numbers(b: Builder, scope: Scope) -> Any:
  if b.rounded not in (tf.float32, tf.float64):
    return None
  x = scope.pick()
  if x is None:
    return None
  dtype = tf.complex128 if b.dtype == tf.float64 else tf.complex64
  y = b.like(scope, x)
  t = tf.complex(x.t, tf.tanh(y.t))
  assert t.dtype == dtype
  shape = x.sizes
  for _ in range(b.whole(1, 4)):
    how = b.whole(0, 5)
    if how == 0:
      t = tf.math.conj(t) * tf.constant(0.5 + 0.25j, dtype)
    elif how == 1 and len(shape) > 1:
      t = tf.transpose(t, conjugate=b.chance(0.5))
      shape = shape[::-1]
    elif how == 2 and len(shape) > 1:
      t = tf.matmul(t, t, adjoint_b=True) * tf.constant(0.1, dtype)
      shape = (*shape[:-1], shape[-2])
    elif how == 3 and shape and b.positive(shape[-1]):
      t = tf.signal.fft(t) * tf.constant(0.25, dtype)
    elif how == 4:
      t = t / (tf.cast(tf.abs(t), dtype) + tf.constant(1.0, dtype))
    else:
      t = t * t * tf.constant(0.5, dtype) + t
  made = b.among([tf.math.real, tf.math.imag, tf.abs])(t)
  return [Value(tf.tanh(made), shape), Value(t / (tf.cast(tf.abs(t), dtype) + tf.constant(1.0, dtype)), shape)]


def narrow(b: Builder, scope: Scope) -> Any:
  """Some steps in half precision or bfloat16, between casts."""
  x = scope.pick()
  if x is None or b.rounded != tf.float32:
    return None
  dtype = b.narrow(b.among([tf.bfloat16, tf.half]))
  t = tf.cast(x.t, dtype)
  shape = x.sizes
  k = x.t.shape[-1] if x.rank > 1 else None
  for _ in range(b.whole(1, 4)):
    how = b.whole(0, 5)
    if how == 0 and k:
      t = tf.matmul(t, tf.cast(b.const(k, k, scale=0.8 * k ** -0.5), dtype))
    elif how == 1:
      t = tf.nn.relu(t)
    elif how == 2:
      t = t * tf.cast(0.5, dtype) + tf.cast(0.25, dtype)
    elif how == 3:
      t = tf.tanh(t)
    elif how == 4 and shape:
      t = tf.nn.softmax(t)
    else:
      t = t + tf.cast(x.t, dtype)
  return Value(tf.cast(t, b.dtype), shape)


def double(b: Builder, scope: Scope) -> Any:
  """Some steps in double precision, between casts."""
  x = scope.pick()
  if x is None:
    return None
  t = tf.tanh(tf.cast(x.t, tf.float64) * 0.5)
  if x.rank > 1:
    t = t - tf.reduce_sum(t, -1, keepdims=True) * 0.125
  return Value(tf.cast(t, b.dtype), x.sizes)


def from_sizes(b: Builder, scope: Scope) -> Any:
  """Numbers made of sizes."""
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  shape = tf.shape(x.t, out_type=b.among([tf.int32, tf.int64]))
  axis = b.whole(0, x.rank - 1)
  n = shape[axis]
  how = b.whole(0, 3)
  if how == 0:
    return Value(tf.cast(tf.range(n), b.dtype) * 0.1, (x.sizes[axis],))
  if how == 1:
    y = tf.fill(tf.stack([n, tf.cast(2, n.dtype)]), b.number(0.25))
    return Value(y, (x.sizes[axis], 2))
  if how == 2:
    return Value(tf.cast(tf.reduce_prod(shape) % 7, b.dtype) * 0.1, ())
  y = tf.eye(tf.cast(n, tf.int32), dtype=b.dtype)
  return Value(y, (x.sizes[axis], x.sizes[axis]))


def scattered(b: Builder, scope: Scope) -> Any:
  """A row of a tensor is replaced or added to."""
  x = scope.pick(lambda v: v.rank > 0 and b.positive(v.sizes[0]))
  if x is None:
    return None
  n = tf.shape(x.t)[0]
  at = tf.stack([[0], [n // 2]]) if b.chance(0.5) else tf.reshape(n - 1, [1, 1])
  rows = tf.gather(x.t, (at[:, 0] + 1) % n) * 0.5
  op = b.among([tf.tensor_scatter_nd_add, tf.tensor_scatter_nd_sub, tf.tensor_scatter_nd_max])
  return Value(op(x.t, at, rows), x.sizes)


def repeated(b: Builder, scope: Scope) -> Any:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  axis = b.whole(0, x.rank - 1)
  return Value(tf.repeat(x.t, 2, axis), (*x.sizes[:axis], sizes.multiply(x.sizes[axis], 2), *x.sizes[axis + 1:]))


KINDS = [(whole_numbers, 4), (truth, 2), (complex_numbers, 3), (narrow, 2), (double, 1), (from_sizes, 2), (scattered, 2),
         (repeated, 1)]
