"""Networks on pictures: restoration, translation, segmentation, grouped convolutions."""

from __future__ import annotations

from typing import Any

import keras
from keras import layers, ops

from zoo import network


def _of_image(image: Any, output: Any) -> network.Network:
  return network.of_keras(keras.Model(image, output),
                          network.image("image", *image.shape[1:3]))


def _conv(x: Any, filters: int, size: int = 3, **options: Any) -> Any:
  """Convolution, batch norm, ReLU."""
  x = layers.Conv2D(filters, size, padding="same", use_bias=False, **options)(x)
  return layers.ReLU()(layers.BatchNormalization()(x))


class InstanceNorm(layers.Layer):
  """Normalizes each channel of each image [B, H, W, C] by its own moments."""

  def build(self, shape):
    self.gamma = self.add_weight(shape=(shape[-1],), name="gamma",
                                 initializer="ones")
    self.beta = self.add_weight(shape=(shape[-1],), name="beta",
                                initializer="zeros")

  def call(self, x):
    mean, variance = ops.moments(x, (1, 2), keepdims=True)
    return (x - mean) * ops.rsqrt(variance + 1e-5) * self.gamma + self.beta


def srresnet() -> network.Network:
  """Super-resolution by 2: 9x9 convolutions around eight residual blocks."""
  image = keras.Input((96, 96, 3), name="image")
  x = first = layers.PReLU(shared_axes=(1, 2))(
      layers.Conv2D(64, 9, padding="same")(image))
  for _ in range(8):
    y = layers.Conv2D(64, 3, padding="same", use_bias=False)(x)
    y = layers.PReLU(shared_axes=(1, 2))(layers.BatchNormalization()(y))
    y = layers.Conv2D(64, 3, padding="same", use_bias=False)(y)
    x = layers.Add()([x, layers.BatchNormalization()(y)])
  x = layers.Add()([x, first])
  x = layers.Conv2D(256, 3, padding="same")(x)
  x = layers.Lambda(lambda t: ops.reshape(ops.transpose(ops.reshape(
      t, (-1, 96, 96, 2, 2, 64)), (0, 1, 3, 2, 4, 5)), (-1, 192, 192, 64)))(x)
  x = layers.PReLU(shared_axes=(1, 2))(x)
  return _of_image(image, layers.Conv2D(3, 9, padding="same",
                                        activation="tanh")(x))


def style() -> network.Network:
  """Fast style transfer: reflected borders, instance norms, resized steps up."""
  def conv(x: Any, filters: int, size: int, strides: int = 1) -> Any:
    edge = size // 2
    x = ops.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)), "reflect")
    return InstanceNorm()(layers.Conv2D(filters, size, strides)(x))

  image = keras.Input((192, 192, 3), name="image")
  x = layers.ReLU()(conv(image, 32, 9))
  x = layers.ReLU()(conv(x, 64, 3, 2))
  x = layers.ReLU()(conv(x, 128, 3, 2))
  for _ in range(5):
    x = x + conv(layers.ReLU()(conv(x, 128, 3)), 128, 3)
  for filters in (64, 32):
    x = layers.ReLU()(conv(layers.UpSampling2D()(x), filters, 3))
  return _of_image(image, layers.Activation("tanh")(conv(x, 3, 9)))


