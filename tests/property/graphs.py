"""Generates small random graphs from the kinds of nodes that networks consist of.

A graph depends only on its seed and dtype: the same seed in float64 gives
the same graph. Magnitudes stay near 1, and no node can turn a
rounding error into a different result (rounding, comparisons of computed values).
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Callable

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
Maker = Callable[["Builder", Any], Any]


@dataclasses.dataclass
class Drawn:
  """A graph, what to feed and what to fetch.

  In another dtype the same tensors are fetched, but names may differ: TensorFlow
  writes some composite ops with a node more or less.
  """

  graph: Any  # GraphDef
  feeds: dict[str, np.ndarray]
  fetches: list[str]
  depth: int


class Builder:
  """Draws one graph. `pool` holds the tensors to read."""

  def __init__(self, seed: int, dtype: Any) -> None:
    self.random = np.random.default_rng(seed)
    self.dtype = dtype
    self.pool: list[Any] = []
    self.weights: dict[tuple, Any] = {}
    self.feeds: dict[str, np.ndarray] = {}
    self.batch = int(self.random.choice([0, 1, 2, 3], p=[0.03, 0.37, 0.3, 0.3]))

  # ---- drawing ----
  def chance(self, p: float) -> bool:
    return bool(self.random.random() < p)

  def among(self, values: Any) -> Any:
    return values[int(self.random.integers(len(values)))]

  def whole(self, low: int, high: int) -> int:
    """Both bounds are included."""
    return int(self.random.integers(low, high + 1))

  def const(self, *shape: int, scale: float = 1.0, near: float = 0.0) -> Any:
    """Seeded values; sometimes an earlier constant is shared."""
    key = (shape, scale, near)
    if key in self.weights and self.chance(0.4):
      return self.weights[key]
    values = near + scale * self.random.standard_normal(shape)
    fed = self.chance(0.08)
    with tf.control_dependencies(None):
      if fed:  # a weight that is not constant
        name = f"weight_{len(self.feeds)}"
        self.feeds[name] = values
        self.weights[key] = tf1.placeholder(self.dtype, shape, name)
      else:
        self.weights[key] = tf.constant(values, self.dtype)
    return self.weights[key]

  def shape(self, x: Any) -> tuple[int, ...]:
    """As it will be at run time."""
    if x.shape.is_fully_defined():
      return tuple(x.shape.as_list())
    return tuple(self.batch if d is None else d for d in x.shape.as_list())

  def of_rank(self, *ranks: int) -> Any:
    """A tensor of such a rank, rather a late one; None where there is none."""
    fit = [x for x in self.pool if x.shape.rank in ranks and
           all(d is not None for d in x.shape.as_list()[1:])]
    if not fit:
      return None
    if self.chance(0.7):
      return fit[-1]
    return self.among(fit)

  def any(self) -> Any:
    return self.of_rank(1, 2, 3, 4, 5)

  def like(self, x: Any) -> list[Any]:
    return [y for y in self.pool if y.shape.as_list() == x.shape.as_list()]


# ---- kinds of nodes: each takes a builder and gives a tensor, several, or None ----

UNARY: list[Callable[[Any], Any]] = [
    tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.softplus,
    tf.nn.softsign, tf.tanh, tf.sigmoid, tf.abs, tf.negative, tf.identity,
    tf.math.erf, tf.sin, tf.cos, lambda x: tf.nn.leaky_relu(x, 0.1),
    lambda x: tf.nn.leaky_relu(x, 0.3), lambda x: tf.square(tf.tanh(x)),
    lambda x: tf.exp(-tf.abs(x)), lambda x: tf.sqrt(tf.abs(x) + 0.5),
    lambda x: tf.math.rsqrt(tf.square(x) + 0.5),
    lambda x: tf.math.log(tf.abs(x) + 1.0),
    lambda x: tf.math.log1p(tf.abs(x)), lambda x: tf.math.expm1(tf.tanh(x)),
    lambda x: tf.math.reciprocal(tf.abs(x) + 1.0),
    lambda x: tf.clip_by_value(x, -1.0, 1.5),
    lambda x: tf.minimum(tf.maximum(x, 0.0), 6.0),
    lambda x: tf.nn.gelu(x, approximate=False),
    lambda x: tf.nn.gelu(x, approximate=True),
    lambda x: x * tf.sigmoid(x), lambda x: x * tf.tanh(tf.nn.softplus(x)),
    lambda x: x * tf.nn.relu6(x + 3.0) / 6.0,
    lambda x: x * (tf.nn.relu6(x + 3.0) * 0.16666667),
    lambda x: tf.maximum(x, x * 0.2), lambda x: 2.0 - x, lambda x: 0.5 * x + 1.0,
    lambda x: tf.where(x > 0.0, x, 0.25 * x),
    lambda x: tf.stop_gradient(x), lambda x: tf.math.atan(x),
]


def unary(b: Builder) -> Any:
  return b.among(UNARY)(b.any())


BINARY: list[Callable[[Any, Any], Any]] = [
    tf.add, tf.subtract, tf.maximum, tf.minimum, tf.math.squared_difference,
    lambda x, y: tf.multiply(tf.tanh(x), y),
    lambda x, y: tf.multiply(x, tf.sigmoid(y)),
    lambda x, y: x / (tf.abs(y) + 1.0), lambda x, y: tf.raw_ops.Add(x=x, y=y),
]


def binary(b: Builder) -> Any:
  """With a constant of a broadcast shape, or with another tensor."""
  x = b.any()
  shape = b.shape(x)
  kind = b.whole(0, 4)
  if kind == 0:
    y = b.const()
  elif kind == 1:
    y = b.const(shape[-1])
  elif kind == 2:
    y = b.const(*[1] * (len(shape) - 1), shape[-1])
  elif kind == 3:
    y = b.const(*[d if b.chance(0.5) else 1 for d in shape[1:]])
  else:
    y = b.among(b.like(x))
  if b.chance(0.3):
    x, y = y, x
  return b.among(BINARY)(x, y)


def residual(b: Builder) -> Any:
  x = b.any()
  others = b.like(x)
  y = others[0] if b.chance(0.5) else b.among(others)
  if b.chance(0.2):
    return tf.add_n([x, y, b.among(others)])
  return x + y if b.chance(0.5) else y + x


def bias(b: Builder) -> Any:
  x = b.of_rank(2, 3, 4)
  return None if x is None else tf.nn.bias_add(x, b.const(b.shape(x)[-1]))


def conv2d(b: Builder) -> Any:
  x = b.of_rank(4)
  if x is None:
    return None
  _, h, w, c = b.shape(x)
  kh, kw = b.among([(1, 1), (3, 3), (1, 1), (3, 3), (5, 5), (2, 2), (1, 3), (3, 2)])
  groups = 2 if c % 2 == 0 and b.chance(0.1) else 1
  out = groups * b.among([1, 3, 4, 8, 16, 17])
  stride = b.among([1, 1, 2])
  dilation = b.among([1, 1, 1, 2]) if stride == 1 else 1
  padding: Any = b.among(["SAME", "VALID", "EXPLICIT"])
  reach = ((kh - 1) * dilation + 1, (kw - 1) * dilation + 1)
  if padding == "VALID" and (reach[0] > h or reach[1] > w):
    padding = "SAME"
  if padding == "EXPLICIT":
    sides = [[b.whole(0, 2), b.whole(0, 2)] for _ in range(2)]
    if any(sum(s) + n < r for s, n, r in zip(sides, (h, w), reach)):
      padding = "SAME"
    else:
      padding = [[0, 0], *sides, [0, 0]]
  weights = b.const(kh, kw, c // groups, out, scale=(kh * kw * c / groups) ** -0.5)
  return tf.nn.conv2d(x, weights, stride, padding, dilations=dilation)


def depthwise(b: Builder) -> Any:
  x = b.of_rank(4)
  if x is None:
    return None
  _, h, w, c = b.shape(x)
  k = b.among([1, 2, 3, 3, 5])
  multiplier = b.among([1, 1, 1, 2])
  padding = "SAME" if k > min(h, w) or b.chance(0.6) else "VALID"
  stride = b.among([1, 1, 2])
  weights = b.const(k, k, c, multiplier, scale=1 / k)
  return tf.nn.depthwise_conv2d(x, weights, [1, stride, stride, 1], padding)


def conv3d(b: Builder) -> Any:
  x = b.of_rank(5)
  if x is None:
    return None
  c = b.shape(x)[-1]
  k = b.among([1, 2, 3])
  stride = b.among([1, 1, 2])
  weights = b.const(k, k, k, c, b.among([1, 3, 8]), scale=(k ** 3 * c) ** -0.5)
  return tf.nn.conv3d(x, weights, [1, stride, stride, stride, 1], "SAME")


def pool(b: Builder) -> Any:
  x = b.of_rank(4, 5)
  if x is None:
    return None
  spatial = b.shape(x)[1:-1]
  k = b.among([1, 2, 3])
  padding = "SAME" if k > min(spatial) or b.chance(0.5) else "VALID"
  stride = b.among([1, 2])
  if len(spatial) == 3:
    op = b.among([tf.nn.max_pool3d, tf.nn.avg_pool3d])
    if b.dtype == tf.float64:  # a dtype that TensorFlow's MaxPool3D does not have
      narrow = tf.cast(x, tf.float32)
      return tf.cast(op(narrow, k, stride, padding), tf.float64)
  else:
    op = b.among([tf.nn.max_pool2d, tf.nn.avg_pool2d])
  return op(x, k, stride, padding)


def matmul(b: Builder) -> Any:
  x = b.of_rank(2)
  if x is None:
    return None
  n, k = b.shape(x)
  out = b.among([1, 4, 9, 16])
  if n == k and b.chance(0.3):
    return tf.matmul(x, x, transpose_b=b.chance(0.5)) * (1 / k)
  transposed = b.chance(0.3)
  weights = b.const(*((out, k) if transposed else (k, out)), scale=k ** -0.5)
  return tf.raw_ops.MatMul(a=x, b=weights, transpose_b=transposed)


def dense(b: Builder) -> Any:
  """As Keras writes it for more than two dimensions, and as einsum."""
  x = b.of_rank(3)
  if x is None:
    return None
  _, t, k = b.shape(x)
  kind = b.whole(0, 3)
  if kind == 0:
    return tf.tensordot(x, b.const(k, 8, scale=k ** -0.5), 1)
  if kind == 1:
    return tf.einsum("abc,cde->abde", x, b.const(k, 2, 4, scale=k ** -0.5))
  if kind == 2:
    return tf.matmul(x, b.const(k, 5, scale=k ** -0.5))
  return tf.matmul(x, x, transpose_b=True) * (1 / k) if t < 40 else None


def attention(b: Builder) -> Any:
  x = b.of_rank(3)
  if x is None or b.shape(x)[1] > 40:
    return None
  d = b.shape(x)[-1]
  scores = tf.matmul(x, x, transpose_b=True) * (d ** -0.5)
  t = b.shape(x)[1]
  if b.chance(0.5):
    scores += b.const(t)
  if b.chance(0.4):  # what is masked is far below a bias, whose digits count
    seen = tf.cast(tf.abs(tf.reduce_max(b.pool[0])) < 1e6, b.dtype)
    keep = seen * tf.cast(tf.range(t) < b.whole(1, t), b.dtype)
    scores += b.const(t) + (1.0 - keep) * b.among([-1e9, -1e4])
  return tf.matmul(tf.nn.softmax(scores), x)


def reduce(b: Builder) -> Any:
  x = b.any()
  rank = x.shape.rank
  axes = sorted({b.whole(0, rank - 1) for _ in range(b.whole(1, 2))})
  if b.chance(0.4) and rank == 4:
    axes = [1, 2]
  op = b.among([tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_mean])
  if b.chance(0.3):
    axes = [a - rank for a in axes]
  return op(x, axes, keepdims=b.chance(0.5))


def softmax(b: Builder) -> Any:
  x = b.any()
  return b.among([tf.nn.softmax, tf.nn.log_softmax])(x)


def batch_norm(b: Builder) -> Any:
  """As a node, and as Keras 3 exports it."""
  x = b.of_rank(2, 3, 4)
  if x is None:
    return None
  c = b.shape(x)[-1]
  gamma, beta = b.const(c, scale=0.1, near=1.0), b.const(c, scale=0.1)
  mean = b.const(c, scale=0.1)
  variance = tf.abs(b.const(c, scale=0.1, near=1.0)) + 0.1
  as_node = b.chance(0.5)
  if x.shape.rank == 4 and as_node and b.dtype != tf.float64:
    f32 = [tf.cast(t, tf.float32) for t in (gamma, beta, mean, variance)]
    return tf.raw_ops.FusedBatchNormV3(
        x=x, scale=f32[0], offset=f32[1], mean=f32[2], variance=f32[3],
        epsilon=1e-3, is_training=False).y
  inv = tf.math.rsqrt(variance + 1e-3) * gamma
  return x * inv + (beta - mean * inv)


def layer_norm(b: Builder) -> Any:
  x = b.of_rank(2, 3, 4)
  if x is None or b.shape(x)[-1] < 4:
    return None
  mean = tf.reduce_mean(x, -1, keepdims=True)
  variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
  y = (x - mean) * tf.math.rsqrt(variance + 0.1)
  c = b.shape(x)[-1]
  return y * b.const(c, scale=0.1, near=1.0) + b.const(c, scale=0.1)


def squeeze_excite(b: Builder) -> Any:
  x = b.of_rank(4)
  if x is None:
    return None
  c = b.shape(x)[-1]
  y = tf.reduce_mean(x, [1, 2], keepdims=True)
  y = tf.nn.relu(tf.nn.conv2d(y, b.const(1, 1, c, 4, scale=c ** -0.5), 1, "SAME"))
  return x * tf.sigmoid(tf.nn.conv2d(y, b.const(1, 1, 4, c, scale=0.5), 1, "SAME"))


def reshape(b: Builder) -> Any:
  x = b.any()
  shape = b.shape(x)
  rest = int(np.prod(shape[1:]))
  kind = b.whole(0, 4)
  if kind == 0:
    return tf.reshape(x, [-1, rest])
  if kind == 1:
    return tf.reshape(x, [tf.shape(x)[0], rest])
  if kind == 2:
    factors = [f for f in range(1, rest + 1) if rest % f == 0]
    f = b.among(factors)
    return tf.reshape(x, [-1, f, rest // f])
  if kind == 3 and x.shape.rank < 5:
    return tf.expand_dims(x, b.whole(1, x.shape.rank))
  ones = [i for i, d in enumerate(shape) if d == 1 and i > 0]
  return tf.squeeze(x, [b.among(ones)]) if ones else tf.reshape(x, [-1, rest])


def transpose(b: Builder) -> Any:
  x = b.of_rank(2, 3, 4)
  if x is None:
    return None
  perm = [int(i) for i in b.random.permutation(x.shape.rank)]
  if b.chance(0.6):  # the batch dimension stays first
    perm.remove(0)
    perm.insert(0, 0)
  return tf.transpose(x, perm)


def concat(b: Builder) -> Any:
  x = b.any()
  axis = b.whole(1, x.shape.rank) - 1 if b.chance(0.2) else x.shape.rank - 1
  if axis == 0 and x.shape.as_list()[0] is None:
    return None  # the size would no longer be known here
  def fits(y: Any) -> bool:
    a, c = list(b.shape(x)), list(b.shape(y)) if y.shape.rank else []
    return len(a) == len(c) and a[:axis] + a[axis + 1:] == c[:axis] + c[axis + 1:]
  parts = [x] + [b.among([y for y in b.pool if fits(y)])
                 for _ in range(b.whole(1, 2))]
  return tf.concat(parts, axis - x.shape.rank if b.chance(0.3) else axis)


def split(b: Builder) -> Any:
  x = b.any()
  c = b.shape(x)[-1]
  if c % 2 == 0:
    return tf.split(x, 2, -1)
  if b.chance(0.5) and 1 < c < 6:
    return tf.unstack(x, axis=-1)[:2] if x.shape.rank > 1 else None
  cut = b.whole(1, c - 1) if c > 1 else 1
  return tf.split(x, [cut, c - cut], -1) if c > 1 else None


def take(b: Builder) -> Any:
  x = b.any()
  shape = b.shape(x)
  kind = b.whole(0, 3)
  axis = b.whole(0, x.shape.rank - 1)
  if axis == 0 and x.shape.as_list()[0] is None:
    axis = x.shape.rank - 1
  size = shape[axis]
  if size == 0 or axis == 0 and x.shape.as_list()[0] is None:
    return None
  if kind == 0:
    indices = b.random.integers(0, size, b.whole(1, 4))
    return tf.gather(x, indices.astype(np.int32), axis=axis)
  key: list[Any] = [slice(None)] * x.shape.rank
  if kind == 1:
    start = b.whole(0, size - 1)
    key[axis] = slice(start, b.whole(start + 1, size))
  elif kind == 2:
    key[axis] = slice(None, None, b.among([-1, 2]))
  else:
    key[axis] = b.whole(0, size - 1)
    if x.shape.rank == 1:
      return None
  return x[tuple(key)]


def pad(b: Builder) -> Any:
  x = b.any()
  if max(b.shape(x)) > 60:
    return None
  sides = [[0, 0]] + [[b.whole(0, 1), b.whole(0, 2)] for _ in b.shape(x)[1:]]
  if x.shape.rank == 4 and b.chance(0.6):
    sides[3] = [0, 0]
  kind = b.whole(0, 3)
  if kind == 0:
    return tf.pad(x, sides, constant_values=0.5)
  if kind == 1 and all(d > 2 for d in b.shape(x)[1:]):
    return tf.pad(x, sides, b.among(["REFLECT", "SYMMETRIC"]))
  return tf.pad(x, sides)


def spread(b: Builder) -> Any:
  x = b.any()
  shape = b.shape(x)
  if int(np.prod(shape)) > 4000:
    return None
  kind = b.whole(0, 2)
  if kind == 0:
    return tf.tile(x, [1] * (x.shape.rank - 1) + [2])
  if kind == 1:
    return tf.reverse(x, [x.shape.rank - 1])
  if x.shape.rank == 4 and shape[1] % 2 == 0 and shape[2] % 2 == 0:
    return tf.nn.space_to_depth(x, 2)
  if x.shape.rank == 4 and shape[3] % 4 == 0:
    return tf.nn.depth_to_space(x, 2)
  return tf.stack([x, x], axis=-1) if x.shape.rank < 5 else None


def mask(b: Builder) -> Any:
  """Comparisons of fed values: their results do not depend on rounding."""
  fed = b.pool[0]
  x = b.any()
  shape = b.shape(x)
  kind = b.whole(0, 4)
  if kind == 0:
    return tf.where(fed > 0.1, fed, b.const(b.shape(fed)[-1]))
  if kind == 1:
    keep = tf.cast(tf.range(tf.shape(x)[-1]) < b.whole(1, shape[-1]), b.dtype)
    return x * keep + (1.0 - keep) * -0.5
  if kind == 2:
    hot = tf.one_hot(tf.argmax(fed, -1), b.shape(fed)[-1], dtype=b.dtype)
    return fed * hot
  if kind == 3:
    both = tf.logical_and(fed > -0.5, tf.logical_not(tf.greater_equal(fed, 0.5)))
    return tf.cast(both, b.dtype) + fed
  return tf.where(tf.reduce_any(tf.equal(fed, 0.0)), x, x * 0.5)


def scan(b: Builder) -> Any:
  x = b.any()
  axis = x.shape.rank - 1
  kind = b.whole(0, 2)
  if kind == 0:
    return tf.cumsum(x, axis, exclusive=b.chance(0.5), reverse=b.chance(0.5)) * 0.2
  if kind == 1:
    return tf.roll(x, b.whole(-2, 2), axis)
  return tf.math.l2_normalize(x + 0.5, axis, epsilon=0.01)


def product(b: Builder) -> Any:
  """Of two computed tensors, with broadcast batch dimensions."""
  x = b.of_rank(3, 4)
  if x is None:
    return None
  *_, t, k = b.shape(x)
  if b.chance(0.3):
    y = b.const(*([1] * (x.shape.rank - 3)), 1, k, 6, scale=k ** -0.5)
    return tf.matmul(x, y)
  if b.chance(0.5):
    return tf.matmul(x, x, transpose_a=True) * (1 / max(t, 1))
  return tf.matmul(b.const(4, t, scale=t ** -0.5), x)


def channels_first(b: Builder) -> Any:
  """Ops as models from channels-first frameworks have them, between transposes."""
  x = b.of_rank(3, 4, 5)
  if x is None:
    return None
  rank = x.shape.rank
  first, last = [0, rank - 1, *range(1, rank - 1)], [0, *range(2, rank), 1]
  y = tf.transpose(x, first)
  seen = [y]
  for _ in range(b.whole(1, 6)):
    c, *sizes = b.shape(y)[1:]
    ones = [1] * (rank - 2)
    kind = b.whole(0, 8)
    if kind == 0:
      y = y * b.const(*([1] * b.whole(0, 1)), c, *ones, near=1.0, scale=0.2) + b.const(c, *ones, scale=0.2)
    elif kind == 1:
      y = b.among([tf.nn.relu, tf.tanh, tf.nn.relu6, tf.sigmoid])(y)
    elif kind == 2:
      y = tf.pad(y, [[0, 0], [0, b.whole(0, 1)], *([b.whole(0, 1), b.whole(0, 2)] for _ in sizes)])
    elif kind == 3:
      like = [t for t in seen if b.shape(t)[2:] == b.shape(y)[2:]]
      y = tf.concat([y, b.among(like)], b.among([1, 1 - rank]))
    elif kind == 4:
      like = [t for t in seen if b.shape(t) == b.shape(y)]
      y = (y + b.among(like)) * 0.7
    elif kind == 5:
      y = y - tf.reduce_mean(y, b.among([1, *(list(range(2, rank)),) * 2, rank - 1]), keepdims=True)
    elif kind == 6 and rank == 4:
      k = b.among([1, 3])
      weights = b.const(k, k, c, b.among([1, 4, 8]), scale=(k * k * c) ** -0.5)
      y = tf.transpose(tf.nn.conv2d(tf.transpose(y, last), weights, b.whole(1, 2), "SAME"), first)
    elif kind == 7 and rank == 4:
      y = tf.transpose(tf.nn.max_pool2d(tf.transpose(y, last), 2, b.whole(1, 2), "SAME"), first)
    elif kind == 8 and c > 1:
      y = b.among(tf.split(y, [1, c - 1], 1)[1:]) if b.chance(0.5) else tf.slice(
          y, [0, 1, *(0 for _ in sizes)], [-1, c - 1, *(n - (n > 1) for n in sizes)])
    if np.prod(b.shape(y), dtype=np.int64) > MAX_ELEMENTS:
      return None
    seen.append(y)
  made = [tf.transpose(y, last)]
  if b.chance(0.3):
    made.append(y)
  if b.chance(0.2):
    made.append(tf.reduce_mean(y, list(range(2, rank))))
  return made


KINDS: list[tuple[Callable[[Builder], Any], int]] = [
    (unary, 14), (binary, 12), (residual, 6), (bias, 6), (conv2d, 12),
    (depthwise, 5), (conv3d, 4), (pool, 5), (matmul, 6), (dense, 4),
    (attention, 2), (reduce, 5), (softmax, 2), (batch_norm, 5), (layer_norm, 3),
    (squeeze_excite, 2), (reshape, 6), (transpose, 4), (concat, 4), (split, 3),
    (take, 4), (pad, 4), (spread, 3), (mask, 3), (scan, 2), (product, 3)]
WEIGHTS = np.array([w for _, w in KINDS]) / sum(w for _, w in KINDS)
MAX_ELEMENTS = 60000
GRADIENTS = 8  # one seed in so many also has the gradients
CHANNELS_FIRST = 4  # one seed in so many has regions with channels first


def gradients(b: Builder, made: list[Any]) -> list[Any]:
  """Gradients of the last tensor's sum with respect to the inputs and weights that it depends on."""
  sources = [*b.pool[:1], *[w for w in b.weights.values() if w.shape.rank]]
  found = tf.gradients(made[-1], sources)
  return [g for g in found if isinstance(g, tf.Tensor)]


