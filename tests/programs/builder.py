"""Draws a program: TensorFlow code in nested scopes, from the kinds of steps of the other modules.

What is drawn depends only on the seed, not on the dtype: the same program in float64
tells how much rounding errors grow. Magnitudes stay near 1, and no step
turns a rounding error into a different result: conditions and integers come from
inputs and sizes only.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import random
from typing import Any, Callable, Iterable, Sequence

import numpy as np
import sizes
import tensorflow as tf
from sizes import Size

MAX_ELEMENTS = 12_000
MAX_RANK = 5
MAX_DEPTH = 3


@dataclasses.dataclass
class Value:
  """A tensor and the sizes of its dimensions, which TensorFlow may not know."""

  t: Any
  sizes: tuple[Size, ...]
  fed: bool = False  # the same in every dtype, so that comparisons are safe

  def __post_init__(self) -> None:
    self.sizes = tuple(self.sizes)

  @property
  def rank(self) -> int:
    return len(self.sizes)


class Scope:
  """The values that code at one place can read."""

  def __init__(self, builder: Builder, values: Iterable[Value], depth: int) -> None:
    self.builder, self.values, self.depth = builder, list(values), depth

  def pick(self, fits: Callable[[Value], bool] = lambda v: True,
           ranks: Sequence[int] | None = None, dtype: Any = None) -> Value | None:
    """A value, rather a late one; floats unless a dtype is given. None if there is none."""
    dtype = dtype or self.builder.dtype
    found = [v for v in self.values if v.t.dtype == dtype and
             (ranks is None or v.rank in ranks) and fits(v)]
    if not found:
      return None
    return self.builder.among(found[-6:] if self.builder.chance(0.6) else found)

  def floats(self) -> list[Value]:
    return [v for v in self.values if v.t.dtype == self.builder.dtype]

  def fed(self) -> Value | None:
    return self.pick(lambda v: v.fed)

  def inner(self, values: Iterable[Value] = (), extra: int = 0) -> Scope:
    """A scope within this one, which reads `values` and some of these."""
    some = self.floats()
    chosen = self.builder.random.sample(some, min(extra, len(some)))
    return Scope(self.builder, [*values, *chosen], self.depth + 1)


def outside(make: Callable[[], Any]) -> Any:
  """What `make` gives in a thread that traces nothing: a function that sees variables made is traced twice."""
  with concurrent.futures.ThreadPoolExecutor(1) as thread:
    return thread.submit(make).result()


Kind = Callable[["Builder", Scope], Any]  # gives a Value, several or None


class Builder:
  """Draws one program. `environments` has the value of each size's name for each set of inputs."""

  def __init__(self, seed: int, dtype: Any, rounded: Any, module: tf.Module,
               environments: list[dict[str, int]]) -> None:
    self.random = random.Random(seed)
    self.numbers = np.random.default_rng(seed)
    self.dtype, self.rounded = dtype, rounded  # constants are rounded to the latter first
    self.module = module
    self.environments = environments
    self.kinds: list[tuple[Kind, float]] = []
    self.nested: list[tuple[Kind, float]] = []
    self.weights: dict[tuple, np.ndarray] = {}
    self.functions: list[Any] = []
    self.roundings = {rounded.name}  # dtypes that some step computes in
    self.budget = 50  # steps that may still be nested
    self.depth = 0  # steps on the longest path, at most
    self.stateful = False
    self.freezable = True
    self.names = 0

  # ---- drawing ----
  def chance(self, p: float) -> bool:
    return self.random.random() < p

  def among(self, values: Any) -> Any:
    return values[self.random.randrange(len(values))]

  def whole(self, low: int, high: int) -> int:
    """Both bounds are included."""
    return self.random.randint(low, high)

  def name(self, prefix: str) -> str:
    self.names += 1
    return f"{prefix}{self.names}"

  # ---- constants ----
  def array(self, *shape: int, scale: float = 0.5, near: float = 0.0) -> np.ndarray:
    """Seeded numbers; sometimes those of an earlier constant."""
    key = (shape, scale, near)
    if key not in self.weights or self.chance(0.6):
      numbers = near + scale * self.numbers.standard_normal(shape)
      self.weights[key] = numbers.astype(self.rounded.as_numpy_dtype).astype(
          self.dtype.as_numpy_dtype)
    return self.weights[key]

  def const(self, *shape: int, scale: float = 0.5, near: float = 0.0) -> Any:
    """A constant, or a variable that is only read."""
    values = self.array(*shape, scale=scale, near=near)
    return self.variable(values).read_value() if self.chance(0.3) else tf.constant(values)

  def variable(self, values: Any, **options: Any) -> tf.Variable:
    """A variable of the model, with these values at first."""
    name = self.name("v")
    made = outside(lambda: tf.Variable(values, name=name, **options))
    setattr(self.module, self.name("variable"), made)
    return made

  def keep(self, layer: Any) -> None:
    """The model has the variables of the layer."""
    setattr(self.module, self.name("layer"), [v.value for v in layer.variables])

  def number(self, value: float) -> Any:
    return tf.constant(value, self.dtype)

  def narrow(self, dtype: Any) -> Any:
    """The dtype for steps that round more coarsely."""
    self.roundings.add(dtype.name)
    return dtype if self.dtype == self.rounded else self.dtype

  # ---- sizes ----
  def known(self, size: Size) -> list[int] | None:
    """The size for each set of inputs."""
    found = [sizes.evaluate(size, e) for e in self.environments]
    return None if None in found else found  # type: ignore[return-value]

  def same(self, a: Size, b: Size) -> bool:
    if a == b:
      return True
    known = self.known(a)
    return known is not None and known == self.known(b)

  def alike(self, a: Sequence[Size], b: Sequence[Size]) -> bool:
    return len(a) == len(b) and all(map(self.same, a, b))

  def positive(self, size: Size) -> bool:
    known = self.known(size)
    return known is not None and min(known) > 0

  def joined(self, a: Size, b: Size) -> Size | None:
    """What the two broadcast to, or None."""
    if self.same(a, b) or b == 1:
      return a
    if a == 1:
      return b
    both = self.known(a), self.known(b)
    if both[0] is None or both[1] is None:
      return None
    pairs = list(zip(*both))
    if all(x == y or y == 1 for x, y in pairs):
      return a
    return b if all(x == y or x == 1 for x, y in pairs) else None

  def broadcast(self, a: Sequence[Size], b: Sequence[Size]) -> list[Size] | None:
    rank = max(len(a), len(b))
    pairs = zip([1] * (rank - len(a)) + list(a), [1] * (rank - len(b)) + list(b))
    found = [self.joined(x, y) for x, y in pairs]
    return None if None in found else found

  def small(self, value: Value) -> bool:
    for environment in self.environments:
      count = 1
      for size in value.sizes:
        count *= sizes.evaluate(size, environment) or 1
      if count > MAX_ELEMENTS:
        return False
    return value.rank <= MAX_RANK

  # ---- steps ----
  def calm(self, t: Any) -> Any:
    """The tensor with values below about 1."""
    return self.among([tf.tanh, tf.tanh, tf.sin])(t)

  def step(self, scope: Scope) -> list[Value]:
    kinds = self.kinds
    if scope.depth < MAX_DEPTH and self.budget > 0 and self.nested and self.chance(0.35):
      kinds = self.nested
    self.budget -= 1
    kind = self.random.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
    made = kind(self, scope)
    found = [v for v in (made if isinstance(made, list) else [made]) if v is not None]
    return [v for v in found if self.small(v)]

  def run(self, scope: Scope, steps: int) -> list[Value]:
    """Takes steps in a scope and gives what they made."""
    made: list[Value] = []
    for _ in range(steps):
      new = self.step(scope)
      self.depth += bool(new)
      scope.values += new
      made += new
    return made

  def like(self, scope: Scope, value: Value) -> Value:
    """One of the last values of that shape, `value` if there are no others."""
    found = [v for v in scope.floats() if self.alike(v.sizes, value.sizes)]
    return self.among(found[-3:]) if found else value

  def summary(self, values: Sequence[Value]) -> Value:
    """A number that depends on all elements."""
    floats = [v for v in values if v.t.dtype == self.dtype]
    total = tf.add_n([self.number(0.25), *(tf.reduce_sum(tf.tanh(v.t)) for v in floats)])
    return Value(tf.tanh(self.number(0.1) * total), ())
