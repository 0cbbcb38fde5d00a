"""Networks of Keras 3 layers: recurrent ones, generators, sound, 3-D, image tagging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras import layers

from zoo import network


def convnext() -> network.Network:
  model = keras.applications.ConvNeXtTiny(
      weights=None, input_tensor=keras.Input((224, 224, 3), name="image"),
      classifier_activation=None)
  return network.of_keras(model, network.image("image", 224, 224))


def _tagger(application: Callable[..., Any]) -> network.Network:
  """An image tagger of 224 x 224 pixels that expects values of -1 to 1."""
  model = application(
      weights=None, input_tensor=keras.Input((224, 224, 3), name="image"),
      include_preprocessing=False, classifier_activation=None)
  return network.of_keras(model, network.image("image", 224, 224))


def mobilenetv3() -> network.Network:
  return _tagger(keras.applications.MobileNetV3Large)


def efficientnetv2() -> network.Network:
  return _tagger(keras.applications.EfficientNetV2B0)


def _recurrent(layer: Any, depth: int, steps: int, features: int,
               both_ways: bool = False) -> network.Network:
  x = series = keras.Input((steps, features), name="series")
  for i in range(depth):
    step = layer(return_sequences=i + 1 < depth)
    x = (layers.Bidirectional(step) if both_ways else step)(x)
  model = keras.Model(series, layers.Dense(10)(x))
  return network.of_keras(model, network.normal(series=(steps, features)))


def lstm() -> network.Network:
  return _recurrent(lambda **x: layers.LSTM(512, **x), 2, 64, 128)


def gru() -> network.Network:
  return _recurrent(lambda **x: layers.GRU(512, **x), 2, 64, 128)


def bilstm() -> network.Network:
  return _recurrent(lambda **x: layers.LSTM(128, **x), 1, 256, 64, True)


def unet3d() -> network.Network:
  """A 3-D U-Net of three levels on 32 x 64 x 64 voxels."""
  def block(x: Any, filters: int) -> Any:
    for _ in range(2):
      x = layers.Conv3D(filters, 3, padding="same", use_bias=False)(x)
      x = layers.BatchNormalization()(x)
      x = layers.ReLU()(x)
    return x

  x = volume = keras.Input((32, 64, 64, 1), name="volume")
  skips = []
  for filters in (16, 32):
    x = block(x, filters)
    skips.append(x)
    x = layers.MaxPooling3D()(x)
  x = block(x, 64)
  for filters in (32, 16):
    x = layers.Conv3DTranspose(filters, 2, strides=2)(x)
    x = block(layers.Concatenate()([skips.pop(), x]), filters)
  model = keras.Model(volume, layers.Conv3D(3, 1)(x))
  return network.of_keras(model, network.normal(volume=(32, 64, 64, 1)))


def espcn() -> network.Network:
  """Super-resolution by 3 of one channel of 160 x 160 pixels."""
  x = image = keras.Input((160, 160, 1), name="image")
  x = layers.Conv2D(64, 5, padding="same", activation="tanh")(x)
  x = layers.Conv2D(64, 3, padding="same", activation="tanh")(x)
  x = layers.Conv2D(32, 3, padding="same", activation="tanh")(x)
  x = layers.Conv2D(9, 3, padding="same")(x)
  model = keras.Model(image, x)
  base = network.of_keras(model, network.normal(image=(160, 160, 1)))
  call = base.call
  return network.Network(
      call=lambda image: tf.nn.depth_to_space(call(image=image), 3),
      variables=base.variables, specs=base.specs, inputs=base.inputs)


def dcgan() -> network.Network:
  """A DC-GAN's generator: 100 numbers to an image of 64 x 64."""
  x = noise = keras.Input((100,), name="noise")
  x = layers.Dense(4 * 4 * 512, use_bias=False)(x)
  x = layers.Reshape((4, 4, 512))(x)
  for filters in (256, 128, 64):
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv2DTranspose(filters, 4, 2, "same", use_bias=False)(x)
  x = layers.BatchNormalization()(x)
  x = layers.ReLU()(x)
  x = layers.Conv2DTranspose(3, 4, 2, "same", activation="tanh")(x)
  return network.of_keras(keras.Model(noise, x), network.normal(noise=(100,)))


def wavenet() -> network.Network:
  """Two stacks of dilated causal convolutions with gates, 4,000 samples."""
  x = sound = keras.Input((4000, 1), name="sound")
  x = layers.Conv1D(64, 2, padding="causal")(x)
  skips = []
  for _ in range(2):
    for power in range(8):
      dilated = {"padding": "causal", "dilation_rate": 2 ** power}
      gate = layers.Conv1D(64, 2, activation="sigmoid", **dilated)(x)
      value = layers.Conv1D(64, 2, activation="tanh", **dilated)(x)
      h = layers.Multiply()([value, gate])
      skips.append(layers.Conv1D(64, 1)(h))
      x = layers.Add()([x, layers.Conv1D(64, 1)(h)])
  x = layers.ReLU()(layers.Add()(skips))
  x = layers.Conv1D(128, 1, activation="relu")(x)
  model = keras.Model(sound, layers.Conv1D(256, 1)(x))
  return network.of_keras(model, network.normal(sound=(4000, 1)))