def draw_input(b: Builder, index: int) -> None:
  rank = b.among([2, 3, 4, 4, 4, 4, 5])
  dims = {2: [b.among([3, 8, 16])], 3: [b.whole(2, 7), b.among([4, 8, 12])],
          4: [b.whole(3, 11), b.whole(3, 11), b.among([1, 3, 4, 8, 16])],
          5: [b.whole(2, 4), b.whole(3, 5), b.whole(3, 5), b.among([1, 3, 4])]}
  shape = [b.batch, *dims[rank]]
  static = [None, *dims[rank]] if b.chance(0.5) else shape
  name = f"input_{index}"
  b.pool.append(tf1.placeholder(b.dtype, static, name=name))
  b.feeds[name] = b.random.standard_normal(shape)


def draw(seed: int, dtype: Any) -> Drawn:
  """The graph for a seed."""
  with tf.Graph().as_default() as graph:
    b = Builder(seed, dtype)
    for i in range(b.whole(1, 2)):
      draw_input(b, i)
    for _ in range(b.whole(5, 25)):
      kind = KINDS[int(b.random.choice(len(KINDS), p=WEIGHTS))][0]
      if seed % CHANNELS_FIRST == 2 and b.chance(0.25):
        kind = channels_first
      after = [b.among(b.pool).op] if b.chance(0.04) else []
      with tf.control_dependencies(after):
        made = kind(b)
      for y in made if isinstance(made, (list, tuple)) else [made]:
        if y is not None and np.prod(b.shape(y)[1:], dtype=np.int64) and (
            np.prod(b.shape(y), dtype=np.int64) <= MAX_ELEMENTS):
          b.pool.append(y)
    made = [t for t in b.pool if t.op.type != "Placeholder"]
    if not made:
      made = [tf.identity(b.pool[0])]
    drawn = {len(made) - 1, *(b.whole(0, len(made) - 1)
                              for _ in range(b.whole(0, 3)))}
    fetched = [made[i] for i in sorted(drawn)]
    if seed % GRADIENTS == 3:
      fetched += gradients(b, made)[:6]
    definition = graph.as_graph_def()
  numpy_type = dtype.as_numpy_dtype
  return Drawn(definition, {k: v.astype(numpy_type) for k, v in b.feeds.items()},
               [t.name for t in fetched], len(made))
