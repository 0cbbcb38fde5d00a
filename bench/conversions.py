"""The models in the forms that peers load: frozen, ONNX, LiteRT; made once and kept."""

from __future__ import annotations

import hashlib
import os
import pathlib
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


def freeze(model: pathlib.Path, inputs: Arrays) -> Any:
  """The signature as a function of fixed shapes with constant weights."""
  import tensorflow as tf
  from tensorflow.python.framework import convert_to_constants
  loaded = tf.saved_model.load(str(model))
  signature = loaded.signatures["serving_default"]
  specs = {k: tf.TensorSpec(v.shape, v.dtype, k) for k, v in inputs.items()}
  wrapped = tf.function(lambda **x: signature(**x))
  return convert_to_constants.convert_variables_to_constants_v2(
      wrapped.get_concrete_function(**specs))


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
  if not target.exists():
    content = make()
    cache.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    partial.write_bytes(content)
    partial.rename(target)
  return target


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
    function = freeze(model, inputs)
    return to_onnx(function.graph.as_graph_def(),
                   [x.name for x in function.inputs],
                   [x.name for x in function.outputs])

  return _kept(model, inputs, cache, ".onnx", make)


def litert_file(model: pathlib.Path, inputs: Arrays, cache: pathlib.Path,
                samples: pathlib.Path | None = None) -> pathlib.Path:
  """The model converted by TensorFlow's LiteRT converter, with fixed shapes.

  With `samples`: quantized to int8 where the converter can, calibrated on them
  one by one.
  """

  def make() -> bytes:
    set_tensorflow("0")
    import tensorflow as tf
    function = freeze(model, inputs)
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
