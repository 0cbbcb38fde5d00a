#!/usr/bin/env python3
"""A process that times single ops in TensorFlow, as functions and eagerly.

  micro_worker.py GATE THREADS

For each line {"cases", "name", "graph", "inputs", "seconds", "eager"} on stdin
it times one slice and answers with a line: times in ms, or {"error": why}. The
case it timed last stays loaded.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools"),
                str(HERE.parent / "tests" / "makers")]
os.environ["TF_ENABLE_ONEDNN_OPTS"] = sys.argv[1]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import golden_cases
import peer_backends
import peer_worker
import tensorflow as tf
from tensorflow.python.framework import op_def_registry


def timed(run: Callable[[], Any]) -> peer_backends.Backend:
  """What peer_worker.measure takes."""
  return peer_backends.Backend(run, lambda: [], tf.__version__)


def tensor(case: golden_cases.Case, index: int) -> tf.Tensor:
  value = tf.constant(golden_cases.make_input(case, index))
  dtype = case.inputs[index].dtype
  if dtype in golden_cases.QUANTIZED:
    value = tf.bitcast(value, tf.as_dtype(golden_cases.QUANTIZED[dtype][0]))
  return value


def as_function(case: golden_cases.Case, graph: pathlib.Path) -> peer_backends.Backend:
  definition = tf.compat.v1.GraphDef()
  definition.ParseFromString(graph.read_bytes())
  # What is fed is an argument; constants stay in the graph.
  fed = [i for i, spec in enumerate(case.inputs) if not spec.constant]
  values = [tf.constant(golden_cases.make_input(case, i)) for i in fed]
  scratch = tf.Graph()
  with scratch.as_default():
    tf.import_graph_def(definition, name="")
  outputs = [o.name for o in scratch.get_operation_by_name("case").outputs]
  function = tf.function(lambda *x: tf.import_graph_def(
      definition, {f"in{i}:0": v for i, v in zip(fed, x)}, outputs)
                         ).get_concrete_function(
                             *[tf.TensorSpec(v.shape, v.dtype) for v in values])
  return timed(lambda: function(*values))


def as_eager(case: golden_cases.Case) -> peer_backends.Backend:
  definition = op_def_registry.get(case.op)
  call = getattr(tf.raw_ops, case.op, None)
  if definition is None or call is None:
    raise ValueError("no eager op")
  values = [tensor(case, i) for i in range(len(case.inputs))]
  arguments: dict[str, Any] = {}
  for argument in definition.input_arg:
    if argument.number_attr or argument.type_list_attr:
      count = len(case.inputs) - len(definition.input_arg) + 1
      arguments[argument.name], values = values[:count], values[count:]
    else:
      arguments[argument.name] = values.pop(0)
  for name, value in case.attributes.items():
    kind = next(a.type for a in definition.attr if a.name == name)
    arguments[name] = tf.as_dtype(value) if kind == "type" else value
  return timed(lambda: call(**arguments))


def main() -> int:
  answers = os.fdopen(os.dup(1), "w")  # libraries print on stdout
  os.dup2(2, 1)
  threads = int(sys.argv[2])
  tf.config.threading.set_intra_op_parallelism_threads(threads)
  tf.config.threading.set_inter_op_parallelism_threads(threads)
  cases: dict[str, dict[str, golden_cases.Case]] = {}
  loaded: dict[tuple[str, bool], peer_backends.Backend] = {}
  for line in sys.stdin:
    request = json.loads(line)
    path = request["cases"]
    if path not in cases:
      cases[path] = {c.name: c for c in
                     golden_cases.read_cases(pathlib.Path(path))}
    case = cases[path][request["name"]]
    key = (case.name, request["eager"])
    try:
      if key not in loaded:
        loaded = {k: v for k, v in loaded.items() if k[0] == case.name}
        loaded[key] = (as_eager(case) if request["eager"] else
                       as_function(case, pathlib.Path(request["graph"])))
      answer = peer_worker.measure(loaded[key], request["seconds"])
    except (tf.errors.OpError, ValueError, TypeError, StopIteration) as error:
      answer = {"error": " ".join(str(error).split())[:200]}
    print(json.dumps(answer), file=answers, flush=True)
  return 0


if __name__ == "__main__":
  sys.exit(main())
