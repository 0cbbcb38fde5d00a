"""NumPy model of the quantized ops that TensorFlow has in oneDNN only, or not at all.

Documented semantics: 8-bit integers q of range [min, max] stand for q * step,
step = max(|min|, |max|) / 255 (unsigned) or / 127; sums of products, bias,
summand and relu are taken on these real numbers; results are rounded to even
in the result's step and saturated. int32 results count in units of the
data's step times the weights' (for each output channel, where the weights
have a range for each). Where an op has zero points, products are of the
differences from the data's, and the result's is added before rounding.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def _magnitude(low: Any, high: Any) -> np.ndarray:
  return np.maximum(np.abs(low), np.abs(high)).astype(np.float64)


def _limit(dtype: np.dtype) -> float:
  return 255.0 if dtype == np.uint8 else 127.0


def _saturated(real: np.ndarray, dtype: Any) -> np.ndarray:
  info = np.iinfo(dtype)
  return np.clip(np.rint(real), info.min, info.max).astype(dtype)


def _padding(size: int, window: int, stride: int, padding: str) -> tuple:
  if padding == "VALID":
    return 0, 0
  out = -(-size // stride)
  total = max((out - 1) * stride + window - size, 0)
  return total // 2, total - total // 2


def _conv_sums(x: np.ndarray, w: np.ndarray, attributes: dict[str, Any],
               depthwise: bool) -> np.ndarray:
  """int64 sums of an NHWC convolution."""
  _, row_step, column_step, _ = attributes["strides"]
  _, row_gap, column_gap, _ = attributes.get("dilations", [1, 1, 1, 1])
  h, width = (w.shape[0] - 1) * row_gap + 1, (w.shape[1] - 1) * column_gap + 1
  pads = (attributes.get("padding_list") or
          attributes.get("explicit_paddings") or [])
  if pads:
    rows, columns = (pads[2], pads[3]), (pads[4], pads[5])
  else:
    rows = _padding(x.shape[1], h, row_step, attributes["padding"])
    columns = _padding(x.shape[2], width, column_step, attributes["padding"])
  x = np.pad(x.astype(np.int64), ((0, 0), rows, columns, (0, 0)))
  out_h = (x.shape[1] - h) // row_step + 1
  out_w = (x.shape[2] - width) // column_step + 1
  groups = 1 if depthwise else x.shape[3] // w.shape[2]
  total = 0
  for i in range(w.shape[0]):
    for j in range(w.shape[1]):
      top, left = i * row_gap, j * column_gap
      part = x[:, top:top + row_step * (out_h - 1) + 1:row_step,
               left:left + column_step * (out_w - 1) + 1:column_step]
      tap = w[i, j].astype(np.int64)
      if depthwise:
        product = part[..., None] * tap
        total = total + product.reshape(*part.shape[:3], -1)
      else:
        total = total + np.concatenate(
            [p @ t for p, t in zip(np.split(part, groups, 3),
                                   np.split(tap, groups, 1))], 3)
  return np.asarray(total)


class _Arguments:
  """Takes an op's inputs one after another."""

  def __init__(self, values: list[np.ndarray]):
    self._values = list(values)

  def take(self, count: int) -> list[np.ndarray]:
    taken, self._values = self._values[:count], self._values[count:]
    return taken


def _output_dtype(case: Any, default: Any) -> Any:
  name = case.attributes.get("out_type", case.attributes.get("Toutput"))
  return {"qint8": np.int8, "quint8": np.uint8, "qint32": np.int32,
          None: default}.get(None if name is None else str(name), np.float32)


def _fused(case: Any, sums: np.ndarray, arguments: _Arguments,
           x: np.ndarray, w: np.ndarray, min_first: bool) -> list[np.ndarray]:
  """What the op's name says of the sums: bias, summand, relu, result."""
  bias = arguments.take(1)[0] if "WithBias" in case.op else None
  x_low, x_high = arguments.take(2)
  w_low, w_high = arguments.take(2)
  steps = 255.0 if x.dtype == np.uint8 else 254.0
  x_step = ((x_high - x_low) / _limit(x.dtype) if min_first else
            _magnitude(x_low, x_high) / _limit(x.dtype))
  unit = x_step * _magnitude(w_low, w_high) / 127.0
  level = ((x_high - x_low).astype(np.float64) / steps *
           (w_high - w_low).astype(np.float64) / 254.0)
  low, high = level * -2.0 ** 31, level * (2.0 ** 31 - 1)
  whole = "Requantize" not in case.op and "Dequantize" not in case.op
  real = sums * unit
  if bias is not None:
    if bias.dtype == np.int32:
      extra = bias * unit
    else:
      extra = bias.astype(np.float64)
      if min_first:
        extra = extra + w.astype(np.int64).sum(0) * unit / x_step * x_low
    # int32 results: the bias is rounded by itself.
    real = real + (np.rint(extra / unit) * unit if whole else extra)
  if not whole:
    low, high = arguments.take(2)
  if "Sum" in case.op:
    (summand,) = arguments.take(1)
    if summand.dtype == np.float32:
      real = real + np.rint(summand / unit) * unit
    else:
      s_low, s_high = arguments.take(2)
      real = real + summand * _magnitude(s_low, s_high) / _limit(summand.dtype)
  if "Relu" in case.op:
    real = np.maximum(real, 0)
  if "_Swish" in case.attributes.get("fused_ops", []):
    real = real / (1 + np.exp(-real))
  if "Dequantize" in case.op:
    return [real.astype(np.float32)]
  if whole:
    return [_saturated(real / unit, np.int32), low.astype(np.float32),
            high.astype(np.float32)]
  signed = "Conv2D" in case.op and "Relu" not in case.op
  dtype = _output_dtype(case, np.int8 if signed else np.uint8)
  step = _magnitude(low, high) / _limit(np.dtype(dtype))
  zero = case.attributes.get("result_zero", 0)
  return [_saturated(real / step + zero, dtype), low, high]


