"""The cases of tests/accuracy.py: small graphs with seeded inputs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SEED = 16
# The contractions that are computed in bfloat16 as well; other lengths of sums have the same error.
IN_BFLOAT16 = re.compile(r"MatMul (1|128)x(64|768|12288)x256, constant|MatMul .*GELU|"
                         r"BatchMatMul|Attention|Conv|Depthwise|Einsum|LSTM")


class Case(NamedTuple):
  """`build` gets TensorFlow and the inputs; those from `constants` on are constants."""
  name: str
  shapes: list[tuple[int, ...]]
  build: Callable[..., Any]
  constants: int = 99
  values: list[np.ndarray] | None = None  # None: normally distributed ones
  family: str = ""


def attention(tf: Any, q: Any, k: Any, v: Any) -> Any:
  scores = tf.matmul(q, k, transpose_b=True) * tf.cast(q.shape[-1] ** -0.5,
                                                       q.dtype)
  return tf.matmul(tf.nn.softmax(scores), v)


def layer_norm(tf: Any, x: Any) -> Any:
  mean = tf.reduce_mean(x, -1, keepdims=True)
  variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
  return (x - mean) * tf.math.rsqrt(variance + tf.cast(1e-5, x.dtype))


def batch_norm(tf: Any, x: Any, gamma: Any, beta: Any) -> Any:
  if x.dtype == tf.float32:
    return tf.compat.v1.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3)[0]
  mean, variance = tf.nn.moments(x, [0, 1, 2])
  return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)


def lstm(tf: Any, x: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
  """Keras's cell over all steps, as a TensorFlow 2 loop."""
  units = recurrent.shape[0]
  zeros = tf.zeros([x.shape[0], units], x.dtype)
  steps = tf.transpose(x, [1, 0, 2])

  def step(state: Any, row: Any) -> Any:
    h, c = state
    z = tf.matmul(row, kernel) + tf.matmul(h, recurrent) + bias
    i, f, g, o = tf.split(z, 4, axis=1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c

  return tf.scan(step, steps, (zeros, zeros))[0]


def product(m: int, k: int, n: int, constant: bool) -> Case:
  name = f"MatMul {m}x{k}x{n}{', constant weights' if constant else ''}"
  return Case(name, [(m, k), (k, n)], lambda tf, a, b: tf.matmul(a, b),
              1 if constant else 99)


def fused(m: int, k: int, n: int) -> Case:
  return Case(f"MatMul {m}x{k}x{n} + bias, GELU", [(m, k), (k, n), (n,)],
              lambda tf, a, b, c: tf.nn.gelu(
                  tf.nn.bias_add(tf.matmul(a, b), c) / k ** 0.5), 1)


def convolution(size: int, taps: int, inputs: int, outputs: int) -> Case:
  return Case(f"Conv2D {taps}x{taps} {size}x{size}x{inputs}, {outputs} filters",
              [(1, size, size, inputs), (taps, taps, inputs, outputs)],
              lambda tf, x, w: tf.nn.conv2d(x, w, 1, "SAME"), 1)


def reduction(op: str, name: str, shape: tuple[int, ...], axis: int) -> Case:
  return Case(f"{op}, {name}", [shape],
              lambda tf, x: getattr(tf, op)(x + tf.cast(1, x.dtype), axis))


def cases() -> list[Case]:
  all_cases = [product(m, k, 256, constant) for k in (64, 256, 384, 512, 768, 1024, 3072, 12288)
               for m in (1, 8, 128) for constant in (True, False)]
  all_cases += [fused(128, 768, 3072), fused(128, 3072, 768)]
  all_cases += [
      Case(f"BatchMatMul 4x64x{k}x64", [(4, 64, k), (4, k, 64)],
           lambda tf, a, b: tf.matmul(a, b)) for k in (64, 1024, 4096)]
  all_cases += [
      Case(f"Attention, {n} queries, {m} keys", [(1, 4, n, 64), (1, 4, m, 64), (1, 4, m, 64)],
           attention) for n, m in ((128, 128), (1, 2048), (256, 2048))]
  all_cases += [convolution(14, taps, c, c if taps == 1 else 64)
                for taps in (1, 3, 5) for c in (64, 256, 1024)]
  all_cases += [convolution(7, 1, 2048, 512), convolution(3, 3, 512, 512)]
  all_cases += [
      Case("Conv2D 3x3, stride 2, 14x14x256", [(1, 14, 14, 256), (3, 3, 256, 64)],
           lambda tf, x, w: tf.nn.conv2d(x, w, 2, "SAME"), 1),
      Case("DepthwiseConv2d 7x7, 14x14x256", [(1, 14, 14, 256), (7, 7, 256, 1)],
           lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME"), 1),
      Case("Conv3D 3x3x3, 8x8x8x64", [(1, 8, 8, 8, 64), (3, 3, 3, 64, 64)],
           lambda tf, x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"), 1),
      Case("Conv2DBackpropInput 3x3, 14x14x256", [(1, 14, 14, 256), (3, 3, 64, 256)],
           lambda tf, g, w: tf.nn.conv2d_transpose(g, w, [1, 14, 14, 64], 1), 1),
      Case("Conv2DBackpropFilter 3x3, 56x56x32", [(4, 56, 56, 32), (4, 56, 56, 32)],
           lambda tf, x, g: tf.compat.v1.nn.conv2d_backprop_filter(
               x, [3, 3, 32, 32], g, [1] * 4, "SAME"))]
  for op in ("reduce_sum", "reduce_mean"):
    all_cases += [reduction(op, "inner axis of 16x1000000", (16, 1000000), 1),
                  reduction(op, "outer axis of 100000x64", (100000, 64), 0),
                  reduction(op, "middle axis of 8x20000x33", (8, 20000, 33), 1)]
  all_cases += [
      Case("LayerNorm of 16x20000", [(16, 20000)], layer_norm),
      Case("FusedBatchNorm, training, 16x112x112x8",
           [(16, 112, 112, 8), (8,), (8,)], batch_norm),
      Case("Softmax of 16x100000", [(16, 100000)], lambda tf, x: tf.nn.softmax(x)),
      Case("LogSoftmax of 16x100000", [(16, 100000)], lambda tf, x: tf.nn.log_softmax(x)),
      Case("Cumsum, inner axis of 16x20000", [(16, 20000)], lambda tf, x: tf.cumsum(x, 1)),
      Case("SegmentSum, 10 segments of 10000x16", [(10000, 16)],
           lambda tf, x: tf.math.segment_sum(x, [i // 1000 for i in range(10000)])),
      Case("UnsortedSegmentSum, 10 segments of 10000x16", [(10000, 16)],
           lambda tf, x: tf.math.unsorted_segment_sum(
               x, [i % 10 for i in range(10000)], 10)),
      Case("AvgPool 56x56", [(4, 56, 56, 64)],
           lambda tf, x: tf.nn.avg_pool2d(x + tf.cast(1, x.dtype), 56, 1, "VALID")),
      Case("Einsum abc,cd->abd, c = 2048", [(4, 32, 2048), (2048, 256)],
           lambda tf, a, b: tf.einsum("abc,cd->abd", a, b), 1),
      Case("LSTM, 32 steps, 512 units", [(4, 32, 512), (512, 2048), (512, 2048), (2048,)],
           lambda tf, x, k, r, b: lstm(tf, x, k / 23, r / 23, b), 1),
  ]
  return all_cases


def values_of(case: Case) -> list[np.ndarray]:
  """All inputs and constants, in float32."""
  if case.values is not None:
    return case.values
  rng = np.random.default_rng(SEED)
  return [rng.standard_normal(shape, np.float32) for shape in case.shapes]
