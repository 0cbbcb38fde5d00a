"""Sizes of dimensions: numbers, names, and expressions of these.

A name stands for a size that differs between the sets of inputs ("n"), between the
callers of a function or between the iterations of a loop. An expression is a tuple
(operator, left, right).
"""

from __future__ import annotations

import operator
from typing import Any, Mapping

Size = Any  # int | str | tuple[str, Size, Size]
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul,
             "//": operator.floordiv, "min": min, "max": max}


def combine(name: str, a: Size, b: Size) -> Size:
  if isinstance(a, int) and isinstance(b, int):
    return OPERATORS[name](a, b)
  if (name in "+-" and b == 0) or (name in ("*", "//") and b == 1):
    return a
  if (name == "+" and a == 0) or (name == "*" and a == 1):
    return b
  if name in ("min", "max") and a == b:
    return a
  return (name, a, b)


def add(a: Size, b: Size) -> Size:
  return combine("+", a, b)


def multiply(a: Size, b: Size) -> Size:
  return combine("*", a, b)


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
  """The size in terms of others; names without a value stay."""
  if isinstance(size, str):
    return values.get(size, size)
  if isinstance(size, tuple):
    name, a, b = size
    return combine(name, substitute(a, values), substitute(b, values))
  return size


def evaluate(size: Size, values: Mapping[str, int]) -> int | None:
  """The number, or None if it depends on a name without a value."""
  found = substitute(size, values)
  return found if isinstance(found, int) else None
