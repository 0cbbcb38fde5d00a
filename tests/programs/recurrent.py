"""Recurrent layers: of Keras, and written out over TensorArrays as TensorFlow 1's dynamic_rnn."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf
from builder import Builder, Scope, Value, outside

L = keras.layers


def sequence(b: Builder, scope: Scope) -> Value | None:
  """[batch, time, features] with at least a step."""
  return scope.pick(lambda v: v.rank == 3 and isinstance(v.t.shape[2], int) and v.t.shape[2] > 0 and
                    b.positive(v.sizes[1]))


def lengths(b: Builder, scope: Scope, x: Value) -> Any:
  """How many steps of each sequence count."""
  shape = tf.shape(x.t)
  ids = scope.pick(lambda v: v.fed, (0,), tf.int32)
  offset = ids.t if ids is not None and b.chance(0.5) else b.whole(0, 3)
  return (tf.range(shape[0]) * b.whole(1, 2) + offset) % (shape[1] + 1)


def layer_of(b: Builder, x: Value) -> tuple[Any, bool]:
  """A layer with seeded weights, and whether it gives a sequence."""
  units, features, every = b.among([1, 3, 4]), x.t.shape[2], b.chance(0.6)
  options = {"return_sequences": every, "go_backwards": b.chance(0.25), "dtype": b.dtype.name,
             "recurrent_initializer": "zeros", "use_bias": b.chance(0.8)}
  how = b.whole(0, 5)
  if how == 0:
    layer = L.SimpleRNN(units, **options)
  elif how == 1:
    layer = L.GRU(units, reset_after=b.chance(0.5), **options)
  elif how == 2:
    cells = [L.LSTMCell(units, dtype=b.dtype.name, recurrent_initializer="zeros") for _ in range(b.whole(1, 2))]
    layer = L.RNN(cells, return_sequences=every, go_backwards=options["go_backwards"], dtype=b.dtype.name)
  elif how == 3:
    options["go_backwards"] = False
    layer = L.Bidirectional(L.LSTM(units, **options) if b.chance(0.5) else L.GRU(units, **options),
                            merge_mode=b.among(["concat", "sum", "mul"]), dtype=b.dtype.name)
  else:
    layer = L.LSTM(units, unit_forget_bias=b.chance(0.5), **options)
  layer.build((None, None, features))
  layer.set_weights([b.array(*w.shape, scale=0.4) for w in layer.get_weights()])
  return layer, every


def of_keras(b: Builder, scope: Scope) -> Any:
  """Called once or several times, with or without a mask."""
  x = sequence(b, scope)
  if x is None:
    return None
  layer, every = outside(lambda: layer_of(b, x))
  b.keep(layer)
  options = {}
  if b.chance(0.4):
    options["mask"] = tf.sequence_mask(lengths(b, scope, x), tf.shape(x.t)[1])
  y = layer(x.t, **options)
  units = y.shape[-1]
  shape = (x.sizes[0], x.sizes[1], units) if every else (x.sizes[0], units)
  made = [Value(y, shape)]
  if b.chance(0.3):  # the same weights for other sequences
    part = b.among([lambda t: t[:, :1], lambda t: tf.concat([t, t * 0.5], 1), lambda t: t[:, ::-1]])(x.t)
    z = layer(part)
    made.append(Value(z[:, -1] if every else z, (x.sizes[0], units)))
  return made


def cell_of(b: Builder, features: int, units: int) -> Any:
  """A cell (x, h, c) -> (h, c) with gates in some order."""
  scale = 0.8 * (features + units) ** -0.5
  kind = b.whole(0, 3)
  if kind == 0:
    w, u, bias = b.const(features, units, scale=scale), b.const(units, units, scale=scale), b.const(units)
    return lambda x, h, c: (tf.tanh(tf.matmul(x, w) + tf.matmul(h, u) + bias), c)
  if kind == 1:
    kernel, bias = b.const(features + units, 4 * units, scale=scale), b.const(4 * units)
    order, forget = b.random.sample(range(4), 4), b.among([0.0, 1.0])

    def joined(x: Any, h: Any, c: Any) -> Any:
      gates = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias), 4, 1)
      i, j, f, o = (gates[n] for n in order)
      c = c * tf.sigmoid(f + forget) + tf.sigmoid(i) * tf.tanh(j)
      return tf.tanh(c) * tf.sigmoid(o), c
    return joined
  if kind == 2:
    w, u, bias = b.const(features, 4 * units, scale=scale), b.const(units, 4 * units, scale=scale), b.const(4 * units)

    def separate(x: Any, h: Any, c: Any) -> Any:
      i, f, g, o = tf.split(tf.matmul(x, w) + tf.matmul(h, u) + bias, 4, 1)
      c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
      return tf.sigmoid(o) * tf.tanh(c), c
    return separate
  w, u = b.const(features, 3 * units, scale=scale), b.const(units, 3 * units, scale=scale)

  def gru(x: Any, h: Any, c: Any) -> Any:
    xz, xr, xn = tf.split(tf.matmul(x, w), 3, 1)
    hz, hr, hn = tf.split(tf.matmul(h, u), 3, 1)
    z = tf.sigmoid(xz + hz)
    return z * h + (1.0 - z) * tf.tanh(xn + tf.sigmoid(xr + hr) * hn), c
  return gru


def written_out(b: Builder, scope: Scope) -> Any:
  """A loop over time with states, an array of results, and lengths that stop some rows early."""
  x = sequence(b, scope)
  if x is None:
    return None
  features, units = x.t.shape[2], b.among([1, 3, 4])
  cell = cell_of(b, features, units)
  steps, batch = tf.shape(x.t)[1], tf.shape(x.t)[0]
  major = tf.transpose(x.t, (1, 0, 2))
  element = tf.TensorShape([None, features])
  source = tf.TensorArray(b.dtype, steps, element_shape=element if b.chance(0.7) else None).unstack(major)
  target = tf.TensorArray(b.dtype, steps, element_shape=tf.TensorShape([None, units]) if b.chance(0.7) else None)
  start = tf.zeros([batch, units], b.dtype)
  if b.chance(0.3):
    start += b.const(units)
  stop = lengths(b, scope, x) if b.chance(0.5) else None
  limit = tf.reduce_max(stop) if stop is not None and b.chance(0.4) else steps
  backwards, zeros, how = b.chance(0.3), b.chance(0.5), b.whole(0, 3)
  last = b.const(units, units)

  def body(i: Any, h: Any, c: Any, target: Any) -> Any:
    at = limit - 1 - i if backwards else i
    new_h, new_c = cell(source.read(at), h, c)
    out = [new_h, new_h, tf.tanh(tf.matmul(new_h, last)), h + new_h][how]
    if stop is not None:
      done = (at >= stop)[:, tf.newaxis]
      new_h, new_c = tf.where(done, h, new_h), tf.where(done, c, new_c)
      out = tf.where(done, tf.zeros_like(out) if zeros else h, out)
    return i + 1, new_h, new_c, target.write(i if not backwards or how == 1 else at, out)

  free = tf.TensorShape([None, units])
  _, h, c, target = tf.while_loop(
      lambda i, *_: tf.logical_and(i < limit, i < steps) if limit is not steps else i < limit, body,
      [0, start, start, target],
      shape_invariants=[tf.TensorShape([]), free, free, tf.TensorShape(None)])
  made = [Value(h, (x.sizes[0], units)), Value(tf.tanh(c), (x.sizes[0], units))]
  if limit is steps:  # otherwise elements may be missing
    y = target.stack()
    if b.chance(0.6):
      made.append(Value(tf.transpose(y, (1, 0, 2)), (x.sizes[0], x.sizes[1], units)))
    else:
      made.append(Value(tf.reverse(y, [0]) if b.chance(0.5) else y, (x.sizes[1], x.sizes[0], units)))
  return made


def time_distributed(b: Builder, scope: Scope) -> Any:
  x = sequence(b, scope)
  if x is None:
    return None
  n = b.among([1, 3, 4])

  def make() -> Any:
    layer = L.TimeDistributed(L.Dense(n, dtype=b.dtype.name), dtype=b.dtype.name)
    layer.build((None, None, x.t.shape[2]))
    layer.set_weights([b.array(*w.shape, scale=0.4) for w in layer.get_weights()])
    return layer

  layer = outside(make)
  b.keep(layer)
  return Value(tf.tanh(layer(x.t)), (*x.sizes[:2], n))


def positions(b: Builder, scope: Scope) -> Any:
  """Adds an embedding of positions and of ids."""
  x = scope.pick(lambda v: v.rank == 3 and isinstance(v.t.shape[2], int) and v.t.shape[2] > 0)
  if x is None:
    return None
  table = b.const(7, x.t.shape[2])
  if b.chance(0.5):
    return Value(x.t + tf.gather(table, tf.range(tf.shape(x.t)[1]) % 7), x.sizes)
  hot = tf.one_hot(tf.range(tf.shape(x.t)[1]) % 7, 7, dtype=b.dtype)
  return Value(x.t + tf.matmul(hot, table), x.sizes)


KINDS = [(positions, 1), (time_distributed, 0.5)]
NESTED = [(of_keras, 5), (written_out, 6)]