def pix2pix() -> network.Network:
  """A U-Net of strided and transposed 4x4 convolutions."""
  image = keras.Input((128, 128, 3), name="image")
  x, skips = image, []
  for filters in (64, 128, 256, 512, 512, 512):
    x = layers.Conv2D(filters, 4, 2, "same", use_bias=False)(x)
    x = layers.LeakyReLU(negative_slope=0.2)(layers.BatchNormalization()(x))
    skips.append(x)
  skips.pop()
  for filters in (512, 512, 256, 128, 64):
    x = layers.Conv2DTranspose(filters, 4, 2, "same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.Concatenate()([x, skips.pop()])
  return _of_image(image, layers.Conv2DTranspose(3, 4, 2, "same",
                                                 activation="tanh")(x))


def unet() -> network.Network:
  """Segmentation of 128 x 128 pixels in four levels."""
  image = keras.Input((128, 128, 3), name="image")
  x, skips = image, []
  for filters in (32, 64, 128):
    x = _conv(_conv(x, filters), filters)
    skips.append(x)
    x = layers.MaxPooling2D()(x)
  x = _conv(_conv(x, 256), 256)
  for filters in (128, 64, 32):
    x = layers.Conv2DTranspose(filters, 2, 2)(x)
    x = _conv(_conv(layers.Concatenate()([skips.pop(), x]), filters), filters)
  return _of_image(image, layers.Conv2D(1, 1, activation="sigmoid")(x))


def resnext() -> network.Network:
  """Bottlenecks of 3x3 convolutions in 32 groups."""
  image = keras.Input((112, 112, 3), name="image")
  x = layers.MaxPooling2D(3, 2, "same")(_conv(image, 64, 7, strides=2))
  for filters, strides in ((128, 1), (256, 2), (512, 2)):
    for i in range(2):
      step = strides if i == 0 else 1
      y = _conv(x, filters, 1)
      y = _conv(y, filters, 3, strides=step, groups=32)
      y = layers.Conv2D(2 * filters, 1, use_bias=False)(y)
      y = layers.BatchNormalization()(y)
      if i == 0:
        x = layers.Conv2D(2 * filters, 1, step, use_bias=False)(x)
        x = layers.BatchNormalization()(x)
      x = layers.ReLU()(layers.Add()([x, y]))
  x = layers.GlobalAveragePooling2D()(x)
  return _of_image(image, layers.Dense(100)(x))


def shufflenet() -> network.Network:
  """Grouped 1x1 convolutions, channel shuffles, depthwise convolutions."""
  def shuffle(x: Any, groups: int) -> Any:
    height, width, channels = x.shape[1:]
    x = ops.reshape(x, (-1, height, width, groups, channels // groups))
    return ops.reshape(ops.swapaxes(x, 3, 4), (-1, height, width, channels))

  image = keras.Input((112, 112, 3), name="image")
  x = layers.MaxPooling2D(3, 2, "same")(_conv(image, 24, 3, strides=2))
  for filters in (240, 480):
    for i in range(3):
      y = _conv(x, filters // 4, 1, groups=1 if x.shape[-1] == 24 else 3)
      y = layers.DepthwiseConv2D(3, 2 if i == 0 else 1, "same")(shuffle(y, 3))
      y = layers.BatchNormalization()(y)
      outputs = filters - x.shape[-1] if i == 0 else filters
      y = layers.BatchNormalization()(layers.Conv2D(outputs, 1, groups=3)(y))
      x = (layers.Concatenate()([layers.AveragePooling2D(3, 2, "same")(x), y])
           if i == 0 else layers.Add()([x, y]))
      x = layers.ReLU()(x)
  x = layers.GlobalAveragePooling2D()(x)
  return _of_image(image, layers.Dense(100)(x))


def large_kernels() -> network.Network:
  """Depthwise convolutions of 13x13, as ConvNets that follow transformers have."""
  image = keras.Input((128, 128, 3), name="image")
  x = layers.Conv2D(48, 4, 4)(image)
  for filters in (48, 96, 192):
    if x.shape[-1] != filters:
      x = layers.Conv2D(filters, 2, 2)(layers.LayerNormalization()(x))
    for _ in range(2):
      y = layers.DepthwiseConv2D(13, padding="same")(x)
      y = layers.LayerNormalization(epsilon=1e-6)(y)
      y = layers.Dense(4 * filters, activation="gelu")(y)
      x = layers.Add()([x, layers.Dense(filters)(y)])
  x = layers.GlobalAveragePooling2D()(x)
  return _of_image(image, layers.Dense(100)(x))


def squeeze() -> network.Network:
  """Fire modules, and squeeze and excitation."""
  image = keras.Input((128, 128, 3), name="image")
  x = _conv(image, 64, 3, strides=2)
  for filters in (16, 32, 48):
    x = layers.MaxPooling2D(3, 2)(x)
    for _ in range(2):
      s = layers.Conv2D(filters, 1, activation="relu")(x)
      x = layers.Concatenate()(
          [layers.Conv2D(4 * filters, size, padding="same",
                         activation="relu")(s) for size in (1, 3)])
      gate = layers.GlobalAveragePooling2D(keepdims=True)(x)
      gate = layers.Conv2D(filters // 2, 1, activation="relu")(gate)
      gate = layers.Conv2D(8 * filters, 1, activation="hard_sigmoid")(gate)
      x = layers.Multiply()([x, gate])
  x = layers.GlobalAveragePooling2D()(layers.Conv2D(100, 1)(x))
  return _of_image(image, layers.Softmax()(x))


def pyramid() -> network.Network:
  """A feature pyramid with box and class heads at three scales."""
  image = keras.Input((160, 160, 3), name="image")
  x, levels = image, []
  for filters in (16, 32, 64, 128, 256):
    x = _conv(_conv(x, filters, strides=2), filters)
    levels.append(x)
  top, outputs = None, []
  for level in reversed(levels[2:]):
    lateral = layers.Conv2D(64, 1)(level)
    top = lateral if top is None else layers.Add()(
        [lateral, layers.UpSampling2D(interpolation="nearest")(top)])
    head = _conv(_conv(top, 64), 64)
    boxes = layers.Reshape((-1, 4))(layers.Conv2D(36, 3, padding="same")(head))
    scores = layers.Reshape((-1, 20))(
        layers.Conv2D(180, 3, padding="same", activation="sigmoid")(head))
    outputs.append(layers.Concatenate()([boxes, scores]))
  return _of_image(image, layers.Concatenate(axis=1)(outputs))


def mixer() -> network.Network:
  """MLP-Mixer: products along patches and along channels."""
  image = keras.Input((128, 128, 3), name="image")
  x = layers.Reshape((64, 256))(layers.Conv2D(256, 16, 16)(image))
  for _ in range(6):
    y = layers.Permute((2, 1))(layers.LayerNormalization()(x))
    y = layers.Dense(64)(layers.Dense(256, activation="gelu")(y))
    x = layers.Add()([x, layers.Permute((2, 1))(y)])
    y = layers.Dense(1024, activation="gelu")(layers.LayerNormalization()(x))
    x = layers.Add()([x, layers.Dense(256)(y)])
  x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
  return _of_image(image, layers.Dense(100)(x))


def vae() -> network.Network:
  """A variational autoencoder of 64 x 64 pixels, at its mean."""
  image = keras.Input((64, 64, 3), name="image")
  x = image
  for filters in (32, 64, 128, 256):
    x = layers.Conv2D(filters, 4, 2, "same", activation="relu")(x)
  mean = layers.Dense(64)(layers.Flatten()(x))
  x = layers.Reshape((4, 4, 256))(layers.Dense(4096, activation="relu")(mean))
  for filters in (128, 64, 32):
    x = layers.Conv2DTranspose(filters, 4, 2, "same", activation="relu")(x)
  return _of_image(image, layers.Conv2DTranspose(3, 4, 2, "same",
                                                 activation="sigmoid")(x))
