"""The seven networks of tests/models inside TensorFlow.

    models.py OUT.npz

Their SavedModels give the values that were saved with them, at each batch size and image size.
OUT.npz gets predictions, and losses and gradients in training mode, of the same networks made by
Keras; plugin_test.py compares them with TensorFlow's own.
"""

import os
import pathlib
import sys

import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "makers"))
GATE = os.environ.get("TF_ENABLE_ONEDNN_OPTS")
import models  # noqa: E402  (sets the variable)

if GATE is not None:
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = GATE

NETWORKS = ("bert4", "densenet121", "efficientnetb0", "inceptionv3", "mlp", "mobilenetv2",
            "resnet50")


def check_saved_model(name):
    """Against the outputs in its folder: 1e-5 of the largest, as for Tenon's own runtime."""
    folder = ROOT / "tests" / "models" / name
    run = tf.saved_model.load(str(folder / "saved_model")).signatures["serving_default"]
    for path in sorted(folder.glob("inputs*.npz")):
        with np.load(path) as inputs:
            got = run(**{k: tf.constant(v) for k, v in inputs.items()})
        with np.load(folder / path.name.replace("inputs", "outputs")) as outputs:
            for key, want in outputs.items():
                np.testing.assert_allclose(got[key], want, rtol=0, atol=1e-5 * np.abs(want).max(),
                                           err_msg=f"{path} {key}")


def keras_model(name):
    """Predictions; the loss and some gradients of a training step, in a function."""
    architecture = models.ARCHITECTURES[name]
    tf.keras.utils.set_random_seed(4)  # what is dropped in training
    model = architecture.build(True)
    models.randomize(model, 5)
    size = architecture.size[1]
    inputs = architecture.inputs(np.random.default_rng(6), 4, size, True)
    tensors = {k: tf.constant(v) for k, v in inputs.items()}
    fed = tensors if len(tensors) > 1 else next(iter(tensors.values()))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.nest.flatten(model(x, training=True))[0]
            loss = tf.reduce_mean(tf.square(y - 0.5))
        # Biases before a normalization have no gradient but rounding.
        kernels = [v.value for v in model.trainable_variables if v.path.endswith("kernel")]
        chosen = [kernels[0], kernels[len(kernels) // 2], kernels[-1]]
        return [loss] + [tf.convert_to_tensor(g) for g in tape.gradient(loss, chosen)]

    predicted = tf.nest.flatten(model.predict(fed, verbose=0))[0]
    loss, *gradients = step(fed)
    return {"predicted": predicted, "loss_rounded": loss,
            **{f"gradient{i}_deep": g for i, g in enumerate(gradients)}}


def main():
    out = {}
    for name in sys.argv[2:] or NETWORKS:
        check_saved_model(name)
        out |= {f"{name}/{k}": np.asarray(v) for k, v in keras_model(name).items()}
    np.savez(sys.argv[1], **out)


if __name__ == "__main__":
    main()
