#!/usr/bin/env python3
"""Writes the small graphs on which TensorFlow 2.21 with oneDNN on goes wrong.

  tests/makers/defect_models.py --out DIR

Each DIR/bNN_NAME holds model.pb (a GraphDef), inputs.npz and outputs.npz (keys:
tensor names). Outputs come from TensorFlow with oneDNN and graph optimization
off, and from NumPy where that is wrong as well (b10). Placeholders have known
shapes only where the defect needs it, as in a tf.function.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import sys
from typing import Callable

import models  # sets the environment before TensorFlow is imported
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1

RNG = np.random.default_rng(34)
NAN = float("nan")


def normal(*shape: int) -> np.ndarray:
  return RNG.normal(0, 1, shape).astype(np.float32)


def feed(name: str, value: np.ndarray) -> tuple[tf.Tensor, np.ndarray]:
  return tf1.placeholder(value.dtype, value.shape, name), value


def conv_bias(x: tf.Tensor, c_in: int, c_out: int) -> tf.Tensor:
  y = tf.nn.conv2d(x, normal(3, 3, c_in, c_out), 1, "SAME")
  return tf.nn.bias_add(y, normal(c_out))


Case = tuple[tf.Tensor, list[tuple[tf.Tensor, np.ndarray]]]


def b01_layer_norm_epsilon() -> Case:
  """(x - m) / sqrt(v + eps) * g + b: TensorFlow puts 0.001 for eps."""
  x = feed("x", normal(4, 16) * 0.01)
  mean, variance = tf.nn.moments(x[0], [-1], keepdims=True)
  y = (x[0] - mean) * tf.math.rsqrt(variance + 1e-12)
  return y * normal(16) + normal(16), [x]


def b01b_layer_norm_sqrt() -> Case:
  """The same with a division by the square root."""
  x = feed("x", normal(4, 16) * 0.01)
  mean = tf.reduce_mean(x[0], [-1], keepdims=True)
  variance = tf.reduce_mean(tf.square(x[0] - mean), [-1], keepdims=True)
  y = (x[0] - mean) / tf.sqrt(variance + 1e-5)
  return y * normal(16) + normal(16), [x]


def b02_add_leaky_relu_alpha() -> Case:
  """conv + bias + residual + LeakyRelu(alpha): alpha ignored."""
  x = feed("x", normal(1, 6, 6, 4))
  y = conv_bias(x[0], 4, 4) + x[0]
  return tf.nn.leaky_relu(y, alpha=0.01), [x]


def b03_maximum_of_multiple() -> Case:
  """maximum(2x, x) is no LeakyRelu: the slope is above 1."""
  x = feed("x", normal(3, 7))
  return tf.maximum(x[0] * 2.0, x[0]), [x]


def b04_maximum_of_split() -> Case:
  """maximum(0.1 y, y) with y the second output of Split."""
  x = feed("x", normal(3, 8))
  y = tf.split(x[0], 2, axis=1)[1]
  return tf.maximum(y * 0.1, y), [x]


def b05_scaled_batch_matmul_of_split() -> Case:
  """(Split:1 * s) @ K + mask."""
  q, k, mask = (feed("q", normal(2, 3, 5, 16)), feed("k", normal(2, 3, 8, 5)),
                feed("mask", normal(2, 1, 5, 5)))
  y = tf.split(q[0], 2, axis=3)[1]
  return tf.matmul(y * 0.25, k[0]) + mask[0], [q, k, mask]


def b06_matmul_mul_add_elu() -> Case:
  """Elu((xW + b) * m + a) with m and a full matrices."""
  x = feed("x", normal(4, 4))
  y = tf.nn.bias_add(tf.matmul(x[0], normal(4, 4), transpose_b=True), normal(4))
  return tf.nn.elu(y * normal(4, 4) + normal(4, 4)), [x]


def b06b_matmul_mul_column_elu() -> Case:
  """The same with m a column: one factor a row, not a channel."""
  x = feed("x", normal(4, 6))
  y = tf.nn.bias_add(tf.matmul(x[0], normal(6, 4)), normal(4))
  return tf.nn.elu(y * normal(4, 1) + normal(4)), [x]


def b07_matmul_bias_add_relu() -> Case:
  """matmul + bias + residual + Relu."""
  x, r = feed("x", normal(5, 7)), feed("r", normal(5, 9))
  y = tf.nn.bias_add(tf.matmul(x[0], normal(7, 9)), normal(9))
  return tf.nn.relu(y + r[0]), [x, r]


def b07b_depthwise_bias_add_relu() -> Case:
  """depthwise convolution + bias + residual + Relu."""
  x = feed("x", normal(1, 6, 6, 4))
  y = tf.nn.depthwise_conv2d(x[0], normal(3, 3, 4, 1), [1, 1, 1, 1], "SAME")
  return tf.nn.relu(tf.nn.bias_add(y, normal(4)) + x[0]), [x]


def b08_pad_on_batch() -> Case:
  """Pad of the batch dimension before a VALID convolution."""
  x = feed("x", normal(1, 6, 6, 3))
  y = tf.pad(x[0], [[0, 1], [1, 1], [1, 1], [0, 0]])
  return tf.nn.conv2d(y, normal(3, 3, 3, 4), 1, "VALID"), [x]


def b09_pad_on_channels() -> Case:
  """Pad of the channels before a VALID convolution."""
  x = feed("x", normal(1, 6, 6, 3))
  y = tf.pad(x[0], [[0, 0], [1, 1], [1, 1], [0, 1]])
  return tf.nn.conv2d(y, normal(3, 3, 4, 5), 1, "VALID"), [x]


def b09b_pad_on_channels_two_groups() -> Case:
  """Without the pad the filter would fit as one of two groups."""
  x = feed("x", normal(1, 6, 6, 2))
  y = tf.pad(x[0], [[0, 0], [1, 1], [1, 1], [0, 2]])
  return tf.nn.conv2d(y, normal(3, 3, 4, 4), 1, "VALID"), [x]


def b10_matmul_of_no_terms() -> Case:
  """A sum over nothing is zero; the bias and Relu still apply."""
  x = feed("x", np.zeros((3, 0), np.float32))
  y = tf.matmul(x[0], tf.zeros([0, 4]))
  return tf.nn.relu(tf.nn.bias_add(y, [1.0, -2.0, 3.0, -4.0])), [x]


def b11_convolution_of_empty_batch() -> Case:
  """The output of an empty batch still has the filter's channels."""
  x = feed("x", np.zeros((0, 4, 4, 2), np.float32))
  return tf.nn.relu(conv_bias(x[0], 2, 5)), [x]


