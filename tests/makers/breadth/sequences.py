"""Networks on tokens: attention that is linear, experts, n-grams, recurrences."""

from __future__ import annotations

from typing import Any

import keras
from keras import layers, ops

from zoo import network


def _of_tokens(tokens: Any, output: Any, vocabulary: int = 2000
               ) -> network.Network:
  return network.of_keras(
      keras.Model(tokens, output),
      network.integers(vocabulary, tokens=tuple(tokens.shape[1:])))


def _heads(x: Any, heads: int) -> Any:
  return ops.reshape(x, (-1, x.shape[1], heads, x.shape[2] // heads))


def _feed_forward(x: Any, size: int) -> Any:
  y = layers.Dense(4 * size, activation="gelu")(layers.LayerNormalization()(x))
  return x + layers.Dense(size)(y)


def performer() -> network.Network:
  """Attention through positive features, linear in the 512 tokens."""
  tokens = keras.Input((512,), dtype="int32", name="tokens")
  x = layers.Embedding(2000, 128)(tokens)
  for _ in range(2):
    y = layers.LayerNormalization()(x)
    q, k, v = (_heads(layers.Dense(128)(y), 4) for _ in range(3))
    q, k = ops.relu(q) + 1e-3, ops.relu(k) + 1e-3
    context = ops.einsum("bthf,bthd->bhfd", k, v)
    norm = ops.einsum("bthf,bhf->bth", q, ops.sum(k, 1))
    y = ops.einsum("bthf,bhfd->bthd", q, context) / norm[..., None]
    x = x + layers.Dense(128)(ops.reshape(y, (-1, 512, 128)))
    x = _feed_forward(x, 128)
  return _of_tokens(tokens, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def linformer() -> network.Network:
  """Keys and values projected from 512 tokens to 64."""
  tokens = keras.Input((512,), dtype="int32", name="tokens")
  x = layers.Embedding(2000, 128)(tokens)
  for _ in range(2):
    y = layers.LayerNormalization()(x)
    short = layers.Permute((2, 1))(
        layers.Dense(64, use_bias=False)(layers.Permute((2, 1))(y)))
    x = _feed_forward(x + layers.MultiHeadAttention(4, 32)(y, short), 128)
  return _of_tokens(tokens, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def experts() -> network.Network:
  """Each of 64 tokens goes through the two best of eight experts."""
  tokens = keras.Input((64,), dtype="int32", name="tokens")
  x = layers.Embedding(2000, 128)(tokens)
  for _ in range(2):
    weights, chosen = ops.top_k(ops.softmax(layers.Dense(8)(x)), 2)
    share = ops.sum(ops.one_hot(chosen, 8) * weights[..., None], axis=-2)
    outputs = [layers.Dense(128)(layers.Dense(256, activation="silu")(x))
               for _ in range(8)]
    y = ops.einsum("btde,bte->btd", ops.stack(outputs, -1), share)
    x = layers.LayerNormalization()(x + y)
  return _of_tokens(tokens, layers.Dense(2000)(x))


def text_cnn() -> network.Network:
  """Convolutions over 3, 4 and 5 words, and their largest values."""
  tokens = keras.Input((200,), dtype="int32", name="tokens")
  x = layers.Embedding(2000, 128)(tokens)
  largest = [layers.GlobalMaxPooling1D()(
      layers.Conv1D(100, size, activation="relu")(x)) for size in (3, 4, 5)]
  return _of_tokens(tokens, layers.Dense(5)(layers.Concatenate()(largest)))


def seq2seq() -> network.Network:
  """A recurrent encoder; a decoder that attends to it."""
  tokens = keras.Input((80,), dtype="int32", name="tokens")
  embedded = layers.Embedding(2000, 128)(tokens)
  source, target = embedded[:, :50], embedded[:, 50:]
  encoded = layers.Bidirectional(layers.GRU(128, return_sequences=True))(source)
  decoded = layers.LSTM(256, return_sequences=True)(target)
  context = layers.AdditiveAttention()([decoded, encoded])
  x = layers.Concatenate()([decoded, context])
  return _of_tokens(tokens, layers.Dense(2000, activation="softmax")(x))


def state_space() -> network.Network:
  """Diagonal linear recurrences as convolutions by Fourier transforms."""
  import tensorflow as tf  # pylint: disable=import-outside-toplevel

  class Recurrence(layers.Layer):
    """y[t] is the sum over s of k[s] * x[t - s], for 512 steps a channel."""

    def build(self, shape):
      self.kernel = self.add_weight(shape=(shape[-1], 1024), name="taps",
                                    initializer="random_normal")

    def call(self, x):
      spectrum = tf.signal.rfft(tf.transpose(x, (0, 2, 1)), [1024])
      y = tf.signal.irfft(spectrum * tf.signal.rfft(self.kernel), [1024])
      return tf.transpose(y[..., :512], (0, 2, 1))

  tokens = keras.Input((512,), dtype="int32", name="tokens")
  x = layers.Embedding(2000, 64)(tokens)
  for _ in range(3):
    y = Recurrence()(layers.LayerNormalization()(x))
    y = layers.Dense(128)(layers.Activation("gelu")(y))
    x = x + y[..., :64] * ops.sigmoid(y[..., 64:])
  return _of_tokens(tokens, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))
