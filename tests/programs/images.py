"""Convolutions and pooling with what surrounds them, with channels last or first."""

from __future__ import annotations

from typing import Any

import sizes
import tensorflow as tf
from builder import Builder, Scope, Value
from products import activation

FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)


def image(b: Builder, scope: Scope) -> tuple[Value, bool] | None:
  """Four dimensions with channels last, and whether they were first."""
  x = scope.pick(lambda v: v.rank == 4 and any(isinstance(s, int) and s > 0 for s in v.sizes[1:]))
  if x is None:
    return None
  last = isinstance(x.t.shape[3], int) and x.t.shape[3] > 0
  first = isinstance(x.t.shape[1], int) and x.t.shape[1] > 0
  if not last and not first:
    return None
  if first and (not last or b.chance(0.3)):
    return Value(tf.transpose(x.t, LAST), [x.sizes[i] for i in LAST]), True
  return x, False


def back(y: Value, first: bool) -> Value:
  return Value(tf.transpose(y.t, FIRST), [y.sizes[i] for i in FIRST]) if first else y


def strided(size: Any, stride: int) -> Any:
  """Of a result with padding SAME."""
  return size if stride == 1 else sizes.combine("//", sizes.add(size, stride - 1), stride)


def finish(b: Builder, scope: Scope, y: Value) -> Value:
  """What follows a convolution: bias or batch norm, a residual, an activation."""
  c = y.sizes[3]
  t = y.t
  how = b.whole(0, 4)
  if how == 0:
    t = tf.nn.bias_add(t, b.const(c))
  elif how == 1:
    t = t + b.const(c)
  elif how <= 3:
    gamma, beta = b.const(c, scale=0.2, near=1.0), b.const(c)
    mean, variance = b.const(c, scale=0.1), tf.abs(b.const(c, scale=0.2, near=1.0)) + 0.1
    if how == 2 and b.dtype == tf.float32:
      t = tf.raw_ops.FusedBatchNormV3(x=t, scale=gamma, offset=beta, mean=mean, variance=variance,
                                      epsilon=0.001, is_training=False).y
    else:
      t = tf.nn.batch_normalization(t, mean, variance, beta, gamma, 0.001)
  shape = list(y.sizes)
  others = [v for v in scope.floats() if v.rank == 4 and b.broadcast(v.sizes, shape) is not None]
  if others and b.chance(0.5):
    other = b.among(others)
    t = t + other.t if b.chance(0.6) else other.t + t
    shape = b.broadcast(other.sizes, shape) or shape
  return Value(activation(b, t) if b.chance(0.8) else t, shape)


