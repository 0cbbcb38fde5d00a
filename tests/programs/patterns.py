"""What rewrite rules look for, and what nearly is: other axes, operands that broadcast, inner results that are read."""

from __future__ import annotations

from typing import Any

import sizes
import tensorflow as tf
from builder import Builder, Scope, Value
from images import image, back, strided
from products import activation, features


def inner(b: Builder, made: Value, *parts: Value) -> list[Value]:
  """The result, and sometimes what it is made of."""
  return [*(p for p in parts if b.chance(0.25)), made]


def other(b: Builder, scope: Scope, x: Value) -> Value:
  """Another tensor that broadcasts to the shape of x."""
  fits = [v for v in scope.floats() if (s := b.broadcast(v.sizes, x.sizes)) is not None and b.alike(s, x.sizes)]
  return b.among(fits) if fits else x


def gate(b: Builder, scope: Scope) -> Any:
  """x * f(y), where y is x, nearly x or another tensor."""
  x = scope.pick()
  if x is None:
    return None
  y = x if b.chance(0.5) else other(b, scope, x)
  f = Value(b.among([tf.sigmoid, lambda t: tf.tanh(tf.math.softplus(t)), lambda t: tf.nn.relu6(t + 3.0) / 6.0,
                     lambda t: 0.5 * (1.0 + tf.math.erf(t * 0.70710678)), lambda t: 0.5 * tf.math.erfc(-t * 0.70710678),
                     lambda t: 1.0 / (1.0 + tf.exp(-t)), lambda t: tf.sigmoid(1.75 * t),
                     lambda t: 0.5 + 0.5 * tf.math.erf(t / 1.41421356),
                     lambda t: 0.5 * (1.0 + tf.tanh(0.79788456 * (t + 0.044715 * t * t * t)))])(y.t), y.sizes)
  first, second = (x.t, f.t) if b.chance(0.5) else (f.t, x.t)
  return inner(b, Value(first * second, x.sizes), f)


def leaky(b: Builder, scope: Scope) -> Any:
  x = scope.pick()
  if x is None:
    return None
  alpha = b.among([0.25, 0.0, 1.0, 0.5, 1.5, -0.25])
  scaled = Value(x.t * alpha, x.sizes)
  op = b.among([tf.maximum, tf.maximum, tf.minimum])
  return inner(b, Value(op(*b.random.sample([x.t, scaled.t], 2)), x.sizes), scaled)


def clipped(b: Builder, scope: Scope) -> Any:
  x = scope.pick()
  if x is None:
    return None
  low, high = b.among([0.0, 0.0, -1.0, 0.5]), b.among([6.0, 6.0, 1.0, 0.25])
  y = tf.minimum(tf.maximum(x.t, low), high) if b.chance(0.5) else tf.maximum(tf.minimum(high, x.t), low)
  return Value(y, x.sizes)


def norm(b: Builder, scope: Scope) -> Any:
  """Layer norm of a sum, whose scale or offset may not be of the last axis; a factor or a sum follows."""
  x = scope.pick(lambda v: v.rank > 1)
  if x is None:
    return None
  y = other(b, scope, x)
  total = Value(x.t + y.t if b.chance(0.6) else x.t, x.sizes)
  axis = b.among([-1, -1, -1, x.rank - 1, 0, -2])
  rms = b.chance(0.4)
  mean = tf.reduce_mean(total.t, axis, keepdims=True)
  centered = Value(total.t if rms else total.t - mean, x.sizes)
  square = tf.square(centered.t) if b.chance(0.7) else centered.t * centered.t
  variance = tf.reduce_mean(square, axis if b.chance(0.95) else 0, keepdims=True)
  inverse = tf.math.rsqrt(variance + b.among([0.125, 0.1]))
  weight = other(b, scope, x).t if b.chance(0.2) else b.number(1.0)
  last = x.sizes[-1]
  if isinstance(last, int) and b.chance(0.8):
    weight = b.const(*b.among([[last], [1, last], [1], []]), near=1.0, scale=0.2)
  t = b.among([lambda: centered.t * inverse * weight, lambda: centered.t * (inverse * weight),
               lambda: weight * (centered.t * inverse), lambda: centered.t / tf.sqrt(variance + 0.125) * weight])()
  if b.chance(0.6):
    t = t + (b.const(last) if isinstance(last, int) and b.chance(0.6) else other(b, scope, x).t)
  if b.chance(0.3):
    t = t * (b.const(last) if isinstance(last, int) and b.chance(0.6) else b.number(0.5))
  return inner(b, Value(t, x.sizes), total, centered)


