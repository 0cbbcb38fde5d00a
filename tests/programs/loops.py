"""Loops: while with fixed and changing shapes, TensorArrays, map_fn, scan, vectorized_map."""

from __future__ import annotations

from typing import Any

import sizes
import tensorflow as tf
from builder import Builder, Scope, Value
from shapes import at, replaced

SCALAR = tf.TensorShape([])


def unknown(rank: int) -> tf.TensorShape:
  return tf.TensorShape([None] * rank)


def count(b: Builder, scope: Scope) -> Any:
  """How often a loop runs: a constant, an input or a size."""
  n = scope.pick(lambda v: v.fed, (0,), tf.int32)
  if n is not None and b.chance(0.5):
    return tf.minimum(n.t, 4)
  x = scope.pick(lambda v: v.rank > 0)
  if x is not None and b.chance(0.3):
    return tf.minimum(tf.shape(x.t)[0], 4)
  return tf.constant(b.among([0, 1, 2, 3, 3]))


def fixed(b: Builder, scope: Scope) -> Any:
  """Several loop variables that keep their shapes."""
  start = [v for v in (scope.pick() for _ in range(b.whole(1, 3))) if v is not None]
  if not start:
    return None
  known = b.chance(0.5)
  limit = count(b, scope)
  twice = b.chance(0.3)

  def body(i: Any, *tensors: Any) -> tuple[Any, ...]:
    carried = [Value(t, v.sizes) for t, v in zip(tensors, start)]
    inner = scope.inner(carried, b.whole(0, 2))
    b.run(inner, b.whole(2, 5))
    results = []
    for value in carried:
      last = b.like(inner, value)
      y = b.calm(last.t) if b.chance(0.5) else last.t * 0.5
      results.append(tf.ensure_shape(y, value.t.shape) if known else y)
    if b.chance(0.2):
      results[0] = results[0] + 0.1 * tf.cast(i, b.dtype)
    if len(start) > 1 and b.alike(start[0].sizes, start[1].sizes) and b.chance(0.3):
      results[:2] = results[1::-1]
    return (i + 1, *results)

  def condition(i: Any, *tensors: Any) -> Any:
    if not twice:
      return i < limit
    return tf.logical_and(i < limit + 1, tf.logical_or(i < limit, tf.size(tensors[0]) % 2 == 0))

  shapes = [SCALAR, *(v.t.shape if known else unknown(v.rank) for v in start)]
  made = tf.while_loop(condition, body, [tf.constant(0), *(v.t for v in start)], shape_invariants=shapes)
  return [Value(t, v.sizes) for t, v in zip(made[1:], start)]


