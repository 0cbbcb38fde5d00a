#!/usr/bin/env python3
"""Exports Keras layers one by one, runs them in Tenon, and compares with TensorFlow.

  tests/keras_layers.py [--tenon build/bin/tenon] [--only NAME,…]

Each case is a small model of one layer (or a few) with seeded weights, written
by `model.export` and run with the gate on and off. The last line is
`N passed, N failed`.

Tolerance: 2e-5 of the output's scale. A case has at most a dozen consecutive
sums (the steps of a recurrent layer), each accurate to about 1e-6 of it.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "makers"), str(ROOT / "tests")]

# pylint: disable=wrong-import-position
import models  # sets the environment before TensorFlow is imported
import keras
import numpy as np
import parity
import tensorflow as tf
from keras import layers as L
from keras import ops as K

# By the output's dtype. TensorFlow rounds to half after each op of a layer,
# Tenon less often: about ten roundings of 2^-11.
TOLERANCES = {"float64": 1e-13, "float32": 2e-5, "float16": 5e-3}
# Cases that compute in bfloat16, with 2^-8 for 2^-11.
BFLOAT16_TOLERANCE = 4e-2
BATCH = 2
IDS = 20  # how many different ids there are

# The model's inputs: shape without batch, dtype.
VECTOR = ((10,), "float32")
SEQUENCE = ((9, 6), "float32")
TOKENS = ((7, 8), "float32")
IMAGE = ((12, 12, 3), "float32")
VOLUME = ((5, 6, 7, 2), "float32")
SIGNAL = ((256,), "float32")
MATRIX = ((4, 4), "float32")
INTEGERS = ((9,), "int32")
LONG_INTEGERS = ((4,), "int64")
STRINGS = ((4,), "string")
STRING = ((), "string")

Build = Callable[["keras.KerasTensor"], "keras.KerasTensor"]


def masked(layer: Build) -> Build:
  """The layer after an embedding whose id 0 is masked."""
  return lambda x: layer(L.Embedding(IDS, 6, mask_zero=True)(x))


def in_half(layer: Build, policy: str = "mixed_float16") -> Build:
  """The layer with Keras's mixed_float16: float variables, half computation."""
  def build(x):
    keras.config.set_dtype_policy(policy)
    try:
      return layer(x)
    finally:
      keras.config.set_dtype_policy("float32")
  return build


def quantized(layer: Callable[[], "keras.Layer"], mode: str) -> Build:
  """A layer after Keras's quantize(mode)."""
  def build(x):
    made = layer()
    made(x)
    made.quantize(mode)
    return made(x)
  return build


def half_tower(x: "keras.KerasTensor") -> "keras.KerasTensor":
  """A small convolutional network."""
  x = L.ReLU()(L.BatchNormalization()(L.Conv2D(8, 3, padding="same")(x)))
  x = L.ReLU(6)(L.BatchNormalization()(L.DepthwiseConv2D(3, strides=2)(x)))
  x = L.Add()([L.Conv2D(8, 1, activation="swish")(x),
               L.MaxPool2D(3, 1, padding="same")(x)])
  return L.Dense(5, activation="softmax")(L.GlobalAveragePooling2D()(x))


def half_attention(x: "keras.KerasTensor") -> "keras.KerasTensor":
  """An encoder layer."""
  x = L.LayerNormalization()(L.Add()([x, L.MultiHeadAttention(2, 4)(x, x)]))
  return L.Dense(4)(L.Dense(16, activation="gelu")(x))


def mixture(x: "keras.KerasTensor") -> "keras.KerasTensor":
  """Many array functions of one matrix per sample."""
  return K.concatenate([
      K.cumsum(x, 1), K.sort(x, -1), K.flip(x, 1), K.roll(x, 2, 1),
      K.take(x, [1, 0, 2, 3, 4, 5], 1), K.tril(x), K.clip(x, -.5, .5),
      K.where(x > 0, x, -x), K.logsumexp(x, axis=-1, keepdims=True) * x,
      K.var(x, -1, keepdims=True) * x, K.cast(K.argsort(x, -1), "float32"),
      K.norm(x, axis=-1, keepdims=True) + x, K.sign(x), K.round(3 * x),
      K.max(x, 1, keepdims=True) - x, K.square(x) / (1 + K.exp(-x))], axis=1)


