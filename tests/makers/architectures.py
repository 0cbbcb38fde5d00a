"""The seven benchmark networks, full-size and small, and their sample inputs.

Full-size networks are the ones of keras.applications with a logits head, a
4-layer BERT-base encoder and an MLP. The small ones are made by the same block
functions, narrower and shallower, so their graphs have the same structure.
Image networks take images of any size (global average pooling).
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import keras
import numpy as np
from keras import layers
from keras.src.applications import (densenet, efficientnet, inception_v3,
                                    mobilenet_v2, resnet)

Arrays = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Architecture:
  """One network: how to build it and what to feed it.

  Attributes:
    build: takes `small`, gives the Keras model.
    inputs: takes (rng, batch, size, small), gives arrays by input name. `size`
      is image height and width, or token count, or unused.
    size: (full, small) default size.
    odd_size: (full, small) another size the graph allows, or None.
  """

  build: Callable[[bool], keras.Model]
  inputs: Callable[[np.random.Generator, int, Any, bool], Arrays]
  size: tuple[Any, Any]
  odd_size: tuple[Any, Any] | None = None


def _head(features: Any, classes: int, image: Any, name: str) -> keras.Model:
  """Global average pooling and a logits layer, as include_top=True has them."""
  x = layers.GlobalAveragePooling2D(name="avg_pool")(features)
  logits = layers.Dense(classes, name="logits")(x)
  return keras.Model(image, logits, name=name)


def _image_input() -> Any:
  return keras.Input((None, None, 3), name="image")


def _body(build: Callable[..., keras.Model], image: Any, **kwargs: Any) -> Any:
  return build(include_top=False, weights=None, input_tensor=image,
               **kwargs).output


def resnet50(small: bool) -> keras.Model:
  image = _image_input()
  if not small:
    x = _body(keras.applications.ResNet50, image)
    return _head(x, 1000, image, "resnet50")

  def stages(x: Any) -> Any:
    x = resnet.stack_residual_blocks_v1(x, 8, 2, stride1=1, name="conv2")
    x = resnet.stack_residual_blocks_v1(x, 12, 1, name="conv3")
    return resnet.stack_residual_blocks_v1(x, 16, 1, name="conv4")

  x = _body(resnet.ResNet, image, stack_fn=stages, preact=False, use_bias=True,
            name="resnet_small", weights_name=None)
  return _head(x, 10, image, "m")


def _shortcut(full: keras.Model, jumps: list[tuple[str, str]],
              end: str) -> Any:
  """Output `end` of a network without the blocks within each jump.

  A jump goes from one layer's output to another's, of equal channel count:
  what lies between repeats the blocks around it.
  """
  x = None
  start = full.input
  for stop, resume in [*jumps, (end, None)]:
    segment = keras.Model(start, full.get_layer(stop).output)
    x = segment.output if x is None else segment.call(x)
    start = full.get_layer(resume).output if resume else None
  return x


@contextlib.contextmanager
def _narrow_last_conv(width: int) -> Iterator[None]:
  """Narrows MobileNetV2's last 1x1 convolution, which is at least 1280 wide."""
  conv2d = layers.Conv2D

  def narrow(filters: int, *args: Any, **kwargs: Any) -> Any:
    return conv2d(width if filters == 1280 else filters, *args, **kwargs)

  with mock.patch.object(mobilenet_v2.layers, "Conv2D", narrow):
    yield


def mobilenetv2(small: bool) -> keras.Model:
  image = _image_input()
  if not small:
    x = _body(keras.applications.MobileNetV2, image)
    return _head(x, 1000, image, "mobilenetv2")
  with _narrow_last_conv(40):
    full = keras.applications.MobileNetV2(
        include_top=False, weights=None, input_tensor=image, alpha=0.1)
  x = _shortcut(full, [("block_7_add", "block_9_add"),
                       ("block_10_project_BN", "block_12_add"),
                       ("block_13_project_BN", "block_14_add")], "out_relu")
  return keras.models.clone_model(_head(x, 10, image, "m"))


