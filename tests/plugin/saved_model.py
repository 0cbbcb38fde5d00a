"""saved_model.py save FOLDER: with the plug-in. saved_model.py load FOLDER: with it or without.

Saves models in every form that TensorFlow and Keras have, after they have been called, trained and
have predicted, so that their functions have been rewritten. Loading checks each node of the files,
and the results.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

IMAGES = np.random.default_rng(2).normal(size=[4, 8, 8, 3]).astype(np.float32)
PRIVATE = ("_Tenon", "_Fused", "_Mkl")
tf1 = tf.compat.v1


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

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 3]), tf.TensorSpec([], tf.int32)])
    def loop(self, x, n):
        """Rewritten inside bodies of While and If."""
        y = tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(x, self.filters, 1, "SAME")), [1, 2])
        for _ in tf.range(n):
            y = tf.nn.relu(tf.matmul(self(x), self.dense, transpose_b=True) + y) * 0.5
        if n > 1:
            y = tf.tanh(tf.matmul(y, self.dense) + 1.0)
        else:
            y = tf.matmul(y, self.dense)
        return y


def keras_model():
    """One that has been trained, has predicted and has been evaluated."""
    tf.keras.utils.set_random_seed(3)
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Input([8, 8, 3]), layers.Conv2D(8, 3, padding="same", use_bias=False),
        layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(),
        layers.DepthwiseConv2D(3, activation="relu"), layers.Conv2D(4, 1, activation="gelu"),
        layers.GlobalAveragePooling2D(), layers.Dense(6, activation="silu"), layers.Dense(3)])
    model.compile(tf.keras.optimizers.SGD(0.01, momentum=0.9), tf.keras.losses.MeanSquaredError())
    model.fit(IMAGES, np.ones([4, 3], np.float32), epochs=2, batch_size=2, verbose=0)
    model.evaluate(IMAGES, np.ones([4, 3], np.float32), verbose=0)
    return model, model.predict(IMAGES, verbose=0)


def frozen_and_meta_graph(folder):
    """A v1 session's graph, after it ran: frozen, and as a checkpoint with its meta graph."""
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        x = tf1.placeholder(tf.float32, [None, 8, 8, 3], name="x")
        w = tf1.get_variable("w", initializer=np.ones([3, 3, 3, 4], np.float32) / 9)
        tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + 0.25, name="y")
        session.run(tf1.global_variables_initializer())
        y = session.run("y:0", {x: IMAGES})
        frozen = tf1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
        (folder / "frozen.pb").write_bytes(frozen.SerializeToString())
        tf1.train.Saver().save(session, str(folder / "session" / "model"))
    return y


def optimized_function(model):
    """A concrete function with its variables frozen, after it ran."""
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2)
    frozen = convert_variables_to_constants_v2(model.__call__.get_concrete_function())
    frozen(tf.constant(IMAGES))
    return frozen.graph.as_graph_def()


def save(folder):
    model = Model()
    expected = {"module": model(tf.constant(IMAGES)),
                "loop": model.loop(tf.constant(IMAGES), tf.constant(3))}
    tf.saved_model.save(model, str(folder / "module"))
    tf.saved_model.save(model, str(folder / "function"),
                        signatures={"loop": model.loop.get_concrete_function()})
    # What was loaded, has run, and is saved again.
    again = tf.saved_model.load(str(folder / "module"))
    again(tf.constant(IMAGES))
    again.loop(tf.constant(IMAGES), tf.constant(3))
    tf.saved_model.save(again, str(folder / "again"))
    tf.train.Checkpoint(model=model).write(str(folder / "checkpoint"))
    (folder / "function.pb").write_bytes(optimized_function(model).SerializeToString())

    network, expected["keras"] = keras_model()
    network.save(folder / "model.keras")
    network.save(folder / "model.h5")
    network.save_weights(folder / "model.weights.h5")
    network.export(str(folder / "exported"), verbose=False)
    tf.saved_model.save(network, str(folder / "keras_saved"))
    expected["session"] = frozen_and_meta_graph(folder)
    np.savez(folder / "expected.npz", **{k: np.asarray(v) for k, v in expected.items()})


