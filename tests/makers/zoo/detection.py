"""Dense prediction: a detector with suppression of boxes, and segmentation."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf
from keras import layers

from zoo import network


def _conv(x: Any, filters: int, size: int = 1, strides: int = 1) -> Any:
  x = layers.Conv2D(filters, size, strides, "same", use_bias=False)(x)
  return layers.Activation("silu")(layers.BatchNormalization()(x))


def _stage(x: Any, filters: int, depth: int, shortcut: bool = True) -> Any:
  """The cross-stage block of YOLOv8: every bottleneck's output is joined."""
  half = filters // 2
  x = _conv(x, filters)
  parts = [x[..., :half], x[..., half:]]
  for _ in range(depth):
    y = _conv(_conv(parts[-1], half, 3), half, 3)
    parts.append(layers.Add()([parts[-1], y]) if shortcut else y)
  return _conv(layers.Concatenate()(parts), filters)


def yolo(size: int = 416, classes: int = 80) -> network.Network:
  """A detector of YOLOv8-s's widths and depths, boxes suppressed in the graph."""
  image = keras.Input((size, size, 3), name="image")
  x = _conv(_conv(image, 32, 3, 2), 64, 3, 2)
  x = _stage(x, 64, 1)
  levels = []
  for filters, depth in ((128, 2), (256, 2), (512, 1)):
    x = _stage(_conv(x, filters, 3, 2), filters, depth)
    levels.append(x)
  # Spatial pyramid: the same pooling three times in sequence.
  pooled = [_conv(x, 256)]
  for _ in range(3):
    pooled.append(layers.MaxPooling2D(5, 1, "same")(pooled[-1]))
  p5 = _conv(layers.Concatenate()(pooled), 512)
  up = layers.UpSampling2D()
  p4 = _stage(layers.Concatenate()([up(p5), levels[1]]), 256, 1, False)
  p3 = _stage(layers.Concatenate()([up(p4), levels[0]]), 128, 1, False)
  p4 = _stage(layers.Concatenate()([_conv(p3, 128, 3, 2), p4]), 256, 1, False)
  p5 = _stage(layers.Concatenate()([_conv(p4, 256, 3, 2), p5]), 512, 1, False)
  boxes, scores = [], []
  for x, stride in ((p3, 8), (p4, 16), (p5, 32)):
    count = (size // stride) ** 2
    b = layers.Conv2D(64, 1)(_conv(_conv(x, 64, 3), 64, 3))
    c = layers.Conv2D(classes, 1)(_conv(_conv(x, 128, 3), 128, 3))
    boxes.append(layers.Reshape((count, 4, 16))(b))
    scores.append(layers.Reshape((count, classes))(c))
  head = keras.Model(image, [layers.Concatenate(axis=1)(boxes),
                             layers.Concatenate(axis=1)(scores)])
  base = network.of_keras(head, network.image("image", size, size))
  network_call = base.call

  def call(image: Any) -> dict[str, Any]:
    bins, logits = network_call(image=image)
    reach = tf.reduce_sum(tf.nn.softmax(bins) * tf.range(16.0), -1)
    centers = []
    for stride in (8, 16, 32):
      axis = tf.range(size // stride, dtype=tf.float32) + 0.5
      y, x = tf.meshgrid(axis, axis, indexing="ij")
      centers.append(tf.stack([tf.reshape(y, [-1]), tf.reshape(x, [-1])], 1)
                     * (stride / size))
    center = tf.concat(centers, 0)
    box = tf.concat([center - reach[..., :2] / 52, center + reach[..., 2:] / 52],
                    -1)
    found = tf.image.combined_non_max_suppression(
        box[:, :, None], tf.sigmoid(logits), 20, 100, 0.5, 0.05)
    return {"boxes": found[0], "scores": found[1], "classes": found[2]}

  return network.Network(call=call, variables=base.variables, specs=base.specs,
                         inputs=base.inputs)


def deeplab(size: int = 257) -> network.Network:
  """DeepLabV3 on MobileNetV2, output stride 8 by dilated depthwise layers."""
  image = keras.Input((size, size, 3), name="image")

  def bottleneck(x: Any, expand: int, filters: int, stride: int,
                 rate: int) -> Any:
    y = x
    if expand > 1:
      y = layers.Conv2D(x.shape[-1] * expand, 1, use_bias=False)(y)
      y = layers.ReLU(6)(layers.BatchNormalization()(y))
    y = layers.DepthwiseConv2D(3, stride, "same", dilation_rate=rate,
                               use_bias=False)(y)
    y = layers.ReLU(6)(layers.BatchNormalization()(y))
    y = layers.Conv2D(filters, 1, use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    same = stride == 1 and x.shape[-1] == filters
    return layers.Add()([x, y]) if same else y

  x = layers.Conv2D(32, 3, 2, "same", use_bias=False)(image)
  x = layers.ReLU(6)(layers.BatchNormalization()(x))
  for expand, filters, count, stride, rate in (
      (1, 16, 1, 1, 1), (6, 24, 2, 2, 1), (6, 32, 3, 2, 1), (6, 64, 4, 1, 2),
      (6, 96, 3, 1, 2), (6, 160, 3, 1, 4), (6, 320, 1, 1, 4)):
    for i in range(count):
      x = bottleneck(x, expand, filters, stride if i == 0 else 1, rate)
  whole = layers.GlobalAveragePooling2D(keepdims=True)(x)
  whole = layers.ReLU()(layers.Conv2D(256, 1)(whole))
  rows, columns = x.shape[1], x.shape[2]
  whole = layers.UpSampling2D((rows, columns), interpolation="bilinear")(whole)
  x = layers.ReLU()(layers.Conv2D(256, 1)(x))
  x = layers.Concatenate()([whole, x])
  x = layers.ReLU()(layers.Conv2D(256, 1)(x))
  logits = keras.Model(image, layers.Conv2D(21, 1)(x))
  base = network.of_keras(logits, network.image("image", size, size))
  network_call = base.call
  return network.Network(
      call=lambda image: tf.image.resize(network_call(image=image),
                                         (size, size)),
      variables=base.variables, specs=base.specs, inputs=base.inputs)
