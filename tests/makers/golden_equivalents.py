"""Ops without a CPU kernel in TensorFlow, by equal graphs of ops that have one."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np

import golden_convolutions
from golden_cases import Case, Input

Arrays = list[np.ndarray]
Run = Callable[[Case, Arrays], Arrays]

_NAMES = {np.dtype(d): n for n, d in (
    ("c64", np.complex64), ("c128", np.complex128), ("f32", np.float32),
    ("f64", np.float64))}


def _case(case: Case, op: str, values: Arrays, dtypes: list[str],
          constants: tuple[int, ...] = (), **attributes: Any) -> Case:
  inputs = [Input(dtype, value.shape, i in constants, "")
            for i, (dtype, value) in enumerate(zip(dtypes, values))]
  return dataclasses.replace(case, op=op, inputs=inputs, attributes=attributes)


def _renamed(op: str) -> Callable[[Case, Arrays, Run], Arrays]:
  return lambda case, values, run: run(dataclasses.replace(case, op=op), values)


def _segments(case: Case, values: Arrays, run: Run) -> Arrays:
  """XLA's segments: unsorted, and rows beyond them are ignored."""
  data, ids, count = values
  values = [data, np.where(ids < count, ids, -1).astype(ids.dtype), count]
  op = "Unsorted" + case.op.removesuffix("V2")
  return run(dataclasses.replace(case, op=op), values)


def _tile_grad(case: Case, values: Arrays, run: Run) -> Arrays:
  """The repetitions as dimensions of their own, summed."""
  gradient, multiples = values
  split = [n for d, m in zip(gradient.shape, multiples) for n in (m, d // m)]
  axes = np.arange(0, len(split), 2, dtype=np.int32)
  values = [gradient.reshape(split), axes]
  return run(_case(case, "Sum", values, [case.inputs[0].dtype, "i32"]), values)


def _ctc_loss(case: Case, values: Arrays, run: Run) -> Arrays:
  """The blank as the last class."""
  logits, indices, labels, lengths = values
  values = [np.roll(logits, -1, -1), indices,
            (labels - 1) % logits.shape[-1], lengths]
  loss, gradient = run(dataclasses.replace(case, op="CTCLoss"), values)
  return [loss, np.roll(gradient, 1, -1)]


def _resized(values: np.ndarray, axis: int, size: int) -> np.ndarray:
  """Cut, or padded with zeros, along an axis."""
  widths = [(0, 0)] * values.ndim
  widths[axis] = (0, max(0, size - values.shape[axis]))
  return np.pad(values, widths).take(range(size), axis)


def _fft_nd(case: Case, values: Arrays, run: Run) -> Arrays:
  """Axis by axis, each as the last one."""
  x, lengths, axes = values

  def transform(op: str, x: np.ndarray, axis: int, n: int | None) -> np.ndarray:
    moved = [np.ascontiguousarray(np.moveaxis(x, axis, -1))]
    if n is not None:
      moved.append(np.array([n], np.int32))
    dtypes = [_NAMES[x.dtype], "i32"]
    types = {}
    if n is not None and x.dtype in (np.float64, np.complex128):
      types = {"Treal": np.dtype(np.float64), "Tcomplex": np.dtype(np.complex128)}
    result = run(_case(case, op, moved, dtypes, (1,), **types), moved)[0]
    return np.moveaxis(result, -1, axis)

  half = case.op in ("RFFTND", "IRFFTND")
  others = list(zip(axes, lengths))[:-1] if half else list(zip(axes, lengths))
  if case.op == "RFFTND":
    for axis, n in zip(axes, lengths):
      x = _resized(x, axis, n)
    x = transform("RFFT", x, axes[-1], lengths[-1])
  for axis, n in others:
    x = transform("IFFT" if case.op.startswith("I") else "FFT",
                  _resized(x, axis, n), axis, None)
  if case.op == "IRFFTND":
    x = transform("IRFFT", _resized(x, axes[-1], lengths[-1] // 2 + 1),
                  axes[-1], lengths[-1])
  return [x]


def _wordpieces(case: Case, values: Arrays, run: Run) -> Arrays:
  """TensorFlow Text's op, which has the vocabulary in a table."""
  # pylint: disable=import-outside-toplevel
  import tensorflow as tf
  from tensorflow_text.python.ops import wordpiece_tokenizer
  words, keys, ids = values
  table = tf.lookup.StaticHashTable(
      tf.lookup.KeyValueTensorInitializer(tf.constant(keys), tf.constant(ids)), -1)
  options = {"max_chars_per_token": 0, "split_unknown_characters": False,
             "output_row_partition_type": "row_lengths"} | case.attributes
  outputs = wordpiece_tokenizer.gen_wordpiece_tokenizer.wordpiece_tokenize_with_offsets(
      tf.constant(words, tf.string), table.resource_handle, **options)
  return [o.numpy() for o in outputs]


def _replica(case: Case, values: Arrays, run: Run) -> Arrays:
  """The only one. (TensorFlow crashes where nothing is replicated.)"""
  return [np.int32(0)]


OPS: dict[str, Callable[[Case, Arrays, Run], Arrays]] = {
    "Conv": golden_convolutions.compute_nd,
    "CTCLossV2": _ctc_loss,
    "TileGrad": _tile_grad,
    "XlaReplicaId": _replica,
    "_WordpieceTokenize": _wordpieces,
} | {f"Segment{name}V2": _segments for name in ("Sum", "Prod", "Min", "Max")
} | {f"Batch{name}": _renamed(name) for name in (
    "FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")
} | {name: _fft_nd for name in ("FFTND", "IFFTND", "RFFTND", "IRFFTND")}