def masked_softmax(b: Builder, scope: Scope) -> Any:
  x = scope.pick(lambda v: v.rank > 1)
  if x is None:
    return None
  y, fed = other(b, scope, x), scope.fed()
  t = b.among([lambda v: v, lambda v: v * 0.5, lambda v: v / 3.0, lambda v: 2.0 * v])(x.t)
  how = b.whole(0, 3)
  if how == 0 and fed and b.broadcast(fed.sizes, x.sizes) and b.alike(b.broadcast(fed.sizes, x.sizes) or [], x.sizes):
    t = tf.where(fed.t > 0.0, *b.random.sample([t, b.number(-100.0)], 2))
  elif how == 1:
    t = t + y.t
  elif how == 2:
    t = (t + y.t) * 0.5
  scores = Value(t, x.sizes)
  made = Value(tf.nn.softmax(t, b.among([-1, -1, -1, 0])), x.sizes)
  return inner(b, made, scores)


def rotary(b: Builder, scope: Scope) -> Any:
  """Halves or pairs that are rotated by tables which may broadcast."""
  x = scope.pick(lambda v: v.rank > 1 and isinstance(v.sizes[-1], int) and v.sizes[-1] % 2 == 0 and v.sizes[-1] > 0)
  if x is None:
    return None
  d = x.sizes[-1]
  cos, sin = tf.cos(b.const(d)), tf.sin(b.const(*b.among([[d], [1, d]])))
  if b.chance(0.3):
    cos = tf.cos(other(b, scope, x).t)
  if b.chance(0.5):
    turned = tf.concat([-x.t[..., d // 2:], x.t[..., :d // 2]], -1)
  else:
    pairs = tf.stack([-x.t[..., 1::2], x.t[..., ::2]], -1)
    turned = tf.reshape(pairs, tf.shape(x.t))
  if b.chance(0.1):
    turned = -turned
  return inner(b, Value(x.t * cos + turned * sin, x.sizes), Value(turned, x.sizes))


def product(b: Builder, scope: Scope) -> Any:
  """A dense product with reshapes, scales, biases and sums in some order, weights stored in narrow dtypes."""
  x = scope.pick(features)
  if x is None:
    return None
  k, n = x.sizes[-1], b.among([2, 4, 6])
  transposed = b.chance(0.3)
  weights = b.const(*((n, k) if transposed else (k, n)), scale=0.8 * k ** -0.5)
  stored = b.whole(0, 5)
  if stored == 0:
    whole = np_integers(b, n, k) if transposed else np_integers(b, k, n)
    weights = tf.cast(tf.constant(whole), b.dtype) * b.const(*((n, 1) if transposed else (n,)), scale=0.01, near=0.05)
  t = x.t * 0.5 if b.chance(0.3) else x.t
  y = tf.matmul(t, weights, transpose_b=transposed)
  first = Value(y, (*x.sizes[:-1], n))
  for _ in range(b.whole(1, 4)):
    how = b.whole(0, 5)
    if how == 0:
      y = y + b.const(n)
    elif how == 1:
      y = y * (b.const(n, near=1.0, scale=0.2) if b.chance(0.6) else 0.5)
    elif how == 2:
      y = activation(b, y)
    elif how == 3:
      y = y + other(b, scope, first).t
    elif how == 4:
      y = other(b, scope, first).t - y
    else:
      split = tf.reshape(y, tf.concat([tf.shape(y)[:-1], [2, n // 2]], 0))
      y = tf.reshape(split + b.const(2, n // 2), tf.shape(y))
  return inner(b, Value(tf.tanh(y), first.sizes), first)


def np_integers(b: Builder, *shape: int) -> Any:
  return b.numbers.integers(-7, 8, shape).astype("int8")


def scaled_product(b: Builder, scope: Scope) -> Any:
  """A factor on the product of two computed tensors, or on one of them."""
  x = scope.pick(ranks=(2, 3, 4))
  if x is None:
    return None
  y = b.like(scope, x)
  t = tf.matmul(x.t * 0.5 if b.chance(0.3) else x.t, y.t, transpose_b=True)
  z = Value(t, (*x.sizes[:-1], y.sizes[-2]))
  t = t * b.among([0.25, 0.5]) if b.chance(0.6) else t / 4.0
  if b.chance(0.4):
    t = t + other(b, scope, z).t
  made = Value(tf.nn.softmax(t) if b.chance(0.5) else tf.tanh(t), z.sizes)
  if b.chance(0.5):
    return inner(b, Value(tf.matmul(made.t, y.t), (*x.sizes[:-1], y.sizes[-1])), made)
  return inner(b, made, z)


def blocks(b: Builder, scope: Scope) -> Any:
  """A dilated convolution, written as one between blocks as batches and back."""
  found = image(b, scope)
  if found is None or not all(map(b.positive, found[0].sizes)):
    return None
  x, first = found
  c, shape = x.t.shape[3], tf.shape(x.t)
  ends = [(-shape[i]) % 2 for i in (1, 2)]
  y = tf.space_to_batch(x.t, [2, 2], tf.stack([tf.stack([2, 2 + end]) for end in ends]))
  y = tf.nn.conv2d(y, b.const(3, 3, c, 3, scale=0.3 * c ** -0.5), 1, "VALID")
  y = tf.batch_to_space(y, [2, 2], tf.stack([tf.stack([0, end]) for end in ends]))
  return back(Value(y, (*x.sizes[:3], 3)), first)


def enlarged(b: Builder, scope: Scope) -> Any:
  """A convolution of single pixels after a resize."""
  found = image(b, scope)
  if found is None or not all(map(b.positive, found[0].sizes)):
    return None
  x, first = found
  c, shape = x.t.shape[3], tf.shape(x.t)
  y = tf.image.resize(x.t, tf.stack([shape[1] * 2, shape[2] * 2]), b.among(["bilinear", "nearest"]))
  y = tf.nn.conv2d(tf.cast(y, b.dtype), b.const(1, 1, c, 2, scale=0.8 * c ** -0.5), 1, "SAME")
  y = tf.nn.relu(y + b.const(2)) if b.chance(0.5) else y
  return back(Value(y, (x.sizes[0], *(sizes.multiply(s, 2) for s in x.sizes[1:3]), 2)), first)


def turned(b: Builder, scope: Scope) -> Any:
  """A transposed convolution without strides."""
  found = image(b, scope)
  if found is None:
    return None
  x, first = found
  c = x.t.shape[3]
  size = tf.stack([*tf.unstack(tf.shape(x.t))[:3], 2])
  y = tf.nn.conv2d_transpose(x.t, b.const(3, 3, 2, c, scale=0.3 * c ** -0.5), size, 1, "SAME")
  return back(Value(activation(b, y + b.const(2)), (*x.sizes[:3], 2)), first)


def padded(b: Builder, scope: Scope) -> Any:
  """A pool, or a convolution, after a pad whose amounts may be computed."""
  found = image(b, scope)
  if found is None or not all(map(b.positive, found[0].sizes)):
    return None
  x, first = found
  c = x.t.shape[3]
  if b.chance(0.5):
    y = b.among([tf.nn.relu, tf.identity, tf.sigmoid])(x.t)
    y = tf.nn.max_pool2d(tf.pad(y, [[0, 0], [1, 1], [1, 1], [0, 0]]), 3, 2, "VALID")
    return back(Value(y, (x.sizes[0], strided(x.sizes[1], 2), strided(x.sizes[2], 2), c)), first)
  missing = tf.maximum(3 - tf.shape(x.t)[1], 0)
  sides = [[0, 0], [1 + missing, 1], [1, 1], [0, 0]]
  y = tf.pad(x.t, tf.stack([tf.stack(side) for side in sides]))
  y = tf.nn.conv2d(y, b.const(3, 3, c, 2, scale=0.3 * c ** -0.5), 1, "VALID")
  height = sizes.combine("max", x.sizes[1], 3)
  return back(Value(tf.nn.relu(y), (x.sizes[0], height, x.sizes[2], 2)), first)


def rows(b: Builder, scope: Scope) -> Any:
  """A convolution of rows between ExpandDims and Squeeze, and elementwise steps."""
  x = scope.pick(lambda v: v.rank == 3 and isinstance(v.t.shape[2], int) and v.t.shape[2] > 0)
  if x is None:
    return None
  c, n = x.t.shape[2], b.among([1, 3, 4])
  axis = b.among([1, 2])
  kernel = (1, 3) if axis == 1 else (3, 1)
  y = tf.nn.conv2d(tf.expand_dims(x.t, axis), b.const(*kernel, c, n, scale=0.5 * c ** -0.5), 1, "SAME")
  y = tf.squeeze(y, [axis])
  made = Value(y, (*x.sizes[:2], n))
  y = y * b.const(n, near=1.0) + b.const(n) if b.chance(0.5) else y + other(b, scope, made).t
  return inner(b, Value(activation(b, y), made.sizes), made)


def affine_chain(b: Builder, scope: Scope) -> Any:
  """Constants added, subtracted, multiplied and divided in turn, with different shapes."""
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  t = x.t
  for _ in range(b.whole(2, 5)):
    shape = [s if isinstance(s, int) and b.chance(0.6) else 1 for s in x.sizes][b.whole(0, x.rank):]
    c = b.const(*shape, near=b.among([0.0, 1.0]), scale=0.25)
    t = b.among([lambda v: v + c, lambda v: c - v, lambda v: v - c, lambda v: v * c, lambda v: -v,
                 lambda v: v / (tf.abs(c) + 1.0), lambda v: tf.math.squared_difference(v, c) * 0.25])(t)
  return Value(tf.tanh(t), x.sizes)


def updated_stack(b: Builder, scope: Scope) -> Any:
  """Slices of a tensor, some of them changed, stacked again."""
  x = scope.pick(lambda v: v.rank > 1 and isinstance(v.sizes[0], int) and 1 < v.sizes[0] < 5)
  if x is None:
    return None
  parts = [x.t[i] for i in range(x.sizes[0])]
  for i in range(len(parts)):
    if b.chance(0.5):
      parts[i] = b.among([tf.tanh, lambda v: v * 0.5, lambda v: v + parts[0]])(parts[i])
  if b.chance(0.2):
    b.random.shuffle(parts)
  return Value(tf.stack(parts, 0), x.sizes)


def pairs(b: Builder, scope: Scope) -> Any:
  """|-x|, -a * b + c, x^n, sums of squares, differences of a tensor and its mean."""
  x = scope.pick()
  if x is None:
    return None
  y, z = other(b, scope, x), other(b, scope, x)
  how = b.whole(0, 6)
  if how == 0:
    return Value(tf.abs(-x.t), x.sizes)
  if how == 1:
    return Value(tf.tanh(-y.t * x.t + z.t), x.sizes)
  if how == 2:
    return Value(tf.pow(tf.abs(x.t) + 0.5, b.among([2.0, 0.5, -0.5, -1.0, 3.0, 1.0, 0.0, 1.5])) * 0.3, x.sizes)
  if how == 3 and x.rank:
    d = tf.square(x.t - y.t) if b.chance(0.5) else tf.math.squared_difference(y.t, x.t)
    axis = b.among([-1, 0])
    return Value(tf.tanh(0.1 * tf.reduce_sum(d, axis)), x.sizes[:-1] if axis == -1 else x.sizes[1:])
  if how == 4:
    return Value(tf.add_n([x.t, x.t] if b.chance(0.5) else [x.t]) * 0.5, x.sizes)
  if how == 5 and x.rank:
    return Value(tf.concat([x.t], 0) + tf.concat([x.t, x.t], 0)[:tf.shape(x.t)[0]], x.sizes)
  return Value(tf.tanh(x.t * x.t + y.t * x.t), x.sizes)


KINDS = [(gate, 4), (leaky, 1), (clipped, 1), (norm, 5), (masked_softmax, 3), (rotary, 2), (product, 4), (scaled_product, 3),
         (blocks, 1), (enlarged, 1), (turned, 1), (padded, 2), (rows, 2), (affine_chain, 3), (updated_stack, 2), (pairs, 3)]
