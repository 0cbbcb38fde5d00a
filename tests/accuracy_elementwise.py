"""Families of tests/accuracy_families.py without sums of products: elementwise ops, reductions,
softmax, normalization, pools, sums by segment and running sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from accuracy_cases import layer_norm
from accuracy_draw import Draw, Problem, gradient, wide

Row = tuple[str, Callable[[Draw], Problem]]


# ---- Elementwise ---------------------------------------------------------------------------------


def sigmoid_slope(tf: Any, y: Any, dy: Any) -> Any:
  return tf.raw_ops.SigmoidGrad(y=y, dy=dy)


ARITHMETIC: dict[str, tuple[float, float, Callable[..., Any]]] = {
    "Abs": (-9, 9, lambda tf, x: tf.abs(x)),
    "Neg": (-9, 9, lambda tf, x: -x),
    "Sign": (-9, 9, lambda tf, x: tf.sign(x)),
    "Square": (-9, 9, lambda tf, x: tf.square(x)),
    "Sqrt": (0, 99, lambda tf, x: tf.sqrt(x)),
    "Rsqrt": (.01, 99, lambda tf, x: tf.math.rsqrt(x)),
    "Reciprocal": (.1, 9, lambda tf, x: tf.math.reciprocal(x)),
    "Inv": (.1, 9, lambda tf, x: tf.raw_ops.Inv(x=x)),
    "Floor": (-99, 99, lambda tf, x: tf.floor(x)),
    "Ceil": (-99, 99, lambda tf, x: tf.math.ceil(x)),
    "Round": (-99, 99, lambda tf, x: tf.round(x)),
    "Rint": (-99, 99, lambda tf, x: tf.math.rint(x)),
    "Relu": (-9, 9, lambda tf, x: tf.nn.relu(x)),
    "Relu6": (-9, 9, lambda tf, x: tf.nn.relu6(x)),
    "LeakyRelu": (-9, 9, lambda tf, x: tf.nn.leaky_relu(x, .125)),
    "hard swish": (-9, 9, lambda tf, x: x * tf.nn.relu6(x + 3) / 6),
    "Softsign": (-9, 9, lambda tf, x: tf.nn.softsign(x)),
    "Cast": (-9, 9, lambda tf, x: tf.cast(tf.cast(x, tf.float32), x.dtype)),
}
TRANSCENDENTAL: dict[str, tuple[float, float, Callable[..., Any]]] = {
    "Exp": (-9, 9, lambda tf, x: tf.exp(x)),
    "Expm1": (-2, 2, lambda tf, x: tf.math.expm1(x)),
    "Log": (.01, 99, lambda tf, x: tf.math.log(x)),
    "Log1p": (-.9, 9, lambda tf, x: tf.math.log1p(x)),
    "Sin": (-99, 99, lambda tf, x: tf.sin(x)),
    "Cos": (-99, 99, lambda tf, x: tf.cos(x)),
    "Tanh": (-4, 4, lambda tf, x: tf.tanh(x)),
    "Sigmoid": (-9, 9, lambda tf, x: tf.sigmoid(x)),
    "Erf": (-3, 3, lambda tf, x: tf.math.erf(x)),
    "Erfc": (-3, 3, lambda tf, x: tf.math.erfc(x)),
    "Softplus": (-9, 9, lambda tf, x: tf.nn.softplus(x)),
    "Elu": (-4, 1, lambda tf, x: tf.nn.elu(x)),
    "Selu": (-4, 1, lambda tf, x: tf.nn.selu(x)),
    "GELU, exact": (-5, 5, lambda tf, x: tf.nn.gelu(x)),
    "GELU, approximate": (-5, 5, lambda tf, x: tf.nn.gelu(x, approximate=True)),
    "swish": (-9, 9, lambda tf, x: tf.nn.silu(x)),
    "Mish": (-9, 9, lambda tf, x: x * tf.tanh(tf.nn.softplus(x))),
    "chain": (-3, 3, lambda tf, x: tf.exp(tf.sin(x) * .5) * tf.tanh(x + 1) - tf.sigmoid(x)),
}
SPECIAL: dict[str, tuple[float, float, Callable[..., Any]]] = {
    "Tan": (-1.4, 1.4, lambda tf, x: tf.tan(x)),
    "Asin": (-1, 1, lambda tf, x: tf.asin(x)),
    "Acos": (-1, 1, lambda tf, x: tf.acos(x)),
    "Atan": (-9, 9, lambda tf, x: tf.atan(x)),
    "Sinh": (-4, 4, lambda tf, x: tf.sinh(x)),
    "Cosh": (-4, 4, lambda tf, x: tf.cosh(x)),
    "Asinh": (-9, 9, lambda tf, x: tf.asinh(x)),
    "Acosh": (1, 9, lambda tf, x: tf.acosh(x)),
    "Atanh": (-.9, .9, lambda tf, x: tf.atanh(x)),
    "Lgamma": (.1, 20, lambda tf, x: tf.math.lgamma(x)),
    "Digamma": (.1, 20, lambda tf, x: tf.math.digamma(x)),
    "Erfinv": (-.99, .99, lambda tf, x: tf.math.erfinv(x)),
    "Ndtri": (.01, .99, lambda tf, x: tf.math.ndtri(x)),
    "BesselI0e": (-9, 9, lambda tf, x: tf.math.bessel_i0e(x)),
    "BesselI1e": (-9, 9, lambda tf, x: tf.math.bessel_i1e(x)),
}
# Of y and dy, or of dy and x; the range is that of the first.
SLOPES: dict[str, tuple[float, float, Callable[..., Any]]] = {
    "SigmoidGrad": (0, 1, sigmoid_slope),
    "TanhGrad": (-1, 1, lambda tf, y, dy: tf.raw_ops.TanhGrad(y=y, dy=dy)),
    "SqrtGrad": (.1, 9, lambda tf, y, dy: tf.raw_ops.SqrtGrad(y=y, dy=dy)),
    "RsqrtGrad": (.1, 3, lambda tf, y, dy: tf.raw_ops.RsqrtGrad(y=y, dy=dy)),
    "ReciprocalGrad": (.1, 3, lambda tf, y, dy: tf.raw_ops.ReciprocalGrad(y=y, dy=dy)),
    "InvGrad": (.1, 3, lambda tf, y, dy: tf.raw_ops.InvGrad(y=y, dy=dy)),
    "ReluGrad": (-9, 9, lambda tf, x, g: tf.raw_ops.ReluGrad(features=x, gradients=g)),
    "Relu6Grad": (-9, 9, lambda tf, x, g: tf.raw_ops.Relu6Grad(features=x, gradients=g)),
    "LeakyReluGrad": (-9, 9, lambda tf, x, g: tf.raw_ops.LeakyReluGrad(
        features=x, gradients=g, alpha=.125)),
    "EluGrad": (-1, 9, lambda tf, y, g: tf.raw_ops.EluGrad(outputs=y, gradients=g)),
    "SeluGrad": (-1, 9, lambda tf, y, g: tf.raw_ops.SeluGrad(outputs=y, gradients=g)),
    "SoftplusGrad": (-9, 9, lambda tf, x, g: tf.raw_ops.SoftplusGrad(features=x, gradients=g)),
    "SoftsignGrad": (-9, 9, lambda tf, x, g: tf.raw_ops.SoftsignGrad(features=x, gradients=g)),
    "GELU's gradient": (-5, 5, lambda tf, x, g: tf.gradients(tf.nn.gelu(x), x, g)[0]),
}
BINARY: dict[str, tuple[float, float, Callable[..., Any]]] = {
    "Add": (-9, 9, lambda tf, a, b: a + b),
    "Sub": (-9, 9, lambda tf, a, b: a - b),
    "Mul": (-9, 9, lambda tf, a, b: a * b),
    "RealDiv": (.5, 9, lambda tf, a, b: a / b),
    "DivNoNan": (.5, 9, lambda tf, a, b: tf.math.divide_no_nan(a, b)),
    "Maximum": (-9, 9, lambda tf, a, b: tf.maximum(a, b)),
    "Minimum": (-9, 9, lambda tf, a, b: tf.minimum(a, b)),
    "SquaredDifference": (-9, 9, lambda tf, a, b: tf.math.squared_difference(a, b)),
    "AddN": (-9, 9, lambda tf, a, b: tf.add_n([a, a, a]) + b),
    "Pow": (.1, 4, lambda tf, a, b: tf.pow(a, b)),
    "Atan2": (.1, 4, lambda tf, a, b: tf.atan2(a, b)),
}


def unary(low: float, high: float, build: Callable[..., Any]) -> Callable[[Draw], Problem]:
  return lambda d: Problem([d.uniform(low, high, *d.shape())], build)


def slope(low: float, high: float, build: Callable[..., Any]) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    shape = d.shape()
    return Problem([d.uniform(low, high, *shape), d.normal(*shape)], build)

  return draw


def binary(low: float, high: float, build: Callable[..., Any]) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    shape = d.shape()
    other = tuple(1 if d.pick(True, False, False) else n for n in shape)
    return Problem([d.uniform(low, high, *shape), d.uniform(low, high, *other)], build)

  return draw


def bias(d: Draw) -> Problem:
  shape = d.shape(d.integer(2, 4))
  return Problem([d.normal(*shape), d.normal(shape[-1])], lambda tf, x, b: tf.nn.bias_add(x, b))


# ---- Reductions, softmax, normalization ----------------------------------------------------------


def reduction(build: Callable[..., Any], low: float = -1, high: float = 2,
              most: int = 400_000) -> Callable[[Draw], Problem]:
  """Over one axis or all."""

  def draw(d: Draw) -> Problem:
    shape = list(d.shape(most=2000))
    axis = d.integer(0, len(shape) - 1)
    shape[axis] *= d.pick(1, 20, most // int(np.prod(shape)))
    axes = d.pick(axis, axis, None)
    return Problem([d.uniform(low, high, *shape)], lambda tf, x: build(tf, x, axes),
                   shape=f"{list(shape)}, axis {axes}")

  return draw


def rows(build: Callable[..., Any], scale: float = 1) -> Callable[[Draw], Problem]:
  """Over the last axis, up to 20,000 long."""

  def draw(d: Draw) -> Problem:
    shape = (d.integer(1, 40), d.pick(d.integer(2, 60), d.integer(60, 3000), 20_000))
    return Problem([d.normal(*shape, scale=scale)], build)

  return draw


def losses(sparse: bool) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    n, classes = d.integer(1, 60), d.pick(d.integer(2, 60), d.integer(60, 3000), 20_000)
    labels = d.integers(classes, n)
    logits = d.normal(n, classes, scale=2)
    if sparse:
      return Problem([logits], lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(
          labels, x))
    of = d.uniform(0, 1, n, classes)
    return Problem([logits, of / of.sum(1, keepdims=True)],
                   lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(y, x))

  return draw


def rms_norm(tf: Any, x: Any, gamma: Any) -> Any:
  mean = tf.reduce_mean(tf.square(x), -1, keepdims=True)
  return x * tf.math.rsqrt(mean + tf.cast(1e-6, x.dtype)) * gamma


def normed_rows(build: Callable[..., Any], vectors: int) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    shape = (d.integer(1, 4), d.integer(1, 60), d.pick(d.integer(8, 100), d.integer(100, 4000)))
    offset = np.float32(d.pick(0, 1, 10))
    return Problem([d.normal(*shape) + offset, *(d.normal(shape[-1]) for _ in range(vectors))],
                   build, shape=f"{list(shape)}, mean {offset:g}")

  return draw


def instance_norm(tf: Any, x: Any) -> Any:
  mean, variance = tf.nn.moments(x, [1, 2], keepdims=True)
  return (x - mean) * tf.math.rsqrt(variance + tf.cast(1e-5, x.dtype))


def image(d: Draw, channels: int = 0) -> tuple[int, ...]:
  return (d.integer(1, 3), d.integer(3, 30), d.integer(3, 30), channels or d.integer(1, 70))


def instance(d: Draw) -> Problem:
  return Problem([d.normal(*image(d)) + np.float32(d.pick(0, 5))], instance_norm)


def batch_norm(training: bool, of: int = -1) -> Callable[[Draw], Problem]:
  """`of`: the number of the input whose gradient is computed."""

  def draw(d: Draw) -> Problem:
    shape = image(d)
    c = shape[-1]
    values = [d.normal(*shape) + np.float32(d.pick(0, 3)), d.uniform(.5, 2, c), d.normal(c)]
    statistics = (d.normal(c), d.uniform(.5, 2, c))

    def build(tf: Any, x: Any, gamma: Any, beta: Any) -> Any:
      mean, variance = (tf.constant(v, x.dtype) for v in statistics)
      if wide(x):
        if training:
          mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)
      given = {} if training else {"mean": mean, "variance": variance}
      return tf.compat.v1.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3,
                                              is_training=training, **given)[0]

    if of < 0:
      return Problem(values, build)
    return Problem([*values, d.normal(*shape)], gradient(build, of))

  return draw


def lrn(tf: Any, x: Any) -> Any:
  if not wide(x):
    return tf.nn.lrn(x, 3, 1., .1, .75)
  squares = tf.pad(tf.square(x), [[0, 0], [0, 0], [0, 0], [3, 3]])
  sums = tf.add_n([squares[..., i:i + x.shape[-1]] for i in range(7)])
  return x / tf.pow(1 + .1 * sums, .75)


# ---- Pools, segments, running sums ---------------------------------------------------------------


def avg_pool3d(tf: Any, x: Any, window: int, stride: int, padding: str) -> Any:
  """By rows, then by images."""
  n, depth, height, width, c = x.shape
  planes = tf.nn.avg_pool2d(tf.reshape(x, [n * depth, height, width, c]), window, stride, padding)
  _, height, width, _ = planes.shape
  lines = tf.nn.avg_pool2d(tf.reshape(planes, [n, depth, height * width, c]), [window, 1],
                           [stride, 1], padding)
  return tf.reshape(lines, [n, lines.shape[1], height, width, c])


def pool(kind: str, spatial: int, of_gradient: bool = False) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    sides = [d.integer(2, 30 if spatial == 2 else 9) for _ in range(spatial)]
    shape = (d.integer(1, 3), *sides, d.integer(1, 40))
    window, stride = d.pick(2, 3, min(sides)), d.integer(1, 3)
    window = min(window, *sides)
    padding = d.pick("SAME", "VALID")

    def build(tf: Any, x: Any) -> Any:
      if spatial == 3 and wide(x) and kind == "max":  # has no such kernel
        x = tf.cast(x, tf.float32)
        return tf.cast(tf.nn.max_pool3d(x, window, stride, padding), tf.float64)
      if spatial == 3 and wide(x):
        return avg_pool3d(tf, x, window, stride, padding)
      return getattr(tf.nn, f"{kind}_pool{spatial}d")(x, window, stride, padding)

    values = [d.normal(*shape)]
    text = f"{list(shape)}, window {window}, stride {stride}, {padding}"
    if not of_gradient:
      return Problem(values, build, shape=text)
    out = [-(-(n - (window - 1) * (padding == "VALID")) // stride) for n in sides]
    return Problem([*values, d.normal(shape[0], *out, shape[-1])], gradient(build), shape=text)

  return draw


def segments(build: Callable[..., Any], ordered: bool = True) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    n, columns, count = d.pick(d.integer(3, 100), 5000), d.integer(1, 64), d.integer(1, 12)
    ids = d.integers(count, n)
    ids = np.sort(ids) if ordered else ids
    return Problem([d.normal(n, columns)], lambda tf, x: build(tf, x, ids, count),
                   shape=f"{n} rows of {columns}, {count} segments")

  return draw


def embedding(build: Callable[..., Any]) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    rows_, width, used, count = (d.integer(10, 500), d.integer(1, 128), d.integer(10, 2000),
                                 d.integer(1, 12))
    indices, ids = d.integers(rows_, used), np.sort(d.integers(count, used))
    ids[-1] = count - 1
    return Problem([d.normal(rows_, width)],
                   lambda tf, x: build(tf, x, indices, ids.astype(np.int32), count),
                   shape=f"{used} of {rows_} rows of {width}, {count} segments")

  return draw


def scan(build: Callable[..., Any], low: float = -1, high: float = 1,
         most: int = 8000) -> Callable[[Draw], Problem]:

  def draw(d: Draw) -> Problem:
    shape = [d.integer(1, 9), d.pick(d.integer(2, 60), most), d.integer(1, 9)]
    axis, exclusive, reverse = d.integer(0, 2), d.pick(False, True), d.pick(False, True)
    return Problem([d.uniform(low, high, *shape)],
                   lambda tf, x: build(tf, x, axis, exclusive=exclusive, reverse=reverse),
                   shape=f"{shape}, axis {axis}")

  return draw


def families() -> Iterator[tuple[str, list[Row]]]:
  yield "arithmetic", [
      *((name, unary(*row)) for name, row in ARITHMETIC.items()),
      *((name, binary(*row)) for name, row in BINARY.items() if name not in ("Pow", "Atan2")),
      ("BiasAdd", bias)]
  yield "transcendental", [
      *((name, unary(*row)) for name, row in TRANSCENDENTAL.items()),
      *((name, binary(*BINARY[name])) for name in ("Pow", "Atan2"))]
  yield "special functions", [(name, unary(*row)) for name, row in SPECIAL.items()]
  yield "gradients of elementwise ops", [(name, slope(*row)) for name, row in SLOPES.items()]
  yield "reductions", [
      *((f"reduce_{op}", reduction(lambda tf, x, a, op=op: getattr(tf, f"reduce_{op}")(x, a)))
        for op in ("sum", "mean", "max", "min", "logsumexp")),
      ("reduce_prod", reduction(lambda tf, x, a: tf.reduce_prod(x, a), .75, 1.3, most=4000)),
      ("variance", reduction(lambda tf, x, a: tf.math.reduce_variance(x, a))),
      ("norm", reduction(lambda tf, x, a: tf.norm(x, axis=a))),
      ("L2Loss", reduction(lambda tf, x, a: tf.nn.l2_loss(x)))]
  yield "softmax and losses", [
      ("Softmax", rows(lambda tf, x: tf.nn.softmax(x), 2)),
      ("LogSoftmax", rows(lambda tf, x: tf.nn.log_softmax(x), 2)),
      ("Softmax's gradient", rows(lambda tf, x: tf.gradients(tf.nn.softmax(x), x, x * .5)[0])),
      ("SoftmaxCrossEntropyWithLogits", losses(sparse=False)),
      ("SparseSoftmaxCrossEntropyWithLogits", losses(sparse=True))]
  yield "normalization", [
      ("LayerNorm", normed_rows(lambda tf, x, g, b: layer_norm(tf, x) * g + b, 2)),
      ("LayerNorm's gradient", normed_rows(
          lambda tf, x, g: tf.gradients(layer_norm(tf, x) * g, x, tf.sin(x))[0], 1)),
      ("RMSNorm", normed_rows(rms_norm, 1)),
      ("instance norm", instance),
      ("l2_normalize", normed_rows(lambda tf, x: tf.nn.l2_normalize(x, -1), 0)),
      ("FusedBatchNorm, inference", batch_norm(False)),
      ("FusedBatchNorm, training", batch_norm(True)),
      ("FusedBatchNormGrad", batch_norm(True, 0)),
      ("FusedBatchNormGrad of the scale", batch_norm(True, 1)),
      ("LRN", lambda d: Problem([d.normal(*image(d))], lrn)),
      ("LRNGrad", lambda d: Problem([d.normal(*image(d))], lambda tf, x: tf.gradients(
          lrn(tf, x), x, tf.cos(x))[0]))]
  yield "pools", [
      *((f"{kind} pool {spatial}D{' gradient' if slope_ else ''}", pool(kind, spatial, slope_))
        for kind in ("max", "avg") for spatial in (2, 3) for slope_ in (False, True)
        if not (kind == "max" and spatial == 3 and slope_))]
  yield "segments and embeddings", [
      *((f"segment_{op}", segments(
          lambda tf, x, ids, n, op=op: getattr(tf.math, f"segment_{op}")(x, ids)))
        for op in ("sum", "mean", "max")),
      *((f"unsorted_segment_{op}", segments(
          lambda tf, x, ids, n, op=op: getattr(tf.math, f"unsorted_segment_{op}")(x, ids, n), False))
        for op in ("sum", "mean", "sqrt_n", "max")),
      *((f"sparse.segment_{op}", embedding(
          lambda tf, x, i, ids, n, op=op: getattr(tf.sparse, f"segment_{op}")(x, i, ids)))
        for op in ("sum", "mean", "sqrt_n")),
      ("Gather and sum", embedding(lambda tf, x, i, ids, n: tf.reduce_sum(tf.gather(x, i), 0))),
      ("tensor_scatter_nd_add", segments(lambda tf, x, ids, n: tf.tensor_scatter_nd_add(
          tf.zeros([n, x.shape[1]], x.dtype), ids[:, None], x), False))]
  yield "running sums", [
      ("Cumsum", scan(lambda tf, *a, **k: tf.cumsum(*a, **k))),
      ("Cumprod", scan(lambda tf, *a, **k: tf.math.cumprod(*a, **k), .9, 1.1, 200)),
      ("cumulative_logsumexp", scan(lambda tf, *a, **k: tf.math.cumulative_logsumexp(*a, **k)))]