def b12_softmax_of_rank_six() -> Case:
  x = feed("x", normal(2, 1, 3, 2, 2, 5))
  return tf.nn.softmax(x[0]), [x]


def b13_nan_through_relu() -> Case:
  """NaN stays NaN through a fused activation (strict mode)."""
  value = normal(1, 5, 5, 3)
  value[0, 2, 2, 1] = NAN
  x = feed("x", value)
  return tf.nn.relu(conv_bias(x[0], 3, 4)), [x]


def b13b_nan_through_relu6() -> Case:
  value = normal(3, 6)
  value[1, 2] = NAN
  x = feed("x", value)
  y = tf.nn.bias_add(tf.matmul(x[0], normal(6, 5)), normal(5))
  return tf.nn.relu6(y), [x]


def b13c_nan_in_softmax() -> Case:
  value = normal(3, 5)
  value[1, 2] = NAN
  x = feed("x", value)
  return tf.nn.softmax(x[0]), [x]


def b14_almost_gelu() -> Case:
  """0.508 is not 0.5."""
  x = feed("x", normal(4, 8))
  y = tf.nn.bias_add(tf.matmul(x[0], normal(8, 6)), normal(6))
  return y * 0.508 * (1.0 + tf.math.erf(y * 0.70710678)), [x]


def b15_leaky_relu_and_another_reader() -> Case:
  """conv + bias read by LeakyRelu and by another op."""
  x = feed("x", normal(1, 6, 6, 3))
  y = conv_bias(x[0], 3, 4)
  return tf.nn.leaky_relu(y, alpha=0.3) + tf.square(y), [x]


def b16_filter_gradient_of_strided_1x1() -> Case:
  """Gradient of a 1x1 filter, stride 2, 3 channels: wrong now and then."""
  # With AVX2 only (ONEDNN_MAX_CPU_ISA=AVX2). oneDNN writes outside of its
  # scratchpad, so threads overwrite each other's values.
  x, dy = feed("x", normal(1, 6, 8, 3)), feed("dy", normal(1, 3, 4, 8))
  return tf.raw_ops.Conv2DBackpropFilter(
      input=x[0], filter_sizes=[1, 1, 3, 8], out_backprop=dy[0],
      strides=[1, 2, 2, 1], padding="SAME"), [x, dy]


def b16b_tape_over_strided_1x1() -> Case:
  """From tf.GradientTape, on a larger image: with 2 threads always wrong."""
  x, w = feed("x", normal(1, 12, 16, 3)), feed("w", normal(1, 1, 3, 8))
  with tf.GradientTape() as tape:
    tape.watch(w[0])
    loss = tf.reduce_sum(tf.square(tf.nn.conv2d(x[0], w[0], 2, "SAME")))
  return tape.gradient(loss, w[0]), [x, w]


def numpy_b10(_: dict[str, np.ndarray]) -> np.ndarray:
  return np.tile(np.float32([1, 0, 3, 0]), (3, 1))


CASES: list[Callable[[], Case]] = [
    value for key, value in sorted(globals().items())
    if key[0] == "b" and key[1:3].isdigit()]
NUMPY = {"b10_matmul_of_no_terms": numpy_b10}


def write(make: Callable[[], Case], out: pathlib.Path) -> None:
  name = make.__name__
  target = out / name
  if target.exists():
    shutil.rmtree(target)
  target.mkdir(parents=True)
  with tf.Graph().as_default() as graph:
    result, feeds = make()
    fetch = tf.identity(result, "out")
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    with tf1.Session(graph=graph, config=config) as session:
      output = session.run(fetch, {p: v for p, v in feeds})
    definition = graph.as_graph_def()
  inputs = {p.op.name: v for p, v in feeds}
  if name in NUMPY:
    output = NUMPY[name](inputs)
  (target / "model.pb").write_bytes(definition.SerializeToString())
  np.savez_compressed(target / "inputs.npz", **inputs)
  np.savez_compressed(target / "outputs.npz", out=output)
  record = {**models.versions(), "kind": "graphdef", "model": "model.pb",
            "what": (make.__doc__ or "").strip()}
  (target / "model.json").write_text(json.dumps(record, indent=2) + "\n")


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", required=True, type=pathlib.Path)
  args = parser.parse_args()
  for make in CASES:
    write(make, args.out)
  print(f"{len(CASES)} graphs in {args.out}")
  return 0


if __name__ == "__main__":
  sys.exit(main())
