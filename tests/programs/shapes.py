"""Steps that move elements, often to sizes that are computed from tf.shape."""

from __future__ import annotations

from typing import Any

import sizes
import tensorflow as tf
from builder import Builder, Scope, Value


def split_axis(b: Builder, x: Value) -> int | None:
  """An axis whose size is a number above 1."""
  axes = [i for i, s in enumerate(x.sizes) if isinstance(s, int) and s > 1]
  return b.among(axes) if axes else None


def at(axis: int, part: Any) -> tuple[Any, ...]:
  """An index that takes `part` of one axis."""
  return (*[slice(None)] * axis, part)


def replaced(x: Value, axis: int, size: Any) -> tuple[Any, ...]:
  return (*x.sizes[:axis], size, *x.sizes[axis + 1:])


def transpose(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(ranks=(2, 3, 4, 5))
  if x is None:
    return None
  order = list(range(x.rank))
  if b.chance(0.5):  # channels first or last
    order = [0, x.rank - 1, *range(1, x.rank - 1)] if b.chance(0.5) else [0, *range(2, x.rank), 1]
  else:
    b.random.shuffle(order)
  if b.chance(0.15):
    return Value(tf.linalg.matrix_transpose(x.t), (*x.sizes[:-2], x.sizes[-1], x.sizes[-2]))
  return Value(tf.transpose(x.t, order), [x.sizes[i] for i in order])


def merge(b: Builder, scope: Scope) -> Any:
  """Joins two dimensions, and perhaps separates them again."""
  x = scope.pick(ranks=(2, 3, 4, 5))
  if x is None:
    return None
  i = b.whole(0, x.rank - 2)
  shape = tf.shape(x.t, out_type=b.among([tf.int32, tf.int32, tf.int64]))
  before, after = [shape[j] for j in range(i)], [shape[j] for j in range(i + 2, x.rank)]
  joined: Any = shape[i] * shape[i + 1]
  how = b.whole(0, 3)
  if how == 0 and all(b.positive(s) for s in (*x.sizes[:i], *x.sizes[i + 2:])):
    joined = -1
  elif how == 1:
    joined = tf.reduce_prod(shape[i:i + 2])
  elif how == 2:
    before = [s if isinstance(s, int) else d for s, d in zip(x.sizes, before)]
  y = Value(tf.reshape(x.t, tf.stack([*before, tf.cast(joined, shape.dtype), *after])),
            (*x.sizes[:i], sizes.multiply(x.sizes[i], x.sizes[i + 1]), *x.sizes[i + 2:]))
  if b.chance(0.5):
    return y
  z = b.among([tf.tanh, tf.nn.relu, tf.nn.softmax, lambda t: t * 0.5 + 0.25])(y.t)
  return [Value(z, y.sizes), Value(tf.reshape(z, shape), x.sizes)]


def reshape_like(b: Builder, scope: Scope) -> Value | None:
  """To the shape of another tensor with as many elements."""
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None

  def count(v: Value) -> Any:
    total: Any = 1
    for s in v.sizes:
      total = sizes.multiply(total, s)
    return total

  fits = [y for y in scope.floats() if y.rank and b.known(count(y)) is not None and
          b.same(count(y), count(x))]
  if not fits:
    return None
  y = b.among(fits)
  shape: Any = tf.shape(y.t)
  if b.chance(0.3):
    shape = tf.concat([shape[:1], shape[1:]], 0)
  made = tf.reshape(x.t, shape)
  return Value(made + y.t if b.chance(0.5) else made, y.sizes)


def flatten(b: Builder, scope: Scope) -> Value | None:
  """Parts of the shape and -1, as exporters write it."""
  x = scope.pick(lambda v: v.rank > 1 and isinstance(v.sizes[-1], int) and v.sizes[-1] > 0)
  if x is None:
    return None
  rows: Any = 1
  for s in x.sizes[:-1]:
    rows = sizes.multiply(rows, s)
  y = tf.reshape(x.t, [-1, x.sizes[-1]])
  if b.chance(0.5):
    return Value(y, (rows, x.sizes[-1]))
  z = b.among([tf.nn.softmax, tf.tanh, tf.nn.relu])(y)
  back = tf.concat([tf.shape(x.t)[:-1], [x.sizes[-1] if b.chance(0.5) else -1]], 0) if (
      all(b.positive(s) for s in x.sizes)) else tf.shape(x.t)
  return Value(tf.reshape(z, back), x.sizes)


def expand(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(ranks=(0, 1, 2, 3, 4))
  if x is None:
    return None
  axis = b.whole(0, x.rank)
  shape = (*x.sizes[:axis], 1, *x.sizes[axis:])
  if b.chance(0.3):
    return Value(x.t[(*[slice(None)] * axis, tf.newaxis)], shape)
  return Value(tf.expand_dims(x.t, axis if b.chance(0.7) else axis - x.rank - 1), shape)


def squeeze(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: 1 in v.sizes)
  if x is None:
    return None
  axis = b.among([i for i, s in enumerate(x.sizes) if s == 1])
  y = x.t[at(axis, 0)] if b.chance(0.3) else tf.squeeze(x.t, [axis])
  return Value(y, (*x.sizes[:axis], *x.sizes[axis + 1:]))


def concat(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  axis = b.whole(0, x.rank - 1)
  fits = [y for y in scope.floats() if y.rank == x.rank and all(
      i == axis or b.same(s, r) for i, (s, r) in enumerate(zip(x.sizes, y.sizes)))]
  parts = [x, *(b.among(fits) for _ in range(b.whole(1, 3)))] if fits else [x]
  b.random.shuffle(parts)
  size: Any = 0
  for part in parts:
    size = sizes.add(size, part.sizes[axis])
  return Value(tf.concat([p.t for p in parts], b.among([axis, axis - x.rank])), replaced(x, axis, size))


def split(b: Builder, scope: Scope) -> Any:
  x = scope.pick()
  axis = split_axis(b, x) if x else None
  if x is None or axis is None:
    return None
  size = x.sizes[axis]
  if b.chance(0.4):
    cut = b.whole(1, size - 1)
    parts = tf.split(x.t, [cut, size - cut], axis)
    return [Value(p, replaced(x, axis, s)) for p, s in zip(parts, (cut, size - cut))]
  if b.chance(0.3):
    return [Value(p, (*x.sizes[:axis], *x.sizes[axis + 1:]))
            for p in tf.unstack(x.t, num=size, axis=axis)[:3]]
  count = b.among([n for n in range(2, size + 1) if size % n == 0])
  return [Value(p, replaced(x, axis, size // count)) for p in tf.split(x.t, count, axis)[:3]]


def stack(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(ranks=(0, 1, 2, 3, 4))
  if x is None:
    return None
  axis, y = b.whole(0, x.rank), b.like(scope, x)
  return Value(tf.stack([x.t, y.t, x.t][:b.whole(2, 3)] if b.chance(0.5) else [y.t, x.t], axis)[
      at(axis, slice(0, 2))], (*x.sizes[:axis], 2, *x.sizes[axis:]))


def strided(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick()
  axis = split_axis(b, x) if x else None
  if x is None or axis is None:
    return None
  size = x.sizes[axis]
  start = b.whole(0, size - 1)
  stop = b.whole(start + 1, size)
  how = b.whole(0, 4)
  if how == 0:
    return Value(x.t[at(axis, slice(start, stop))], replaced(x, axis, stop - start))
  if how == 1:
    return Value(x.t[at(axis, slice(None, None, -1))], x.sizes)
  if how == 2:
    return Value(x.t[at(axis, slice(start, None, 2))], replaced(x, axis, len(range(start, size, 2))))
  if how == 3 and x.rank > 1:
    return Value(x.t[at(axis, start)], (*x.sizes[:axis], *x.sizes[axis + 1:]))
  begin = [start if i == axis else 0 for i in range(x.rank)]
  length = [stop - start if i == axis else -1 for i in range(x.rank)]
  return Value(tf.slice(x.t, begin, length), replaced(x, axis, stop - start))


def part_of_size(b: Builder, scope: Scope) -> Value | None:
  """A prefix or suffix whose length is computed from sizes."""
  x, y = scope.pick(lambda v: v.rank > 0), scope.pick(lambda v: v.rank > 0)
  if x is None or y is None:
    return None
  axis, other = b.whole(0, x.rank - 1), b.whole(0, y.rank - 1)
  size, limit = tf.shape(x.t)[axis], tf.shape(y.t)[other]
  a, c = x.sizes[axis], y.sizes[other]
  how = b.whole(0, 3)
  if how == 0:
    length, wanted = tf.minimum(size, limit), sizes.combine("min", a, c)
  elif how == 1:
    length, wanted = size // 2, sizes.combine("//", a, 2)
  elif how == 2:
    length, wanted = (size + 1) // 2, sizes.combine("//", sizes.add(a, 1), 2)
  else:
    length, wanted = tf.maximum(size - 1, 0), sizes.combine("max", sizes.combine("-", a, 1), 0)
  part = slice(None, length) if b.chance(0.6) else slice(size - length, None)
  return Value(x.t[at(axis, part)], replaced(x, axis, wanted))


def pad(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  if b.chance(0.3):  # to the size of another tensor
    y = scope.pick(lambda v: v.rank > 0)
    assert y is not None
    axis, other = b.whole(0, x.rank - 1), b.whole(0, y.rank - 1)
    size = tf.shape(x.t)[axis]
    missing = tf.maximum(size, tf.shape(y.t)[other]) - size
    sides: Any = [[0, missing if i == axis else 0] for i in range(x.rank)]
    wanted = sizes.combine("max", x.sizes[axis], y.sizes[other])
    return Value(tf.pad(x.t, sides), replaced(x, axis, wanted))
  sides = [[b.whole(0, 1), b.whole(0, 2)] if b.chance(0.5) else [0, 0] for _ in x.sizes]
  shape = [sizes.add(s, sum(side)) for s, side in zip(x.sizes, sides)]
  if b.chance(0.2) and all(isinstance(s, int) and s > 2 for s in x.sizes):
    return Value(tf.pad(x.t, sides, b.among(["REFLECT", "SYMMETRIC"])), shape)
  return Value(tf.pad(x.t, sides, constant_values=b.among([0.0, 0.0, 0.5])), shape)


def tile(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  if b.chance(0.4) and 1 in x.sizes:  # as often as another tensor is long
    y = scope.pick(lambda v: v.rank > 0)
    assert y is not None
    axis, other = b.among([i for i, s in enumerate(x.sizes) if s == 1]), b.whole(0, y.rank - 1)
    times: Any = [tf.shape(y.t)[other] if i == axis else 1 for i in range(x.rank)]
    return Value(tf.tile(x.t, times), replaced(x, axis, y.sizes[other]))
  times = [b.among([1, 1, 2]) for _ in x.sizes]
  return Value(tf.tile(x.t, times), [sizes.multiply(s, n) for s, n in zip(x.sizes, times)])


def spread(b: Builder, scope: Scope) -> Value | None:
  """To a larger shape, by broadcast_to or by adding zeros."""
  x, y = scope.pick(), scope.pick()
  shape = b.broadcast(x.sizes, y.sizes) if x and y else None
  if x is None or y is None or shape is None:
    return None
  if b.chance(0.4):
    return Value(x.t + tf.zeros_like(y.t), shape)
  dims = tf.broadcast_dynamic_shape(tf.shape(x.t), tf.shape(y.t))
  return Value(tf.broadcast_to(x.t, dims) + (y.t if b.chance(0.3) else 0), shape)


def reorder(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  axis = b.whole(0, x.rank - 1)
  how = b.whole(0, 2)
  if how == 0:
    return Value(tf.reverse(x.t, [axis]), x.sizes)
  if how == 1:
    return Value(tf.roll(x.t, b.whole(-2, 2), axis), x.sizes)
  return Value(tf.gather(x.t, tf.range(tf.shape(x.t)[axis] - 1, -1, -1), axis=axis), x.sizes)


def gather(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick()
  axis = split_axis(b, x) if x else None
  if x is None or axis is None:
    return None
  ids = scope.pick(lambda v: v.fed, (1,), tf.int32)
  if ids is not None and b.chance(0.6):
    return Value(tf.gather(x.t, ids.t % x.sizes[axis], axis=axis), replaced(x, axis, ids.sizes[0]))
  indices = [b.whole(0, x.sizes[axis] - 1) for _ in range(b.whole(1, 4))]
  return Value(tf.gather(x.t, indices, axis=axis), replaced(x, axis, len(indices)))


KINDS = [(transpose, 9), (merge, 5), (reshape_like, 3), (flatten, 3), (expand, 3), (squeeze, 2), (concat, 5),
         (split, 3), (stack, 2), (strided, 4), (part_of_size, 4), (pad, 4), (tile, 3), (spread, 3), (reorder, 3), (gather, 3)]
