#!/usr/bin/env python3
"""Writes small models with recurrent layers of TensorFlow 1 and of Keras 2, and a gradient of one.

  tests/makers/recurrent_models.py --out tests/models/recurrent [NAME…]

Keras 2 is the package tf_keras, which the environment `zoo` has (tools/environments.py).
Each NAME/ holds graph.pb (frozen, with Enter, Merge and Switch) or saved_model
(with While), and inputs*.npz with outputs*.npz, as tests/models/README.md tells.
"""

from __future__ import annotations

import functools
import json
import pathlib
import sys
from typing import Callable

import control_models  # sets the environment before TensorFlow is imported
import models
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import convert_to_constants
from tensorflow.python.ops import rnn
from tensorflow.python.ops import rnn_cell as cells

tf1 = tf.compat.v1
STEPS, BATCH, FEATURES, UNITS = 6, 4, 3, 5
LENGTHS = np.array([STEPS, 0, 1, 4])
Tensors = dict[str, tf.Tensor]
Layers = Callable[[tf.Tensor, tf.Tensor], Tensors]
MakeCell = Callable[[], cells.RNNCell]


def unrolled(cell: MakeCell, time_major: bool = False) -> Callable[..., list[tf.Tensor]]:
  """A layer: its results and last states."""
  def run(x: tf.Tensor, lengths: tf.Tensor | None = None) -> list[tf.Tensor]:
    y, states = rnn.dynamic_rnn(cell(), x, lengths, dtype=x.dtype, time_major=time_major)
    return [y, *tf.nest.flatten(states)]
  return run


def bidirectional(cell: MakeCell) -> Callable[..., list[tf.Tensor]]:
  def run(x: tf.Tensor, lengths: tf.Tensor) -> list[tf.Tensor]:
    y, states = rnn.bidirectional_dynamic_rnn(cell(), cell(), x, lengths, dtype=x.dtype)
    return [tf.concat(y, 2), *tf.nest.flatten(states)]
  return run


def static(cell: MakeCell) -> Callable[..., list[tf.Tensor]]:
  """The steps one by one, without a loop."""
  def run(x: tf.Tensor, lengths: tf.Tensor | None = None) -> list[tf.Tensor]:
    y, states = rnn.static_rnn(cell(), tf.unstack(x, STEPS, axis=1), dtype=x.dtype,
                               sequence_length=lengths)
    return [tf.stack(y, 1), *tf.nest.flatten(states)]
  return run


def each(layers: dict[str, Callable[[tf.Tensor, tf.Tensor], list[tf.Tensor]]]) -> Layers:
  """All outputs of several layers that read the same input."""
  def build(x: tf.Tensor, n: tf.Tensor) -> Tensors:
    out = {}
    for name, layer in layers.items():
      with tf1.variable_scope(name):
        for i, tensor in enumerate(layer(x, n)):
          out[f"{name}_{i}"] = tensor
    return out
  return build


def gradient(x: tf.Tensor, n: tf.Tensor) -> Tensors:
  y, states = rnn.dynamic_rnn(cells.LSTMCell(UNITS), x, n, dtype=x.dtype)
  loss = tf.reduce_sum(y * y) + tf.reduce_sum(states.c)
  variables = tf1.trainable_variables()
  return {"y": y, **{f"gradient_{i}": g for i, g in enumerate(
      tf.gradients(loss, [x, *variables]))}}


LENGTH_LAYERS = each({
    "lstm": unrolled(lambda: cells.BasicLSTMCell(UNITS)),
    "gru": unrolled(lambda: cells.GRUCell(UNITS)),
    "tanh": unrolled(lambda: cells.BasicRNNCell(UNITS)),
    "relu": unrolled(lambda: cells.BasicRNNCell(UNITS, activation=tf.nn.relu)),
    "both": bidirectional(lambda: cells.LSTMCell(UNITS, forget_bias=0.5)),
    "no_lengths": lambda x, n: unrolled(lambda: cells.LSTMCell(UNITS, use_peepholes=True))(x),
    "long_lengths": lambda x, n: unrolled(lambda: cells.GRUCell(UNITS))(x, tf.cast(n, tf.int64)),
    "time_major": lambda x, n: unrolled(lambda: cells.LSTMCell(UNITS), time_major=True)(
        tf.transpose(x, [1, 0, 2]), n),
})

CELLS = each({
    "limited": unrolled(lambda: cells.LSTMCell(UNITS, cell_clip=0.3)),
    "projected": unrolled(lambda: cells.LSTMCell(UNITS, num_proj=4)),
    "all": unrolled(lambda: cells.LSTMCell(UNITS, use_peepholes=True, cell_clip=0.4, num_proj=7,
                                           proj_clip=0.2, forget_bias=0.0)),
    "both": bidirectional(lambda: cells.LSTMCell(UNITS, num_proj=3)),
    "no_lengths": lambda x, n: unrolled(
        lambda: cells.LSTMCell(UNITS, num_proj=4, proj_clip=0.25))(x),
    "gru_relu": lambda x, n: unrolled(lambda: cells.GRUCell(UNITS, activation=tf.nn.relu))(x),
})


