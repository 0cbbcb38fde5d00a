"""Networks on sound and other series: speech, keywords, separation, heartbeats."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import layers, ops

from zoo import network


def _of_series(series: Any, output: Any) -> network.Network:
  return network.of_keras(keras.Model(series, output),
                          network.normal(series=tuple(series.shape[1:])))


def _norm_relu(x: Any) -> Any:
  return layers.ReLU()(layers.BatchNormalization()(x))


def quartznet() -> network.Network:
  """Separable convolutions of 33 to 63 steps over 400 frames of 64 bands."""
  series = keras.Input((400, 64), name="series")
  x = _norm_relu(layers.SeparableConv1D(128, 33, 2, "same")(series))
  for size in (33, 39, 51, 63):
    y = x
    for _ in range(2):
      y = _norm_relu(layers.SeparableConv1D(128, size, padding="same",
                                            use_bias=False)(y))
    x = layers.ReLU()(layers.Add()([layers.Conv1D(128, 1)(x), y]))
  return _of_series(series, layers.Softmax()(layers.Conv1D(29, 1)(x)))


def conformer() -> network.Network:
  """Two Conformer blocks over 200 frames."""
  series = keras.Input((200, 80), name="series")
  x = layers.Dense(144)(series)
  for _ in range(2):
    for half in range(2):
      y = layers.Dense(576, activation="silu")(layers.LayerNormalization()(x))
      x = x + 0.5 * layers.Dense(144)(y)
      if half == 0:
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 36)(y, y)
        y = layers.Dense(288)(layers.LayerNormalization()(x))
        y = y[..., :144] * ops.sigmoid(y[..., 144:])
        y = layers.DepthwiseConv1D(31, padding="same")(y)
        y = layers.Activation("silu")(layers.BatchNormalization()(y))
        x = x + layers.Dense(144)(y)
    x = layers.LayerNormalization()(x)
  return _of_series(series, layers.Dense(29)(x))


def keywords() -> network.Network:
  """Spotted words: 2-D convolutions over a spectrogram, then a GRU."""
  series = keras.Input((98, 40, 1), name="series")
  x = layers.Conv2D(32, (20, 5), (4, 2), "same", activation="relu")(series)
  x = layers.Conv2D(64, 3, padding="same", activation="relu")(x)
  x = layers.Reshape((25, 20 * 64))(x)
  x = layers.Bidirectional(layers.GRU(64))(x)
  return _of_series(series, layers.Dense(12)(x))


def demucs() -> network.Network:
  """Separation of waves: strided and transposed 1-D convolutions with gates."""
  def gate(x: Any, filters: int) -> Any:
    y = layers.Conv1D(2 * filters, 1)(x)
    return y[..., :filters] * ops.sigmoid(y[..., filters:])

  series = keras.Input((4096, 1), name="series")
  x, skips = series, []
  for filters in (32, 64, 128, 256):
    x = layers.Conv1D(filters, 8, 4, "same", activation="relu")(x)
    x = gate(x, filters)
    skips.append(x)
  x = layers.LSTM(256, return_sequences=True)(x)
  for filters in (128, 64, 32, 2):
    skip = skips.pop()
    x = gate(layers.Add()([x, skip]), skip.shape[-1])
    x = layers.Conv1DTranspose(filters, 8, 4, "same",
                               activation="relu" if filters > 2 else None)(x)
  return _of_series(series, x)


def tcn() -> network.Network:
  """Dilated causal convolutions with residual sums over 512 steps."""
  x = series = keras.Input((512, 16), name="series")
  for power in range(6):
    y = x
    for _ in range(2):
      y = layers.Conv1D(64, 3, padding="causal", dilation_rate=2 ** power,
                        activation="relu")(y)
    x = layers.Add()([y, x if power else layers.Conv1D(64, 1)(x)])
    x = layers.ReLU()(x)
  return _of_series(series, layers.Dense(4)(x[:, -1]))


def ecg() -> network.Network:
  """A residual network on 12 leads of 2,048 samples."""
  x = series = keras.Input((2048, 12), name="series")
  x = _norm_relu(layers.Conv1D(64, 17, 2, "same", use_bias=False)(x))
  for filters in (64, 128, 192, 256):
    short = layers.Conv1D(filters, 1)(layers.MaxPooling1D(4, 4, "same")(x))
    y = _norm_relu(layers.Conv1D(filters, 17, padding="same",
                                 use_bias=False)(x))
    y = layers.Conv1D(filters, 17, 4, "same", use_bias=False)(y)
    x = _norm_relu(layers.Add()([short, y]))
  return _of_series(series, layers.Dense(6, activation="sigmoid")(
      layers.Flatten()(x)))


def griffin_lim() -> network.Network:
  """The sound of 128 frames of which only magnitudes are known, in eight steps."""
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  size, step = 512, 128

  def call(magnitudes):
    known = tf.cast(magnitudes, tf.complex64)
    spectrum = known
    for _ in range(8):
      sound = tf.signal.inverse_stft(
          spectrum, size, step,
          window_fn=tf.signal.inverse_stft_window_fn(step))
      found = tf.signal.stft(sound, size, step)
      phase = found / tf.cast(tf.maximum(tf.abs(found), 1e-3), tf.complex64)
      spectrum = known * phase
    return tf.signal.inverse_stft(
        spectrum, size, step, window_fn=tf.signal.inverse_stft_window_fn(step))

  return network.Network(
      call=call, variables=[],
      specs={"magnitudes": tf.TensorSpec((None, 128, size // 2 + 1))},
      inputs=lambda rng, batch: {"magnitudes": np.abs(rng.normal(
          0, 1, (batch, 128, size // 2 + 1))).astype(np.float32)})