CASES: dict[tuple, dict[str, Build]] = {
    VECTOR: {
        **{name: lambda x, f=getattr(keras.activations, name):
               L.Dense(6)(L.Activation(f)(L.Dense(8)(x)))
           for name in ["relu", "relu6", "elu", "selu", "gelu", "tanh",
                        "sigmoid", "softplus", "softsign", "exponential",
                        "hard_sigmoid", "hard_silu", "silu", "mish", "linear",
                        "log_softmax", "softmax", "leaky_relu", "celu",
                        "hard_tanh", "hard_shrink", "tanh_shrink",
                        "soft_shrink", "squareplus", "log_sigmoid",
                        "sparse_plus", "sparsemax", "sparse_sigmoid"]},
        **{f"dense_{mode}": quantized(lambda: L.Dense(6, activation="relu"), mode)
           for mode in ["int8", "int4", "float8"]},
        "threshold": lambda x: keras.activations.threshold(x, 0.1, 0.2),
        "merges": lambda x: L.Concatenate()([
            L.Add()([x, x]), L.Multiply()([x, x]), L.Average()([x, x]),
            L.Maximum()([x, x]), L.Minimum()([x, x]), L.Subtract()([x, x]),
            L.Dot(1)([x, x])]),
        "repeat_vector": L.RepeatVector(3),
        "discretization": L.Discretization([-1., 0., 1.]),
        "fft": lambda x: K.fft((x, x))[0],
    },
    SEQUENCE: {
        "conv1d": L.Conv1D(4, 3, padding="same", activation="relu"),
        "conv1d_causal": L.Conv1D(4, 3, padding="causal", dilation_rate=2),
        "conv1d_transpose": L.Conv1DTranspose(4, 3, strides=2),
        "separable_conv1d": L.SeparableConv1D(4, 3),
        "depthwise_conv1d": L.DepthwiseConv1D(3),
        "lstm": L.LSTM(5), "lstm_sequences": L.LSTM(5, return_sequences=True),
        "lstm_backwards": L.LSTM(5, go_backwards=True),
        "lstm_unrolled": L.LSTM(4, unroll=True),
        "lstm_bidirectional": L.Bidirectional(L.LSTM(4, return_sequences=True)),
        "gru": L.GRU(5),
        "gru_reset_before": L.GRU(5, reset_after=False, return_sequences=True),
        "simple_rnn": L.SimpleRNN(5),
        "rnn_relu": L.SimpleRNN(5, activation="relu", return_sequences=True),
        "lstm_states": L.LSTM(5, return_sequences=True, return_state=True),
        "gru_state": L.GRU(5, return_state=True),
        "lstm_first_states": lambda x: L.LSTM(5, return_sequences=True)(
            x, initial_state=[L.Dense(5)(x[:, 0]), L.Dense(5)(x[:, 1])]),
        "lstm_one_step": lambda x: L.LSTM(5, return_sequences=True)(x[:, :1]),
        "lstm_dropout": L.LSTM(5, dropout=0.3, recurrent_dropout=0.2),
        "lstm_masked_steps": lambda x: L.Bidirectional(L.LSTM(4, return_sequences=True))(
            L.Masking()(L.ReLU()(x) * K.cast(x[:, :, :1] > 0, "float32"))),
        "gru_masked_backwards": lambda x: L.GRU(4, return_sequences=True, go_backwards=True)(
            L.Masking()(x * K.cast(x[:, :, :1] > 0, "float32"))),
        "lstm_masked_unrolled": lambda x: L.LSTM(4, unroll=True)(
            L.Masking()(x * K.cast(x[:, :, :1] > 0, "float32"))),
        "lstm_double": L.LSTM(5, return_sequences=True, dtype="float64"),
        "lstm_half": in_half(lambda x: L.LSTM(5, return_sequences=True)(x)),
        "gru_half": in_half(lambda x: L.GRU(5)(x)),
        "lstm_bfloat16": in_half(lambda x: K.cast(L.LSTM(5, return_sequences=True)(x), "float32"),
                                 "mixed_bfloat16"),
        "lstm_stacked": L.RNN([L.LSTMCell(5), L.GRUCell(4)], return_sequences=True),
        "time_distributed": L.TimeDistributed(L.Dense(4, activation="gelu")),
        "global_average1d": L.GlobalAveragePooling1D(),
        "global_max1d": L.GlobalMaxPooling1D(),
        "average_pool1d": L.AveragePooling1D(2),
        "max_pool1d": L.MaxPooling1D(3, 2, padding="same"),
        "up_sampling1d": L.UpSampling1D(2), "cropping1d": L.Cropping1D((1, 2)),
        "zero_padding1d": L.ZeroPadding1D(2), "layer_norm": L.LayerNormalization(),
        "layer_norm_axes": L.LayerNormalization(axis=[1, 2]),
        "rms_norm": L.RMSNormalization(), "batch_norm": L.BatchNormalization(),
        "unit_norm": L.UnitNormalization(), "group_norm": L.GroupNormalization(3),
        "permute": L.Permute((2, 1)), "flatten": L.Flatten(),
        "reshape": L.Reshape((6, 9)),
        "einsum_dense": L.EinsumDense("abc,cd->abd", output_shape=(None, 7),
                                      bias_axes="d", activation="swish"),
        **{f"einsum_dense_{mode}": quantized(lambda: L.EinsumDense("abc,cd->abd", output_shape=(None, 8)), mode)
           for mode in ["int8", "int4", "float8"]},
        "functions": mixture, "top_k": lambda x: K.top_k(x, 3)[0],
        "einsum": lambda x: K.einsum("bij,bkj->bik", x, x),
    },
    TOKENS: {
        "mixed_float16_attention": in_half(half_attention),
        "attention_heads": lambda x: L.MultiHeadAttention(2, 4)(x, x),
        "attention_causal": lambda x: L.MultiHeadAttention(
            2, 4, value_dim=3)(x, x, use_causal_mask=True),
        "attention_grouped": lambda x: L.GroupQueryAttention(4, 4, 2)(x, x),
        "attention_additive": lambda x: L.AdditiveAttention()(
            [x, x], use_causal_mask=True),
    },
    IMAGE: {
        "mixed_float16_tower": in_half(half_tower),
        "conv": L.Conv2D(5, 3, padding="same", activation="elu"),
        "conv_strides": L.Conv2D(5, 5, strides=2, activation="selu"),
        "conv_dilated": L.Conv2D(4, 3, dilation_rate=(2, 1),
                                 activation="softplus"),
        "conv_groups": L.Conv2D(6, 3, groups=3, activation="mish"),
        "conv_flat_window": L.Conv2D(4, (1, 7), activation="hard_swish"),
        "conv_transpose": L.Conv2DTranspose(4, 3, strides=2, padding="same",
                                            activation="relu"),
        "conv_transpose_output_padding": L.Conv2DTranspose(
            4, 4, strides=3, output_padding=1),
        "depthwise": L.DepthwiseConv2D(3, depth_multiplier=2,
                                       activation="relu6"),
        "depthwise_strides": L.DepthwiseConv2D(3, strides=2, padding="same"),
        "depthwise_dilated": L.DepthwiseConv2D(3, dilation_rate=2),
        "separable": L.SeparableConv2D(5, 3, padding="same", activation="silu"),
        "spectral_norm": L.SpectralNormalization(L.Conv2D(4, 3)),
        "average_pool": L.AveragePooling2D(3, 2, padding="same"),
        "max_pool": L.MaxPooling2D(3, 1, padding="same"),
        "global_average": L.GlobalAveragePooling2D(keepdims=True),
        "global_max": L.GlobalMaxPooling2D(),
        "up_nearest": L.UpSampling2D((2, 3)),
        "up_bilinear": L.UpSampling2D(2, interpolation="bilinear"),
        "up_bicubic": L.UpSampling2D(2, interpolation="bicubic"),
        "up_lanczos": L.UpSampling2D(2, interpolation="lanczos3"),
        "cropping": L.Cropping2D(((1, 2), (0, 3))),
        "zero_padding": L.ZeroPadding2D(((1, 2), (0, 3))),
        "resizing": L.Resizing(7, 9),
        "resizing_nearest": L.Resizing(20, 9, interpolation="nearest"),
        "resizing_crop": L.Resizing(8, 6, crop_to_aspect_ratio=True),
        "resizing_pad": L.Resizing(8, 6, pad_to_aspect_ratio=True),
        "center_crop": L.CenterCrop(5, 7), "rescaling": L.Rescaling(1 / 127, -1),
        "normalization": L.Normalization(mean=[.1, .2, .3],
                                         variance=[1., 2., 3.]),
        "batch_norm2d": L.BatchNormalization(),
        "group_norm2d": L.GroupNormalization(3),
        "group_norm_one": L.GroupNormalization(1),
        "instance_norm": L.GroupNormalization(-1),
        "layer_norm2d": L.LayerNormalization(), "prelu": L.PReLU(),
        "prelu_shared": L.PReLU(shared_axes=[1, 2]),
        "leaky_relu_layer": L.LeakyReLU(0.3), "elu_layer": L.ELU(0.5),
        "relu_layer": L.ReLU(max_value=4., negative_slope=.1, threshold=.2),
        "softmax_axis": L.Softmax(axis=1), "softmax_axes": L.Softmax(axis=[1, 2]),
        "dropout": L.Dropout(.5), "gaussian_noise": L.GaussianNoise(.1),
    },
    VOLUME: {
        "conv3d": L.Conv3D(3, 3, padding="same", activation="relu"),
        "conv3d_strides": L.Conv3D(3, 2, strides=2),
        "conv3d_transpose": L.Conv3DTranspose(3, 3, strides=2, padding="same"),
        "average_pool3d": L.AveragePooling3D(2),
        "max_pool3d": L.MaxPooling3D(2, padding="same"),
        "global_average3d": L.GlobalAveragePooling3D(),
        "up_sampling3d": L.UpSampling3D(2), "zero_padding3d": L.ZeroPadding3D(1),
        "cropping3d": L.Cropping3D(1),
        "conv_lstm": L.ConvLSTM2D(3, 3, padding="same"),
    },
    SIGNAL: {
        "stft": lambda x: K.stft(x, 16, 8, 16)[0],
        "mel_spectrogram": L.MelSpectrogram(
            fft_length=64, sequence_stride=32, num_mel_bins=8,
            sampling_rate=1000, max_freq=400),
    },
    MATRIX: {
        "solve": lambda x: K.solve(x + 5 * K.eye(4), x),
        "inverse": lambda x: K.inv(x + 5 * K.eye(4)),
        "qr": lambda x: K.abs(K.qr(x)[1]),
    },
    INTEGERS: {
        "embedding": L.Embedding(IDS, 6), "masked_lstm": masked(L.LSTM(4)),
        "masked_gru": masked(L.Bidirectional(L.GRU(4))),
        "masked_attention": masked(lambda e: L.GlobalAveragePooling1D()(
            L.MultiHeadAttention(2, 3)(e, e))),
        "multi_hot": L.CategoryEncoding(IDS, output_mode="multi_hot"),
        "count": L.CategoryEncoding(IDS, output_mode="count"),
        "hashing_integers": L.Hashing(7),
    },
    LONG_INTEGERS: {"integer_lookup": L.IntegerLookup(vocabulary=[3, 5, 7, 9])},
    STRINGS: {
        "string_lookup": L.StringLookup(vocabulary=["big", "world"]),
        "hashing_strings": L.Hashing(11),
    },
    STRING: {
        "text_vectorization": L.TextVectorization(
            vocabulary=["hello", "world", "big"], output_sequence_length=6),
        "text_counts": L.TextVectorization(
            vocabulary=["hello", "world", "big"], output_mode="count"),
    },
}
TEXTS = ["hello", "", "Hello, big WORLD!", "world world x", "big"]