def convolution(b: Builder, scope: Scope) -> Any:
  found = image(b, scope)
  if found is None:
    return None
  x, first = found
  c = x.t.shape[3]
  height, width = b.among([(1, 1), (3, 3), (3, 3), (1, 3), (2, 2), (5, 5)])
  groups = 2 if c % 2 == 0 and b.chance(0.1) else 1
  n = groups * b.among([1, 2, 4, c])
  stride = b.among([1, 1, 1, 2])
  dilation = b.among([1, 1, 2]) if stride == 1 else 1
  t = x.t
  shape = [x.sizes[0], strided(x.sizes[1], stride), strided(x.sizes[2], stride), n]
  padding: Any = "SAME"
  if b.chance(0.25):
    before = [[(k - 1) * dilation // 2, (k - 1) * dilation - (k - 1) * dilation // 2] for k in (height, width)]
    if stride == 1 and b.chance(0.5):
      t, padding = tf.pad(t, [[0, 0], *before, [0, 0]]), "VALID"
    elif stride == 1:
      padding = [[0, 0], *before, [0, 0]]
  weights = b.const(height, width, c // groups, n, scale=0.8 * (height * width * c / groups) ** -0.5)
  y = tf.nn.conv2d(t, weights, stride, padding, dilations=dilation)
  made = finish(b, scope, Value(y, shape))
  return [made, back(made, first)] if first and b.chance(0.5) else back(made, first)


def depthwise(b: Builder, scope: Scope) -> Value | None:
  found = image(b, scope)
  if found is None:
    return None
  x, first = found
  c, k = x.t.shape[3], b.among([2, 3, 3, 5])
  stride, times = b.among([1, 1, 2]), b.among([1, 1, 1, 2])
  y = tf.nn.depthwise_conv2d(x.t, b.const(k, k, c, times, scale=0.8 / k), [1, stride, stride, 1], "SAME")
  shape = (x.sizes[0], strided(x.sizes[1], stride), strided(x.sizes[2], stride), c * times)
  return back(finish(b, scope, Value(y, shape)), first)


def separable(b: Builder, scope: Scope) -> Value | None:
  """An inverted residual block."""
  found = image(b, scope)
  if found is None:
    return None
  x, first = found
  c = x.t.shape[3]
  y = tf.nn.relu6(tf.nn.conv2d(x.t, b.const(1, 1, c, 2 * c, scale=0.8 * c ** -0.5), 1, "SAME") + b.const(2 * c))
  y = tf.nn.relu6(tf.nn.depthwise_conv2d(y, b.const(3, 3, 2 * c, 1, scale=0.3), [1] * 4, "SAME") + b.const(2 * c))
  y = tf.nn.conv2d(y, b.const(1, 1, 2 * c, c, scale=0.5 * c ** -0.5), 1, "SAME") + b.const(c)
  return back(Value(y + x.t if b.chance(0.6) else y, x.sizes), first)


def larger(b: Builder, scope: Scope) -> Value | None:
  """A transposed convolution, a resized image or blocks of channels as pixels."""
  found = image(b, scope)
  if found is None:
    return None
  x, first = found
  c, shape = x.t.shape[3], tf.shape(x.t)
  doubled = [sizes.multiply(s, 2) for s in x.sizes[1:3]]
  how = b.whole(0, 3)
  if how == 0:
    n, k = b.among([1, 3, 4]), b.among([2, 3])
    out = tf.stack([shape[0], shape[1] * 2, shape[2] * 2, n])
    y = tf.nn.conv2d_transpose(x.t, b.const(k, k, n, c, scale=0.8 * (k * k * c) ** -0.5), out, 2, "SAME")
    return back(finish(b, scope, Value(y, (x.sizes[0], *doubled, n))), first)
  if how == 1 and all(map(b.positive, x.sizes)):
    y = tf.image.resize(x.t, tf.stack([shape[1] * 2, shape[2] * 2]), b.among(["bilinear", "nearest"]))
    y = tf.cast(y, b.dtype)  # bilinear gives float
    return back(Value(y, (x.sizes[0], *doubled, c)), first)
  if how == 2 and c % 4 == 0:
    return back(Value(tf.nn.depth_to_space(x.t, 2), (x.sizes[0], *doubled, c // 4)), first)
  y = tf.repeat(tf.repeat(x.t, 2, 1), 2, 2)
  return back(Value(y, (x.sizes[0], *doubled, c)), first)


def pool(b: Builder, scope: Scope) -> Value | None:
  found = image(b, scope)
  if found is None:
    return None
  x, first = found
  op = b.among([tf.nn.max_pool2d, tf.nn.avg_pool2d])
  stride = b.among([1, 1, 2])
  y = op(x.t, b.among([2, 3]), stride, "SAME")
  return back(Value(y, (x.sizes[0], strided(x.sizes[1], stride), strided(x.sizes[2], stride), x.sizes[3])), first)


def squeeze_excite(b: Builder, scope: Scope) -> Value | None:
  found = image(b, scope)
  if found is None or not all(map(b.positive, found[0].sizes)):
    return None
  x, first = found
  c = x.t.shape[3]
  if b.chance(0.5):
    y = tf.reduce_mean(x.t, [1, 2], keepdims=True)
    y = tf.nn.relu(tf.nn.conv2d(y, b.const(1, 1, c, 2), 1, "SAME") + b.const(2))
    gate = tf.sigmoid(tf.nn.conv2d(y, b.const(1, 1, 2, c), 1, "SAME"))
  else:
    y = tf.nn.silu(tf.matmul(tf.reduce_mean(x.t, [1, 2]), b.const(c, 2)) + b.const(2))
    gate = tf.reshape(tf.sigmoid(tf.matmul(y, b.const(2, c))), [-1, 1, 1, c])
  return back(Value(x.t * gate if b.chance(0.5) else gate * x.t, x.sizes), first)


def sequence(b: Builder, scope: Scope) -> Value | None:
  """A convolution over time, causal or dilated."""
  x = scope.pick(lambda v: v.rank == 3 and isinstance(v.t.shape[2], int) and v.t.shape[2] > 0)
  if x is None:
    return None
  c, k, n, dilation = x.t.shape[2], b.among([1, 2, 3]), b.among([1, 3, 4]), b.among([1, 1, 2])
  weights = b.const(k, c, n, scale=0.8 * (k * c) ** -0.5)
  if b.chance(0.4):
    y = tf.nn.conv1d(tf.pad(x.t, [[0, 0], [(k - 1) * dilation, 0], [0, 0]]), weights, 1, "VALID", dilations=dilation)
  else:
    y = tf.nn.conv1d(x.t, weights, 1, "SAME", dilations=dilation)
  return Value(activation(b, y + b.const(n)), (*x.sizes[:2], n))


def batch_statistics(b: Builder, scope: Scope) -> Any:
  """Batch norm as in training."""
  found = image(b, scope)
  if found is None or not all(map(b.positive, found[0].sizes)):
    x = scope.pick(ranks=(2, 3, 4))
    if x is None or not all(map(b.positive, x.sizes)):
      return None
    mean, variance = tf.nn.moments(x.t, list(range(x.rank - 1)), keepdims=b.chance(0.5))
    return Value(tf.nn.batch_normalization(x.t, mean, variance, None, None, 0.1), x.sizes)
  x, first = found
  c = x.t.shape[3]
  mean, variance = tf.nn.moments(x.t, [0, 1, 2])
  y = tf.nn.batch_normalization(x.t, mean, variance, b.const(c), b.const(c, near=1.0), 0.1)
  return [back(Value(y, x.sizes), first), Value(mean, (c,))]


def channels_first(b: Builder, scope: Scope) -> Any:
  """Elementwise steps and reductions between transposes."""
  found = image(b, scope)
  if found is None:
    return None
  x, _ = found
  c = x.t.shape[3]
  y = Value(tf.transpose(x.t, FIRST), [x.sizes[i] for i in FIRST])
  made = [y]
  for _ in range(b.whole(1, 4)):
    t = made[-1].t
    how = b.whole(0, 5)
    if how == 0:
      t = t * b.const(c, 1, 1, near=1.0) + b.const(1, c, 1, 1)
    elif how == 1:
      t = activation(b, t)
    elif how == 2:
      t = (t + b.among(made).t) * 0.5
    elif how == 3:
      t = tf.concat([t, b.among(made).t], 1)[:, c // 2:c // 2 + c]
    elif how == 4:
      t = t - tf.math.divide_no_nan(tf.reduce_sum(t, [2, 3], keepdims=True), 8.0)
    else:
      t = tf.transpose(tf.nn.conv2d(tf.transpose(t, LAST), b.const(1, 1, c, c, scale=0.8 * c ** -0.5), 1, "SAME"), FIRST)
    made.append(Value(t, y.sizes))
  last = Value(tf.transpose(made[-1].t, LAST), x.sizes)
  return [made[-1], last] if b.chance(0.5) else last


KINDS = [(convolution, 8), (depthwise, 3), (separable, 2), (larger, 2), (pool, 2), (squeeze_excite, 2), (sequence, 4),
         (batch_statistics, 2), (channels_first, 4)]
