"""The models in the forms that peers load: frozen, ONNX, LiteRT; made once and kept."""

from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import quantized

Arrays = dict[str, np.ndarray]


class Refused(RuntimeError):
  """The peer cannot load or convert the model; the message says why."""


def set_tensorflow(gate: str) -> None:
  """Sets TensorFlow's gate of oneDNN; call it before the first import."""
  os.environ["TF_ENABLE_ONEDNN_OPTS"] = gate
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def fix_shapes(model: pathlib.Path, inputs: Arrays) -> Any:
  """The signature as a function of fixed shapes; weights are variables."""
  import tensorflow as tf
  loaded = tf.saved_model.load(str(model))
  signature = loaded.signatures["serving_default"]
  specs = {k: tf.TensorSpec(v.shape, v.dtype, k) for k, v in inputs.items()}
  function = tf.function(lambda **x: signature(**x)).get_concrete_function(
      **specs)
  function.owner = loaded  # functions do not keep their variables alive
  return function


def freeze(function: Any, lowered: bool = False) -> Any:
  """What fix_shapes gives, with constant weights.

  Loops and branches stay functions, or become Switch, Merge and their like if
  `lowered`: those fold when a condition is known, but cannot be imported into
  another function.
  """
  from tensorflow.python.framework import convert_to_constants
  return convert_to_constants.convert_variables_to_constants_v2(
      function, lower_control_flow=lowered)


def _convert(model: pathlib.Path, inputs: Arrays,
             converter: Callable[[Any], bytes]) -> bytes:
  """What `converter` makes of the frozen model, of whichever form it knows.

  Lowered branches first: shapes that are fixed decide most of them.
  """
  function = fix_shapes(model, inputs)
  functional = freeze(function)
  ops = {n.op for f in functional.graph.as_graph_def().library.function
         for n in f.node_def}
  ops |= {n.type for n in functional.graph.get_operations()}
  if not ops & {"If", "StatelessIf"} or ops & {"While", "StatelessWhile"}:
    return converter(functional)
  try:
    return converter(freeze(function, lowered=True))
  except Refused:
    return converter(functional)


def _fix_lists(frozen: Any) -> Any:
  """A frozen function whose tensor lists have elements of known shapes.

  Keras writes an unknown batch into their constants, where fixed shapes of
  inputs do not reach; an exporter who knew the batch would have written it.
  """
  import tensorflow as tf
  batches = {x.shape[0] for x in frozen.inputs if x.shape.rank}
  if len(batches) != 1:
    return frozen
  graph = frozen.graph.as_graph_def()
  changed = False
  for nodes in (graph.node, *(f.node_def for f in graph.library.function)):
    constants = {n.name: n for n in nodes if n.op == "Const"}
    for node in nodes:
      if node.op not in ("TensorListReserve", "TensorListFromTensor",
                         "TensorListStack"):
        continue
      source = node.input[0 if node.op == "TensorListReserve" else 1]
      shape = constants.get(source.split(":")[0])
      value = shape and tf.make_ndarray(shape.attr["value"].tensor)
      if value is not None and value.ndim and value[0] == -1:
        fixed = np.concatenate([[*batches], value[1:]]).astype(value.dtype)
        shape.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(fixed))
        changed = True
  if not changed:
    return frozen
  imported = tf.compat.v1.wrap_function(
      lambda: tf.import_graph_def(graph, name=""), [])
  return imported.prune([x.name for x in frozen.inputs],
                        [x.name for x in frozen.outputs])


def input_name(tensor_name: str) -> str:
  """The input that a placeholder's tensor stands for."""
  return tensor_name.split(":")[0]