def changing(b: Builder, scope: Scope) -> Any:
  """One loop variable that grows, shrinks or is transposed in each iteration."""
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  how = b.among(["grow", "grow", "shrink", "transpose", "halve"] if x.rank > 1 else ["grow", "shrink", "halve"])
  axis, times = b.whole(0, x.rank - 1), b.whole(0, 3)
  order = b.random.sample(range(x.rank), x.rank)
  names = [b.name("w") for _ in range(x.rank)]

  def body(i: Any, t: Any, total: Any) -> tuple[Any, ...]:
    y = b.calm(t) if b.chance(0.5) else t * 0.75
    if how == "grow":
      y = tf.concat([y, t[at(axis, slice(0, 1))]] if b.chance(0.7) else [t[at(axis, slice(0, 1))], y], axis)
    elif how == "shrink":
      y = y[at(axis, slice(1, None))]
    elif how == "halve":
      y = y[at(axis, slice(None, (tf.shape(y)[axis] + 1) // 2))]
    else:
      y = tf.transpose(y, order) + 0.125
    value = Value(y, names)
    inner = scope.inner([value], b.whole(0, 1))
    made = b.run(inner, b.whole(1, 4))
    return i + 1, b.like(inner, value).t, 0.5 * total + b.summary(made[-1:] or [value]).t

  _, t, total = tf.while_loop(lambda i, *_: i < times, body, [0, x.t, b.number(0.3)],
                              shape_invariants=[SCALAR, unknown(x.rank), SCALAR])
  shape = list(x.sizes)
  for _ in range(times):
    if how == "transpose":
      shape = [shape[i] for i in order]
    elif how == "grow":
      shape[axis] = sizes.add(shape[axis], sizes.combine("min", shape[axis], 1))
    elif how == "halve":
      shape[axis] = sizes.combine("//", sizes.add(shape[axis], 1), 2)
    else:
      shape[axis] = sizes.combine("max", sizes.combine("-", shape[axis], 1), 0)
  return [Value(t, shape), Value(total, ())]


def windows(b: Builder, scope: Scope) -> Any:
  """Parts of many sizes of one tensor, what is made of each in an array that grows."""
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  axis, how = b.whole(0, x.rank - 1), b.whole(0, 3)
  times, name = b.among([3, 6, 12, 22]), b.name("w")
  array = tf.TensorArray(b.dtype, 0, dynamic_size=True, element_shape=[] if b.chance(0.5) else None)
  limit = tf.constant(times) if b.chance(0.7) else tf.shape(x.t)[axis] + 2

  def body(i: Any, array: Any) -> Any:
    part = [slice(0, i), slice(i // 2, i), slice(0, i * 5 % 7), slice(i, None)][how]
    inner = scope.inner([Value(x.t[at(axis, part)], replaced(x, axis, name))], b.whole(0, 2))
    made = b.run(inner, b.whole(3, 8))
    return i + 1, array.write(i, b.summary(made[-3:] or inner.values[:1]).t)

  _, array = tf.while_loop(lambda i, _: i < limit, body, [0, array])
  return Value(tf.reduce_sum(array.stack()) * 0.1, ())


def arrays(b: Builder, scope: Scope) -> Any:
  """Rows read from one TensorArray and written to another, in some order."""
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  n = tf.shape(x.t)[0]
  source = tf.TensorArray(b.dtype, n, clear_after_read=False).unstack(x.t)
  shape = unknown(x.rank - 1) if b.chance(0.5) else None
  target = tf.TensorArray(b.dtype, n, element_shape=shape)
  backwards, from_array = b.chance(0.4), b.chance(0.5)

  def body(i: Any, target: Any, total: Any) -> Any:
    row = Value(source.read(i) if from_array else x.t[i], x.sizes[1:])
    inner = scope.inner([row], b.whole(0, 1))
    made = b.run(inner, b.whole(1, 4))
    y = b.like(inner, row)
    return i + 1, target.write(n - 1 - i if backwards else i, y.t), 0.5 * total + b.summary(made[-1:] or [row]).t

  _, target, total = tf.while_loop(lambda i, *_: i < n, body, [0, target, b.number(0.1)])
  return [Value(tf.reshape(target.stack(), tf.shape(x.t)), x.sizes), Value(total, ())]


def mapped(b: Builder, scope: Scope) -> Any:
  """map_fn, or vectorized_map, which writes the body for a whole batch."""
  x = scope.pick(lambda v: v.rank > 1)
  if x is None:
    return None
  vectorized = b.chance(0.4) and all(map(b.positive, x.sizes))

  def body(element: Any) -> Any:
    row = Value(element, x.sizes[1:])
    inner = scope.inner([row], 0 if vectorized else b.whole(0, 1))
    budget = b.budget
    b.budget = 0 if vectorized else budget
    b.run(inner, b.whole(1, 4))
    b.budget = budget if vectorized else b.budget
    return b.like(inner, row).t

  if not vectorized:
    return Value(tf.map_fn(body, x.t), x.sizes)
  return Value(tf.vectorized_map(body, x.t, fallback_to_while_loop=True), x.sizes)


def scanned(b: Builder, scope: Scope) -> Any:
  x = scope.pick(lambda v: v.rank > 1)
  if x is None:
    return None

  def body(state: Any, element: Any) -> Any:
    row = Value(element, x.sizes[1:])
    inner = scope.inner([row, Value(state, x.sizes[1:])])
    b.run(inner, b.whole(1, 4))
    return b.calm(b.like(inner, row).t) * 0.5 + state * 0.25

  return Value(tf.scan(body, x.t, tf.zeros(tf.shape(x.t)[1:], b.dtype), reverse=b.chance(0.3)), x.sizes)


def cache(b: Builder, scope: Scope) -> Any:
  """Keys and values that grow by a row per iteration, as in generation."""
  x = scope.pick(lambda v: v.rank == 3 and isinstance(v.sizes[2], int) and v.sizes[2] > 0 and b.positive(v.sizes[1]))
  if x is None:
    return None
  d, times = x.sizes[2], b.among([0, 1, 3, 12])
  w = b.const(d, d, scale=0.8 * d ** -0.5)
  shape = tf.TensorShape([None, None, d])

  def body(i: Any, keys: Any, values: Any, q: Any) -> Any:
    weights = tf.nn.softmax(tf.matmul(tf.matmul(q, w), keys, transpose_b=True) * 0.5)
    q = tf.tanh(tf.matmul(weights, values) + q)
    if b.chance(0.3):
      values = tf.transpose(tf.concat([tf.transpose(values, (1, 0, 2)), tf.transpose(q, (1, 0, 2))], 0), (1, 0, 2))
    else:
      values = tf.concat([values, q], 1)
    return i + 1, tf.concat([keys, q * 0.5], 1), values, q

  _, keys, values, q = tf.while_loop(
      lambda i, *_: i < times, body, [0, x.t, x.t * 0.5, x.t[:, :1]], shape_invariants=[SCALAR, shape, shape, shape])
  grown = (x.sizes[0], sizes.add(x.sizes[1], times), d)
  return [Value(keys, grown), Value(values, grown), Value(q, (x.sizes[0], 1, d))]


def python_loop(b: Builder, scope: Scope) -> Any:
  """As autograph writes it: break and continue by an input."""
  x = scope.pick(lambda v: v.rank > 0)
  n = scope.pick(lambda v: v.fed, (0,), tf.int32)
  if x is None or n is None:
    return None
  limit, odd = n.t, b.chance(0.5)

  def code(t: Any, rows: Any, limit: Any, total: Any) -> Any:
    for i in tf.range(rows):
      if i >= limit:
        break
      if odd and i % 2 == 1:
        continue
      total = total * 0.5 + tf.reduce_sum(tf.tanh(t[i])) * 0.1
      for _ in tf.range(i):
        total = total + 0.1
    return total

  return Value(tf.tanh(tf.autograph.to_graph(code)(x.t, tf.shape(x.t)[0], limit, b.number(0.1))), ())


KINDS: list[Any] = []
NESTED = [(fixed, 5), (changing, 4), (windows, 3), (arrays, 3), (mapped, 3), (scanned, 2), (cache, 2), (python_loop, 1)]
