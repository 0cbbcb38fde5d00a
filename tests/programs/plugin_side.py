"""Runs models in TensorFlow with the plug-in on request.

The requests and answers are those of side.py. A SavedModel runs as its signature, a frozen graph in a session of TensorFlow 1.
Before the results comes how many parts of the graph ran whole.
"""

from __future__ import annotations

import os
import pathlib
import pickle
import sys
from typing import Any, Callable

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import op_def_registry

WHOLE = "_TenonSubgraph"
# Gives the results for a set of inputs, and the graphs that ran.
Run = Callable[[dict[str, np.ndarray]], tuple[dict[str, Any], list[Any]]]
tf1 = tf.compat.v1


def array(value: Any) -> np.ndarray:
  return np.asarray(value, object) if isinstance(value, bytes) else value


def of_graph(path: str, fetches: list[str]) -> Run:
  definition = tf1.GraphDef.FromString(pathlib.Path(path).read_bytes())
  graph = tf.Graph()
  with graph.as_default():
    tf.import_graph_def(definition, name="")
  session = tf1.Session(graph=graph)

  def run(feed: dict[str, np.ndarray]) -> tuple[dict[str, Any], list[Any]]:
    metadata = tf1.RunMetadata()
    found = session.run({f: f for f in fetches}, {f"{k}:0": v for k, v in feed.items()},
                        tf1.RunOptions(output_partition_graphs=True), metadata)
    return found, metadata.partition_graphs
  return run


def of_model(path: str) -> Run:
  model = tf.saved_model.load(path)
  eager = context.context()

  def run(feed: dict[str, np.ndarray]) -> tuple[dict[str, Any], list[Any]]:
    eager.enable_graph_collection()
    try:
      found = model.signatures["serving_default"](**{k: tf.constant(v) for k, v in feed.items()})
      return {k: v.numpy() for k, v in found.items()}, eager.export_run_metadata().partition_graphs
    finally:
      eager.disable_graph_collection()
  return run


def answer(request: dict[str, Any]) -> Any:
  fetches = request["options"].get("fetches")
  try:
    run = of_graph(request["model"], fetches) if fetches else of_model(request["model"])
  except Exception as error:  # pylint: disable=broad-exception-caught
    return f"loading: {type(error).__name__}: {error}"
  whole = 0
  answers: list[Any] = []
  for feed in request["feeds"]:
    try:
      found, graphs = run(feed)
      whole = max(whole, sum(n.op == WHOLE for g in graphs for n in g.node))
      answers.append({k: array(v) for k, v in found.items()})
    except Exception as error:  # pylint: disable=broad-exception-caught
      answers.append(f"{type(error).__name__}: {error}")
  return [whole, *answers]


def main() -> None:
  out = os.fdopen(os.dup(1), "wb")
  os.dup2(2, 1)  # what libraries print is no answer
  tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
  tf.get_logger().setLevel("ERROR")
  if op_def_registry.get(WHOLE) is None:
    sys.exit("the plug-in is not there")
  while True:
    try:
      request = pickle.load(sys.stdin.buffer)
    except EOFError:
      return
    tf.keras.backend.clear_session()
    pickle.dump(answer(request), out)
    out.flush()


if __name__ == "__main__":
  main()
