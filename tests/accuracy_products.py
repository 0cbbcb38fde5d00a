"""Families of tests/accuracy_families.py with sums of products: contractions, their gradients,
attention, recurrences, Fourier transforms, linear algebra, resizing, and quantized ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from accuracy_cases import attention, lstm
from accuracy_draw import Draw, Problem, gradient, wide
from accuracy_elementwise import Row, image


def extent(d: Draw) -> int:
  return int(d.pick(d.integer(1, 20), d.integer(20, 130), d.integer(130, 400)))


def length(d: Draw) -> int:
  """Of a sum."""
  return int(d.pick(d.integer(1, 60), d.integer(60, 500), d.integer(500, 4000)))


def matmul(constant: bool, tail: Callable[..., Any] | None = None) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    m, k, n = d.pick(1, d.integer(2, 16), extent(d)), length(d), extent(d)
    ta, tb = (False, False) if constant else (d.pick(False, True), d.pick(False, True))
    values = [d.normal(*((k, m) if ta else (m, k))), d.normal(*((n, k) if tb else (k, n)))]
    if tail is None:
      return Problem(values, lambda tf, a, b: tf.matmul(a, b, ta, tb), 1 if constant else 99,
                     f"{m}x{k}x{n}{', constant' if constant else ''}")
    return Problem([*values, d.normal(n)], lambda tf, a, b, c: tail(
        tf, tf.nn.bias_add(tf.matmul(a, b) / k ** .5, c)), 1, f"{m}x{k}x{n}, constant")

  return draw


def batch_matmul(d: Draw) -> Problem:
  b, m, k, n = d.integer(1, 8), extent(d), length(d), min(extent(d), 64)
  return Problem([d.normal(b, m, k), d.normal(b, n, k)],
                 lambda tf, x, y: tf.matmul(x, y, transpose_b=True), shape=f"{b}x{m}x{k}x{n}")


def einsum(d: Draw) -> Problem:
  a, b, c, e, f = d.integer(1, 4), d.integer(1, 40), d.integer(1, 16), d.integer(1, 128), extent(d)
  return Problem([d.normal(a, b, c, e), d.normal(c, e, f)],
                 lambda tf, x, w: tf.einsum("abce,cef->abf", x, w), 1, f"{a}x{b}x{c}x{e}x{f}")


def weight_only(d: Draw) -> Problem:
  m, k, n = d.pick(1, 4, 32), length(d), extent(d)
  weights = (d.integers(255, k, n) - 127).astype(np.int8)
  return Problem([d.normal(m, k), d.uniform(.001, .02, n)],
                 lambda tf, x, s: tf.matmul(x, tf.cast(weights, x.dtype) * s), 1, f"{m}x{k}x{n}")


def convolution(spatial: int, kind: str = "", of: int = -1) -> Callable[[Draw], Problem]:
  """`kind`: depthwise, grouped, transposed or empty; `of`: gradient of that input."""

  def draw(d: Draw) -> Problem:
    sides = [d.integer(5, 28 if spatial < 3 else 9) for _ in range(spatial)]
    taps = [d.pick(1, 3, 3, 5)] * spatial
    channels, filters = (d.pick(d.integer(1, 20), 64, d.integer(20, 300)) for _ in range(2))
    stride, dilation = d.pick(1, 1, 2), 1
    if stride == 1 and spatial == 2 and of < 0 and kind != "transposed":
      dilation = d.pick(1, 1, 2)
    groups = d.integer(2, 4) if kind == "grouped" else 1
    channels, filters = channels * groups, filters * groups
    padding = d.pick("SAME", "VALID")
    shape = [d.integer(1, 2), *sides, channels]
    inner = [*taps, channels // groups, 1 if kind == "depthwise" else filters]
    text = (f"{'x'.join(map(str, taps))} over {list(shape)}, {filters} filters, "
            f"stride {stride}, dilation {dilation}, {padding}")

    def build(tf: Any, x: Any, w: Any) -> Any:
      if kind == "depthwise":
        return tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding,
                                      dilations=[dilation] * 2)
      if kind == "transposed":
        out = [n * stride if padding == "SAME" else (n - 1) * stride + t
               for n, t in zip(sides, taps)]
        return tf.nn.conv2d_transpose(x, tf.transpose(w, [0, 1, 3, 2]),
                                      [shape[0], *out, filters], stride, padding)
      if wide(x) and groups > 1:
        parts = zip(tf.split(x, groups, -1), tf.split(w, groups, -1))
        return tf.concat([tf.nn.convolution(a, b, stride, padding, dilations=dilation)
                          for a, b in parts], -1)
      return tf.nn.convolution(x, w, stride, padding, dilations=dilation)

    values = [d.normal(*shape), d.normal(*inner)]
    if of < 0:
      return Problem(values, build, 1, text)
    out = [-(-(n - (t - 1) * (padding == "VALID")) // stride) for n, t in zip(sides, taps)]
    last = channels if kind == "depthwise" else filters
    return Problem([*values, d.normal(shape[0], *out, last)], gradient(build, of), shape=text)

  return draw


def product_gradient(of: int) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    m, k, n = length(d), extent(d), extent(d)
    return Problem([d.normal(m, k), d.normal(k, n), d.normal(m, n)],
                   gradient(lambda tf, a, b: tf.matmul(a, b), of), shape=f"{m}x{k}x{n}")

  return draw


def bias_gradient(d: Draw) -> Problem:
  return Problem([d.normal(*image(d))], lambda tf, g: tf.raw_ops.BiasAddGrad(out_backprop=g))


# ---- Attention -----------------------------------------------------------------------------------


def attend(form: str) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    b, heads, depth = d.integer(1, 2), d.integer(1, 8), d.pick(16, 32, 64, 80, 128)
    keys = d.pick(d.integer(2, 60), d.integer(60, 700))
    queries = keys if form == "causal" else d.pick(1, d.integer(2, 90), keys)
    shared = d.pick(2, 4) if form == "grouped" else 1
    hidden = np.where(d.rng.random((b, 1, 1, keys)) < .3, -1e9, 0).astype(np.float32)
    hidden[..., 0] = 0

    def build(tf: Any, q: Any, k: Any, v: Any, *bias: Any) -> Any:
      if form == "plain":
        return attention(tf, q, k, v)
      if form == "grouped":
        k, v = (tf.repeat(t, shared, axis=1) for t in (k, v))
      scores = tf.matmul(q, k, transpose_b=True) * tf.cast(depth ** -.5, q.dtype)
      if form == "causal":
        seen = np.tril(np.ones((queries, keys), bool))
        scores = tf.where(seen, scores, tf.cast(-1e9, q.dtype))
      for term in bias:
        scores += term
      return tf.matmul(tf.nn.softmax(scores), v)

    values = [d.normal(b, heads * shared, queries, depth), d.normal(b, heads, keys, depth),
              d.normal(b, heads, keys, depth), *([hidden] if form == "mask" else [])]
    return Problem(values, build,
                   shape=f"{b}x{heads * shared} heads of {depth}, {queries} queries, {keys} keys")

  return draw


def rotary(d: Draw) -> Problem:
  b, heads, n, depth = d.integer(1, 2), d.integer(1, 8), d.integer(1, 200), d.pick(32, 64, 128)
  steps = np.arange(n)[:, None] * 1e4 ** (-np.arange(depth // 2) * 2 / depth)
  angles = np.concatenate([steps, steps], -1).astype(np.float32)

  def build(tf: Any, x: Any) -> Any:
    first, second = tf.split(x, 2, -1)
    turned = tf.concat([-second, first], -1)
    return x * tf.constant(np.cos(angles), x.dtype) + turned * tf.constant(np.sin(angles), x.dtype)

  return Problem([d.normal(b, heads, n, depth)], build)


# ---- Recurrences ---------------------------------------------------------------------------------


def gru(tf: Any, x: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
  """Keras's, with reset_after."""

  def step(h: Any, row: Any) -> Any:
    a, b = tf.matmul(row, kernel) + bias[0], tf.matmul(h, recurrent) + bias[1]
    (az, ar, ah), (bz, br, bh) = tf.split(a, 3, 1), tf.split(b, 3, 1)
    z, r = tf.sigmoid(az + bz), tf.sigmoid(ar + br)
    return z * h + (1 - z) * tf.tanh(ah + r * bh)

  zeros = tf.zeros([x.shape[0], recurrent.shape[0]], x.dtype)
  return tf.scan(step, tf.transpose(x, [1, 0, 2]), zeros)


