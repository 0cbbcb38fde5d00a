"""Branches by inputs and sizes, and functions that several callers share."""

from __future__ import annotations

import dataclasses
from typing import Any

import sizes
import tensorflow as tf
from builder import Builder, Scope, Value


def number(b: Builder, scope: Scope, x: Value) -> Any:
  """A small number that no rounding changes."""
  n = scope.pick(lambda v: v.fed, (0,), tf.int32)
  if n is not None and b.chance(0.5):
    return n.t
  mask = scope.fed()
  if mask is not None and b.chance(0.3):
    return tf.reduce_sum(tf.cast(mask.t > 0.0, tf.int32))
  return tf.size(x.t) if b.chance(0.5) or not x.rank else tf.shape(x.t)[0]


def branch(b: Builder, scope: Scope) -> Any:
  """Two or three ways to compute a tensor, and a number."""
  x = scope.pick()
  if x is None:
    return None

  def way() -> list[Any]:
    inner = scope.inner([x], 2)
    made = b.run(inner, b.whole(1, 4))
    return [b.like(inner, x).t, b.summary(made[-1:] or [x]).t]

  by = number(b, scope, x)
  if b.chance(0.6):
    by = by > b.whole(1, 3) if b.chance(0.5) else by % 2 == 0
    y, total = tf.cond(by, way, way)
  else:
    y, total = tf.switch_case(by % 4, [way] * b.whole(2, 3))
  return [Value(y, x.sizes), Value(total, ())]


def of_other_shape(b: Builder, scope: Scope) -> Any:
  """Ways whose results have different shapes."""
  x = scope.pick(lambda v: v.rank > 0)
  if x is None:
    return None
  ways = [lambda: x.t, lambda: tf.tanh(x.t[:1]), lambda: tf.concat([x.t, x.t * 0.5], 0), lambda: tf.reverse(x.t, [0])]
  b.random.shuffle(ways)
  y = tf.switch_case(number(b, scope, x) % 3, ways[:3])
  inner = scope.inner([Value(y, (b.name("w"), *x.sizes[1:]))], 1)
  made = b.run(inner, b.whole(1, 4))
  return b.summary(made[-1:] or inner.values[:1])


@dataclasses.dataclass
class Function:
  """Of one tensor, with names for its sizes, and the sizes of the results in these names."""

  call: Any
  names: list[str]
  shapes: list[tuple[Any, ...]]


def make_function(b: Builder, scope: Scope) -> Function | None:
  """Some steps from a tensor of unknown sizes."""
  x = scope.pick(ranks=(1, 2, 3, 4))
  if x is None:
    return None
  names = [b.name("a") for _ in x.sizes]
  shapes: list[tuple[Any, ...]] = []

  @tf.function(input_signature=[tf.TensorSpec([None] * x.rank, b.dtype)], autograph=False)
  def function(t: Any) -> list[Any]:
    inner = Scope(b, [Value(t, names)], scope.depth + 1)
    b.run(inner, b.whole(3, 7))
    results = [*inner.floats()[-1:], b.among(inner.floats())]
    shapes.extend(r.sizes for r in results)
    return [*(r.t for r in results), b.summary(inner.floats()).t]

  return Function(function.get_concrete_function(), names, shapes)


def call(b: Builder, scope: Scope) -> Any:
  """Calls one of at most three functions."""
  if not b.functions or (len(b.functions) < 3 and b.chance(0.4)):
    made = make_function(b, scope)
    if made is None:
      return None
    b.functions.append(made)
  function = b.among(b.functions)
  x = scope.pick(ranks=(len(function.names),))
  if x is None:
    return None
  *tensors, total = function.call(x.t)
  given = dict(zip(function.names, x.sizes))
  return [Value(total, ()), *(Value(t, [sizes.substitute(s, given) for s in shape])
                              for t, shape in zip(tensors, function.shapes))]


def with_own_gradient(b: Builder, scope: Scope) -> Any:
  x = scope.pick()
  if x is None:
    return None

  @tf.custom_gradient
  def function(t: Any) -> Any:
    return tf.tanh(t) * 0.5, lambda dy: tf.clip_by_value(dy, -0.25, 0.25)

  return Value(function(x.t), x.sizes)


def gradient(b: Builder, scope: Scope) -> Any:
  """Gradients of some steps, sometimes of the second order."""
  x = scope.pick()
  if x is None:
    return None
  twice = b.chance(0.15)
  with tf.GradientTape() as outer:
    outer.watch(x.t)
    with tf.GradientTape() as tape:
      tape.watch(x.t)
      inner = scope.inner([x], b.whole(0, 2))
      made = b.run(inner, b.whole(2, 6)) or [x]
      made = [v for v in made if v.t.dtype == b.dtype]
      loss = tf.add_n([tf.reduce_sum(tf.tanh(v.t)) for v in (made or [x])[-2:]])
    found = tape.gradient(loss, x.t, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    found = tf.tanh(tf.convert_to_tensor(found) * 0.3)
    total = tf.reduce_sum(tf.square(found))
  if not twice:
    return Value(found, x.sizes)
  second = outer.gradient(total, x.t, unconnected_gradients=tf.UnconnectedGradients.ZERO)
  return [Value(found, x.sizes), Value(tf.tanh(tf.convert_to_tensor(second) * 0.3), x.sizes)]


KINDS = [(with_own_gradient, 0.5)]
NESTED = [(branch, 5), (of_other_shape, 2), (call, 8), (gradient, 3)]