STACKS = each({
    "lengths": unrolled(lambda: cells.MultiRNNCell([
        cells.LSTMCell(UNITS, num_proj=4), cells.GRUCell(UNITS), cells.BasicRNNCell(3)])),
    "both": bidirectional(lambda: cells.MultiRNNCell([
        cells.BasicLSTMCell(UNITS), cells.BasicLSTMCell(UNITS)])),
    "no_lengths": lambda x, n: unrolled(lambda: cells.MultiRNNCell([
        cells.GRUCell(UNITS), cells.LSTMCell(4, num_proj=3, proj_clip=0.25)]))(x),
    "static": static(lambda: cells.GRUCell(UNITS)),
    "static_no_lengths": lambda x, n: static(lambda: cells.LSTMCell(UNITS))(x),
})
RESIDUAL = each({"residual": unrolled(lambda: cells.ResidualWrapper(cells.GRUCell(FEATURES)))})


def write(out: pathlib.Path, name: str, layers: Layers, frozen: bool,
          lengths: list[np.ndarray]) -> None:
  target = control_models.fresh(out, name)
  (tf1.disable_control_flow_v2 if frozen else tf1.enable_control_flow_v2)()
  rng = np.random.default_rng(23)
  with tf.Graph().as_default() as graph, tf1.Session() as session:
    x = tf1.placeholder(tf.float32, [None, None, FEATURES], "x")
    n = tf1.placeholder(tf.int32, [None], "n")
    fetches = {k: tf.identity(v, k) for k, v in layers(x, n).items()}
    for variable in tf1.trainable_variables():
      shape = variable.shape.as_list()
      scale = shape[0] ** -0.5 if len(shape) > 1 else 0.3
      variable.load(rng.normal(0, scale, shape).astype(np.float32), session)
    for i, length in enumerate(lengths):
      inputs = {"x": rng.normal(0, 1, (len(length), STEPS, FEATURES)).astype(np.float32),
                "n": length.astype(np.int32)}
      outputs = session.run(fetches, {x: inputs["x"], n: inputs["n"]})
      port = ":0" if frozen else ""
      control_models.save(target, f"_{i}" if i else "",
                          {k + port: v for k, v in inputs.items()},
                          {k + port: v for k, v in outputs.items()})
    if not frozen:
      tf1.saved_model.simple_save(session, str(target / "saved_model"), {"x": x, "n": n}, fetches)
      return
    graph_def = tf1.graph_util.convert_variables_to_constants(
        session, graph.as_graph_def(), list(fetches))
  (target / "graph.pb").write_bytes(graph_def.SerializeToString())
  (target / "model.json").write_text(json.dumps(
      {**models.versions(), "kind": "graphdef", "model": "graph.pb"}, indent=2) + "\n")


