"""Programs by seed: a function of TensorFlow, and several sets of inputs of different sizes."""

from __future__ import annotations

import dataclasses
import os
import random
from typing import Any

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

# pylint: disable=wrong-import-position
import branches
import dtypes
import elementwise
import images
import keras
import loops
import numpy as np
import patterns
import products
import ragged
import recurrent
import reductions
import shapes
import sizes
import states
import tensorflow as tf
import trained
from builder import Builder, Scope, Value

MODULES = {"elementwise": elementwise, "shapes": shapes, "reductions": reductions, "products": products, "patterns": patterns,
           "images": images, "loops": loops, "branches": branches, "recurrent": recurrent, "dtypes": dtypes,
           "ragged": ragged, "states": states, "trained": trained}
# How often the kinds of a module are drawn in programs that are not about it.
RARE = {"ragged": 0.15, "states": 0.15, "dtypes": 0.4, "recurrent": 0.4}
ABOUT = 4.0  # times as often in a program that is about it
INPUTS: list[list[list[Any]]] = [
    [["n", "m"]], [["n", 4, 4]], [["n", "k", "k"], ["k", "k"]], [["n", 3, "m", 3]], [["n", 4, "k", "k"], ["n", "k", "k", 4]],
    [[2, "n"], ["n"]], [[3, 4], ["n", 4]], [[2, 4, 4], ["n", "n"]], [["n", 4], ["m", 4]], [["n", 2, 3, 3, 2], ["n", 2]],
    [[2, 3, 5, 4]], [["n", "n"]], [[2, 4, 8]], [["n", 6, 6, 4]], [["n"], ["m"]], [[4], ["n", "n", 4]], [["n", "m", 4]],
    [["n", "m", 3], ["n", 4]], [["n", "m", "m", 3]], [["n", 8, 7, 3]], [["n", "m", 4], ["n", "k", 4]], [["n", 4], [1, 4]],
    [["n", "m", 4], ["n", 1, "m"]], [["n", 4, 6, 6]], [["n", 5, 4], ["b", 5, 4]], [["n", "m", 4], ["b", "c", 4]],
    [["n", 1, 4], ["n", "m", 4]], [["n", 9]], [["n", 3, 4], [3, 4], [4]], [["n", "m", "k", 2], ["n", "k"]],
    [["n", "m"]] * 9 + [["b", "m"], ["n", "c"]], [["n"]] * 13 + [["n", 4], ["b", 4]],
    [["b", "c", 4], ["n", "m", 4], ["n", "c", 4]],
    [["b", 4], ["n", 4]], [["n", "m", 1], ["b", "c", 6]], [["b", "m", 3, 4], ["n", "c", 3, 4]], [["n", 6, 5, 4], ["b", 1, 1, 4]],
    [["n", "c", "m", 4], ["n", "m", "m", 4]]]
# b and c are the size of n and m, or 1: these broadcast in some runs.
RUNS = [{"n": 2, "m": 3, "k": 4, "b": 2, "c": 3}, {"n": 3, "m": 5, "k": 2, "b": 1, "c": 5},
        {"n": 1, "m": 1, "k": 3, "b": 1, "c": 1}, {"n": 4, "m": 1, "k": 1, "b": 4, "c": 1},
        {"n": 0, "m": 2, "k": 3, "b": 0, "c": 1}, {"n": 2, "m": 0, "k": 4, "b": 1, "c": 0}]


@dataclasses.dataclass
class Program:
  """What is saved and run. Feeds are by input name."""

  module: tf.Module  # with the variables
  function: Any  # traced
  called: list[Any]  # functions that it calls
  feeds: list[dict[str, np.ndarray]]
  depth: int
  roundings: set[str]  # dtypes that it computes in
  stateful: bool
  freezable: bool  # TensorFlow can make a frozen graph of it
  about: list[str]


def kinds_of(about: list[str], attribute: str) -> list[tuple[Any, float]]:
  found = []
  for name, module in MODULES.items():
    times = ABOUT if name in about else RARE.get(name, 1.0)
    found += [(kind, weight * times) for kind, weight in getattr(module, attribute, [])]
  return found


def about_of(seed: int) -> list[str]:
  """The modules that the program for a seed is about."""
  return random.Random(seed).sample(list(MODULES), 2)


def draw(seed: int, dtype: Any, rounded: Any) -> Program:
  """The program for a seed. Inputs and constants are rounded to `rounded`, results computed in `dtype`."""
  choice = random.Random(f"{seed} draw")
  about = about_of(seed)
  given = choice.choice(INPUTS)
  environments = [*RUNS[:4], RUNS[0]]
  if choice.random() < 0.3:
    environments.insert(3, choice.choice(RUNS[4:]))
  with_number, with_ids = choice.random() < 0.5, choice.random() < 0.3
  module = tf.Module()
  keras.config.set_floatx(dtype.name)  # layers of cells take their states' dtype from there
  b = Builder(seed, dtype, rounded, module, environments)
  b.kinds, b.nested = kinds_of(about, "KINDS"), kinds_of(about, "NESTED")
  spec = []
  for i, shape in enumerate(given):
    known = [d if isinstance(d, int) and choice.random() < 0.85 else None for d in shape]
    spec.append(tf.TensorSpec(known, dtype, name=f"x{i}"))
  if with_number:
    spec.append(tf.TensorSpec([], tf.int32, name="number"))
  if with_ids:
    spec.append(tf.TensorSpec([None], tf.int32, name="ids"))
  steps, results = choice.randint(8, 28), choice.randint(3, 12)

  @tf.function(input_signature=spec, autograph=False)
  def function(*tensors: Any) -> dict[str, Any]:
    values = [Value(t, shape, True) for t, shape in zip(tensors, given)]
    values += [Value(t, () if t.shape.rank == 0 else ("n",), True) for t in tensors[len(given):]]
    made = b.run(Scope(b, values, 0), steps) or [Value(tf.tanh(values[0].t), values[0].sizes)]
    return {f"o{i}": tf.identity(v.t) for i, v in enumerate(made[-results:])}

  traced = function.get_concrete_function()
  numbers = np.random.default_rng([seed, 1])
  feeds = []
  for environment in environments:
    feed = {}
    for i, shape in enumerate(given):
      array = numbers.standard_normal([sizes.evaluate(d, environment) for d in shape])
      feed[f"x{i}"] = array.astype(rounded.as_numpy_dtype).astype(dtype.as_numpy_dtype)
    if with_number:
      feed["number"] = np.int32(numbers.integers(0, 5))
    if with_ids:
      feed["ids"] = numbers.integers(0, 5, environment["n"]).astype(np.int32)
    feeds.append(feed)
  return Program(module, traced, b.functions, feeds, b.depth, b.roundings, b.stateful, b.freezable and not b.stateful, about)
