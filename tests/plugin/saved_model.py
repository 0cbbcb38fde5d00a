"""saved_model.py save FOLDER: with the plug-in. saved_model.py load FOLDER: with it or without.

Saves a model that has been called, so that its functions have been rewritten; loading checks each
node of the file and the results.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2


class Model(tf.Module):
    def __init__(self):
        rng = np.random.default_rng(1)
        self.filters = tf.Variable(rng.normal(size=[3, 3, 3, 8]).astype(np.float32))
        self.bias = tf.Variable(rng.normal(size=[8]).astype(np.float32))
        self.dense = tf.Variable(rng.normal(size=[8, 4]).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 3])])
    def __call__(self, x):
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, self.filters, 1, "SAME"), self.bias))
        return tf.nn.softmax(tf.matmul(tf.reduce_mean(y, [1, 2]), self.dense))


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    x = np.random.default_rng(2).normal(size=[2, 8, 8, 3]).astype(np.float32)
    if command == "save":
        model = Model()
        y = model(tf.constant(x))
        tf.saved_model.save(model, str(folder))
        np.save(folder / "expected.npy", y)
        return
    proto = saved_model_pb2.SavedModel()
    proto.ParseFromString((folder / "saved_model.pb").read_bytes())
    ops = set()
    for meta in proto.meta_graphs:
        nodes = list(meta.graph_def.node)
        for function in meta.graph_def.library.function:
            nodes += function.node_def
        ops |= {n.op for n in nodes}
    assert "Conv2D" in ops and "MatMul" in ops, ops
    assert not [op for op in ops if op.startswith(("_Tenon", "_Fused", "_Mkl"))], ops
    y = tf.saved_model.load(str(folder))(tf.constant(x))
    np.testing.assert_allclose(y, np.load(folder / "expected.npy"), rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    main()
