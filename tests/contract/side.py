"""Runs graphs of one op on request, in TensorFlow or in Tenon.

  side.py tensorflow | tenon

Each side is a process of its own, because TensorFlow ends its process when one
of its own checks fails, and because the libraries of the two cannot share one.
Requests and answers are pickles on stdin and stdout. A request is a dict
{"graph", "feeds", "fetches", "eager"}; an answer is a dict from each way of running
to the list of output arrays, or to a text that says what went wrong.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, Callable

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

# pylint: disable=import-outside-toplevel,wrong-import-position
import ml_dtypes  # NumPy's bfloat16
import numpy as np

Answer = dict[str, "list[np.ndarray] | str"]
INTEGERS = {"qint8": "int8", "quint8": "uint8", "qint16": "int16",
            "quint16": "uint16", "qint32": "int32"}


def tensorflow_side() -> Callable[[dict[str, Any]], Answer]:
  import tensorflow as tf
  config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1,
                                    inter_op_parallelism_threads=1)
  config.graph_options.rewrite_options.disable_meta_optimizer = True
  config.graph_options.optimizer_options.opt_level = -1

  def run(request: dict[str, Any]) -> list[np.ndarray] | str:
    definition = tf.compat.v1.GraphDef.FromString(request["graph"])
    try:
      with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        fetches = [graph.get_tensor_by_name(f) for f in request["fetches"]]
        fetches = [tf.bitcast(f, INTEGERS[f.dtype.name])
                   if f.dtype.is_quantized else f for f in fetches]
        with tf.compat.v1.Session(graph=graph, config=config) as session:
          values = session.run(
              fetches, {k + ":0": v.copy() for k, v in request["feeds"].items()})
      return [np.asarray(v, object) if isinstance(v, bytes) else np.asarray(v)
              for v in values]
    except Exception as error:  # pylint: disable=broad-exception-caught
      return f"{type(error).__name__}: {error}"

  return lambda request: {"tensorflow": run(request)}


def tenon_side() -> Callable[[dict[str, Any]], Answer]:
  import tenon
  from tenon import _core
  from tenon._feeds import tensor_for

  single = {row[0] for row in _core.op_table()}  # others exist in graphs only

  def array(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else np.asarray(value)

  def session(request: dict[str, Any], gate: bool) -> list[np.ndarray]:
    if not request["fetches"]:  # a graph needs an output
      return []
    with tenon.load(request["graph"], fetches=request["fetches"],
                    onednn=gate, threads=1) as model:
      feeds = {k: v for k, v in request["feeds"].items()
               if k in {spec.name for spec in model.inputs}}
      result = model.run(feeds)
      return [array(result[f]) for f in request["fetches"]]

  def eager(request: dict[str, Any]) -> list[np.ndarray]:
    op, inputs, attrs = request["eager"]
    tensors = [tensor_for(value, dtype, f"in{i}", False)
               for i, (value, dtype) in enumerate(inputs)]
    return [tensor.numpy() for tensor in _core.execute(op, tensors, attrs)]

  def run(function: Callable[[], list[np.ndarray]]) -> list[np.ndarray] | str:
    try:
      return [np.array(v) for v in function()]
    except Exception as error:  # pylint: disable=broad-exception-caught
      return f"{type(error).__name__}: {error}"

  def answer(request: dict[str, Any]) -> Answer:
    ways: dict[str, Callable[[], list[np.ndarray]]] = {
        "gate off": lambda: session(request, False),
        "gate on": lambda: session(request, True)}
    if request["eager"] and request["eager"][0] in single:
      ways["eager"] = lambda: eager(request)
    return {name: run(way) for name, way in ways.items()}

  return answer


def main() -> None:
  out = os.fdopen(os.dup(1), "wb")
  os.dup2(2, 1)  # what libraries print is no answer
  side = {"tensorflow": tensorflow_side, "tenon": tenon_side}[sys.argv[1]]()
  assert ml_dtypes.bfloat16
  while True:
    try:
      request = pickle.load(sys.stdin.buffer)
    except EOFError:
      return
    pickle.dump(side(request), out)
    out.flush()


if __name__ == "__main__":
  main()
