#!/usr/bin/env python3
"""Makes golden values per op from real TensorFlow, oneDNN off.

  tests/makers/goldens.py [TOPIC ...]      writes tests/numerics/goldens/TOPIC.npz
  tests/makers/goldens.py --check          compares instead; exit status 1 on change

The cases are the lines of tests/numerics/cases/TOPIC.txt; the README beside
describes lines and containers. Each case is a graph of one op, run with every
graph optimization off.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import os
import pathlib
import sys
import zipfile
from typing import Any

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.framework import op_def_registry

import golden_convolutions
import golden_equivalents
import quantized_model

TEXT_TOPIC = "tokenize"  # its ops are those of tensorflow-text
HAS_TEXT = False
with contextlib.suppress(ImportError):
  import tensorflow_text  # pylint: disable=unused-import
  HAS_TEXT = True

from golden_cases import (DTYPE_NAMES, QUANTIZED, QUANTIZED_NAMES, Case,
                          CaseError, HexBytes, Input, QuantizedType, make_input,
                          read_cases)

tf1 = tf.compat.v1
ROOT = pathlib.Path(__file__).resolve().parent.parent / "numerics"
CASES = ROOT / "cases"
GOLDENS = ROOT / "goldens"


def _shape_proto(dimensions: list[int]) -> Any:
  """-1 is an unknown dimension."""
  return tf.TensorShape([None if d < 0 else d for d in dimensions]).as_proto()


def _set_attribute(attr: Any, kind: str, value: Any) -> None:
  """Fills an AttrValue of the op definition's kind, e.g. `list(int)`."""
  if kind.startswith("list("):
    kind, target, values = kind[5:-1], attr.list, value
    target.SetInParent()
    if kind == "type":
      target.type.extend(tf.as_dtype(v).as_datatype_enum for v in values)
    elif kind == "string":
      target.s.extend(v.encode() for v in values)
    elif kind == "shape":
      target.shape.extend(_shape_proto(v) for v in values)
    else:
      getattr(target, {"int": "i", "float": "f", "bool": "b"}[kind]).extend(
          values)
  elif kind == "type":
    attr.type = tf.as_dtype(value).as_datatype_enum
  elif kind == "string":
    attr.s = value if isinstance(value, bytes) else value.encode()
  elif kind == "shape":
    attr.shape.CopyFrom(_shape_proto(value))
  else:
    setattr(attr, {"int": "i", "float": "f", "bool": "b"}[kind], value)


def _infer_types(case: Case, definition: Any) -> dict[str, Any]:
  """Type and count attributes that follow from the inputs, as in a NodeDef."""
  found: dict[str, Any] = {}
  position = 0
  # What the one list takes: what single arguments and given counts leave.
  left = len(case.inputs) - sum(
      case.attributes.get(a.number_attr, 0) if a.number_attr else
      not a.type_list_attr for a in definition.input_arg)
  for argument in definition.input_arg:
    count = 1
    if argument.number_attr:
      if argument.number_attr in found:
        count = found[argument.number_attr]
      elif argument.number_attr in case.attributes:
        count = case.attributes[argument.number_attr]
      else:
        count = left
      found[argument.number_attr] = count
    elif argument.type_list_attr:
      if argument.type_list_attr in case.attributes:  # one of several lists
        count = len(case.attributes[argument.type_list_attr])
      else:
        count = left
      found[argument.type_list_attr] = [
          _numpy_dtype(case, position + i) for i in range(count)]
    if count and argument.type_attr and argument.type_attr not in found:
      found[argument.type_attr] = _numpy_dtype(case, position)
    position += count
  if position != len(case.inputs):
    raise CaseError(f"{case.topic}/{case.name}: {case.op} takes {position} "
                    f"inputs, the line has {len(case.inputs)}")
  return found


def _numpy_dtype(case: Case, index: int) -> np.dtype | QuantizedType:
  """dtype of an input; quantized ones by TensorFlow's name."""
  if index >= len(case.inputs):
    raise CaseError(f"{case.topic}/{case.name}: {case.op} takes more inputs "
                    f"than the line's {len(case.inputs)}; N may be missing")
  spec = case.inputs[index].dtype
  if spec in QUANTIZED:
    return QUANTIZED[spec][0]
  return make_input(case, index).dtype