def _convolution(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  arguments = _Arguments(values)
  x, w = arguments.take(2)
  shifted = x.astype(np.int64) - case.attributes.get("data_zero", 0)
  sums = _conv_sums(shifted, w, case.attributes, "Depthwise" in case.op)
  return _fused(case, sums, arguments, x, w, min_first=False)


def _product(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  arguments = _Arguments(values)
  x, w = arguments.take(2)
  if case.attributes.get("transpose_a"):
    x = x.T
  if case.attributes.get("transpose_b"):
    w = w.T
  mode = case.attributes.get("input_quant_mode", "MIN_FIRST")
  sums = x.astype(np.int64) @ w.astype(np.int64)
  return _fused(case, sums, arguments, x, w, min_first=mode == "MIN_FIRST")


def _listed(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """Ops whose fusion is an attribute, as the op that has it in its name."""
  _check_listed(case)
  ops = case.attributes.get("fused_ops", [])
  ranges, tensors = values[2:], values[:2]
  bias = [ranges.pop(0)] if "BiasAdd" in ops else []
  summand = [ranges.pop(0)] if "Sum" in ops else []
  data, weights = ranges[:2], ranges[2:4]
  rest = ranges[4:]
  if summand and summand[0].dtype != np.float32:
    summand, rest = summand + rest[:2], rest[2:]
  if "Dequantize" in ops:
    rest = [np.float32(0), np.float32(0)]
  name = ("WithBias" * bool(bias) + "Sum" * bool(summand) + "Relu" *
          ("Relu" in ops) + "".join(o for o in ops if o.endswith("quantize")))
  core = "MatMul" if "MatMul" in case.op else "Conv2D"
  depthwise = "Depthwise" if "Depthwise" in case.op else ""
  attributes = {"input_quant_mode": "SCALED", **case.attributes}
  attributes["out_type"] = attributes.get("out_type", attributes.get("Tout"))
  named = dataclasses.replace(case, op=f"Quantized{depthwise}{core}{name}",
                              attributes=attributes)
  values = [*tensors, *bias, *data, *weights, *rest, *summand]
  return (_product if core == "MatMul" else _convolution)(named, values)


def _check_listed(case: Any) -> None:
  """Zero points that the ops refuse."""
  attributes = case.attributes
  for name in ("data_zero", "result_zero"):
    if not -128 <= attributes.get(name, 0) <= 255:
      raise ValueError(f"{name} is no integer of 8 bits")
  if attributes.get("result_zero") and "Requantize" not in attributes["fused_ops"]:
    raise ValueError("result_zero goes with Requantize")


def _scaled_add(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """_ScaledAdd."""
  a, b, *ranges = values
  low, high = ranges[4:]
  dtype = {"qint8": np.int8, "quint8": np.uint8}[str(case.attributes["T"])]
  zero = case.attributes.get("zero", 0)
  if not np.iinfo(dtype).min <= zero <= np.iinfo(dtype).max:
    raise ValueError("zero is no integer of the result")
  if a.shape != b.shape:
    raise ValueError("shapes differ")
  real = np.float64(case.attributes.get("offset", 0))
  for x, (x_low, x_high) in ((a, ranges[0:2]), (b, ranges[2:4])):
    real = real + x * (_magnitude(x_low, x_high) / _limit(x.dtype))
  real = real / (_magnitude(low, high) / _limit(np.dtype(dtype)))
  if case.attributes.get("relu"):
    real = np.maximum(real, zero)
  return [_saturated(real, dtype)]


def _scaled_mean(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """_ScaledMean."""
  x, axes, low, high = values
  axes = sorted({int(a) % x.ndim for a in axes.reshape(-1)})
  if axes and axes != list(range(axes[0], axes[-1] + 1)):
    raise ValueError("axes stand apart")
  mean = x.astype(np.float64).mean(
      tuple(axes), keepdims=case.attributes.get("keep_dims", False))
  step = _magnitude(low, high) / _limit(x.dtype)
  return [(mean * step + case.attributes.get("offset", 0)).astype(np.float32)]


_ELEMENTWISE = {"Mul": np.multiply, "AddV2": np.add, "Sub": np.subtract,
                "Relu": lambda x: np.maximum(x, 0), "Neg": np.negative}


def _elementwise_to_integers(case: Any,
                             values: list[np.ndarray]) -> list[np.ndarray]:
  """_FusedElementwiseToIntegers: a program of single float operations."""
  results: list[np.ndarray] = []
  for line in case.attributes["program"]:
    op, *words = line.split()
    operands = [(values if w[0] == "$" else results)[int(w[1:])] for w in words]
    results.append(_ELEMENTWISE[op](*operands).astype(np.float32))
  dtype = {"qint8": np.int8, "quint8": np.uint8}[str(case.attributes["T"])]
  zero, step = case.attributes.get("zero", 0), case.attributes.get("step", 1)
  if not np.iinfo(dtype).min <= zero <= np.iinfo(dtype).max or step <= 0:
    raise ValueError("no such zero or step")
  steps = results[-1] / np.float64(step) + zero
  if not case.attributes.get("half_to_even", False):
    steps = np.trunc(steps + np.copysign(0.5, steps))
  return [_saturated(np.where(np.isnan(steps), 0, steps), dtype)]


def _concat(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """QuantizedConcatV2, in float32 as QuantizedConcat has it."""
  del case
  n = (len(values) - 1) // 3
  parts, axis = values[:n], int(values[n])
  lows, highs = values[n + 1:2 * n + 1], values[2 * n + 1:]
  low, high = np.float32(min(lows)), np.float32(max(highs))
  info = np.iinfo(parts[0].dtype)
  if info.min < 0:
    high = max(abs(low), abs(high))
    low = -high
  steps = info.max - info.min
  scale = np.float32(steps / float(high - low))
  offset = np.rint(low * scale) - np.float32(info.min)
  out = []
  for part, part_low, part_high in zip(parts, lows, highs):
    if part_low == low and part_high == high:
      out.append(part)
      continue
    step = np.float32(float(part_high - part_low) / steps)
    first = np.rint(part_low / step) * step - np.float32(info.min) * step
    real = first + part.astype(np.float32) * step
    moved = np.trunc(real * scale + np.copysign(np.float32(0.5), real))
    out.append(np.clip(moved - offset, info.min, info.max).astype(part.dtype))
  return [np.concatenate(out, axis), low, high]


def _clipped_relu(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """QuantizedReluX: TensorFlow defines it, but registers no kernel."""
  del case
  x, bound, low, high = values
  info = np.iinfo(x.dtype)
  steps = 2.0 ** (8 * x.itemsize)
  scale = (steps - 1) / float(high - low)

  def quantize(v: float) -> int:
    q = round(v * scale) - round(float(low) * scale) + info.min
    return int(np.clip(q, info.min, info.max))

  return [np.clip(x, quantize(0.0), quantize(float(bound))).astype(x.dtype),
          low, high]


OPS = {"QuantizedReluX": _clipped_relu, "QuantizedConcatV2": _concat,
       "_ScaledAdd": _scaled_add, "_ScaledMean": _scaled_mean,
       "_FusedElementwiseToIntegers": _elementwise_to_integers,
       "_FusedQuantizedConv2D": _listed,
       "_FusedQuantizedDepthwiseConv2D": _listed,
       "_QuantizedMatMul": _listed}
for _fusion in ("PerChannel", "AndRelu", "AndRequantize",
                "AndReluAndRequantize", "WithBias", "WithBiasAndRelu",
                "WithBiasAndRequantize", "WithBiasAndReluAndRequantize",
                "WithBiasSumAndRelu", "WithBiasSumAndReluAndRequantize",
                "WithBiasSignedSumAndReluAndRequantize"):
  OPS[f"QuantizedConv2D{_fusion}"] = _convolution
for _fusion in ("", "WithBias", "WithBiasAndRelu",
                "WithBiasAndReluAndRequantize"):
  OPS[f"QuantizedDepthwiseConv2D{_fusion}"] = _convolution
for _fusion in ("WithBias", "WithBiasAndRelu", "WithBiasAndRequantize",
                "WithBiasAndReluAndRequantize", "WithBiasAndDequantize"):
  OPS[f"QuantizedMatMul{_fusion}"] = _product


def applies(case: Any) -> bool:
  """Whether the model, not TensorFlow, says what a case gives."""
  if case.op == "QuantizedConv2D":  # unsigned filters: a kernel without oneDNN
    return case.inputs[1].dtype == "qi8"
  return case.op in OPS


def refuses(case: Any) -> bool:
  """Whether it is the model that says that a case fails."""
  own = ("_ScaledAdd", "_ScaledMean", "_FusedElementwiseToIntegers")
  return case.op in own or any(k in case.attributes
                               for k in ("data_zero", "result_zero"))


def compute(case: Any, values: list[np.ndarray]) -> list[np.ndarray]:
  """The outputs of a case that the model applies to."""
  return OPS.get(case.op, _convolution)(case, values)
