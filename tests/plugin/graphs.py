"""What the plug-in does to single nodes, seen from inside TensorFlow (TENON_SUBGRAPHS=0): checks itself."""

import glob
import tempfile

import inside
import numpy as np
import tensorflow as tf
import tenon_tensorflow
from inside import ops_that_ran, run_session, waits_for

rng = np.random.default_rng(8)
filters = tf.Variable(rng.normal(size=[3, 3, 4, 8]).astype(np.float32))
x = tf.constant(rng.normal(size=[2, 9, 9, 4]).astype(np.float32))


def convolve(x):
    return tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + 0.5)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_explain():
    for fn in (tf.function(convolve), convolve):
        text = tenon_tensorflow.explain(fn, x)
        assert "fuse FuseConv2D 1" in text and "_FusedConv2D(" in text, text
        # Each function is optimized twice; the second pass finds nothing and changes nothing.
        last = text.rsplit("=== graph", 1)[1]
        head, rest = last.split("--- before\n")
        before, after = rest.split("--- after\n")
        assert head.count("\n") == 1 and before.strip() == after.strip(), last
    text = tenon_tensorflow.explain(lambda a: tf.strings.length(a), tf.constant(["a", "bc"]))
    assert "no graph" in text, text


def test_profiler():
    run = tf.function(convolve)
    run(x)
    folder = tempfile.mkdtemp()
    tf.profiler.experimental.start(folder)
    run(x)
    tf.profiler.experimental.stop()
    (trace,) = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
    with open(trace, "rb") as file:
        assert b"_TenonFusedConv2D" in file.read()


def test_unknown_op():
    """A function with an op that Tenon does not know is rewritten around it."""
    @tf.function
    def run(x):
        y = convolve(x)
        z = tf.py_function(lambda v: v * 2, [y], tf.float32)
        z.set_shape(y.shape)
        return tf.nn.relu(z - 1.0)

    got, ops = ops_that_ran(run, x)
    close(got, tf.nn.relu(convolve(x) * 2 - 1.0))
    assert "_TenonFusedConv2D" in ops and "EagerPyFunc" in ops, ops


def test_control_edges():
    """What must run before or after the fused nodes does."""
    count = tf.Variable(0)

    @tf.function
    def run(x):
        with tf.control_dependencies([count.assign_add(1)]):
            y = convolve(x)
        with tf.control_dependencies([y]):
            count.assign_add(10)
        return y

    for _ in range(3):
        close(run(x), convolve(x))
    assert count.numpy() == 33, count.numpy()


tf1 = tf.compat.v1
BIAS = np.linspace(-1, 1, 8).astype("f")


def chain():
    """conv, bias and relu with these names over the placeholder `x`."""
    fed = tf1.placeholder(tf.float32, [None, 9, 9, 4], name="x")
    conv = tf.nn.conv2d(fed, filters_value, 1, "SAME", name="conv")
    biased = tf.nn.bias_add(conv, BIAS, name="biased")
    return conv, biased, tf.nn.relu(biased, name="y")


def wanted():
    conv = tf.nn.conv2d(x, filters_value, 1, "SAME").numpy()
    return {"conv": conv, "biased": conv + BIAS, "y": np.maximum(conv + BIAS, 0)}


def test_fetched_inside():
    """Tensors inside what could be one fused node: fetched, each is there under its name."""
    ops = {("y",): {"y": "_TenonFusedConv2D"},
           ("conv", "y"): {"conv": "_TenonConv2D", "y": "_TenonFusedElementwise"},
           ("biased", "y"): {"biased": "_TenonFusedConv2D", "y": "Relu"},
           ("conv", "biased", "y"): {"conv": "_TenonConv2D", "y": "Relu"}}
    for fetches, expected in ops.items():
        with tf.Graph().as_default() as graph:
            with tf.device("/CPU:0"):
                chain()
            got, nodes = run_session(graph, [f"{f}:0" for f in fetches], {"x:0": x_value})
        for name, value in zip(fetches, got):
            close(value, wanted()[name])
        for name, op in expected.items():
            assert nodes[name].op == op, (fetches, name, nodes[name].op)
            assert nodes[name].device.endswith("CPU:0"), nodes[name].device


def test_fetched_several_outputs():
    """A fetched node of two outputs that rewriting takes out."""
    with tf.Graph().as_default() as graph:
        conv, _, y = chain()
        pair = tf.identity_n([y, tf.tanh(y)], name="pair")
        got, nodes = run_session(graph, pair, {"x:0": x_value})
    close(got[0], wanted()["y"])
    close(got[1], np.tanh(wanted()["y"]))
    assert "_TenonFusedConv2D" in {n.op for n in nodes.values()}, nodes
    assert len(nodes["pair"].input) == 2, nodes["pair"]


def test_fed_inside():
    """A tensor inside what could be one fused node: fed, by itself and in a partial run."""
    want, given = wanted(), np.full([1, 9, 9, 8], -0.5, "f")
    with tf.Graph().as_default() as graph:
        chain()
        got, nodes = run_session(graph, "y:0", {"conv:0": given})
        assert not [n for n in nodes.values() if "Conv2D" in n.op], nodes
        close(got, np.maximum(given + BIAS, 0))
        with tf1.Session() as session:
            close(session.run("y:0", {"biased:0": -given}), -given)
            close(session.run("y:0", {"x:0": x_value}), want["y"])
            handle = session.partial_run_setup(["biased:0", "y:0"], ["x:0"])
            close(session.partial_run(handle, "biased:0", {"x:0": x_value}), want["biased"])
            close(session.partial_run(handle, "y:0"), want["y"])
            handle = session.partial_run_setup(["conv:0", "y:0"], ["x:0", "biased:0"])
            close(session.partial_run(handle, "conv:0", {"x:0": x_value}), want["conv"])
            close(session.partial_run(handle, "y:0", {"biased:0": -given}), -given)


