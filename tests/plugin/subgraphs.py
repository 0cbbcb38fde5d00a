"""Parts of graphs that run whole, as one node `_TenonSubgraph`: checks itself."""

import concurrent.futures

import inside
import numpy as np
import tensorflow as tf
import tenon_tensorflow
from inside import ops_that_ran, run_session, waits_for

tf.get_logger().setLevel("ERROR")  # about retracing
rng = np.random.default_rng(9)
WHOLE = "_TenonSubgraph"
tf1 = tf.compat.v1


def random(*shape):
    return rng.normal(size=shape).astype(np.float32)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


class Net(tf.Module):
    """Three layers with variables."""

    def __init__(self):
        super().__init__()
        self.filters = [tf.Variable(random(3, 3, 4, 4) / 6) for _ in range(2)]
        self.weights = tf.Variable(random(4, 5))
        self.bias = tf.Variable(random(5))

    def layer(self, i, x):
        return tf.nn.relu(tf.nn.conv2d(x, self.filters[i], 1, "SAME") + x)

    def head(self, x):
        return tf.nn.softmax(tf.reduce_mean(x, [1, 2]) @ self.weights + self.bias)

    def __call__(self, x):
        return self.head(self.layer(1, self.layer(0, x)))


net = Net()
images = tf.constant(random(2, 8, 7, 4))
IMAGES = tf.TensorSpec([None, None, None, 4])


def test_runs_whole():
    run = tf.function(net, input_signature=[IMAGES])
    got, ops = ops_that_ran(run, images)
    close(got, net(images))
    assert ops.count(WHOLE) == 1 and "Relu" not in ops and "Softmax" not in ops, ops


def test_explain():
    """The part has graphs of its own, with the rules that fired."""
    text = tenon_tensorflow.explain(tf.function(net), images)
    assert "fuse FuseConv2D 2" in text and "_Subgraph(" in text and "_FusedConv2D(" in text, text


def test_sizes():
    """A plan for each shape, rows or not."""
    run = tf.function(net, input_signature=[IMAGES])
    for shape in ((1, 8, 8, 4), (3, 5, 9, 4), (0, 4, 4, 4), (1, 8, 8, 4), (7, 1, 1, 4)):
        x = tf.constant(random(*shape))
        close(run(x), net(x))


def test_weights_change():
    """A part takes its weights for constants, but only as long as they are the same."""
    mine = Net()
    run = tf.function(mine, input_signature=[IMAGES])
    for i in range(40):
        close(run(images), mine(images))
        if i % 3 == 0:
            mine.filters[1].assign(random(3, 3, 4, 4) / 6)
        elif i % 3 == 1:
            mine.bias.assign_add(tf.ones(5) * i)  # in place, were it not held
        close(run(images), mine(images))


def test_weights_that_are_copied():
    """TensorFlow copies a variable for each reader once something has written to parts of it."""
    table = tf.Variable(random(6, 4))
    table.scatter_update(tf.IndexedSlices(tf.ones([1, 4]), [2]))
    run = tf.function(lambda ids, x: (tf.gather(table, ids), tf.nn.softmax(dense(x) @ tf.transpose(table))))
    x = random(2, 4)
    for i in range(5):
        rows, y = run(tf.constant([1, 2]), x)
        close(rows, table.numpy()[1:3])
        close(y, tf.nn.softmax(dense(x) @ table.numpy().T))
        if i == 2:
            table.scatter_update(tf.IndexedSlices(tf.ones([1, 4]) * 3, [4]))


def test_weights_of_another_shape():
    w = tf.Variable(random(4, 6), shape=[4, None])
    v = tf.constant(random(6, 6))

    @tf.function
    def run(x):
        y = tf.nn.relu(x @ w)
        return tf.nn.softmax(tf.nn.relu(y @ v[:tf.shape(y)[1]]) @ v)

    def want(x):
        y = np.maximum(x @ w.numpy(), 0)
        y = np.maximum(y @ v.numpy()[:y.shape[1]], 0) @ v.numpy()
        return tf.nn.softmax(y)

    for columns in (6, 3, 6, 5):
        w.assign(random(4, columns))
        x = random(3, 4)
        close(run(x), want(x))


def test_training():
    """Weights that the graph itself changes are read anew in each step."""
    mine = Net()
    optimizer = tf.keras.optimizers.SGD(0.1)
    labels = tf.constant([1, 3])

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.keras.losses.sparse_categorical_crossentropy(labels, mine(images)))
        variables = mine.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    start = [v.numpy() for v in mine.trainable_variables]
    optimizer.build(mine.trainable_variables)
    want = [float(step()) for _ in range(4)]
    for variable, value in zip(mine.trainable_variables, start):
        variable.assign(value)
    run = tf.function(step)
    got, ops = ops_that_ran(run)
    close(got, want[0])
    for loss in want[1:]:
        close(run(), loss)
    assert WHOLE in ops and "_TenonConv2D" not in ops, ops


