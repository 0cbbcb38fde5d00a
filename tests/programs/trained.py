"""Gradients through loops over a state of rows: what training writes, whose backward loop pops what the forward loop pushes."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf
from builder import Builder, Scope, Value

Step = Callable[[Any, Any, Any], Any]  # (state, input, iteration) -> a state, all but the last [n, d]
ZERO = tf.UnconnectedGradients.ZERO


# ---- steps that keep the shape of the state, [n, d] ----
def dense(b: Builder, d: int, weights: list[Any]) -> Step:
  weights += [b.variable(b.array(d, d, scale=0.8 * d ** -0.5)), b.variable(b.array(d, scale=0.1))]
  w, bias = weights[-2:]
  if b.chance(0.5):
    return lambda h, x, i: tf.tanh(tf.matmul(h, w) + bias)
  return lambda h, x, i: tf.tanh(tf.nn.bias_add(tf.matmul(h + x, w), bias))


def gated(b: Builder, d: int, weights: list[Any]) -> Step:
  weights.append(b.variable(b.array(2 * d, 2 * d, scale=0.6 * d ** -0.5)))
  w = weights[-1]

  def step(h: Any, x: Any, i: Any) -> Any:
    gate, y = tf.split(tf.matmul(tf.concat([h, x], 1), w), 2, 1)
    return tf.sigmoid(gate) * tf.tanh(y) + 0.5 * h

  return step


def parts(b: Builder, d: int, weights: list[Any]) -> Step:
  """Reads the state in other shapes, some of them parts of its memory."""
  how, column = b.whole(0, 5), b.whole(0, d - 1)

  def step(h: Any, x: Any, i: Any) -> Any:
    if how == 0:
      return tf.tanh(tf.reduce_sum(h[:, :, None] * x[:, None, :], 2) * (1.0 / d))
    if how == 1:
      return h * tf.sin(tf.reshape(h[:, column], [-1, 1])) + 0.1
    if how == 2:
      rows = tf.minimum(i + 1, tf.shape(h)[0])
      return tf.concat([tf.tanh(h[:rows]) * h[:rows], 0.5 * h[rows:]], 0)
    if how == 3:
      return tf.reshape(tf.sin(tf.reshape(h, [-1])) * tf.reshape(x, [-1]), tf.shape(h)) + 0.25 * h
    if how == 4:
      return tf.squeeze(tf.matmul(tf.nn.softmax(h[:, None, :] * x[:, :, None], 2), tf.expand_dims(h, 2)), 2)
    return tf.concat([h[:, column:], h[:, :column]], 1) * tf.stop_gradient(0.5 + x * x) * 0.5

  return step


def over_rows(b: Builder, d: int, weights: list[Any]) -> Step:
  weights.append(b.variable(b.array(1, d, near=0.5)))
  scale, how = weights[-1], b.whole(0, 3)

  def step(h: Any, x: Any, i: Any) -> Any:
    if how == 0:
      mean, variance = tf.nn.moments(h, [1], keepdims=True)
      return (h - mean) * tf.math.rsqrt(variance + 0.5) * scale
    if how == 1:
      return tf.gather(h, tf.range(tf.shape(h)[0])[::-1]) * tf.broadcast_to(scale, tf.shape(h)) + 0.5 * x
    if how == 2:
      return 0.5 * h + tf.tanh(tf.reduce_sum(x * scale, 0, keepdims=True))
    return tf.cumsum(tf.tanh(h), 1) * (1.0 / d) + scale * 0.1

  return step


def branch(b: Builder, d: int, weights: list[Any]) -> Step:
  one, other = drawn(b, d, weights, nested=False), drawn(b, d, weights, nested=False)
  return lambda h, x, i: tf.ensure_shape(tf.cond(i % 2 == 0, lambda: one(h, x, i), lambda: other(h, x, i)), [None, d])


def inner_loop(b: Builder, d: int, weights: list[Any]) -> Step:
  one, most = drawn(b, d, weights, nested=False), b.among([None, 2])
  return lambda h, x, i: tf.while_loop(lambda j, _: j < i, lambda j, g: (j + 1, tf.ensure_shape(one(g, x, j), [None, d])), [0, h],
                                       [tf.TensorShape([]), tf.TensorShape([None, d])], maximum_iterations=most)[1]


def drawn(b: Builder, d: int, weights: list[Any], nested: bool = True) -> Step:
  steps = [dense, gated, parts, parts, over_rows, *([branch, inner_loop] if nested else [])]
  return b.among(steps)(b, d, weights)


# ---- loops: (x [n, t, d], steps, chain) -> a tensor ----
def states(b: Builder, x: Any, steps: Any, chain: Step) -> Any:
  """Only the last state counts."""
  d, limit = x.shape[2], b.among([steps, tf.constant(2)])
  padded = tf.pad(x, [[0, 0], [0, 1], [0, 0]])
  return tf.while_loop(lambda i, h: i < limit,
                       lambda i, h: (i + 1, tf.ensure_shape(chain(h, tf.gather(padded, i % (steps + 1), axis=1), i), [None, d])),
                       [0, tf.reduce_sum(x, 1) * 0.2], [tf.TensorShape([]), tf.TensorShape([None, d])],
                       maximum_iterations=b.among([None, None, 4, limit + 1]))[1]


def sequence(b: Builder, x: Any, steps: Any, chain: Step) -> Any:
  """Reads a TensorArray and writes another, whole rows or parts of them."""
  d, dynamic = x.shape[2], b.chance(0.3)
  source = tf.TensorArray(b.dtype, 0 if dynamic else steps, dynamic_size=dynamic).unstack(tf.transpose(x, [1, 0, 2]))
  target = tf.TensorArray(b.dtype, 0 if dynamic else steps, dynamic_size=dynamic, element_shape=[None, None, d])
  backwards, added = b.chance(0.3) and not dynamic, b.chance(0.5)

  def body(i: Any, h: Any, target: Any) -> Any:
    j = steps - 1 - i if backwards else i
    h = tf.ensure_shape(chain(h, source.read(j), i), [None, d])
    return i + 1, h, target.write(j, h[:, None] if added else tf.reshape(h, [1, -1, d]))

  _, h, target = tf.while_loop(lambda i, *_: i < steps, body, [0, tf.zeros_like(x[:, 0]) + 0.3, target],
                               [tf.TensorShape([]), tf.TensorShape([None, d]), None])
  return tf.concat([tf.reshape(target.stack(), [-1, d]), h], 0)


def scanned(b: Builder, x: Any, steps: Any, chain: Step) -> Any:
  return tf.scan(lambda h, row: chain(h, row, tf.constant(1)), tf.transpose(x, [1, 0, 2]), tf.zeros_like(x[:, 0]) + 0.1,
                 reverse=b.chance(0.4))


def mapped(b: Builder, x: Any, steps: Any, chain: Step) -> Any:
  return tf.map_fn(lambda row: chain(tf.tanh(row), row, tf.constant(2)), tf.transpose(x, [1, 0, 2]))


def training(b: Builder, scope: Scope) -> Any:
  """A loss of what loops give, its gradient with respect to the sequence and weights, sometimes of the second order."""
  x = scope.pick(lambda v: v.rank == 3 and isinstance(v.t.shape[2], int) and v.t.shape[2] > 0 and b.positive(v.sizes[1]))
  if x is None:
    return None
  d, weights, twice = x.t.shape[2], [], b.chance(0.15)
  b.freezable = False  # TensorFlow does not freeze variables whose shape a gradient's loop reads
  chains = [[drawn(b, d, weights) for _ in range(b.whole(1, 3))] for _ in range(b.whole(1, 2))]

  def chain_of(steps: list[Step]) -> Step:
    def chain(h: Any, y: Any, i: Any) -> Any:
      for step in steps:
        h = step(h, y, i)
      return h
    return chain

  with tf.GradientTape() as outer:
    outer.watch(x.t)
    with tf.GradientTape() as tape:
      tape.watch(x.t)
      made = [b.among([states, sequence, sequence, scanned, mapped])(b, x.t, tf.shape(x.t)[1], chain_of(c)) for c in chains]
      loss = tf.add_n([tf.reduce_sum(tf.sin(y)) for y in made]) * (1.0 / d)
    found, *others = tape.gradient(loss, [x.t, *weights], unconnected_gradients=ZERO)
    found = tf.tanh(tf.convert_to_tensor(found) * 0.3)
    total = tf.reduce_sum(tf.square(found))
  results = [Value(tf.tanh(loss), ()), Value(found, x.sizes)]
  results += [Value(tf.tanh(g * 0.3), g.shape.as_list()) for g in others]
  if twice:
    second = outer.gradient(total, x.t, unconnected_gradients=ZERO)
    results.append(Value(tf.tanh(tf.convert_to_tensor(second) * 0.3), x.sizes))
  return results


KINDS: list[Any] = []
NESTED = [(training, 3)]