def keras2(out: pathlib.Path, name: str) -> None:
  """Layers of Keras 2; dropout leaves products with ones in inference."""
  import tf_keras  # pylint: disable=import-outside-toplevel
  tf1.enable_control_flow_v2()
  layers = tf_keras.layers
  target = control_models.fresh(out, name)
  rng = np.random.default_rng(29)
  x = tf_keras.Input([None, FEATURES], name="x")
  masked = layers.Masking()(x)
  backwards, h, c = layers.LSTM(UNITS, return_sequences=True, return_state=True,
                                go_backwards=True)(x)
  model = tf_keras.Model(x, {
      "lstm": layers.LSTM(UNITS, dropout=0.2, recurrent_dropout=0.1)(x),
      "backwards": backwards, "h": h, "c": c,
      "gru": layers.GRU(UNITS, reset_after=False, recurrent_activation="hard_sigmoid",
                        return_sequences=True)(x),
      "masked": layers.Bidirectional(layers.GRU(UNITS, return_sequences=True))(masked),
      "simple": layers.SimpleRNN(UNITS, activation="relu", recurrent_dropout=0.1)(masked)})
  for weight in model.weights:
    weight.assign(rng.normal(0, 0.5, weight.shape))
  run = tf.function(lambda x: model(x, training=False)).get_concrete_function(
      tf.TensorSpec([None, None, FEATURES], tf.float32, "x"))
  # A tenth of the size of a SavedModel.
  frozen = convert_to_constants.convert_variables_to_constants_v2(run, lower_control_flow=False)
  (target / "graph.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
  (target / "model.json").write_text(json.dumps(
      {**models.versions(), "kind": "graphdef", "model": "graph.pb"}, indent=2) + "\n")
  for suffix, shape in {"": (3, STEPS, FEATURES), "_1": (1, 1, FEATURES)}.items():
    inputs = {"x": rng.normal(0, 1, shape).astype(np.float32)}
    if shape[0] > 1:
      inputs["x"][0, -2:] = 0
      inputs["x"][1, 0] = 0
      inputs["x"][2] = 0
    outputs = {tensor.name: value.numpy()
               for tensor, value in zip(frozen.outputs, frozen(tf.constant(inputs["x"])))}
    control_models.save(target, suffix, {"x:0": inputs["x"]}, outputs)


def training(batch: int | None, units: int, cases: list[tuple[int, int]], out: pathlib.Path,
             name: str) -> None:
  """A loop by hand and its gradient, with the forms in which weights' gradients are added up.

  batch: None: not known; units: small products would stay in the loop; cases: steps and batch of
  each.
  """
  tf1.enable_control_flow_v2()
  target = control_models.fresh(out, name)
  rng = np.random.default_rng(31)
  some = units // 12  # of the columns of gradients

  def values(*shape: int) -> tf.Tensor:
    """Without a large constant in the file."""
    count = tf.range(np.prod(shape), dtype=tf.float32)
    return 9.6 / units * tf.reshape(tf.sin(count * count + shape[0]), shape)

  def body(weights: list[tf.Tensor], i: tf.Tensor, h: tf.Tensor, xs: tf.TensorArray,
           ys: tf.TensorArray) -> tuple[object, ...]:
    w, u, b, v, scale, out_w = weights
    x = xs.read(i)
    from_input, from_state = tf.unstack(b)
    gates = tf.nn.bias_add(x @ w, from_input) + tf.nn.bias_add(h @ u, from_state)
    gate, value = tf.split(gates, 2, axis=1)
    value = tf.tanh(value * scale + tf.matmul(h, v, transpose_b=True)) + 0.1 * tf.reduce_sum(v * v)
    h = tf.sigmoid(gate) * h + (1 - tf.sigmoid(gate)) * value
    return i + 1, h, xs, ys.write(i, tf.matmul(h, out_w, transpose_b=True))

  def layer(x: tf.Tensor, weights: list[tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    steps = tf.shape(x)[0]
    xs = tf.TensorArray(tf.float32, steps, element_shape=[batch, units]).unstack(x)
    ys = tf.TensorArray(tf.float32, steps, element_shape=[batch, 4])
    h = tf.ones([tf.shape(x)[1] if batch is None else batch, units])
    _, h, _, ys = tf.while_loop(lambda i, *_: i < steps, functools.partial(body, weights),
                                (0, h, xs, ys))
    return ys.concat(), h

  @tf.function(input_signature=[tf.TensorSpec([None, batch, units], tf.float32, "x")])
  def run(x: tf.Tensor) -> list[tf.Tensor]:
    # w, u and b are read as weights only; v and scale otherwise, too.
    weights = [values(units, 2 * units), values(units, 2 * units), values(2, 2 * units),
               values(units, units), values(units), values(4, units)]
    with tf.GradientTape() as tape:
      tape.watch([x, *weights])
      y, h = layer(x, weights)
      loss = tf.reduce_sum(y * y) + tf.reduce_sum(h ** 3)
    gradients = tape.gradient(loss, [x, *weights])
    return [y, *(g[..., ::some] if g.shape.rank < 2 else g[::some // 2, ..., ::some]
                 for g in gradients)]

  graph = run.get_concrete_function().graph
  needed = tf1.graph_util.extract_sub_graph(
      graph.as_graph_def(), [tensor.op.name for tensor in graph.outputs])
  (target / "graph.pb").write_bytes(needed.SerializeToString())
  (target / "model.json").write_text(json.dumps(
      {**models.versions(), "kind": "graphdef", "model": "graph.pb"}, indent=2) + "\n")
  for k, (steps, images) in enumerate(cases):
    suffix = f"_{k}" if k else ""
    inputs = {"x": rng.normal(0, 1, (steps, images, units)).astype(np.float32)}
    outputs = {tensor.name: value.numpy() for tensor, value in zip(graph.outputs, run(inputs["x"]))}
    control_models.save(target, suffix, {"x:0": inputs["x"]}, outputs)


SOME = [LENGTHS, np.array([3]), np.array([0, 0])]
MODELS: dict[str, Callable[[pathlib.Path, str], None]] = {
    "lengths": lambda out, name: write(out, name, LENGTH_LAYERS, True, SOME),
    "lengths_while": lambda out, name: write(out, name, LENGTH_LAYERS, False, SOME),
    "cells": lambda out, name: write(out, name, CELLS, True, SOME[:2]),
    "cells_while": lambda out, name: write(out, name, CELLS, False, SOME[:2]),
    "stacks": lambda out, name: write(out, name, STACKS, True, SOME[:2]),
    "residual": lambda out, name: write(out, name, RESIDUAL, True, SOME[:1]),
    "keras2": keras2,
    "gradient": lambda out, name: write(out, name, gradient, True, SOME[:1]),
    "gradient_while": lambda out, name: write(out, name, gradient, False, SOME[:1]),
    "training": functools.partial(training, BATCH, 96, [(STEPS, BATCH), (1, BATCH), (0, BATCH)]),
    "training_batches": functools.partial(training, None, 512, [(STEPS, BATCH), (3, 1), (0, 2)]),
}


if __name__ == "__main__":
  sys.exit(control_models.command_line(__doc__, MODELS))