def test_results_are_the_callers():
    """TensorFlow may write to a result in place."""
    run = tf.function(lambda x: (net(x), net.head(tf.ones([1, 2, 2, 4]))))
    want = [y.numpy() for y in (net(images), net.head(tf.ones([1, 2, 2, 4])))]
    for _ in range(3):
        for y, w in zip(run(images), want):
            close(y, w)
            kept = tf.Variable(y)
            kept.assign_add(tf.ones_like(y))
            close(kept, w + 1)


def test_op_in_the_middle():
    """What needs an op that Tenon does not run is another part."""
    @tf.function
    def run(x):
        y = net.layer(0, net.layer(1, net.layer(0, x)))
        z = tf.py_function(lambda v: v * 2, [y], tf.float32)
        z.set_shape(y.shape)
        # Reads the first part directly, and by way of the op.
        return net.head(net.layer(1, z - y)), y

    y = net.layer(0, net.layer(1, net.layer(0, images)))
    got, ops = ops_that_ran(run, images)
    close(got[0], net.head(net.layer(1, y)))
    close(got[1], y)
    assert ops.count(WHOLE) == 2 and "EagerPyFunc" in ops, ops


def test_branches_and_loops():
    @tf.function(input_signature=[IMAGES, tf.TensorSpec([], tf.bool), tf.TensorSpec([], tf.int32)])
    def run(x, which, times):
        before = net.layer(1, net.layer(0, net.layer(1, x)))
        chosen = tf.cond(which, lambda: net.layer(1, net.layer(0, before)), lambda: before * 2)
        for _ in tf.range(times):
            chosen = net.layer(0, net.layer(1, chosen)) / 2
        return net.head(net.layer(0, chosen)), net.head(before)

    _, ops = ops_that_ran(run, images, True, 2)
    assert WHOLE in ops, ops
    for which in (True, False):
        for times in (0, 2):
            before = net.layer(1, net.layer(0, net.layer(1, images)))
            y = net.layer(1, net.layer(0, before)) if which else before * 2
            for _ in range(times):
                y = net.layer(0, net.layer(1, y)) / 2
            got = run(images, which, times)
            close(got[0], net.head(net.layer(0, y)))
            close(got[1], net.head(before))


def test_constants_of_loops():
    """A control edge keeps a constant in its loop, beside an equal one outside of it."""
    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def run(x):
        def body(i, y):
            y = tf.sin(y)
            return i + 1, tf.tanh(y + y)
        y = tf.while_loop(lambda i, y: i < 3, body, [0, tf.sin(x)])[1]
        return tf.nn.softmax(y @ tf.ones([4, 4])), tf.tanh(x) * 2.0

    x = random(2, 4)
    y = np.sin(x)
    for _ in range(3):
        y = np.tanh(2 * np.sin(y))
    got = run(x)
    close(got[0], tf.nn.softmax(y @ np.ones([4, 4], "f")))
    close(got[1], np.tanh(x) * 2)


def test_control_edges():
    """What must run before or after a part does."""
    count = tf.Variable(1.0)

    @tf.function
    def run(x):
        with tf.control_dependencies([count.assign_add(1)]):
            y = net.layer(1, net.layer(0, x))
        with tf.control_dependencies([y]):
            first = count.read_value()
            count.assign_add(10)
        return net.head(y), first

    for i in range(3):
        got, first = run(images)
        close(got, net(images))
        close(first, 2 + 11 * i)
    assert count.numpy() == 34, count.numpy()


def test_session():
    """Of TensorFlow 1: tensors inside of a part are fetched and fed."""
    weights = [random(4, 4) for _ in range(4)]
    x = random(3, 4)
    want = [x]
    for w in weights:
        want.append(np.tanh(want[-1] @ w))
    for fetches in ([4], [2, 4], [1, 2, 3, 4], [3]):
        with tf.Graph().as_default() as graph:
            y = tf1.placeholder(tf.float32, [None, 4], name="x")
            for i, w in enumerate(weights):
                y = tf.tanh(y @ tf.constant(w), name=f"y{i + 1}")
            got, nodes = run_session(graph, [f"y{i}:0" for i in fetches], {"x:0": x})
            for i, value in zip(fetches, got):
                close(value, want[i])
            assert WHOLE in {n.op for n in nodes.values()}, nodes
            got, _ = run_session(graph, ["y4:0"], {"y1:0": want[1] * 2})
            y = want[1] * 2
            for w in weights[1:]:
                y = np.tanh(y @ w)
            close(got[0], y)


