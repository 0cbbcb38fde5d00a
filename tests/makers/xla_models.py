#!/usr/bin/env python3
"""Writes small models with XLA's ops that call functions, and products of them.

  tests/makers/xla_models.py --out tests/models/xla [NAME…]

As control_models.py, whose functions it uses.
"""

from __future__ import annotations

import pathlib
import sys

import control_models as control  # sets the environment before TensorFlow is imported
import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.compiler.tf2xla.python import xla
from tensorflow.compiler.xla import xla_data_pb2

spec = control.spec


def scalars(function, *dtypes: tf.DType):
  """The function of scalars as XLA's ops take it."""
  return tf.function(function, autograph=False).get_concrete_function(
      *(tf.TensorSpec([], d) for d in dtypes))


def pairs(function, dtype: tf.DType = tf.float32):
  return scalars(function, dtype, dtype)


def reduce(x, init, reducer, dimensions):
  return gen_xla_ops.xla_reduce(x, init, reducer=reducer,
                                dimensions_to_reduce=dimensions)


class Reductions(tf.Module):
  """By functions that TensorFlow has too, and by others."""

  @tf.function(input_signature=[spec("x", tf.float32, None, 5, 3),
                                spec("start", tf.float32)])
  def run(self, x: tf.Tensor, start: tf.Tensor) -> dict[str, tf.Tensor]:
    integers = tf.cast(x * 10.0, tf.int32)
    both = pairs(lambda a, b: a + b - a * b * 0.25)
    larger = scalars(
        lambda a, i, b, j: (tf.where(a >= b, a, b), tf.where(a >= b, i, j)),
        tf.float32, tf.int32, tf.float32, tf.int32)
    indices = tf.range(5)[:, None] + tf.zeros_like(integers)
    value, place = gen_xla_ops.xla_variadic_reduce_v2(
        [x, indices], [tf.constant(-np.inf), tf.constant(0)],
        dimensions_to_reduce=[1], reducer=larger)
    twice = scalars(lambda a, b, c, d: (a + c, tf.maximum(b, d)),
                    *[tf.float32] * 4)
    total, largest = gen_xla_ops.xla_variadic_reduce(
        [x, x * 2.0], [start, start], dimensions_to_reduce=[2, 0], reducer=twice)
    return {
        "sum": reduce(x, start, pairs(tf.add), [1]),
        "zero_sum": reduce(x, tf.constant(0.0), pairs(tf.add), [0, 2]),
        "product": reduce(integers, tf.constant(3), pairs(tf.multiply, tf.int32), [2]),
        "max": reduce(x, tf.constant(-np.inf), pairs(tf.maximum), [1, 2]),
        "min": reduce(x, start, pairs(tf.minimum), []),
        "and": reduce(x > -1.0, tf.constant(True), pairs(tf.logical_and, tf.bool), [1]),
        "both": reduce(x, start, both, [2]),
        "last": reduce(x, start, pairs(lambda a, b: b), [0]),
        "value": value, "place": place, "total": total, "largest": largest}


