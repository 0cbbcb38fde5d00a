"""Networks on points, graphs, films, signals of the brain, scenes and tables."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops

from zoo import network


def _dense(x: Any, units: int) -> Any:
  return layers.ReLU()(layers.BatchNormalization()(layers.Dense(units)(x)))


def pointnet() -> network.Network:
  """1,024 points, each through the same layers, and their largest values."""
  points = keras.Input((1024, 3), name="points")
  turn = layers.GlobalMaxPooling1D()(_dense(_dense(points, 64), 256))
  turn = layers.Reshape((3, 3))(layers.Dense(9)(_dense(turn, 128)))
  x = layers.Dot(axes=(2, 1))([points, turn])
  for units in (64, 64, 128, 1024):
    x = _dense(x, units)
  x = _dense(layers.GlobalMaxPooling1D()(x), 256)
  return network.of_keras(keras.Model(points, layers.Dense(40)(x)),
                          network.normal(points=(1024, 3)))


def graph_network() -> network.Network:
  """Messages along 4,000 edges between 1,000 nodes, summed by receiver."""
  nodes, edges = 1000, 4000
  features = keras.Input((nodes, 64), name="features")
  ends = keras.Input((edges, 2), dtype="int32", name="ends")

  class Messages(layers.Layer):
    """The sum, by receiver, of what senders say."""

    def call(self, x, ends):
      x = ops.reshape(x, (-1, x.shape[-1]))
      batch = ops.shape(ends)[0]
      first = ops.arange(batch)[:, None] * nodes
      sender = ops.reshape(ends[..., 0] + first, (-1,))
      receiver = ops.reshape(ends[..., 1] + first, (-1,))
      said = ops.take(x, sender, axis=0)
      import tensorflow as tf  # pylint: disable=import-outside-toplevel
      total = tf.math.unsorted_segment_sum(said, receiver, batch * nodes)
      return ops.reshape(total, (-1, nodes, x.shape[-1]))

  x = features
  for _ in range(3):
    said = Messages()(layers.Dense(64)(x), ends)
    x = layers.ReLU()(layers.Add()([layers.Dense(64)(x), said]))

  def inputs(rng: np.random.Generator, batch: int) -> network.Arrays:
    return {"features": rng.normal(0, 1, (batch, nodes, 64)).astype(np.float32),
            "ends": rng.integers(0, nodes, (batch, edges, 2)).astype(np.int32)}

  return network.of_keras(keras.Model([features, ends], layers.Dense(7)(x)),
                          inputs)


def c3d() -> network.Network:
  """3x3x3 convolutions over 16 frames."""
  x = film = keras.Input((16, 56, 56, 3), name="film")
  for filters, pool in ((32, (1, 2, 2)), (64, 2), (128, 2)):
    x = layers.Conv3D(filters, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling3D(pool)(x)
  x = layers.Dense(256, activation="relu")(layers.Flatten()(x))
  return network.of_keras(keras.Model(film, layers.Dense(101)(x)),
                          network.normal(film=(16, 56, 56, 3)))


def convlstm() -> network.Network:
  """The next frame of eight."""
  x = film = keras.Input((8, 40, 40, 1), name="film")
  x = layers.ConvLSTM2D(24, 3, padding="same", return_sequences=True)(x)
  x = layers.ConvLSTM2D(24, 3, padding="same")(x)
  x = layers.Conv2D(1, 3, padding="same", activation="sigmoid")(x)
  return network.of_keras(keras.Model(film, x),
                          network.normal(film=(8, 40, 40, 1)))


def eegnet() -> network.Network:
  """Temporal, spatial and separable convolutions on 64 electrodes."""
  x = signal = keras.Input((64, 256, 1), name="signal")
  x = layers.Conv2D(8, (1, 64), padding="same", use_bias=False)(x)
  x = layers.BatchNormalization()(x)
  x = layers.DepthwiseConv2D((64, 1), depth_multiplier=2, use_bias=False)(x)
  x = layers.Activation("elu")(layers.BatchNormalization()(x))
  x = layers.AveragePooling2D((1, 4))(x)
  x = layers.SeparableConv2D(16, (1, 16), padding="same", use_bias=False)(x)
  x = layers.Activation("elu")(layers.BatchNormalization()(x))
  x = layers.Flatten()(layers.AveragePooling2D((1, 8))(x))
  return network.of_keras(keras.Model(signal, layers.Dense(4)(x)),
                          network.normal(signal=(64, 256, 1)))


def nerf() -> network.Network:
  """Color and density of 1,024 points from sines of their coordinates."""
  points = keras.Input((1024, 3), name="points")
  parts = [points]
  for power in range(6):
    parts += [ops.sin(points * 2.0 ** power), ops.cos(points * 2.0 ** power)]
  x = encoded = layers.Concatenate()(parts)
  for i in range(6):
    if i == 3:
      x = layers.Concatenate()([x, encoded])
    x = layers.Dense(256, activation="relu")(x)
  density = layers.Dense(1, activation="softplus")(x)
  color = layers.Dense(3, activation="sigmoid")(
      layers.Dense(128, activation="relu")(x))
  model = keras.Model(points, layers.Concatenate()([color, density]))
  return network.of_keras(model, network.normal(points=(1024, 3)))


def siren() -> network.Network:
  """A picture as a network: sines after each layer, 4,096 pixels."""
  x = points = keras.Input((4096, 2), name="points")
  for i in range(4):
    x = layers.Dense(256, kernel_initializer=keras.initializers.RandomUniform(
        -0.5 if i == 0 else -0.15, 0.5 if i == 0 else 0.15))(x)
    x = ops.sin((30.0 if i == 0 else 1.0) * x)
  return network.of_keras(keras.Model(points, layers.Dense(3)(x)),
                          network.normal(points=(4096, 2)))


def tabular() -> network.Network:
  """Rows of 64 numbers through steps that choose columns."""
  x = table = keras.Input((64,), name="table")
  x = layers.BatchNormalization()(x)
  prior, total, mask_from = 1.0, 0.0, _dense(x, 32)
  for _ in range(4):
    mask = ops.softmax(layers.Dense(64)(mask_from) * prior)
    prior = prior * (1.3 - mask)
    y = layers.Dense(64)(x * mask)
    y = y[:, :32] * ops.sigmoid(y[:, 32:])
    total, mask_from = total + ops.relu(y), y
  return network.of_keras(keras.Model(table, layers.Dense(2)(total)),
                          network.normal(table=(64,)))


def suppression() -> network.Network:
  """What ends an SSD's serving signature: 1,917 boxes, of which 100 at most stay."""
  import tensorflow as tf  # pylint: disable=import-outside-toplevel

  def call(boxes, scores):
    indices, valid = tf.image.non_max_suppression_padded(
        boxes, scores, 100, iou_threshold=0.5, score_threshold=0.1,
        pad_to_max_output_size=True, sorted_input=False,
        canonicalized_coordinates=True, tile_size=512)
    kept = tf.sequence_mask(valid, 100, tf.float32)
    return {"boxes": tf.gather(boxes, indices, batch_dims=1) * kept[..., None],
            "scores": tf.gather(scores, indices, batch_dims=1) * kept}

  def inputs(rng: np.random.Generator, batch: int) -> network.Arrays:
    corner = rng.random((batch, 1917, 2)).astype(np.float32)
    size = 0.2 * rng.random((batch, 1917, 2)).astype(np.float32)
    return {"boxes": np.concatenate([corner, corner + size], -1),
            "scores": rng.random((batch, 1917)).astype(np.float32)}

  return network.Network(
      call=call, variables=[],
      specs={"boxes": tf.TensorSpec((None, 1917, 4)),
             "scores": tf.TensorSpec((None, 1917))}, inputs=inputs)