def simple_rnn(tf: Any, x: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
  zeros = tf.zeros([x.shape[0], recurrent.shape[0]], x.dtype)
  return tf.scan(lambda h, row: tf.tanh(tf.matmul(row, kernel) + tf.matmul(h, recurrent) + bias),
                 tf.transpose(x, [1, 0, 2]), zeros)


def block_lstm(tf: Any, x: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
  units = recurrent.shape[0]
  if wide(x):
    return lstm(tf, x, kernel, recurrent, bias)
  zeros = tf.zeros([x.shape[0], units])
  peephole = tf.zeros([units])
  # Gates in the order input, forget, cell, output, as in Keras.
  return tf.raw_ops.BlockLSTMV2(
      seq_len_max=tf.constant(x.shape[1], tf.int64), x=tf.transpose(x, [1, 0, 2]), cs_prev=zeros,
      h_prev=zeros, w=tf.concat([kernel, recurrent], 0), wci=peephole, wcf=peephole, wco=peephole,
      b=bias).h


def recurrence(build: Callable[..., Any], gates: int, biases: int = 1) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    b, steps, width, units = (d.integer(1, 8), d.integer(2, 30), d.integer(4, 200),
                              d.pick(16, 64, d.integer(20, 300)))
    scale = 1 / units ** .5
    shape = (biases, gates * units) if biases > 1 else (gates * units,)
    return Problem([d.normal(b, steps, width), d.normal(width, gates * units, scale=width ** -.5),
                    d.normal(units, gates * units, scale=scale), d.normal(*shape, scale=.1)],
                   build, 1, f"{b} rows, {steps} steps, {width} to {units}")

  return draw


# ---- Fourier transforms, linear algebra ----------------------------------------------------------


def side(d: Draw) -> int:
  return int(d.pick(2 ** d.integer(1, 9), d.integer(2, 300), d.pick(97, 251, 360, 400)))


def fourier(op: str, rank: int) -> Callable[[Draw], Problem]:
  suffix = "" if rank == 1 else f"{rank}d"

  def draw(d: Draw) -> Problem:
    sides = [side(d) if rank == 1 else min(side(d), 64 if rank == 2 else 16) for _ in range(rank)]
    rows_ = d.integer(1, 6)
    if op in ("rfft",):
      return Problem([d.normal(rows_, *sides)], lambda tf, x: getattr(tf.signal, op + suffix)(x))
    inner = [*sides[:-1], sides[-1] // 2 + 1] if op == "irfft" else sides
    more = {"fft_length": sides} if op == "irfft" else {}
    return Problem([d.normal(rows_, *inner), d.normal(rows_, *inner)],
                   lambda tf, a, b: getattr(tf.signal, op + suffix)(tf.complex(a, b), **more),
                   shape=f"{rows_}x{sides}")

  return draw


def matrix(d: Draw, kind: str = "") -> tuple[int, int, np.ndarray]:
  b, n = d.integer(1, 4), d.integer(1, 64)
  x = d.normal(b, n, n)
  if kind == "symmetric":
    x = x + x.transpose(0, 2, 1)
  if kind == "definite":
    x = np.einsum("bij,bkj->bik", x, x) / n + np.eye(n, dtype=np.float32)
  if kind == "dominant":
    x = x / n ** .5 + 2 * np.eye(n, dtype=np.float32)
  return b, n, x.astype(np.float32)


def of_matrix(build: Callable[..., Any], kind: str, right: bool = False) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    b, n, x = matrix(d, kind)
    return Problem([x, *([d.normal(b, n, d.integer(1, 9))] if right else [])], build)

  return draw


def qr_product(tf: Any, x: Any) -> Any:
  """The size of R's elements; their signs are a choice."""
  return tf.abs(tf.linalg.qr(x)[1])


# ---- Resizing ------------------------------------------------------------------------------------


def resize(method: str, of_gradient: bool = False) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    shape, out = image(d), (d.integer(2, 60), d.integer(2, 60))

    def weights(tf: Any, n: int, m: int) -> Any:
      """[m, n] in float64."""
      at = (np.arange(m) + .5) * (n / m) - .5
      low = np.floor(at)
      w = np.zeros((m, n))
      taps = {"bilinear": (0, 1), "bicubic": (-1, 0, 1, 2), "nearest": (0,)}[method]
      for tap in taps:
        t = np.abs(at - low - tap)
        if method == "bilinear":
          part, place = 1 - t, np.clip(low + tap, 0, n - 1)
        elif method == "nearest":
          part, place = np.ones(m), np.minimum(np.floor(at + .5), n - 1)
        else:  # Keys, a = -0.5; taps outside have no weight
          part = np.where(t <= 1, 1.5 * t ** 3 - 2.5 * t ** 2 + 1,
                          -.5 * t ** 3 + 2.5 * t ** 2 - 4 * t + 2)
          part = np.where((low + tap < 0) | (low + tap >= n), 0, part)
          place = np.clip(low + tap, 0, n - 1)
        np.add.at(w, (np.arange(m), place.astype(int)), part)
      return tf.constant(w / w.sum(1, keepdims=True), tf.float64)

    def build(tf: Any, x: Any) -> Any:
      if wide(x):
        return tf.einsum("bhwc,yh,xw->byxc", x, weights(tf, shape[1], out[0]),
                         weights(tf, shape[2], out[1]))
      return tf.image.resize(x, out, method)

    values = [d.normal(*shape)]
    text = f"{list(shape)} to {list(out)}"
    if not of_gradient:
      return Problem(values, build, shape=text)
    return Problem([*values, d.normal(shape[0], *out, shape[3])], gradient(build), shape=text)

  return draw


# ---- Quantized -----------------------------------------------------------------------------------


def levels(d: Draw, *shape: int) -> np.ndarray:
  """Multiples of 6/255, which quantization does not round."""
  return (d.integers(256, *shape) * (6 / 255)).astype(np.float32)


def quantized(tf: Any, x: Any) -> Any:
  return tf.raw_ops.QuantizeV2(input=x, min_range=0., max_range=6., T=tf.quint8, mode="MIN_FIRST")


def quantized_product(spatial: bool) -> Callable[[Draw], Problem]:
  """Sums in 32 bits, with their range, as floats."""

  def draw(d: Draw) -> Problem:
    if spatial:
      c, n = d.integer(1, 60), d.integer(1, 60)
      shape, inner = (d.integer(1, 2), d.integer(3, 15), d.integer(3, 15), c), (3, 3, c, n)
    else:
      k, n = length(d), extent(d)
      shape, inner = (d.integer(1, 40), k), (k, n)
    weights = (d.integers(255, *inner) - 127).astype(np.int8)

    def build(tf: Any, x: Any) -> Any:
      if wide(x):
        filters = tf.constant(weights, tf.float64) / 127
        codes = tf.round(x * (255 / 6)) * (6 / 255)
        return tf.nn.conv2d(codes, filters, 1, "SAME") if spatial else tf.matmul(codes, filters)
      a, low, high = quantized(tf, x)
      filters = tf.bitcast(tf.constant(weights), tf.qint8)
      if spatial:
        sums = tf.raw_ops.QuantizedConv2D(
            input=a, filter=filters, min_input=low, max_input=high, min_filter=-1., max_filter=1.,
            strides=[1, 1, 1, 1], padding="SAME", out_type=tf.qint32)
        value, most = sums.output, sums.max_output
      else:
        sums = tf.raw_ops.QuantizedMatMulWithBias(
            a=a, b=filters, bias=tf.zeros([inner[-1]]), min_a=low, max_a=high, min_b=-1.,
            max_b=1., input_quant_mode="SCALED")
        value, most = sums.out, sums.max_out
      return tf.cast(tf.bitcast(value, tf.int32), tf.float32) * (most / 2. ** 31)

    return Problem([levels(d, *shape)], build, shape=f"{list(shape)}, {list(inner)}")

  return draw


def round_trip(kind: str) -> Callable[[Draw], Problem]:
  """Quantized and back, through a pool or nothing."""

  def draw(d: Draw) -> Problem:
    shape = image(d)

    def build(tf: Any, x: Any) -> Any:
      if wide(x):
        return tf.nn.max_pool2d(x, 2, 2, "SAME") if kind == "max pool" else x
      q, low, high = quantized(tf, x)
      if kind == "max pool":
        q, low, high = tf.raw_ops.QuantizedMaxPool(
            input=q, min_input=low, max_input=high, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
            padding="SAME")
      return tf.raw_ops.Dequantize(input=q, min_range=low, max_range=high, mode="MIN_FIRST")

    return Problem([levels(d, *shape)], build)

  return draw


def fake_quant(channels: bool) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    shape = image(d)

    def build(tf: Any, x: Any) -> Any:
      if wide(x):
        return x
      if not channels:
        return tf.quantization.fake_quant_with_min_max_args(x, 0, 6)
      c = shape[-1]
      return tf.quantization.fake_quant_with_min_max_vars_per_channel(
          x, tf.zeros([c]), tf.fill([c], 6.))

    return Problem([levels(d, *shape)], build)

  return draw


def moved(build: Callable[..., Any]) -> Callable[[Draw], Problem]:
  return lambda d: Problem([d.normal(*d.shape(3))], build)


def families() -> Iterator[tuple[str, list[Row]]]:
  yield "products", [
      ("MatMul", matmul(False)), ("MatMul, constant", matmul(True)),
      ("MatMul, bias, GELU", matmul(True, lambda tf, x: tf.nn.gelu(x))),
      ("MatMul, bias, Relu", matmul(True, lambda tf, x: tf.nn.relu(x))),
      ("BatchMatMulV2", batch_matmul), ("Einsum", einsum), ("weights in int8", weight_only)]
  yield "convolutions", [
      ("Conv2D", convolution(2)), ("Conv2D, grouped", convolution(2, "grouped")),
      ("DepthwiseConv2dNative", convolution(2, "depthwise")),
      ("Conv2D, one-dimensional", convolution(1)), ("Conv3D", convolution(3)),
      ("Conv2DBackpropInput, transposed", convolution(2, "transposed"))]
  yield "gradients of contractions", [
      ("Conv2DBackpropInput", convolution(2, "", 0)),
      ("Conv2DBackpropFilter", convolution(2, "", 1)),
      ("Conv3DBackpropInputV2", convolution(3, "", 0)),
      ("Conv3DBackpropFilterV2", convolution(3, "", 1)),
      ("DepthwiseConv2dNativeBackpropInput", convolution(2, "depthwise", 0)),
      ("DepthwiseConv2dNativeBackpropFilter", convolution(2, "depthwise", 1)),
      ("MatMul, left", product_gradient(0)), ("MatMul, right", product_gradient(1)),
      ("BiasAddGrad", bias_gradient)]
  yield "attention", [(form, attend(form)) for form in ("plain", "causal", "mask", "grouped")
                      ] + [("rotary", rotary)]
  yield "recurrences", [
      ("LSTM", recurrence(lstm, 4)), ("GRU", recurrence(gru, 3, 2)),
      ("SimpleRNN", recurrence(simple_rnn, 1)), ("BlockLSTMV2", recurrence(block_lstm, 4))]
  yield "Fourier transforms", [
      (f"{op.upper()}{'' if rank == 1 else f'{rank}D'}", fourier(op, rank))
      for op in ("fft", "ifft", "rfft", "irfft") for rank in (1, 2, 3)]
  yield "linear algebra", [
      ("Cholesky", of_matrix(lambda tf, x: tf.linalg.cholesky(x), "definite")),
      ("MatrixInverse", of_matrix(lambda tf, x: tf.linalg.inv(x), "dominant")),
      ("MatrixDeterminant", of_matrix(lambda tf, x: tf.linalg.slogdet(x)[1], "dominant")),
      ("MatrixSolve", of_matrix(lambda tf, x, y: tf.linalg.solve(x, y), "dominant", True)),
      ("MatrixTriangularSolve", of_matrix(
          lambda tf, x, y: tf.linalg.triangular_solve(x, y), "dominant", True)),
      ("MatrixSolveLs", of_matrix(
          lambda tf, x, y: tf.linalg.lstsq(x, y, fast=False), "dominant", True)),
      ("Qr", of_matrix(qr_product, "dominant")),
      ("Svd", of_matrix(lambda tf, x: tf.linalg.svd(x, compute_uv=False), "")),
      ("SelfAdjointEigV2", of_matrix(lambda tf, x: tf.linalg.eigvalsh(x), "symmetric")),
      ("Lu", of_matrix(lambda tf, x: tf.linalg.lu(x)[0], "dominant")),
      ("MatrixExponential", of_matrix(lambda tf, x: tf.linalg.expm(x), "dominant"))]
  yield "resizing", [
      *((f"resize, {method}", resize(method)) for method in ("bilinear", "bicubic", "nearest")),
      ("ResizeBilinearGrad", resize("bilinear", True)),
      ("ResizeNearestNeighborGrad", resize("nearest", True))]
  yield "quantized", [
      ("QuantizedConv2D", quantized_product(True)),
      ("QuantizedMatMulWithBias", quantized_product(False)),
      ("QuantizeV2, Dequantize", round_trip("")), ("QuantizedMaxPool", round_trip("max pool")),
      ("FakeQuantWithMinMaxArgs", fake_quant(False)),
      ("FakeQuantWithMinMaxVarsPerChannel", fake_quant(True))]
  yield "layout", [
      ("Transpose", moved(lambda tf, x: tf.transpose(x, [2, 0, 1]))),
      ("Concat", moved(lambda tf, x: tf.concat([x, -x, x], 1)))]