def _bitcast(graph: tf1.GraphDef, name: str, source: str, dtype: np.dtype,
             target: tf.DType) -> None:
  node = graph.node.add(name=name, op="Bitcast")
  node.input.append(source)
  node.attr["T"].type = tf.as_dtype(dtype).as_datatype_enum
  node.attr["type"].type = target.as_datatype_enum


# Ops that newer graphs may not hold.
_LAST_PRODUCER = {
    "AdjustContrast": 1, "BatchSelfAdjointEig": 10, "SelfAdjointEig": 10,
    "QuantizeAndDequantize": 21, "MatrixExponential": 26, "TileGrad": 2,
    "RandomPoisson": 24, "RandomCrop": 7,
    "BatchNormWithGlobalNormalizationGrad": 8,
    "BatchNormWithGlobalNormalization": 8, "StatefulStandardNormal": 28,
} | dict.fromkeys(
    ("BatchCholesky", "BatchCholeskyGrad", "BatchMatrixDeterminant",
     "BatchMatrixInverse", "BatchMatrixSolve", "BatchMatrixSolveLs",
     "BatchMatrixTriangularSolve", "BatchSelfAdjointEigV2", "BatchSvd"), 12
) | dict.fromkeys(
    ("BatchMatrixBandPart", "BatchMatrixDiag", "BatchMatrixDiagPart",
     "BatchMatrixSetDiag"), 13)


def build_graph(case: Case, values: list[np.ndarray]) -> tf1.GraphDef:
  """A GraphDef with inputs `in0`, `in1`, … and the op as node `case`."""
  definition = op_def_registry.get(case.op)
  if definition is None:
    raise CaseError(f"{case.topic}/{case.name}: no TensorFlow op {case.op}")
  graph = tf1.GraphDef()
  graph.versions.producer = _LAST_PRODUCER.get(case.op,
                                               tf.version.GRAPH_DEF_VERSION)
  for i, (spec, value) in enumerate(zip(case.inputs, values)):
    node = graph.node.add(name=f"in{i}")
    dtype = tf.as_dtype(value.dtype).as_datatype_enum
    node.attr["dtype"].type = dtype
    if spec.constant:
      node.op = "Const"
      node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
    else:
      node.op = "Placeholder"
      node.attr["shape"].shape.CopyFrom(tf.TensorShape(value.shape).as_proto())
    if spec.dtype in QUANTIZED:
      _bitcast(graph, f"quantized{i}", f"in{i}", value.dtype,
               tf.as_dtype(QUANTIZED[spec.dtype][0]))
  node = graph.node.add(name="case", op=case.op)
  node.input.extend(
      f"quantized{i}" if spec.dtype in QUANTIZED else f"in{i}"
      for i, spec in enumerate(case.inputs))
  kinds = {a.name: a.type for a in definition.attr}
  for name, value in {**_infer_types(case, definition),
                      **case.attributes}.items():
    if name not in kinds:
      raise CaseError(f"{case.topic}/{case.name}: {case.op} has no {name}")
    _set_attribute(node.attr[name], kinds[name], value)
  return graph


# Ops that only XLA computes.
_COMPILED = {
    "XlaSplitND", "XlaConcatND", "XlaSetBound", "XlaSetDynamicDimensionSize",
    "XlaSpmdFullToShardShape", "XlaSpmdShardToFullShape"}


def _run_compiled(case: Case, values: list[np.ndarray]) -> list[np.ndarray]:
  """As run_case, by XLA. All inputs are fed."""
  graph = build_graph(case, values)

  @tf.function(jit_compile=True, autograph=False)
  def run(*inputs: tf.Tensor) -> list[tf.Tensor]:
    given = {f"in{i}:0": t for i, t in enumerate(inputs)}
    (operation,) = tf.import_graph_def(graph, given, ["case"])
    return operation.outputs

  with tf.Graph().as_default(), tf1.Session() as session:
    return session.run(run(*(tf.constant(v) for v in values)))