def test_session_with_control_edges():
    with tf.Graph().as_default() as graph:
        fed = tf1.placeholder(tf.float32, [None, 4], name="x")
        log = tf1.get_variable("log", initializer=np.float32(1), use_resource=True)
        first = log.assign(3, name="first", read_value=False)
        y = fed
        with tf.control_dependencies([first]):
            for _ in range(4):
                y = tf.tanh(y @ tf.constant(np.eye(4, dtype="f")))
        with tf.control_dependencies([y]):
            second = tf1.raw_ops.AssignVariableOp(resource=log.handle, value=tf.constant(5.0),
                                                  name="second")
        with tf.control_dependencies([second]):
            read = log.read_value()
        x = random(2, 4)
        (_, value), nodes = run_session(graph, [y, read], {fed: x})
    assert value == 5, value
    whole = [n.name for n in nodes.values() if n.op == WHOLE]
    assert len(whole) == 1 and waits_for(nodes, "second", whole[0]), nodes


def dense(x):
    for _ in range(3):
        x = tf.tanh(x @ tf.constant(np.eye(4, dtype="f") / 2))
    return x


def test_control_edge_between_chains():
    """Two chains that share nothing but the order of two nodes; and a node named like an input."""
    x, z = random(2, 4), random(3, 4)
    want = dense(x).numpy(), dense(dense(z)).numpy()
    with tf.Graph().as_default() as graph:
        first = tf1.placeholder(tf.float32, [None, 4])
        both = tf.identity_n([first, tf1.placeholder(tf.float32, [None, 4])])
        eye = tf.constant(np.eye(4, dtype="f") / 2)
        a, b = both
        for i in range(3):
            a = tf.tanh(a @ eye, name=f"subgraph_input_{i}")
        for i in range(6):
            with tf.control_dependencies([a] if i == 2 else []):
                product = b @ eye
            b = tf.tanh(product)
        got, nodes = run_session(graph, [a, b], dict(zip(both, (x, z))))
    close(got[0], want[0])
    close(got[1], want[1])
    assert WHOLE in {n.op for n in nodes.values()}, nodes


def test_input_that_waits_for_an_output():
    """A queue between two layers: what fills it must not wait for what it gives."""
    with tf.Graph().as_default() as graph:
        fed = tf1.placeholder(tf.float32, [2, 4])
        queue = tf.queue.FIFOQueue(4, [tf.float32], [[2, 4]])
        before = dense(fed)
        enqueue = queue.enqueue(before)
        y = dense(before + queue.dequeue())
        x = random(2, 4)
        with tf1.Session(graph=graph) as session:
            got, _ = session.run([y, enqueue], {fed: x}, tf1.RunOptions(timeout_in_ms=60000))
    close(got, dense(dense(x) * 2))


def test_partial_run():
    """What is fetched first does not need what is fed later."""
    x, z = random(2, 4), random(2, 4)
    want = dense(x).numpy(), dense(dense(x) + z).numpy()
    with tf.Graph().as_default() as graph:
        first = tf1.placeholder(tf.float32, [None, 4])
        second = tf1.placeholder(tf.float32, [None, 4])
        before = dense(first)
        after = dense(before + second)
        with tf1.Session(graph=graph) as session:
            handle = session.partial_run_setup([before, after], [first, second])
            close(session.partial_run(handle, before, {first: x}), want[0])
            close(session.partial_run(handle, after, {second: z}), want[1])


def test_errors():
    """They name the node, and the next call runs."""
    run = tf.function(lambda x, y: tf.tanh(net(x) @ y) @ y, input_signature=[
        IMAGES, tf.TensorSpec(None)])
    good = random(5, 5)
    want = tf.tanh(net(images) @ good) @ good
    for _ in range(2):
        close(run(images, good), want)
        try:
            run(images, random(4, 5))
        except tf.errors.InvalidArgumentError as error:
            assert "MatMul" in str(error) or "matmul" in str(error), error
        else:
            raise AssertionError("no error")


def test_threads():
    """Several threads call one function, with different sizes."""
    run = tf.function(net, input_signature=[IMAGES])
    inputs = [tf.constant(random(n, 6, 6, 4)) for n in (1, 2, 3, 4)]
    want = [net(x) for x in inputs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for got, w in zip(pool.map(run, inputs * 20), want * 20):
            close(got, w)


inside.run_tests(globals())