def example(shape: tuple, dtype: str, rng: np.random.Generator) -> np.ndarray:
  """An input of BATCH samples."""
  size = (BATCH, *shape)
  if dtype == "string":
    return np.array(TEXTS)[rng.integers(0, len(TEXTS), size)].astype("S")
  if dtype.startswith("int"):
    return rng.integers(0, IDS, size).astype(dtype)
  return rng.normal(0, 1, size).astype(dtype)


def randomize(model: keras.Model, rng: np.random.Generator) -> None:
  """Weights without zeros, positive variances."""
  for variable in model.weights:
    if "float" not in str(variable.dtype) or "seed" in variable.path:
      continue
    value = rng.normal(0, 0.4, variable.shape)
    if "variance" in variable.path:
      value = np.abs(value) + 0.5
    if variable.path.endswith(("gamma", "scale")):
      value += 1
    variable.assign(value.astype(np.float32))


def differences(got: dict, wanted: dict, bfloat16: bool) -> list[str]:
  """Describes what is wrong."""
  if set(got) != set(wanted):
    return [f"outputs {sorted(got)}, wanted {sorted(wanted)}"]
  found = []
  for name, reference in wanted.items():
    value = got[name]
    if value.shape != reference.shape or value.dtype != reference.dtype:
      found.append(f"{name}: {value.dtype}{value.shape}, "
                   f"wanted {reference.dtype}{reference.shape}")
    elif reference.dtype.kind == "f":
      scale = max(np.abs(reference).max(initial=0), 1e-30)
      error = np.abs(value.astype(float) - reference).max(initial=0) / scale
      if not error <= (BFLOAT16_TOLERANCE if bfloat16 else TOLERANCES[reference.dtype.name]):
        found.append(f"{name}: differs by {error:.1e} of the scale")
    elif not np.array_equal(value, reference):
      found.append(f"{name}: differs")
  return found