def run_case(case: Case, values: list[np.ndarray]) -> list[np.ndarray]:
  """The op's outputs. Raises what TensorFlow raises."""
  if case.op in _COMPILED:
    return _run_compiled(case, values)
  config = tf1.ConfigProto()
  rewrite = config.graph_options.rewrite_options
  rewrite.disable_meta_optimizer = True
  rewrite.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
  config.graph_options.optimizer_options.opt_level = -1
  with tf.Graph().as_default() as graph:
    tf.import_graph_def(build_graph(case, values), name="")
    operation = graph.get_operation_by_name("case")
    # Copies: TensorFlow reads an aligned array where it lies, and the kernels of
    # InplaceUpdate and its kin write into what they read.
    feeds = {f"in{i}:0": v.copy()
             for i, (s, v) in enumerate(zip(case.inputs, values))
             if not s.constant}
    with tf1.Session(graph=graph, config=config) as session:
      outputs = [tf.bitcast(o, QUANTIZED[QUANTIZED_NAMES[o.dtype.name]][1])
                 if o.dtype.is_quantized else o for o in operation.outputs]
      return session.run(outputs, feeds)


# CPU kernels that know NHWC only. Their NCHW form is run as NHWC, transposed.
_NCHW_VIA_NHWC = {"Conv2D", "DepthwiseConv2dNative", "MaxPool", "AvgPool",
                  "FusedBatchNormV3", "DepthToSpace", "SpaceToDepth"}


def _as_nhwc(case: Case, values: list[np.ndarray]) -> tuple[Case, list]:
  attributes = dict(case.attributes, data_format="NHWC")
  for name in ("strides", "dilations", "ksize"):
    if name in attributes:
      n, c, h, w = attributes[name]
      attributes[name] = [n, h, w, c]
  if attributes.get("explicit_paddings"):
    p = attributes["explicit_paddings"]
    attributes["explicit_paddings"] = p[:2] + p[4:] + p[2:4]
  inputs = list(case.inputs)
  first = values[0].transpose(0, 2, 3, 1)
  inputs[0] = dataclasses.replace(inputs[0], shape=first.shape)
  return (dataclasses.replace(case, inputs=inputs, attributes=attributes),
          [first, *values[1:]])


def _frozen_grad_as_nhwc(case: Case, values: list) -> tuple[Case, list]:
  """The gradient of inference, whose CPU kernel takes NCHW for NHWC."""
  attributes = dict(case.attributes, data_format="NHWC")
  images = [v.transpose(0, 2, 3, 1) for v in values[:2]]
  inputs = [dataclasses.replace(spec, shape=image.shape)
            for spec, image in zip(case.inputs, images)]
  return (dataclasses.replace(case, inputs=inputs + case.inputs[2:],
                              attributes=attributes), images + values[2:])


def _undilated(case: Case, values: list[np.ndarray]) -> tuple[Case, list]:
  """A depthwise convolution with zeros put between the filter's taps.

  TensorFlow's CPU kernel does not implement dilations.
  """
  _, rows, columns, _ = case.attributes["dilations"]
  h, w, c, m = values[1].shape
  spread = np.zeros((rows * (h - 1) + 1, columns * (w - 1) + 1, c, m),
                    values[1].dtype)
  spread[::rows, ::columns] = values[1]
  inputs = list(case.inputs)
  inputs[1] = dataclasses.replace(inputs[1], shape=spread.shape)
  attributes = dict(case.attributes, dilations=[1, 1, 1, 1])
  return (dataclasses.replace(case, inputs=inputs, attributes=attributes),
          [values[0], spread])


def _round_trip_v3(case: Case, values: list[np.ndarray]) -> tuple[Case, list]:
  """The same with num_bits as an input.

  V2 and V4 of TensorFlow 2.21 ask for a scalar range where an axis is given.
  """
  attributes = dict(case.attributes)
  bits = np.array(attributes.pop("num_bits", 8), np.int32)
  inputs = [*case.inputs, Input("i32", (), False, "")]
  return (dataclasses.replace(case, op="QuantizeAndDequantizeV3",
                              inputs=inputs, attributes=attributes),
          [*values, bits])


