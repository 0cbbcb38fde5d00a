#!/usr/bin/env python3
"""Trains the demo's classifier of handwritten digits and exports it.

  tests/makers/train_digits.py [--out tests/models/digits]

Data: scikit-learn's digits, 1797 images of 8x8, of which a fifth is held out.
Writes saved_model/ (Keras `model.export`), the held-out images as inputs.npz,
TensorFlow's logits for them as outputs.npz, and their digits as labels.npz.
Fails unless at least 98 % of the held-out images are recognized.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import sys

import models  # sets the environment before TensorFlow is imported
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn import datasets, model_selection

SEED = 7
TESTS = pathlib.Path(__file__).resolve().parent.parent
REQUIRED_ACCURACY = 0.98


def load_digits() -> tuple[np.ndarray, ...]:
  """Training images, held-out images (n, 8, 8, 1) in 0..1, and their labels."""
  images, labels = datasets.load_digits(return_X_y=True)
  images = (images / 16).astype(np.float32).reshape(-1, 8, 8, 1)
  return tuple(model_selection.train_test_split(
      images, labels.astype(np.int64), test_size=0.2, random_state=SEED,
      stratify=labels))


def build() -> keras.Model:
  """Convolution, a depthwise-separable block, a residual add, dense."""
  image = keras.Input((8, 8, 1), name="image")
  x = layers.Conv2D(24, 3, padding="same", use_bias=False, name="stem")(image)
  x = layers.BatchNormalization(name="stem_norm")(x)
  shortcut = x = layers.ReLU(name="stem_relu")(x)
  x = layers.DepthwiseConv2D(3, padding="same", use_bias=False,
                             name="depthwise")(x)
  x = layers.BatchNormalization(name="depthwise_norm")(x)
  x = layers.ReLU(6.0, name="depthwise_relu")(x)
  x = layers.Conv2D(24, 1, use_bias=False, name="pointwise")(x)
  x = layers.BatchNormalization(name="pointwise_norm")(x)
  x = layers.ReLU(name="residual_relu")(
      layers.Add(name="residual")([x, shortcut]))
  x = layers.Conv2D(48, 3, strides=2, padding="same", activation="relu",
                    name="down")(x)
  x = layers.MaxPooling2D(2, name="pool")(x)
  x = layers.Flatten(name="flatten")(x)
  x = layers.Dropout(0.3, name="dropout")(x)
  x = layers.Dense(48, activation="relu", name="hidden")(x)
  return keras.Model(image, layers.Dense(10, name="digit")(x), name="digits")


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--out", type=pathlib.Path,
                      default=TESTS / "models" / "digits")
  parser.add_argument("--epochs", type=int, default=40)
  args = parser.parse_args()
  keras.utils.set_random_seed(SEED)
  tf.config.experimental.enable_op_determinism()
  train, held_out, train_labels, labels = load_digits()
  model = build()
  steps = args.epochs * -(-len(train) // 64)
  model.compile(
      keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(
          3e-3, steps)),
      keras.losses.SparseCategoricalCrossentropy(from_logits=True))
  # A digit moved by a pixel is the same digit.
  moved = np.concatenate([train] + [np.roll(train, s, a)
                                    for a in (1, 2) for s in (1, -1)])
  model.fit(moved, np.tile(train_labels, 5), batch_size=64 * 5,
            epochs=args.epochs, verbose=0)

  if args.out.exists():
    shutil.rmtree(args.out)
  args.out.mkdir(parents=True)
  model.export(str(args.out / "saved_model"), verbose=False)
  inputs = {"image": held_out}
  outputs = models.run_signature(args.out / "saved_model", inputs)
  (logits,) = outputs.values()
  accuracy = float((logits.argmax(1) == labels).mean())
  np.savez_compressed(args.out / "inputs.npz", **inputs)
  np.savez_compressed(args.out / "outputs.npz", **outputs)
  np.savez_compressed(args.out / "labels.npz", labels=labels)
  record = {**models.versions(), "accuracy": accuracy, "held_out": len(labels),
            "parameters": model.count_params()}
  (args.out / "model.json").write_text(json.dumps(record, indent=2) + "\n")
  print(f"{accuracy:.2%} of {len(labels)} held-out digits, "
        f"{model.count_params()} parameters, in {args.out}")
  if accuracy < REQUIRED_ACCURACY:
    print(f"below {REQUIRED_ACCURACY:.0%}", file=sys.stderr)
    return 1
  return 0


if __name__ == "__main__":
  sys.exit(main())