def _kept(model: pathlib.Path, inputs: Arrays, cache: pathlib.Path, ending: str,
          make: Callable[[], bytes], *options: object) -> pathlib.Path:
  """The converted model NAME-HASH.ENDING, by `make` if it is missing."""
  shapes = {k: v.shape for k, v in inputs.items()}
  key = hashlib.sha256(
      repr((quantized.digest(model), shapes, options)).encode()).hexdigest()[:16]
  target = cache / f"{model.parent.name}-{key}{ending}"

  def write() -> None:
    content = make()
    cache.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(f".{os.getpid()}")
    partial.write_bytes(content)
    partial.rename(target)

  if not target.exists():
    _apart(write)
  return target


def _apart(action: Callable[[], None]) -> None:
  """Does it in a process of its own, which takes the memory it used with it."""
  reader, writer = os.pipe()
  child = os.fork()
  if child == 0:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    try:
      action()
    except Refused as error:
      os.write(writer, str(error).encode()[:2000] or b"refused")
    except BaseException as error:  # pylint: disable=broad-except
      os.write(writer, repr(error).encode()[:2000])
    finally:
      os._exit(0)
  os.close(writer)
  with os.fdopen(reader, "rb") as pipe:
    text = pipe.read().decode(errors="replace")
  _, status = os.waitpid(child, 0)
  if text or status:
    raise Refused(text or f"the conversion ended with status {status}")


def to_onnx(graph: Any, inputs: list[str], outputs: list[str]) -> bytes:
  """A frozen graph converted by tf2onnx; inputs and outputs are tensors' names."""
  import tf2onnx
  try:
    proto, _ = tf2onnx.convert.from_graph_def(
        graph, input_names=inputs, output_names=outputs, opset=18)
  except Exception as error:
    raise Refused(f"tf2onnx: {error}") from error
  return proto.SerializeToString()


def onnx_file(model: pathlib.Path, inputs: Arrays,
              cache: pathlib.Path) -> pathlib.Path:
  """The model converted by tf2onnx."""

  def make() -> bytes:
    set_tensorflow("0")
    return _convert(model, inputs, lambda function: to_onnx(
        function.graph.as_graph_def(), [x.name for x in function.inputs],
        [x.name for x in function.outputs]))

  return _kept(model, inputs, cache, ".onnx", make)


def litert_file(model: pathlib.Path, inputs: Arrays, cache: pathlib.Path,
                samples: pathlib.Path | None = None) -> pathlib.Path:
  """The model converted by TensorFlow's LiteRT converter, with fixed shapes.

  With `samples`: quantized to int8 where the converter can, calibrated on them
  one by one.
  """

  def convert(function: Any) -> bytes:
    import tensorflow as tf
    function = _fix_lists(function)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    if samples is not None:
      if any(len(v) != 1 for v in inputs.values()):
        raise Refused("quantized for a batch of 1 only")
      names = [input_name(x.name) for x in function.inputs]
      with np.load(samples) as arrays:
        feeds = [arrays[n] for n in names]
      converter.optimizations = [tf.lite.Optimize.DEFAULT]
      converter.representative_dataset = lambda: (
          [f[i:i + 1] for f in feeds] for i in range(len(feeds[0])))
    try:
      return converter.convert()
    except Exception as error:
      raise Refused(f"LiteRT converter: {error}") from error

  def make() -> bytes:
    set_tensorflow("0")
    return _convert(model, inputs, convert)

  options = () if samples is None else (quantized.digest(samples),)
  return _kept(model, inputs, cache, ".tflite", make, *options)


def int8_file(model: pathlib.Path, inputs: Arrays, cache: pathlib.Path,
              samples: pathlib.Path) -> pathlib.Path:
  """The converted model quantized by ONNX Runtime's tool."""
  import onnx
  if any(len(v) != 1 for v in inputs.values()):
    raise Refused("quantized for a batch of 1 only")
  path = onnx_file(model, inputs, cache)
  names = [x.name for x in onnx.load(path).graph.input]
  with np.load(samples) as arrays:
    feeds = {n: arrays[input_name(n)] for n in names}
  try:
    return quantized.by_onnxruntime(path, model.parent.name, feeds, cache)
  except Exception as error:
    raise Refused(f"onnxruntime.quantization: {error}") from error
