"""Matrix products, einsums and attention."""

from __future__ import annotations

from typing import Any

import sizes
import tensorflow as tf
from builder import Builder, Scope, Value


def features(v: Value) -> bool:
  """Whether the last size is a number, so that weights fit."""
  return v.rank > 1 and isinstance(v.sizes[-1], int) and v.sizes[-1] > 0


def activation(b: Builder, t: Any) -> Any:
  return b.among([tf.tanh, tf.nn.relu, tf.nn.gelu, tf.sigmoid, tf.nn.silu, tf.identity, tf.nn.relu6,
                  tf.nn.leaky_relu, lambda x: tf.nn.gelu(x, approximate=True)])(t)


def dense(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(features)
  if x is None:
    return None
  k, n = x.sizes[-1], b.among([1, 3, 4, x.sizes[-1], 8])
  how, scale = b.whole(0, 5), 0.8 * k ** -0.5
  if how == 0:
    y = tf.matmul(x.t, b.const(n, k, scale=scale), transpose_b=True)
  elif how == 1:
    y = tf.tensordot(x.t, b.const(k, n, scale=scale), 1)
  elif how == 2:
    rows = tf.matmul(tf.reshape(x.t, [-1, k]), b.const(k, n, scale=scale))
    if b.chance(0.5):
      rows = tf.nn.bias_add(rows, b.const(n))
    y = tf.reshape(rows, tf.concat([tf.shape(x.t)[:-1], [n]], 0))
  elif how == 3 and x.rank == 3:
    y = tf.einsum(b.among(["abc,cd->abd", "...c,cd->...d"]), x.t, b.const(k, n, scale=scale))
  elif how == 4 and x.rank == 2:
    y = tf.matmul(x.t, b.const(k, n, scale=scale))
    y = tf.transpose(tf.matmul(b.const(k, n, scale=scale), x.t, transpose_a=True, transpose_b=True)) + y
  else:
    y = tf.matmul(x.t, b.const(k, n, scale=scale))
  if b.chance(0.6):
    y = y + b.const(n) if b.chance(0.5) else tf.nn.bias_add(y, b.const(n))
  y = activation(b, y)
  made = Value(y, (*x.sizes[:-1], n))
  others = [v for v in scope.floats() if b.broadcast(v.sizes, made.sizes) is not None]
  if others and b.chance(0.4):
    other = b.among(others)
    shape = b.broadcast(other.sizes, made.sizes)
    assert shape is not None
    return Value(made.t + other.t if b.chance(0.7) else other.t * made.t, shape)
  return made


def product(b: Builder, scope: Scope) -> Value | None:
  """Of two computed tensors, transposed or not, whose batch dimensions may broadcast."""
  x, y = scope.pick(ranks=(2, 3, 4)), scope.pick(ranks=(2, 3, 4))
  batch = b.broadcast(x.sizes[:-2], y.sizes[:-2]) if x and y else None
  if x is None or y is None or batch is None:
    return None
  ways = [(p, q) for p in (False, True) for q in (False, True)
          if b.same(x.sizes[-2 if p else -1], y.sizes[-1 if q else -2])]
  if not ways:
    return None
  p, q = b.among(ways)
  z = tf.tanh(tf.matmul(x.t, y.t, transpose_a=p, transpose_b=q) * 0.3)
  return Value(z, (*batch, x.sizes[-1 if p else -2], y.sizes[-2 if q else -1]))


def gram(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(ranks=(2, 3, 4))
  if x is None:
    return None
  first = b.chance(0.4)
  y = tf.matmul(x.t, x.t, transpose_a=first, transpose_b=not first) * 0.25
  size = x.sizes[-1] if first else x.sizes[-2]
  y = tf.nn.softmax(y) if b.chance(0.5) else tf.tanh(y)
  return Value(y, (*x.sizes[:-2], size, size))


def einsum(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(ranks=(2, 3, 4))
  if x is None:
    return None
  letters = "abcd"[:x.rank]
  y = b.like(scope, x)
  out = "".join(b.random.sample(letters, b.whole(1, x.rank)))
  by = dict(zip(letters, x.sizes))
  if b.chance(0.5):  # one letter is renamed in the second operand
    old = b.among(letters)
    second = letters.replace(old, "z")
    out = (out.replace(old, "") + old + "z") if b.chance(0.5) else out.replace(old, "z")
    by["z"] = by[old]
  else:
    second = "".join(b.random.sample(letters, x.rank))
    if not b.alike([by[c] for c in second], y.sizes):
      second = letters
  if b.chance(0.2) and x.rank > 2:
    return Value(tf.tanh(0.2 * tf.einsum(f"{letters}->{out.replace('z', '')}", x.t)),
                 [by[c] for c in out.replace("z", "")])
  return Value(tf.tanh(0.2 * tf.einsum(f"{letters},{second}->{out}", x.t, y.t)), [by[c] for c in out])


def distances(b: Builder, scope: Scope) -> Value | None:
  """Squared distances of rows, as a product and sums of squares."""
  x = scope.pick(ranks=(2, 3))
  fits = [v for v in scope.floats() if x and v.rank == x.rank and b.same(v.sizes[-1], x.sizes[-1]) and
          b.broadcast(v.sizes[:-2], x.sizes[:-2]) is not None]
  if x is None or not fits:
    return None
  y = b.among(fits)
  cross = tf.matmul(x.t, y.t, transpose_b=True)
  a = tf.reduce_sum(tf.square(x.t), -1, keepdims=True)
  c = tf.reduce_sum(y.t * y.t, -1)[..., tf.newaxis, :]
  batch = b.broadcast(x.sizes[:-2], y.sizes[:-2])
  assert batch is not None
  return Value(tf.tanh((a - 2.0 * cross + c) * 0.1), (*batch, x.sizes[-2], y.sizes[-2]))


def heads(t: Any, count: int, how: int) -> Any:
  """[batch, time, features] as [batch, heads, time, features of one]."""
  shape = tf.shape(t)
  size = t.shape[-1] // count
  time: Any = shape[1]
  first: Any = -1 if how == 1 else shape[0]
  return tf.transpose(tf.reshape(t, [first, time, count, size]), (0, 2, 1, 3))


def attention(b: Builder, scope: Scope) -> Value | None:
  x = scope.pick(lambda v: v.rank == 3 and isinstance(v.sizes[-1], int) and v.t.shape[-1] is not None and
                 v.sizes[-1] > 0 and b.positive(v.sizes[1]))
  fits = [v for v in scope.floats() if x and v.rank == 3 and v.t.shape[-1] == x.t.shape[-1] and
          b.same(v.sizes[0], x.sizes[0]) and b.positive(v.sizes[1])]
  if x is None or not fits:
    return None
  other = b.among(fits) if b.chance(0.4) else x
  d = x.sizes[-1]
  count = b.among([n for n in (1, 2, 4) if d % n == 0])
  how, weighted, scale = b.whole(0, 1), b.chance(0.7), 0.8 * d ** -0.5

  def project(t: Any) -> Any:
    y = tf.matmul(t, b.const(d, d, scale=scale)) if weighted else t
    return heads(y + b.const(d) if weighted and b.chance(0.5) else y, count, how)

  q, k, v = project(x.t), project(other.t), project(other.t)
  if b.chance(0.5):
    scores = tf.matmul(q, k, transpose_b=True)
  else:
    scores = tf.einsum("bhqd,bhkd->bhqk", q, k)
  scores = scores * 0.7 if b.chance(0.5) else scores / 1.5
  times = tf.shape(x.t)[1], tf.shape(other.t)[1]
  mask = b.whole(0, 4)
  if mask == 0:  # causal
    seen = tf.range(times[1])[tf.newaxis] <= tf.range(times[0])[:, tf.newaxis]
    scores = tf.where(seen, scores, b.number(-1e4))
  elif mask == 1:
    scores += tf.cast(tf.range(times[1]) % 3 == 1, b.dtype) * b.number(-1e4)
  elif mask == 2:  # of each row
    scores += tf.tanh(tf.reduce_sum(other.t, -1))[:, tf.newaxis, tf.newaxis, :]
  elif mask == 3:
    scores += b.const(count, 1, 1)
  y = tf.matmul(tf.nn.softmax(scores), v)
  y = tf.transpose(y, (0, 2, 1, 3))
  shape = tf.shape(x.t)
  y = tf.reshape(y, [shape[0], shape[1], d] if b.chance(0.5) else shape)
  if weighted and b.chance(0.5):
    y = tf.matmul(y, b.const(d, d, scale=scale))
  return Value(y + x.t if b.chance(0.5) else y, x.sizes)


def outer(b: Builder, scope: Scope) -> Value | None:
  x, y = scope.pick(ranks=(1, 2)), scope.pick(ranks=(1,))
  if x is None or y is None:
    return None
  return Value(x.t[..., tf.newaxis] * tf.tanh(y.t), (*x.sizes, y.sizes[0]))


def gated(b: Builder, scope: Scope) -> Value | None:
  """A block with a gate, as in newer transformers; its size is a multiple."""
  x = scope.pick(features)
  if x is None:
    return None
  k = x.sizes[-1]
  n = sizes.multiply(k, 2)
  both = tf.matmul(x.t, b.const(k, 2 * n, scale=0.8 * k ** -0.5)) + b.const(2 * n)
  value, gate = tf.split(both, 2, -1)
  y = tf.matmul(activation(b, gate) * value, b.const(n, k, scale=0.5 * n ** -0.5))
  return Value(tf.tanh(y) + x.t * 0.5, x.sizes)


KINDS = [(dense, 8), (product, 4), (gram, 2), (einsum, 4), (distances, 2), (attention, 4), (outer, 1), (gated, 1)]
