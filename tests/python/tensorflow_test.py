"""Models from TensorFlow's own objects, where TensorFlow is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import unittest
from typing import Any

import numpy as np
import support
import tenon

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
THERE = all(importlib.util.find_spec(name) for name in ("tensorflow", "keras"))


def close(got: np.ndarray[Any, Any], want: Any) -> None:
    np.testing.assert_allclose(got, np.asarray(want), rtol=1e-5, atol=1e-6)


@unittest.skipUnless(THERE, "TensorFlow and Keras are not installed")
class TensorFlowTest(support.ModelCase):

    @classmethod
    def setUpClass(cls) -> None:
        import keras
        import tensorflow as tf
        cls.keras, cls.tf = keras, tf
        keras.utils.set_random_seed(1)

    def classifier(self) -> Any:
        layers = self.keras.layers
        return self.keras.Sequential([
            layers.Input((8, 8, 1), name="image"), layers.Conv2D(4, 3, activation="relu", bias_initializer="uniform"),
            layers.Flatten(), layers.Dense(10, bias_initializer="uniform")])

    def test_from_keras(self) -> None:
        keras_model = self.classifier()
        x = np.random.default_rng(1).random((3, 8, 8, 1), np.float32)
        model = tenon.from_keras(keras_model, threads=1)
        self.assertEqual([spec.shape for spec in model.inputs], [(None, 8, 8, 1)])
        (y,) = model(x).values()
        close(y, keras_model(x))
        self.assertGreater(np.ptp(y), 0.01)
        self.assertTrue(os.path.exists(model.path))
        path = model.path
        del model
        self.assertFalse(os.path.exists(path))  # the folder was its own

    def test_a_folder_that_stays(self) -> None:
        keras_model = self.classifier()
        kept = self.folder / "kept"
        tenon.from_keras(keras_model, directory=kept).close()
        x = np.ones((1, 8, 8, 1), np.float32)
        (y,) = tenon.load(kept)(x).values()
        close(y, keras_model(x))
        with self.assertRaises(FileExistsError):
            tenon.from_keras(keras_model, directory=kept)

    def test_from_function(self) -> None:
        tf = self.tf
        weights = tf.Variable([[1.0, -2.0], [3.0, 4.0]])

        def scores(pixels: Any, scale: Any) -> Any:
            return {"scores": tf.nn.relu(tf.matmul(pixels, weights)) * scale, "count": tf.shape(pixels)[0]}

        model = tenon.from_function(scores, tf.TensorSpec([None, 2]), tf.TensorSpec([]))
        self.assertEqual({spec.name for spec in model.inputs}, {"pixels", "scale"})
        x = np.array([[1, 2], [3, -4]], np.float32)
        result = model(pixels=x, scale=np.float32(2))
        close(result["scores"], scores(x, 2.0)["scores"])
        self.assertEqual(result["count"], 2)

    def test_from_a_traced_function(self) -> None:
        tf = self.tf

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids")])
        def next_ids(ids: Any) -> Any:
            return ids + 1

        (y,) = tenon.from_function(next_ids)(ids=np.array([1, 2], np.int32)).values()
        np.testing.assert_array_equal(y, [2, 3])

    def test_what_cannot_be_saved_is_an_error(self) -> None:
        with self.assertRaises(Exception):
            tenon.from_function(lambda x: x, object())

    def test_tensors_of_tensorflow_are_fed_without_numpy(self) -> None:
        tf = self.tf
        model = self.identity("DT_FLOAT")
        close(model(tf.constant([1.0, 2.0]))["y:0"], [1, 2])
        close(model(tf.Variable([1.0, 2.0]))["y:0"], [1, 2])
        with self.assertRaisesRegex(TypeError, "float32, but .*float64"):
            model(tf.constant([1.0], tf.float64))
        y = self.identity("DT_BFLOAT16")(tf.constant([1.0, 2.0], tf.bfloat16))["y:0"]
        close(y.astype(np.float32), [1, 2])

    def test_ragged_tensors(self) -> None:
        tf = self.tf

        def sums(values: Any, row_splits: Any) -> Any:
            return tf.reduce_sum(tf.RaggedTensor.from_row_splits(values, row_splits), axis=1)

        model = tenon.from_function(sums, tf.TensorSpec([None]), tf.TensorSpec([None], tf.int64))
        rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
        (y,) = model(values=rows.values, row_splits=rows.row_splits).values()
        close(y, [3, 0, 3])

    def test_imported_after_keras(self) -> None:
        """By then, TensorFlow and Keras have used much of what libraries that are loaded late share."""
        done = subprocess.run(
            [sys.executable, "-c", "import tensorflow, keras, sklearn\nimport support, tenon\n"
             "print(tenon.load(support.MLP / 'saved_model')(support.mlp_inputs())['output_0'])"],
            cwd=support.ROOT / "tests" / "python", capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