def check(name: str, kind: tuple, build: Build, tenon: pathlib.Path,
          folder: pathlib.Path) -> list[str]:
  """Failures of one case."""
  shape, dtype = kind
  rng = np.random.default_rng(sum(name.encode()))
  given = keras.Input(shape, dtype=dtype, name="x")
  model = keras.Model(given, build(given))
  randomize(model, rng)
  path = folder / name
  model.export(str(path), verbose=False)
  signature = tf.saved_model.load(str(path)).signatures["serving_default"]
  value = example(shape, dtype, rng)
  key = next(iter(signature.structured_input_signature[1]))
  wanted = {k: v.numpy()
            for k, v in signature(**{key: tf.constant(value)}).items()}
  inputs = folder / f"{name}.npz"
  np.savez(inputs, **{key: value})
  failures = []
  for gate in ("1", "0"):
    try:
      found = differences(parity.run_tenon(tenon, path, inputs, gate, 2), wanted,
                          name.endswith("bfloat16"))
    except RuntimeError as error:
      found = [str(error)]
    failures += [f"gate {gate}: {text}" for text in found]
  return failures


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=ROOT / "build" / "bin" / "tenon")
  parser.add_argument("--only", help="names of cases, comma-separated")
  args = parser.parse_args()
  only = set(args.only.split(",")) if args.only else None
  passed = failed = 0
  with tempfile.TemporaryDirectory() as scratch:
    for kind, cases in CASES.items():
      for name, build in cases.items():
        if only is not None and name not in only:
          continue
        failures = check(name, kind, build, args.tenon, pathlib.Path(scratch))
        for text in failures:
          print(f"{name}: {text}", flush=True)
        failed += bool(failures)
        passed += not failures
  print(f"{passed} passed, {failed} failed")
  return 1 if failed or not passed else 0


if __name__ == "__main__":
  sys.exit(main())