def efficientnetb0(small: bool) -> keras.Model:
  image = _image_input()
  if not small:
    x = _body(keras.applications.EfficientNetB0, image)
    return _head(x, 1000, image, "efficientnetb0")
  x = _body(efficientnet.EfficientNet, image, width_coefficient=0.1,
            depth_coefficient=0.3, default_size=64, depth_divisor=4,
            name="efficientnet_small")
  return _head(x, 10, image, "m")


def inceptionv3(small: bool) -> keras.Model:
  image = _image_input()
  if not small:
    x = _body(keras.applications.InceptionV3, image)
    return _head(x, 1000, image, "inceptionv3")
  conv2d_bn = inception_v3.conv2d_bn

  def narrow(x: Any, filters: int, *args: Any, **kwargs: Any) -> Any:
    return conv2d_bn(x, max(4, filters // 16), *args, **kwargs)

  with mock.patch.object(inception_v3, "conv2d_bn", narrow):
    full = keras.applications.InceptionV3(
        include_top=False, weights=None, input_tensor=image)
  x = _shortcut(full, [("mixed0", "mixed2"), ("mixed4", "mixed7")], "mixed9")
  return keras.models.clone_model(_head(x, 10, image, "m"))


def densenet121(small: bool) -> keras.Model:
  image = _image_input()
  if not small:
    x = _body(keras.applications.DenseNet121, image)
    return _head(x, 1000, image, "densenet121")
  conv_block = densenet.conv_block

  def narrow(x: Any, growth_rate: int, name: str) -> Any:
    del growth_rate
    return conv_block(x, 8, name)

  with mock.patch.object(densenet, "conv_block", narrow):
    x = _body(densenet.DenseNet, image, blocks=[2, 2, 2, 2],
              name="densenet_small")
  return _head(x, 10, image, "m")


class Positions(layers.Layer):
  """Learned position embeddings for the length of the sequence at hand."""

  def __init__(self, count: int, width: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.table = layers.Embedding(count, width, name="table")

  def call(self, ids: Any) -> Any:
    return self.table(keras.ops.arange(keras.ops.shape(ids)[1]))

  def compute_output_shape(self, shape: tuple) -> tuple:
    return (shape[1], self.table.output_dim)


@dataclasses.dataclass(frozen=True)
class BertSize:
  """The sizes of a BERT encoder."""

  layers: int
  hidden: int
  heads: int
  feed_forward: int
  vocabulary: int
  positions: int
  classes: int


BERT_FULL = BertSize(4, 768, 12, 3072, 8000, 512, 16)
BERT_SMALL = BertSize(2, 24, 3, 48, 50, 32, 5)


def bert(size: BertSize, name: str, dropout: float = 0.0) -> keras.Model:
  """A BERT encoder: post-norm blocks, exact GELU, pooled first token, logits.

  With dropout 0 Keras' attention masks by Select; with dropout above 0 (which
  does nothing in inference) it masks by adding a large negative number.
  """
  ids = keras.Input((None,), dtype="int32", name="token_ids")
  segments = keras.Input((None,), dtype="int32", name="segment_ids")
  mask = keras.Input((None,), dtype="int32", name="mask")

  def norm(x: Any, label: str) -> Any:
    return layers.LayerNormalization(epsilon=1e-12, name=label)(x)

  x = layers.Embedding(size.vocabulary, size.hidden, name="tokens")(ids)
  x += layers.Embedding(2, size.hidden, name="segments")(segments)
  x += Positions(size.positions, size.hidden, name="positions")(ids)
  x = norm(x, "embedding_norm")
  attended = layers.Reshape((1, -1), name="mask_rows")(mask)
  for i in range(size.layers):
    attention = layers.MultiHeadAttention(
        size.heads, size.hidden // size.heads, dropout=dropout,
        name=f"attention_{i}")(x, x, attention_mask=attended)
    x = norm(layers.Add()([x, attention]), f"attention_norm_{i}")
    h = layers.Dense(size.feed_forward, activation="gelu", name=f"ffn_{i}")(x)
    h = layers.Dense(size.hidden, name=f"ffn_out_{i}")(h)
    x = norm(layers.Add()([x, h]), f"ffn_norm_{i}")
  pooled = layers.Dense(size.hidden, activation="tanh", name="pooler")(x[:, 0])
  logits = layers.Dense(size.classes, name="logits")(pooled)
  return keras.Model([ids, segments, mask], logits, name=name)


def mlp(small: bool) -> keras.Model:
  widths = (24, 16, 12) if small else (1024, 512, 256)
  features = keras.Input((16 if small else 256,), name="features")
  x = features
  for i, width in enumerate(widths):
    x = layers.Dense(width, activation="relu", name=f"dense_{i}")(x)
  x = layers.Dense(1, activation="sigmoid", name="score")(x)
  return keras.Model(features, x, name="mlp")


def _images(low: float, high: float) -> Callable[..., Arrays]:
  """Images with structure: coarse random colours, smooth waves, some noise.

  Plain noise will not do: global pooling averages it out, and every image
  would give nearly the same logits.
  """

  def make(rng: np.random.Generator, batch: int, size: tuple[int, int],
           small: bool) -> Arrays:
    del small
    height, width = size
    coarse = rng.uniform(0, 1, (batch, 5, 7, 3))
    rows = np.arange(height) * 5 // height
    columns = np.arange(width) * 7 // width
    image = coarse[:, rows][:, :, columns]
    wave = rng.uniform(0.02, 0.6, (batch, 1, 1, 3))
    grid = np.arange(height)[:, None] + np.arange(width)[None, :]
    image = 0.6 * image + 0.25 * (1 + np.sin(grid[None, :, :, None] * wave)) / 2
    image += 0.15 * rng.uniform(0, 1, image.shape)
    image = np.floor(image * 256) / 256  # 8-bit, as real images
    return {"image": (low + (high - low) * image).astype(np.float32)}

  return make


def _sentences(rng: np.random.Generator, batch: int, tokens: int,
               small: bool) -> Arrays:
  """Random ids; the second segment starts midway; later rows are padded."""
  vocabulary = (BERT_SMALL if small else BERT_FULL).vocabulary
  shape = (batch, tokens)
  lengths = np.array([tokens] + [max(2, tokens - 3 - 5 * i)
                                 for i in range(1, batch)])
  inside = np.arange(tokens)[None, :] < lengths[:, None]
  ids = rng.integers(0, vocabulary, shape) * inside
  segments = (np.arange(tokens)[None, :] >= tokens // 2) * inside
  return {"token_ids": ids.astype(np.int32),
          "segment_ids": segments.astype(np.int32),
          "mask": inside.astype(np.int32)}


def _features(rng: np.random.Generator, batch: int, size: int,
              small: bool) -> Arrays:
  del size
  shape = (batch, 16 if small else 256)
  return {"features": rng.normal(0, 1, shape).astype(np.float32)}


_SIGNED = _images(-1, 1)
_BYTES = _images(0, 255)
_224 = ((224, 224), (32, 32))
_ODD = ((201, 170), (45, 38))

ARCHITECTURES: dict[str, Architecture] = {
    "resnet50": Architecture(resnet50, _SIGNED, _224, _ODD),
    "mobilenetv2": Architecture(mobilenetv2, _SIGNED, _224, _ODD),
    "efficientnetb0": Architecture(efficientnetb0, _BYTES, _224, _ODD),
    "inceptionv3": Architecture(inceptionv3, _SIGNED, ((299, 299), (79, 79)),
                                ((260, 231), (95, 83))),
    "densenet121": Architecture(densenet121, _SIGNED, _224, _ODD),
    "bert4": Architecture(
        lambda small: bert(BERT_SMALL if small else BERT_FULL, "bert4"),
        _sentences, (128, 12), (77, 7)),
    "mlp": Architecture(mlp, _features, (0, 0)),
}
