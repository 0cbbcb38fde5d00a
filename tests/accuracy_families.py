"""Random cases of tests/accuracy.py: every family of ops that Tenon accelerates, with shapes and
values drawn by seed, and special values."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np

import accuracy_elementwise
import accuracy_products
from accuracy_cases import Case
from accuracy_draw import Draw, Problem

SPECIAL = {"NaN": np.nan, "infinity": np.inf, "minus infinity": -np.inf, "denormal": 1e-40,
           "minus zero": -0.0, "huge": 1e30}


def families() -> dict[str, list[tuple[str, Callable[[Draw], Problem]]]]:
  return dict([*accuracy_elementwise.families(), *accuracy_products.families()])


def cases(seed: int, count: int) -> list[Case]:
  """`count` of each op."""
  found = []
  for family, rows in families().items():
    for op, draw in rows:
      for i in range(count):
        problem = draw(Draw(seed + i, zlib.crc32(f"{family}/{op}".encode())))
        shape = problem.shape or ", ".join(str(list(v.shape)) for v in problem.values)
        found.append(Case(f"{op}: {shape}", [v.shape for v in problem.values], problem.build,
                          problem.constants, problem.values, family))
  return found


def with_special(case: Case, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
  """The inputs, stacked: in step i, the value number i of SPECIAL is in one input, up to three
  times. Quantized inputs and masks would be undefined, and inputs of one element stay."""
  rng = np.random.default_rng(zlib.crc32(case.name.encode()))
  stacked = {name: np.stack([value] * len(SPECIAL)) for name, value in inputs.items()}
  name = f"in{rng.integers(len(inputs))}"
  for step, value in zip(stacked[name], SPECIAL.values()):
    step.flat[rng.integers(step.size, size=min(3, step.size))] = value
  return stacked