# Ops that know half (bfloat16), but have no CPU kernel for it.
_HALF_VIA_FLOAT = {
    "BandedTriangularSolve", "Cholesky", "LogMatrixDeterminant", "Lu",
    "MatrixDeterminant", "MatrixSolve", "MatrixTriangularSolve",
    "SelfAdjointEigV2"}


def _in_float(case: Case, values: list[np.ndarray]) -> list[np.ndarray]:
  """The same in float, rounded once."""
  half = values[0].dtype
  inputs = [dataclasses.replace(spec, dtype="f32") if v.dtype == half else spec
            for spec, v in zip(case.inputs, values)]
  outputs = run_case(dataclasses.replace(case, inputs=inputs),
                     [v.astype(np.float32) if v.dtype == half else v
                      for v in values])
  return [o.astype(half) if o.dtype == np.float32 else o for o in outputs]


def _run_as_supported(case: Case,
                      values: list[np.ndarray]) -> list[np.ndarray]:
  """run_case, by way of an equal case where the CPU kernel lacks this one."""
  if case.fails and not quantized_model.refuses(case):
    return run_case(case, values)
  if case.op in _HALF_VIA_FLOAT and case.inputs[0].dtype in ("f16", "bf16"):
    return _in_float(case, values)
  if (case.op.startswith("FusedBatchNormGrad") and
      case.attributes.get("data_format") == "NCHW" and
      case.attributes.get("is_training") is False):
    outputs = run_case(*_frozen_grad_as_nhwc(case, values))
    return [outputs[0].transpose(0, 3, 1, 2), *outputs[1:]]
  if (case.op in _NCHW_VIA_NHWC and
      case.attributes.get("data_format") == "NCHW"):
    outputs = run_case(*_as_nhwc(case, values))
    return [o.transpose(0, 3, 1, 2) if o.ndim == 4 else o for o in outputs]
  if case.op == "DepthwiseConv2dNative" and "dilations" in case.attributes:
    return run_case(*_undilated(case, values))
  if case.op == "Conv3D":
    return golden_convolutions.compute_3d(case, values, run_case)
  if case.op in golden_equivalents.OPS:
    return golden_equivalents.OPS[case.op](case, values, run_case)
  if case.op in golden_convolutions.OPS:
    return golden_convolutions.compute(case, values, run_case)
  if quantized_model.applies(case):
    return quantized_model.compute(case, values)
  if (case.op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4") and
      "axis" in case.attributes and case.attributes.get("range_given")):
    return run_case(*_round_trip_v3(case, values))
  return run_case(case, values)


def compute(case: Case) -> tuple[list[np.ndarray], list[np.ndarray], str]:
  """Inputs, outputs and the node's full line; outputs empty when it fails."""
  values = [make_input(case, i) for i in range(len(case.inputs))]
  if case.alone:
    return values, [], _full_line(case, [])
  try:
    outputs = _run_as_supported(case, values)
  except (tf.errors.OpError, ValueError, TypeError) as error:
    if isinstance(error, CaseError) or not case.fails:
      raise CaseError(f"{case.topic}/{case.name}: {error}") from error
    return values, [], _full_line(case, [])
  if case.fails:
    raise CaseError(f"{case.topic}/{case.name}: TensorFlow accepts this case")
  outputs = [np.asarray(o, object) if isinstance(o, bytes) else np.asarray(o)
             for o in outputs[:case.outputs]]
  return values, outputs, _full_line(case, outputs)


def _call(case: Case) -> str:
  return f"{case.name}: {case.op}({', '.join(map(str, case.inputs))})"


