"""Ragged tensors and strings."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from builder import Builder, Scope, Value


def rows(b: Builder, x: Value) -> Any:
  """The rows of a matrix, cut to different lengths."""
  shape = tf.shape(x.t)
  lengths = (tf.range(shape[0]) * b.whole(1, 3) + b.whole(0, 2)) % (shape[1] + 1)
  return tf.RaggedTensor.from_tensor(x.t, lengths)


def ragged(b: Builder, scope: Scope) -> Any:
  x = scope.pick(ranks=(2, 3))
  if x is None or b.rounded not in (tf.float32, tf.float64) or not b.positive(x.sizes[0]):
    return None
  r = rows(b, x)
  for _ in range(b.whole(0, 2)):
    how = b.whole(0, 4)
    if how == 0:
      r = tf.concat([r, r * 0.5], 1)
    elif how == 1:
      r = tf.ragged.map_flat_values(tf.tanh, r)
    elif how == 2:
      r = r[:, :2]
    elif how == 3:
      r = r + 0.25
    else:
      r = tf.reverse(r, [1]) if x.rank == 2 and b.chance(0.5) else r[:, 1:]
  how = b.whole(0, 4)
  if how == 0:
    y = r.to_tensor(0.5)
    return Value(tf.tanh(tf.reduce_sum(y, 1) * 0.3), (x.sizes[0], *x.sizes[2:]))
  if how == 1:
    return Value(tf.tanh(tf.reduce_sum(r, 1) * 0.3), (x.sizes[0], *x.sizes[2:]))
  if how == 2:
    return [b.summary([Value(r.flat_values, ())]), Value(tf.cast(r.row_lengths(), b.dtype) * 0.1, (x.sizes[0],))]
  if how == 3:
    y = tf.map_fn(lambda e: tf.reduce_sum(tf.tanh(e)), r, fn_output_signature=tf.TensorSpec([], b.dtype))
    return Value(tf.tanh(y), (x.sizes[0],))
  return Value(r.to_tensor(shape=[None, 3, *(None for _ in x.sizes[2:])]), (x.sizes[0], 3, *x.sizes[2:]))


def strings(b: Builder, scope: Scope) -> Any:
  """Text of whole numbers, and numbers of that text."""
  x = scope.pick(lambda v: v.fed and v.rank < 2, None, tf.int32)
  if x is None:
    return None
  t = tf.strings.as_string(x.t * 37, width=b.among([-1, 5]))
  for _ in range(b.whole(1, 4)):
    how = b.whole(0, 4)
    if how == 0:
      t = tf.strings.join([t, "-", t], "_")
    elif how == 1:
      t = tf.strings.regex_replace(t, "[0-3]+", "q")
    elif how == 2:
      t = tf.strings.upper(tf.strings.substr(t, 0, 4))
    elif how == 3:
      t = tf.strings.strip(tf.where(x.t > 1, t, tf.strings.reduce_join(t)))
    else:
      t = tf.while_loop(lambda i, _: i < 2, lambda i, s: (i + 1, s + tf.strings.as_string(i)), [0, t],
                        shape_invariants=[tf.TensorShape([]), t.shape])[1]
  made = [Value(t, x.sizes), Value(tf.cast(tf.strings.length(t), b.dtype) * 0.05, x.sizes)]
  if b.chance(0.4):
    made.append(Value(tf.strings.to_hash_bucket_fast(t, 50), x.sizes))
  if b.chance(0.4) and x.rank == 1:
    parts = tf.strings.split(t, "-")
    made.append(Value(tf.cast(parts.row_lengths(), b.dtype) * 0.1, x.sizes))
  return made


KINDS = [(ragged, 4), (strings, 1)]
