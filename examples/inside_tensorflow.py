"""inside_tensorflow.py FOLDER: the drop-in: a program for stock TensorFlow, unchanged, and what Tenon did to it.

Needs the packages tensorflow and tenon_tensorflow.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf  # loads Tenon

folder = pathlib.Path(sys.argv[1])
images = np.load(folder / "inputs.npz")["image"]
expected = np.load(folder / "outputs.npz")["output_0"]
model = tf.saved_model.load(str(folder / "saved_model"))


@tf.function
def digits(pixels: tf.Tensor) -> tf.Tensor:
    return tf.argmax(model.signatures["serving_default"](image=pixels)["output_0"], axis=1)


found = digits(tf.constant(images)).numpy()
print(f"{(found == expected.argmax(axis=1)).sum()} of {len(images)} as TensorFlow alone")

import tenon_tensorflow  # only to see what it did

rules, _, _ = tenon_tensorflow.explain(digits, tf.constant(images[:1])).partition("--- before")
print(rules)  # and the graphs, before and after