def _show(value: Any) -> str:
  if isinstance(value, (list, tuple)):
    return f"[{','.join(_show(v) for v in value)}]"
  if isinstance(value, bool):
    return "true" if value else "false"
  if isinstance(value, QuantizedType):
    return QUANTIZED_NAMES[value]
  if isinstance(value, tf.DType) and value.is_quantized:
    return QUANTIZED_NAMES[value.name]
  if isinstance(value, HexBytes):
    return f"hex:{value.hex()}"
  if isinstance(value, bytes):
    return f'"{value.decode()}"'
  if isinstance(value, str):
    return f'"{value}"'
  if isinstance(value, (tf.DType, np.dtype)):
    return DTYPE_NAMES[np.dtype(tf.as_dtype(value).as_numpy_dtype)]
  if isinstance(value, float):
    return repr(float(np.float32(value)))
  return str(value)


def _default(attr: Any, kind: str) -> Any:
  """An op definition's default value in Python."""
  if kind.startswith("list("):
    field = {"int": "i", "float": "f", "bool": "b", "string": "s",
             "type": "type", "shape": "shape"}[kind[5:-1]]
    values = list(getattr(attr.list, field))
    return [tf.as_dtype(v) for v in values] if field == "type" else values
  if kind == "type":
    return tf.as_dtype(attr.type)
  if kind == "shape":
    return [d.size for d in attr.shape.dim]
  return getattr(attr, {"int": "i", "float": "f", "bool": "b",
                        "string": "s"}[kind])


def _output_types(definition: Any, attributes: dict[str, Any],
                  outputs: list[np.ndarray]) -> list[str]:
  """Names of the outputs' dtypes; arrays alone do not tell quantized ones."""
  listed: list[Any] = []
  for argument in definition.output_arg:
    if argument.type_list_attr:
      listed += list(attributes[argument.type_list_attr])
    else:
      value = attributes.get(argument.type_attr)
      listed += [value] * attributes.get(argument.number_attr, 1)
  quantized = [isinstance(v, QuantizedType) or
               isinstance(v, tf.DType) and v.is_quantized for v in listed]
  return [_show(v) if q else DTYPE_NAMES[o.dtype]
          for v, q, o in zip(listed, quantized, outputs)]


def _own_line(case: Case, outputs: list[np.ndarray]) -> str:
  """The line of an op that TensorFlow does not have, as it was written."""
  words = " ".join(f"{k}={_show(v)}" for k, v in sorted(case.attributes.items()))
  if case.fails:
    return f"{_call(case)} {words}".rstrip() + " => error"
  own = case.attributes.get("T")
  results = ", ".join(
      f"{_show(own) if o.dtype.itemsize == 1 else DTYPE_NAMES[o.dtype]}"
      f"[{','.join(map(str, o.shape))}]" for o in outputs)
  return f"{_call(case)} -> {results} {words}".rstrip()


def _full_line(case: Case, outputs: list[np.ndarray]) -> str:
  """The case with every attribute of the node and the outputs' types."""
  definition = op_def_registry.get(case.op)
  if definition is None:
    return _own_line(case, outputs)
  attributes = {a.name: _default(a.default_value, a.type)
                for a in definition.attr
                if a.HasField("default_value") and not a.name.startswith("_")}
  attributes |= _infer_types(case, definition) | case.attributes
  words = " ".join(f"{k}={_show(v)}" for k, v in sorted(attributes.items()))
  types = _output_types(definition, attributes, outputs)
  results = ", ".join(f"{t}[{','.join(map(str, o.shape))}]"
                      for t, o in zip(types, outputs))
  if case.fails:
    return f"{_call(case)} {words}".rstrip() + (
        " => safe" if case.safe else " => error")
  return f"{_call(case)} -> {results} {words}".rstrip()


def bits_of_small(array: np.ndarray) -> np.ndarray:
  """float8, int4 and uint4 as their bits; other arrays as they are."""
  if array.dtype.name.startswith("float8") or array.dtype.name in ("int4", "uint4"):
    return array.view(np.uint8)
  return array


def _storable(array: np.ndarray) -> np.ndarray:
  """ml_dtypes' numbers, which .npy does not know, as their bits; strings as `S`."""
  if array.dtype == ml_dtypes.bfloat16:
    return array.view(np.uint16)
  array = bits_of_small(array)
  if array.dtype == np.object_:
    return array.astype(np.bytes_)
  return array