class Windows(tf.Module):
  """Reductions of windows, and the gradient of a max pool."""

  @tf.function(input_signature=[spec("x", tf.float32, None, 6, 7, 2)])
  def run(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    def window(function, init, dims, strides, base=(1,) * 4, dilation=(1,) * 4,
               padding=((0, 0),) * 4):
      return gen_xla_ops.xla_reduce_window(
          x, tf.constant(init), dims, strides, base, dilation, padding,
          computation=pairs(function))

    pooled = window(tf.maximum, -np.inf, [1, 2, 3, 1], [1, 2, 2, 1])
    grad = gen_xla_ops.xla_select_and_scatter(
        x, [1, 2, 3, 1], [1, 2, 2, 1], [[0, 0]] * 4, pooled, tf.constant(0.5),
        select=pairs(tf.greater_equal), scatter=pairs(tf.add))
    overlap = gen_xla_ops.xla_select_and_scatter(
        x, [1, 3, 3, 1], [1, 1, 2, 1], [[0, 0], [1, 1], [1, 1], [0, 0]],
        window(tf.maximum, -np.inf, [1, 3, 3, 1], [1, 1, 2, 1],
               padding=[[0, 0], [1, 1], [1, 1], [0, 0]]),
        tf.constant(0.0), select=pairs(tf.greater_equal), scatter=pairs(tf.add))
    return {
        "pooled": pooled, "grad": grad, "overlap": overlap,
        "padded": window(tf.maximum, -np.inf, [1, 3, 3, 1], [1, 2, 2, 1],
                         padding=[[0, 0], [1, 0], [1, 1], [0, 0]]),
        "sum": window(tf.add, 0.0, [1, 2, 2, 1], [1, 1, 1, 1]),
        "running": window(tf.add, 0.0, [1, 6, 1, 1], [1] * 4,
                          padding=[[0, 0], [5, 0], [0, 0], [0, 0]]),
        "dilated": window(tf.minimum, np.inf, [1, 2, 2, 1], [1] * 4,
                          dilation=[1, 2, 3, 1]),
        "spread": window(tf.add, 0.0, [1, 2, 2, 1], [1] * 4, base=[1, 2, 2, 1],
                         padding=[[0, 0], [1, 1], [-1, 0], [0, 0]]),
        "own": window(lambda a, b: a * 0.5 + b, 0.25, [1, 2, 2, 1], [1, 2, 2, 1])}


class Scatters(tf.Module):
  """Scatters with repeated indices, and some out of range."""

  @tf.function(input_signature=[
      spec("x", tf.float32, 6, 5), spec("indices", tf.int32, None, 1),
      spec("rows", tf.float32, None, 5)])
  def run(self, x: tf.Tensor, indices: tf.Tensor,
          rows: tf.Tensor) -> dict[str, tf.Tensor]:
    def numbers(window, inserted, dims, vector):
      n = xla_data_pb2.ScatterDimensionNumbers(index_vector_dim=vector)
      n.update_window_dims.extend(window)
      n.inserted_window_dims.extend(inserted)
      n.scatter_dims_to_operand_dims.extend(dims)
      return n

    def scatter(function, operand, where, updates, n):
      return gen_xla_ops.xla_scatter(
          operand, where, updates, update_computation=pairs(function),
          dimension_numbers=n.SerializeToString(), indices_are_sorted=False)

    by_row = numbers([1], [0], [0], 1)
    points = tf.concat([indices, indices // 2], 1)
    return {
        "add": scatter(tf.add, x, indices, rows, by_row),
        "max": scatter(tf.maximum, x, indices, rows, by_row),
        "set": scatter(lambda a, b: b, x, indices[:3], rows[:3], by_row),
        "own": scatter(lambda a, b: a - b * 0.5, x, indices, rows, by_row),
        "points": scatter(tf.add, x, points, rows[:, 0], numbers([], [0, 1], [0, 1], 1)),
        "blocks": scatter(tf.add, x, points, rows[:, :4, None] * tf.ones([1, 1, 2]),
                          numbers([1, 2], [], [0, 1], 1))}


class Sorts(tf.Module):
  """Sorts by comparators of one and of several tensors."""

  @tf.function(input_signature=[spec("x", tf.float32, None, 9, 2)])
  def run(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    def sort(operands, dimension, comparator):
      types = [o.dtype for o in operands for _ in range(2)]
      return gen_xla_ops.xla_variadic_sort(
          operands, dimension, comparator=scalars(comparator, *types), is_stable=True)

    coarse = tf.floor(x)
    index = tf.range(9)[:, None] + tf.zeros_like(tf.cast(x, tf.int32))
    keys, values = sort([coarse, index], 1, lambda a, b, i, j: a < b)
    first, second = sort([coarse, x], 1, lambda a, b, c, d: tf.where(
        tf.equal(a, b), c > d, a < b))
    return {"ascending": sort([x], 1, lambda a, b: a < b)[0],
            "descending": sort([x], 0, lambda a, b: a > b)[0],
            "keys": keys, "values": values, "first": first, "second": second}


class Flow(tf.Module):
  """XlaWhile. (TensorFlow's CPU does not run XlaIf.)"""

  @tf.function(input_signature=[spec("x", tf.float32, None, 4), spec("n", tf.int32)])
  def run(self, x: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
    types = [tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 4], tf.float32)]

    def made(function, arguments):
      return tf.function(function, autograph=False).get_concrete_function(*arguments)

    _, y = gen_xla_ops.xla_while(
        [n, x], cond=made(lambda i, v: i > 0, types),
        body=made(lambda i, v: (i - 1, tf.tanh(v) * 1.5), types))
    return {"y": y}


class Network(tf.Module):
  """What jax2tf makes of a small image network: convolutions, pads, products."""

  def __init__(self) -> None:
    super().__init__()
    self.filter = tf.Variable(0.3 * control.floats(3, 3, 2, 4))
    self.depthwise = tf.Variable(control.floats(3, 3, 1, 8))
    self.weights = tf.Variable(control.floats(8, 5))

  @tf.function(input_signature=[spec("x", tf.float32, None, 8, 9, 2)])
  def run(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
    n = xla_data_pb2.ConvolutionDimensionNumbers(
        input_batch_dimension=0, input_feature_dimension=3,
        input_spatial_dimensions=[1, 2], kernel_input_feature_dimension=2,
        kernel_output_feature_dimension=3, kernel_spatial_dimensions=[0, 1],
        output_batch_dimension=0, output_feature_dimension=3,
        output_spatial_dimensions=[1, 2])
    y = xla.conv(x, self.filter, [2, 1], [[0, 1], [1, 1]], [1, 1], [1, 1], n)
    y = tf.nn.relu(y + 0.1)
    y = xla.conv(y, self.depthwise, [1, 1], [[1, 1], [1, 1]], [1, 1], [1, 1], n,
                 feature_group_count=4)
    padded = xla.pad(y, 0.0, [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0])
    y = reduce(tf.nn.relu(padded), tf.constant(0.0), pairs(tf.add), [1, 2])
    d = xla_data_pb2.DotDimensionNumbers()
    d.lhs_contracting_dimensions.append(1)
    d.rhs_contracting_dimensions.append(0)
    return {"y": xla.dot_general(y, self.weights, d) + 1.0, "padded": padded}


MODELS = {
    "reductions": control.module(Reductions, {
        "": {"x": control.floats(2, 5, 3), "start": np.float32(0.5)},
        "_one": {"x": control.floats(1, 5, 3), "start": np.float32(-1)},
        "_none": {"x": control.floats(0, 5, 3), "start": np.float32(2)}}),
    "windows": control.module(Windows, {
        "": {"x": control.floats(1, 6, 7, 2)}, "_two": {"x": control.floats(2, 6, 7, 2)}}),
    "scatters": control.module(Scatters, {
        "": {"x": control.floats(6, 5), "rows": control.floats(7, 5),
             "indices": np.array([[1], [4], [0], [1], [9], [-1], [1]], np.int32)}}),
    "sorts": control.module(Sorts, {
        "": {"x": control.floats(3, 9, 2)}, "_one": {"x": control.floats(1, 9, 2)}}),
    "flow": control.module(Flow, {
        "": {"x": control.floats(2, 4), "n": np.int32(4)},
        "_none": {"x": control.floats(2, 4), "n": np.int32(0)}}),
    "network": control.module(Network, {"": {"x": control.floats(2, 8, 9, 2)}}),
}


if __name__ == "__main__":
  sys.exit(control.command_line(__doc__, MODELS))
