"""TensorFlow's results of a program, and the files that Tenon loads."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import tensorflow as tf
from program import Program

Results = list[Any]  # per set of inputs: outputs by name, or the text of an error


def prepare() -> None:
  """Programs run as they are written, by one thread."""
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
  tf.config.threading.set_intra_op_parallelism_threads(1)
  tf.config.threading.set_inter_op_parallelism_threads(1)
  tf.get_logger().setLevel("ERROR")
  tf.autograph.set_verbosity(0)


def save(program: Program, folder: pathlib.Path) -> None:
  """Before it runs: variables have their first values."""
  tf.saved_model.save(program.module, str(folder), signatures=program.function)


def freeze(program: Program, path: pathlib.Path) -> list[str]:
  """Writes a graph with constants for variables and loops as TensorFlow 1 has them; gives the fetches."""
  from tensorflow.python.framework import convert_to_constants  # pylint: disable=import-outside-toplevel
  frozen = convert_to_constants.convert_variables_to_constants_v2(program.function, lower_control_flow=True)
  path.write_bytes(frozen.graph.as_graph_def().SerializeToString())
  return [t.name for t in frozen.outputs]


def run(program: Program, times: int = 1) -> Results:
  """All sets of inputs, several times. Ends with the first error of a program with state: what it leaves is not defined."""
  answers: Results = []
  for feed in program.feeds * times:
    tensors: dict[str, Any] = {k: tf.constant(v) for k, v in feed.items()}
    try:
      found = {k: v.numpy() for k, v in program.function(**tensors).items()}
      answers.append({k: np.asarray(v, object) if isinstance(v, bytes) else v for k, v in found.items()})
    except tf.errors.OpError as error:
      text = " ".join(error.message.split("\t [[")[0].split())
      answers.append(f"{type(error).__name__}: {text[-300:]}")
      if program.stateful:
        break
  return answers
