"""Variables that the program changes: each run sees what the run before it left."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from builder import Builder, Scope, Value


def summed(b: Builder, scope: Scope) -> Any:
  """A number of the tensors at hand."""
  x = scope.pick()
  assert x is not None
  return b.summary([x]).t


def changed(b: Builder, scope: Scope) -> Any:
  """A vector that is read, changed and read again."""
  if scope.pick() is None:
    return None
  n = b.among([1, 3, 4])
  v = b.variable(b.array(n))
  b.stateful = True
  before = v + 0.0
  number = summed(b, scope)
  how = b.whole(0, 5)
  if how == 0:
    v.assign(v * 0.5 + number)
  elif how == 1:
    v.assign_add(tf.fill([n], number * 0.25))
  elif how == 2:
    v.assign_sub(v * 0.25)
  elif how == 3:
    v.scatter_nd_update([[0]], [number])
  elif how == 4:
    tf.cond(tf.constant(b.chance(0.5)), lambda: v.assign(v * 0.5), lambda: v.assign_add(tf.fill([n], number)))
  else:
    state = scope.pick(lambda x: x.fed, (0,), tf.int32)
    by = state.t if state is not None else tf.constant(2)
    tf.cond(by > 1, lambda: v.assign(tf.tanh(v) + number), lambda: v.assign(-v))
  return [Value(before, (n,)), Value(tf.tanh(v + 0.0), (n,))]


def counted(b: Builder, scope: Scope) -> Any:
  """An integer that a loop or branch raises."""
  del scope
  v = b.variable(np.int32(b.whole(0, 3)))
  b.stateful = True
  if b.chance(0.5):
    def body(i: Any) -> Any:
      v.assign_add(i + 1)
      return (i + 1,)
    tf.while_loop(lambda i: i < 3, body, [0])
  else:
    tf.cond(v % 2 == 0, lambda: v.assign_add(3), lambda: v.assign(v * 2 % 17))
  t = v.read_value()
  return [Value(t, ()), Value(tf.cast(t, b.dtype) * 0.05, ())]


def of_any_shape(b: Builder, scope: Scope) -> Any:
  """A variable that takes the shape of what is assigned."""
  x = scope.pick(lambda v: 0 < v.rank < 4)
  if x is None or scope.depth > 0:
    return None
  v = b.variable(b.array(*[1] * x.rank), shape=tf.TensorShape([None] * x.rank))
  b.stateful = True
  before = tf.reduce_sum(tf.tanh(v)) * 0.1
  v.assign(x.t * 0.5)
  return [Value(tf.tanh(before), ()), Value(v + 0.0, x.sizes)]


def moving_average(b: Builder, scope: Scope) -> Any:
  """Statistics as batch norm keeps them in training."""
  x = scope.pick(lambda v: v.rank > 1 and isinstance(v.t.shape[-1], int) and all(map(b.positive, v.sizes)))
  if x is None:
    return None
  c = x.t.shape[-1]
  mean = b.variable(b.array(c))
  b.stateful = True
  now = tf.reduce_mean(x.t, list(range(x.rank - 1)))
  mean.assign_sub((mean - now) * 0.125)
  return Value(x.t - mean, x.sizes)


def trained(b: Builder, scope: Scope) -> Any:
  """A step of gradient descent, with momentum or without."""
  x = scope.pick(lambda v: v.rank > 1 and isinstance(v.t.shape[-1], int) and v.t.shape[-1] > 0)
  if x is None:
    return None
  k, n = x.t.shape[-1], b.among([1, 3, 4])
  w, bias = b.variable(b.array(k, n)), b.variable(b.array(n))
  b.stateful = True
  with tf.GradientTape() as tape:
    y = tf.tanh(tf.matmul(x.t, w) + bias)
    loss = tf.tanh(0.05 * tf.reduce_sum(tf.square(y - 0.25)))
  gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, [w, bias])]
  if b.chance(0.4):
    speed = b.variable(b.array(k, n, scale=0.0))
    speed.assign(speed * 0.5 + gradients[0])
    gradients[0] = speed + 0.0
  for variable, change in zip((w, bias), gradients):
    variable.assign_sub(0.25 * change)
  made = [Value(loss, ()), Value(tf.matmul(x.t, w), (*x.sizes[:-1], n))]
  return made if b.chance(0.5) else made[:1]


def in_loop(b: Builder, scope: Scope) -> Any:
  """A matrix that each iteration reads, changes and reads again."""
  x = scope.pick(lambda v: v.rank == 2 and isinstance(v.t.shape[1], int) and v.t.shape[1] > 0)
  if x is None:
    return None
  k = x.t.shape[1]
  w, count = b.variable(b.array(k, k, scale=0.4)), b.variable(np.int32(0))
  b.stateful = True
  branch, sums = b.chance(0.4), b.chance(0.5)

  def body(i: Any, t: Any) -> Any:
    y = tf.matmul(t, w)
    if branch:
      tf.cond(count % 2 == 0, lambda: w.assign(w * 0.5), lambda: w.assign(0.125 - w))
    else:
      w.assign(tf.tanh(w) + 0.125)
    count.assign_add(1)
    if sums:
      y += 0.1 * tf.reduce_sum(w, 0)
    return i + 1, tf.tanh(y + tf.matmul(t, w))

  _, y = tf.while_loop(lambda i, _: i < 3, body, [0, x.t])
  return [Value(y, x.sizes), Value(tf.cast(count.read_value() % 50, b.dtype) * 0.02, ())]


def kept_state(b: Builder, scope: Scope) -> Any:
  """A recurrent layer that goes on where the run before stopped."""
  x = scope.pick(lambda v: v.rank == 3 and isinstance(v.t.shape[0], int) and isinstance(v.t.shape[2], int) and
                 v.t.shape[0] > 0 and v.t.shape[2] > 0)
  if x is None:
    return None
  batch, _, features = x.t.shape
  n = b.among([1, 3, 4])
  h = b.variable(b.array(batch, n))
  b.stateful = True
  w, u = b.const(features, n), b.const(n, n, scale=0.4)
  steps = tf.shape(x.t)[1]
  target = tf.TensorArray(b.dtype, steps, element_shape=[batch, n])
  major = tf.transpose(x.t, (1, 0, 2))

  def body(i: Any, state: Any, target: Any) -> Any:
    state = tf.tanh(tf.matmul(major[i], w) + tf.matmul(state, u))
    return i + 1, state, target.write(i, state)

  _, last, target = tf.while_loop(lambda i, *_: i < steps, body, [0, h.read_value(), target])
  h.assign(last)
  return [Value(last, (batch, n)), Value(tf.transpose(target.stack(), (1, 0, 2)), (batch, x.sizes[1], n))]


KINDS = [(changed, 4), (counted, 2), (of_any_shape, 2), (moving_average, 2), (trained, 3)]
NESTED = [(in_loop, 2), (kept_state, 2)]
