#!/usr/bin/env python3
"""How far whole models are from themselves in float64, in Tenon and TensorFlow.

  tests/accuracy_models.py [--gain 4] [--sides NAME,…] [vit wav2vec2 …]

The models are those of bench/compare's second table (tests/makers/zoo, made when missing). Their
weight matrices are multiplied by the gain, so that activations are large and errors grow from layer
to layer. The float64 model is the same graph with every float replaced by a double; TensorFlow
computes it. A figure is the root mean square of the differences over that of the results.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import accuracy
import environments  # accuracy has its folder in the path

LEAST_ELEMENTS = 10_000  # of a weight matrix


def frozen(folder: pathlib.Path, gain: float) -> Any:
  """The model as a graph of constants with one output, "result"."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  from tensorflow.python.framework import convert_to_constants  # pylint: disable=import-outside-toplevel
  loaded = tf.saved_model.load(str(folder / "saved_model"))  # owns the variables
  signature = loaded.signatures["serving_default"]
  inputs = dict(np.load(folder / "inputs.npz"))
  specs = {k: tf.TensorSpec(v.shape, v.dtype, k) for k, v in inputs.items()}

  @tf.function(autograph=False)
  def run(**tensors: Any) -> Any:
    return tf.identity(next(iter(signature(**tensors).values())), "result")

  graph = convert_to_constants.convert_variables_to_constants_v2(
      run.get_concrete_function(**specs)).graph.as_graph_def()
  for node in graph.node:
    if node.op == "Const" and node.attr["dtype"].type == tf.float32.as_datatype_enum:
      value = tf.make_ndarray(node.attr["value"].tensor)
      if value.ndim > 1 and value.size >= LEAST_ELEMENTS:
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value * np.float32(gain)))
  return graph


def widened(graph: Any) -> Any:
  """The graph with doubles for floats."""
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  single, double = tf.float32.as_datatype_enum, tf.float64.as_datatype_enum
  wide = type(graph)()
  wide.CopyFrom(graph)
  nodes = list(wide.node)
  for function in wide.library.function:
    nodes += function.node_def
    for argument in (*function.signature.input_arg, *function.signature.output_arg):
      argument.type = double if argument.type == single else argument.type
  for node in nodes:
    for attr in node.attr.values():
      if attr.type == single:
        attr.type = double
      if attr.HasField("list"):  # reading it otherwise would replace the value
        attr.list.type[:] = [double if t == single else t for t in attr.list.type]
      if attr.HasField("tensor") and attr.tensor.dtype == single:
        attr.tensor.CopyFrom(tf.make_tensor_proto(tf.make_ndarray(attr.tensor), tf.float64))
  return wide


def write(model: pathlib.Path, gain: float, path: pathlib.Path) -> None:
  import numpy as np  # pylint: disable=import-outside-toplevel
  graph = frozen(model, gain)
  path.write_bytes(graph.SerializeToString())
  path.with_stem(path.stem + "w").write_bytes(widened(graph).SerializeToString())
  np.savez(path.with_suffix(".npz"), **np.load(model / "inputs.npz"))


def step(args: argparse.Namespace) -> None:
  import numpy as np  # pylint: disable=import-outside-toplevel
  path = args.folder / "model.pb"
  if args.step == "write":
    return write(args.models[0], args.gain, path)
  side = accuracy.SIDES.get(args.step, accuracy.WIDE)
  if side.who == "tenon":
    result = accuracy.run_tenon(side, args.tenon, path)
  else:
    result = accuracy.run_tensorflow(side, path, dict(np.load(path.with_suffix(".npz"))))[0]
  return np.save(args.folder / f"{args.step}.npy", result)


def measure(model: pathlib.Path, args: argparse.Namespace) -> dict[str, float]:
  import numpy as np  # pylint: disable=import-outside-toplevel
  with tempfile.TemporaryDirectory() as home:
    for name in ("write", "wide", *args.sides):
      subprocess.run(
          [sys.executable, __file__, model, "--step", name, "--folder", home, "--tenon", args.tenon,
           "--gain", str(args.gain)], check=True,
          env=accuracy.SIDES.get(name, accuracy.WIDE).environment())
    folder = pathlib.Path(home)
    wanted = np.load(folder / "wide.npy")
    return {name: accuracy.error(np.load(folder / f"{name}.npy"), wanted) for name in args.sides}


def main() -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("models", nargs="*", default=["vit", "wav2vec2"], type=pathlib.Path,
                      help="of tests/makers/zoo_models.py, or folders of that form")
  parser.add_argument("--gain", type=float, default=4)
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=accuracy.ROOT / "build" / "bin" / "tenon")
  parser.add_argument("--sides", type=lambda text: text.split(","),
                      default=["tenon", "tenon_off", "tensorflow", "tensorflow_off", "tenon_avx2",
                               "tensorflow_avx2"])
  parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
  parser.add_argument("--step", help=argparse.SUPPRESS)
  args = parser.parse_args()
  environments.reexec("peers")
  if args.step:
    step(args)
    return 0
  sys.path.insert(0, str(accuracy.ROOT / "tests" / "makers"))
  import model_cache  # pylint: disable=import-outside-toplevel
  missing = [str(m) for m in args.models if not (m / "saved_model").exists()]
  home = model_cache.ZOO.ensure(missing) if missing else pathlib.Path()
  print(f"{'model':20}", *args.sides)
  for model in args.models:
    figures = measure(home / model if str(model) in missing else model, args)
    print(f"{model.name:20}", *(f"{figures[s]:>{len(s)}.1e}" for s in args.sides), flush=True)
  return 0


if __name__ == "__main__":
  sys.exit(main())