def write_npz(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
  """An .npz whose bytes depend on nothing but the arrays."""
  with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
    for key, array in arrays.items():
      buffer = io.BytesIO()
      np.lib.format.write_array(buffer, np.asarray(_storable(array), order="C"),
                                version=(1, 0))
      entry = zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0))
      entry.compress_type = zipfile.ZIP_DEFLATED
      archive.writestr(entry, buffer.getvalue())


# How far the same op may be off on another CPU: some units of the last place.
_ROUNDING = {"f16": 2e-3, "bf16": 1.6e-2, "f64": 1e-12, "c128": 1e-12}


def _differences(path: pathlib.Path, arrays: dict[str, np.ndarray],
                 lines: list[str]) -> list[str]:
  """What a stored container lacks, has too many, or has otherwise."""
  nodes = path.with_suffix(".nodes")
  if not path.exists() or not nodes.exists():
    return [f"{path.stem}: not made yet"]
  with np.load(path) as file:
    stored = dict(file)
  messages = [f"{path.name}: {k} is {'missing' if k in arrays else 'stale'}"
              for k in sorted(set(stored) ^ set(arrays))]
  if nodes.read_text().splitlines() != lines:
    messages.append(f"{nodes.name} is stale")
  for key in sorted(set(stored) & set(arrays)):
    old, new = stored[key], arrays[key]
    if old.dtype != _storable(new).dtype or old.shape != new.shape:
      messages.append(f"{path.name}: {key} has another type or shape")
      continue
    rounding = 0.0
    if new.dtype.kind in "fcV":
      rounding = 0.0 if _storable(new).dtype == np.uint8 else _ROUNDING.get(DTYPE_NAMES[new.dtype], 1e-5)
    if new.dtype == ml_dtypes.bfloat16:
      old, new = old.view(ml_dtypes.bfloat16).astype("f4"), new.astype("f4")
    if rounding:
      scale = np.abs(new[np.isfinite(new)]).max(initial=0)
      equal = np.allclose(old, new, rounding, 0.1 * rounding * float(scale),
                          equal_nan=True)
    else:
      equal = np.array_equal(old, _storable(new))
    if not equal:
      messages.append(f"{path.name}: {key} has other values")
  return messages


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("topics", nargs="*", metavar="TOPIC")
  parser.add_argument("--check", action="store_true",
                      help="compare with the stored values, write nothing")
  args = parser.parse_args()
  paths = ([CASES / f"{t}.txt" for t in args.topics] or
           sorted(CASES.glob("*.txt")))
  GOLDENS.mkdir(parents=True, exist_ok=True)
  failures: list[str] = []
  total = 0
  if not HAS_TEXT and not args.topics:
    print(f"{TEXT_TOPIC}: left as it is, because tensorflow-text is not installed")
    paths = [p for p in paths if p.stem != TEXT_TOPIC]
  for path in paths:
    arrays: dict[str, np.ndarray] = {}
    lines: list[str] = []
    try:
      cases = read_cases(path)
    except (CaseError, OSError) as error:
      failures.append(str(error))
      continue
    for case in cases:
      try:
        values, outputs, line = compute(case)
      except CaseError as error:
        failures.append(str(error).split("\n", maxsplit=1)[0])
        continue
      lines.append(line)
      for i, value in enumerate(values):
        arrays[f"{case.name}/in{i}"] = value
      for i, value in enumerate(outputs):
        arrays[f"{case.name}/out{i}"] = value
    total += len(lines)
    target = GOLDENS / f"{path.stem}.npz"
    if args.check:
      failures += _differences(target, arrays, lines)
    else:
      write_npz(target, arrays)
      target.with_suffix(".nodes").write_text("\n".join(lines) + "\n")
  if not args.check:
    (GOLDENS / "versions.json").write_text(json.dumps({
        "tensorflow": tf.__version__, "numpy": np.__version__,
        "TF_ENABLE_ONEDNN_OPTS": "0"}, indent=2) + "\n")
  for message in failures:
    print(message, file=sys.stderr)
  print(f"{total} cases, {len(failures)} problems")
  return 1 if failures else 0


if __name__ == "__main__":
  sys.exit(main())