def nodes_of(graph_def):
    """The nodes of a graph and of the functions of its library."""
    nodes = list(graph_def.node)
    for function in graph_def.library.function:
        nodes += function.node_def
    return nodes


def check_nodes(where, graph_def, *needed):
    ops = {n.op for n in nodes_of(graph_def)}
    assert ops >= set(needed), (where, ops)
    private = [n.name for n in nodes_of(graph_def) if n.op.startswith(PRIVATE)]
    assert not private, (where, private)
    attributes = {a for n in nodes_of(graph_def) for a in n.attr if "tenon" in a.lower()}
    assert not attributes, (where, attributes)
    return len(nodes_of(graph_def))


def check_files(folder):
    """Each graph in the folder, node by node; how many nodes there are."""
    count = 0
    for path in folder.rglob("saved_model.pb"):
        meta_graphs = saved_model_pb2.SavedModel.FromString(path.read_bytes()).meta_graphs
        for meta in meta_graphs:
            count += check_nodes(path, meta.graph_def, "Conv2D", "MatMul")
            stripped = {op.name for op in meta.meta_info_def.stripped_op_list.op}
            assert not [op for op in stripped if op.startswith(PRIVATE)], (path, stripped)
    for path in [folder / "frozen.pb", folder / "function.pb"]:
        count += check_nodes(path, tf1.GraphDef.FromString(path.read_bytes()), "Conv2D", "Relu")
    meta = tf1.MetaGraphDef.FromString((folder / "session" / "model.meta").read_bytes())
    count += check_nodes("meta graph", meta.graph_def, "Conv2D", "Relu")
    # And any file at all, which may hold a graph in a form of its own.
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"_Tenon" not in path.read_bytes(), path
    return count


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def load(folder):
    assert len(list(folder.rglob("saved_model.pb"))) == 5
    nodes = check_files(folder)
    expected = np.load(folder / "expected.npz")
    x, n = tf.constant(IMAGES), tf.constant(3)
    for name in ("module", "again"):
        model = tf.saved_model.load(str(folder / name))
        close(model(x), expected["module"])
        close(model.loop(x, n), expected["loop"])
    signature = tf.saved_model.load(str(folder / "function")).signatures["loop"]
    close(signature(x=x, n=n)["output_0"], expected["loop"])
    model = Model()
    for v in model.variables:
        v.assign(tf.zeros_like(v))
    tf.train.Checkpoint(model=model).read(str(folder / "checkpoint")).assert_consumed()
    close(model(x), expected["module"])

    for name in ("model.keras", "model.h5"):
        network = tf.keras.models.load_model(folder / name)
        close(network.predict(IMAGES, verbose=0), expected["keras"])
    for layer in network.weights:
        layer.assign(tf.zeros_like(layer))
    network.load_weights(folder / "model.weights.h5")
    close(network.predict(IMAGES, verbose=0), expected["keras"])
    for name, call in (("exported", "serve"), ("keras_saved", "serving_default")):
        loaded = tf.saved_model.load(str(folder / name))
        run = getattr(loaded, call, None) or loaded.signatures[call]
        close(tf.nest.flatten(run(x))[0], expected["keras"])

    with tf.Graph().as_default(), tf1.Session() as session:
        tf.import_graph_def(tf1.GraphDef.FromString((folder / "frozen.pb").read_bytes()), name="")
        close(session.run("y:0", {"x:0": IMAGES}), expected["session"])
    with tf.Graph().as_default(), tf1.Session() as session:
        saver = tf1.train.import_meta_graph(str(folder / "session" / "model.meta"))
        saver.restore(session, str(folder / "session" / "model"))
        close(session.run("y:0", {"x:0": IMAGES}), expected["session"])
    print(f"{nodes} nodes")


if __name__ == "__main__":
    {"save": save, "load": load}[sys.argv[1]](pathlib.Path(sys.argv[2]))
