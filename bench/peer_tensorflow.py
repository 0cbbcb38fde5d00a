"""TensorFlow as a contestant: a SavedModel in the form that it runs fastest."""

from __future__ import annotations

import ctypes
import gc
import pathlib
import time
from collections.abc import Callable
from typing import Any

import differences
import numpy as np
import report
from conversions import (Arrays, Refused, fix_shapes, freeze, input_name,
                         set_tensorflow)

Run = Callable[[], Any]
# What TensorFlow takes for a moment when it optimizes a function with constant
# weights, in times of their bytes (measured: 27 at GPT-2's size).
PEAK = 30
AGREES = differences.LARGEST["fp32"]


def load(model: pathlib.Path, inputs: Arrays, threads: int, gate: str,
         xla: bool, wanted: list[np.ndarray]) -> Run:
  """The model with oneDNN on ("1") or off ("0"), or compiled by XLA.

  Without XLA there are two forms. Constant weights let TensorFlow fold batch
  norms away; but loops that are handed constants can take several times as long
  as with the SavedModel's variables, and with oneDNN some networks' outputs are
  wrong. Of the forms that give `wanted`, the one that is faster in a trial stays;
  the other's memory is given back. Where memory does not suffice for constants,
  variables it is.
  """
  set_tensorflow(gate)
  import tensorflow as tf
  tf.config.threading.set_intra_op_parallelism_threads(threads)
  tf.config.threading.set_inter_op_parallelism_threads(threads)
  feeds = {k: tf.constant(v) for k, v in inputs.items()}
  try:
    original = fix_shapes(model, inputs)
    weights = sum(f.stat().st_size for f in (model / "variables").glob("*"))
    forms: list[Run] = []
    if xla or PEAK * weights < report.memory("/proc/meminfo", "MemAvailable"):
      forms.append(_frozen(original, feeds, xla))
    if not xla:
      forms.append(lambda: original(**feeds))
      agree = [f for f in forms if differences.scaled(outputs(f), wanted) <= AGREES]
      forms = [_fastest(agree or forms)]
    run = forms.pop()
    run()
  except tf.errors.OpError as error:
    raise Refused(f"TensorFlow: {error}") from error
  return run


def release() -> None:
  """Gives memory that is not used any more back to the machine."""
  gc.collect()
  ctypes.CDLL(None).malloc_trim(0)


def outputs(run: Run) -> list[np.ndarray]:
  """In the order of their names."""
  import tensorflow as tf
  return [o.numpy() for o in tf.nest.flatten(run())]


def _frozen(original: Any, feeds: dict[str, Any], xla: bool) -> Run:
  """A function of its own with constant weights."""
  import tensorflow as tf
  frozen = freeze(original)
  names = [x.name for x in frozen.inputs]
  ordered = [feeds[input_name(n)] for n in names]
  if xla:  # it refuses the placeholders that an import leaves behind
    body = lambda *x: frozen(*x)
  else:  # calling `frozen` itself costs a millisecond
    results = [x.name for x in frozen.outputs]
    graph = frozen.graph.as_graph_def()
    del frozen
    body = lambda *x: tf.import_graph_def(graph, dict(zip(names, x)), results)
  function = tf.function(body, jit_compile=xla).get_concrete_function(
      *(tf.TensorSpec(x.shape, x.dtype) for x in ordered))
  return lambda: function(*ordered)


def _fastest(forms: list[Run]) -> Run:
  """By the best of some runs, which take turns."""
  best = [np.inf] * len(forms)
  end = time.perf_counter() + 0.5 * len(forms)
  for turn in range(20):
    if turn > 2 and time.perf_counter() > end:
      break
    for i, run in enumerate(forms):
      start = time.perf_counter()
      run()
      best[i] = min(best[i], time.perf_counter() - start)
  return forms[best.index(min(best))]