def test_control_edges_of_fused_nodes():
    """What the nodes that go waited for, the fused one waits for; what waited for them still
    does."""
    with tf.Graph().as_default() as graph:
        fed = tf1.placeholder(tf.float32, [None, 9, 9, 4], name="x")
        log = tf1.get_variable("log", initializer=np.float32(1), use_resource=True)
        first = log.assign(3, name="first", read_value=False)
        conv = tf.nn.conv2d(fed, filters_value, 1, "SAME", name="conv")
        bias = tf.constant(BIAS)
        with tf.control_dependencies([first]):
            biased = tf.nn.bias_add(conv, bias, name="biased")
        with tf.control_dependencies([biased]):
            second = tf1.raw_ops.AssignVariableOp(resource=log.handle, value=tf.constant(5.0),
                                                  name="second")
        with tf.control_dependencies([second]):
            y = tf.nn.relu(biased, name="y")
        with tf.control_dependencies([y]):
            read = log.read_value()
        (got, value), nodes = run_session(graph, [y, read], {fed: x_value})
    close(got, wanted()["y"])
    assert value == 5, value
    assign = [n.name for n in nodes.values() if n.op == "AssignVariableOp"]
    assert len(assign) == 2, assign
    reads = [n.name for n in nodes.values() if n.op == "ReadVariableOp"]
    assert [waits_for(nodes, reads[0], a) for a in assign] == [True, True], nodes
    assert waits_for(nodes, "second", "first"), nodes
    assert [n.op for n in nodes.values() if n.op.startswith("_Tenon")], nodes


def test_control_edge_to_a_node_without_readers():
    with tf.Graph().as_default() as graph:
        fed = tf1.placeholder(tf.float32, [None, 9, 9, 4], name="x")
        log = tf1.get_variable("log", initializer=np.float32(1), use_resource=True)
        with tf.control_dependencies([fed]):
            first = log.assign(3, read_value=False)
        with tf.control_dependencies([first]):
            gate = tf.identity(tf.zeros([]), name="gate")
        with tf.control_dependencies([gate]):  # no data: only the order counts
            y = tf.nn.relu(tf.nn.conv2d(fed, filters_value, 1, "SAME", name="conv"), name="y")
        with tf.control_dependencies([y]):
            value = log.read_value()
        (_, value), nodes = run_session(graph, [y, value], {fed: x_value})
    assert value == 3, value
    assert nodes["y"].op == "_TenonFusedConv2D", nodes["y"]
    (assign,) = [n.name for n in nodes.values() if n.op == "AssignVariableOp"]
    assert waits_for(nodes, "y", assign), nodes


def test_colocated():
    """With a node that is fused away, and one that is made."""
    with tf.Graph().as_default() as graph:
        conv, _, y = chain()
        with graph.colocate_with(conv.op):
            z = tf.nn.bias_add(tf.nn.conv2d(y, np.ones([1, 1, 8, 2], "f"), 1, "SAME"), [1.0, 2.0])
            z = tf.nn.relu(z, name="z")
        got, nodes = run_session(graph, z, {"x:0": x_value})
    close(got, np.maximum(wanted()["y"].sum(-1, keepdims=True) + np.array([1.0, 2.0]), 0))
    assert nodes["z"].op == "_TenonFusedConv2D" and "conv" not in nodes, nodes


def test_compiled_by_xla():
    close(tf.function(convolve, jit_compile=True)(x), convolve(x))


def test_retraced():
    run = tf.function(convolve)
    for size in (1, 3, 8):
        image = x[:, :size, :size]
        close(run(image), convolve(image))
        close(run(tf.repeat(image, 2, 0)), convolve(tf.repeat(image, 2, 0)))


def test_second_derivative():
    w = tf.constant(rng.normal(size=[5, 5]).astype(np.float32))

    def hessian(v):
        with tf.GradientTape() as outer:
            outer.watch(v)
            with tf.GradientTape() as inner:
                inner.watch(v)
                y = tf.reduce_sum(tf.tanh(tf.matmul(v, w)))
            g = inner.gradient(y, v)
        return outer.jacobian(g, v)

    v = tf.constant(rng.normal(size=[2, 5]).astype(np.float32))
    t = np.tanh(v.numpy() @ w.numpy())
    # d2/dv_ab dv_cd = [a = c] sum_k -2 t (1 - t^2) w_bk w_dk
    second = np.einsum("ak,bk,dk->abd", -2 * t * (1 - t * t), w, w)
    want = np.einsum("abd,ac->abcd", second, np.eye(2))
    for fn in (hessian, tf.function(hessian)):
        np.testing.assert_allclose(fn(v), want, rtol=1e-4, atol=1e-4)


filters_value, x_value = filters.numpy(), x.numpy()
inside.run_tests(globals())
