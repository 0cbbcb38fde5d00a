"""Branches and loops in parts of graphs that run whole: checks itself."""

import concurrent.futures
import tempfile

import inside
import numpy as np
import tensorflow as tf
from inside import ops_that_ran, run_session

tf.get_logger().setLevel("ERROR")  # about retracing
rng = np.random.default_rng(4)
WHOLE = "_TenonSubgraph"
tf1 = tf.compat.v1
layers = tf.keras.layers


def random(*shape):
    return rng.normal(size=shape).astype(np.float32)


def close(a, b):
    tf.nest.map_structure(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4), a, b)


def check(eager, *inputs, whole=1, left=(), signature=None):
    """Compares a function with itself run eagerly; `left`: ops that must still be there."""
    run = tf.function(eager, input_signature=signature)
    got, ops = ops_that_ran(run, *inputs)
    close(got, eager(*inputs))
    assert ops.count(WHOLE) == whole, ops
    for op in ("Enter", "Switch", "Merge"):
        assert (op in ops) == (op in left), (op, ops)
    return run


WEIGHTS = [random(4, 4) / 2 for _ in range(3)]


def dense(x, i=0):
    return tf.tanh(x @ WEIGHTS[i])


def layers_of(x):
    return dense(dense(dense(dense(x), 1), 2))


VECTORS = tf.TensorSpec([None, 4])


def test_recurrent_layers():
    for layer in (layers.LSTM(8), layers.GRU(8, return_sequences=True),
                  layers.SimpleRNN(8, go_backwards=True),
                  layers.Bidirectional(layers.LSTM(8, return_sequences=True)),
                  layers.TimeDistributed(layers.Dense(3)),
                  layers.ConvLSTM1D(3, 2, padding="same")):
        shape = (2, 5, 6, 3) if isinstance(layer, layers.ConvLSTM1D) else (2, 5, 6)
        # Masks are for what Keras computes with loops.
        mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], bool)
        masked = not isinstance(layer, (layers.ConvLSTM1D, layers.TimeDistributed))
        model = tf.keras.Sequential([layer, layers.Flatten(), layers.Dense(4, "relu"),
                                     layers.Dense(3, "softmax")])
        model(random(*shape))
        run = check(model, tf.constant(random(*shape)))
        for _ in range(3):
            x = tf.constant(random(*shape))
            close(run(x), model(x))
            for v in layer.trainable_variables:
                v.assign(v * 1.2)
            close(run(x), model(x))
        if masked:
            check(lambda x: layer(x, mask=mask), tf.constant(random(*shape)))


def test_loaded_recurrent_layers():
    """Of a SavedModel, whose functions TensorFlow calls with arguments of unknown shapes."""
    model = tf.keras.Sequential([layers.GRU(8, return_sequences=True), layers.GRU(8), layers.Dense(3)])
    model(random(2, 5, 6))
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, input_signature=[tf.TensorSpec([None, None, 6])], verbose=False)
        run = tf.saved_model.load(folder).signatures["serving_default"]
        for shape in ((2, 5, 6), (1, 3, 6), (4, 7, 6)):
            x = tf.constant(random(*shape))
            close(list(run(x).values())[0], model(x))


def test_widths_that_change():
    run = tf.function(lambda x, w: dense(layers_of(x @ w) @ tf.transpose(w) @ w),
                      input_signature=[tf.TensorSpec(None), tf.TensorSpec([None, None])])
    for width in (6, 3, 6, 5):
        for shape in ((2, width), (3, 2, width)):
            x, w = random(*shape), random(width, 4)
            close(run(x, w), dense(layers_of(x @ w) @ w.T @ w))

    # Of images, first the number, then the size.
    def filtered(x):
        for _ in range(2):
            x = tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 2, 2]) / 9, 1, "SAME"))
        return x

    run = tf.function(filtered, input_signature=[tf.TensorSpec([None, None, None, 2])])
    for shape in ((1, 8, 8, 2), (2, 8, 8, 2), (1, 9, 7, 2), (1, 8, 8, 2), (3, 1, 5, 2)):
        x = random(*shape)
        close(run(x), filtered(x))

    # While a variable changes as well, so that there is a session that has it as an input.
    v = tf.Variable(WEIGHTS[0])
    run = tf.function(lambda x: dense(layers_of(tf.tanh(tf.reduce_sum(x, -1, True) * v[0]) @ v)),
                      input_signature=[tf.TensorSpec([None, None])])
    for i in range(12):
        if i % 4 < 2:
            v.assign(v * 1.1)
        x = random(2, (5, 5, 5, 5, 5, 5, 3, 3, 3, 5, 3, 5)[i])
        close(run(x), dense(layers_of(tf.tanh(tf.reduce_sum(x, -1, True) * v[0]) @ v)))


def test_branches():
    def chosen(x, which):
        y = tf.cond(which, lambda: dense(dense(x), 1), lambda: x * 2)
        return dense(y, 2), y

    run = check(chosen, random(3, 4), tf.constant(True))
    for which in (False, True, False):
        x = random(5, 4)
        close(run(x, tf.constant(which)), chosen(x, tf.constant(which)))

    def of_several(x, i):
        return dense(tf.switch_case(i, [lambda k=k: dense(dense(x, k)) for k in range(3)]))

    run = check(of_several, random(3, 4), tf.constant(1))
    for i in (0, 2, 1, 7, -1):  # others choose the last one
        close(run(random(0, 4), tf.constant(i)), random(0, 4))
        x = random(2, 4)
        close(run(x, tf.constant(i)), of_several(x, tf.constant(i)))


def test_nested():
    def nested(x, rounds):
        def inner(i, j, y):
            y = tf.cond(tf.reduce_sum(y) > 0, lambda: dense(y), lambda: dense(-y, 1) + 1)
            return i, j + 1, y

        def outer(i, y):
            _, _, y = tf.while_loop(lambda i, j, _: j < i, inner, [i, 0, y])
            return i + 1, dense(y, 2)

        y = tf.while_loop(lambda i, _: i < rounds, outer, [0, dense(x)])[1]
        return tf.nn.softmax(dense(y))

    run = check(nested, random(2, 4), tf.constant(3))
    for rounds in (0, 1, 4):
        x = random(rounds, 4)
        close(run(x, tf.constant(rounds)), nested(x, tf.constant(rounds)))


def test_loop_in_branch():
    def run(x, which):
        def loop():
            return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, dense(y)), [0, x])[1]

        return dense(tf.cond(which, loop, lambda: x), 1)

    f = check(run, random(2, 4), tf.constant(True))
    x = random(2, 4)
    close(f(x, tf.constant(False)), run(x, tf.constant(False)))


def test_composed():
    """TensorFlow makes one op of elementwise ops one after another."""
    def run(x):
        def body(i, y):
            return i + 1, dense(tf.exp(tf.sin(tf.abs(tf.math.expm1(tf.tanh(y))))))

        return dense(tf.while_loop(lambda i, _: i < 3, body, [0, dense(x)])[1])

    check(run, random(2, 4))


def test_lists():
    """What is collected from iterations, and lists that another op reads."""
    def run(x):
        rows = tf.map_fn(lambda row: dense(row[None])[0], x)
        sums = tf.scan(lambda a, row: dense(a + row), rows[:, None])
        return dense(sums[:, 0]), rows

    f = check(run, random(5, 4), signature=[VECTORS])
    x = random(3, 4)
    close(f(x), run(x))


def test_loop_that_stays():
    """A loop with an op that Tenon does not run, before, between and after layers. The first result
    of the loop depends on the layers before only by way of earlier iterations."""
    def run(x):
        first = layers_of(x)

        def body(i, total, y):
            y = dense(tf.numpy_function(lambda v: v, [y], tf.float32))
            y.set_shape(first.shape)
            return i + 1, total + tf.reduce_sum(y), y

        _, total, _ = tf.while_loop(lambda i, *_: i < 3, body, [0, 0.0, first])
        return layers_of(layers_of(first) * total), layers_of(first)

    f = tf.function(run, input_signature=[VECTORS])
    x = random(2, 4)
    got, ops = ops_that_ran(f, x)
    close(got, run(x))
    assert WHOLE in ops and "Enter" in ops, ops
    x = random(0, 4)
    close(f(x), run(x))


def test_variables_that_a_loop_changes():
    w, v = tf.Variable(WEIGHTS[0]), tf.Variable(WEIGHTS[1])

    def run(x):
        def body(i, y):
            y = tf.tanh(tf.tanh(y @ w) @ v)
            w.assign(w * 0.5)
            return i + 1, y

        return dense(dense(tf.while_loop(lambda i, _: i < 3, body, [0, x])[1]))

    f = tf.function(run)
    x = random(2, 4)
    for _ in range(2):
        start = w.numpy()
        want = run(x)
        w.assign(start)
        close(f(x), want)


def test_variables_that_change_before():
    w = tf.Variable(WEIGHTS[0])

    def run(x, add):
        w.assign_add(add)
        y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(tf.tanh(y @ w) @ w)), [0, x])[1]
        w.assign_sub(add)
        return dense(dense(y))

    f = tf.function(run)
    for k in range(3):
        x, add = random(2, 4), np.full([4, 4], k / 3, "f")
        close(f(x, add), run(x, add))


def test_variable_that_changes_after():
    """It is read in a loop, and what changes it needs the loop's result."""
    w = tf.Variable(WEIGHTS[0])

    def run(x):
        y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(tf.tanh(y @ w) @ w)), [0, x])[1]
        w.assign_sub(0.1 * tf.transpose(y) @ dense(y))
        return dense(y @ w)

    f = tf.function(run)
    x = random(2, 4)
    want = [run(x) for _ in range(4)]
    w.assign(WEIGHTS[0])
    got, ops = ops_that_ran(f, x)
    close(got, want[0])
    assert WHOLE in ops and "Enter" not in ops, ops
    for y in want[1:]:
        close(f(x), y)


def test_variable_that_changes_between():
    """By a function of Python's, and by another handle of the same variable: no edge tells."""
    v = tf.Variable(WEIGHTS[0])

    def loop(x):
        return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.tanh(tf.tanh(y @ v) @ v)), [0, x])[1]

    def change():
        v.assign(WEIGHTS[1])
        return 0

    @tf.function
    def run(x):
        y = loop(x)
        with tf.control_dependencies([y]):
            changed = tf.py_function(change, [], tf.int32)
        with tf.control_dependencies([changed]):
            return y, loop(x + 0)

    x = random(2, 4)
    want = loop(x)
    v.assign(WEIGHTS[1])
    want = want, loop(x)
    v.assign(WEIGHTS[0])
    close(run(x), want)

    with tf.Graph().as_default() as graph:
        first, second = (tf1.raw_ops.VarHandleOp(dtype=tf.float32, shape=[4, 4], shared_name="shared")
                         for _ in range(2))
        start = tf1.raw_ops.AssignVariableOp(resource=first, value=tf.constant(WEIGHTS[0]))
        fed = tf1.placeholder(tf.float32, [None, 4])

        def read():
            return tf1.raw_ops.ReadVariableOp(resource=second, dtype=tf.float32)

        def loop_of(y):
            return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.tanh(tf.tanh(y @ read()) @ read())),
                                 [0, y])[1]

        y = loop_of(fed)
        with tf.control_dependencies([y]):
            assign = tf1.raw_ops.AssignVariableOp(resource=first, value=tf.constant(WEIGHTS[1]))
        with tf.control_dependencies([assign]):
            z = loop_of(fed + 0)
            also = tf.reduce_sum(read())
    with tf1.Session(graph=graph) as session:
        session.run(start)
        got = session.run((y, z, also), {fed: x})
    close(got[:2], want)


def test_printing():
    """TensorFlow's Print passes its input on, and has an effect; a loop may have ops like that."""
    with tf.Graph().as_default() as graph:
        fed = tf1.placeholder(tf.float32, [None, 4])
        y = tf.while_loop(lambda i, _: i < 2,
                          lambda i, y: (i + 1, dense(dense(tf1.Print(y, [i], "printed")))), [0, fed])[1]
        _, nodes = run_session(graph, [dense(y)], {fed: random(2, 4)})
    assert "Print" in {n.op for n in nodes.values()}, nodes


def test_constants_in_branches():
    """TensorFlow and Tenon each fold some; strings have a form of their own."""
    def run(x, which):
        return dense(dense(x)), tf.cond(
            which, lambda: (tf.strings.as_string([1.5, 2.5], precision=2), tf.range(2) * 3),
            lambda: (tf.strings.join([["a", "b"], "c"]), tf.constant([7, 8])))

    f = tf.function(run)
    x = random(2, 4)
    for which in (True, False):
        got, want = f(x, tf.constant(which)), run(x, tf.constant(which))
        close(got[0], want[0])
        close(got[1][1], want[1][1])
        assert got[1][0].numpy().tolist() == want[1][0].numpy().tolist(), got


def test_embedding():
    """Rows of a variable, gathered in each step."""
    table = tf.Variable(random(7, 4))

    def run(ids):
        def body(i, y):
            return i + 1, dense(y + tf.gather(table, ids[i]))

        return dense(tf.while_loop(lambda i, _: i < tf.shape(ids)[0], body, [0, tf.zeros([3, 4])])[1])

    f = check(run, tf.constant([[1, 2, 3], [4, 5, 6]]), signature=[tf.TensorSpec([None, 3], tf.int32)])
    table.assign(random(7, 4))
    ids = tf.constant([[0, 0, 6]])
    close(f(ids), run(ids))


def test_flag_that_another_thread_sets():
    flag, weights = tf.Variable(False), tf.Variable(WEIGHTS[0])

    @tf.function(autograph=False)
    def run(x):
        def body(i, y):
            return i + 1, dense(tf.tanh(y @ weights))

        return tf.while_loop(lambda i, _: tf.logical_not(flag), body, [0, x])

    x = random(2, 4)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(run, x)
        flag.assign(True)
        future.result(60)


def test_variable_without_value():
    """It is read in a branch that is not taken, or in a loop of no iterations."""
    with tf.Graph().as_default() as graph:
        fed = tf1.placeholder(tf.float32, [None, 4])
        times = tf1.placeholder(tf.int32, [])
        v = tf1.get_variable("u", initializer=WEIGHTS[1], use_resource=True, collections=[])
        y = tf.cond(times > 0, lambda: dense(dense(fed @ v)), lambda: dense(fed))
        y = tf.while_loop(lambda i, _: i < times, lambda i, y: (i + 1, dense(dense(y @ v))), [0, y])[1]
        y = dense(dense(y))
    x = random(2, 4)
    with tf1.Session(graph=graph) as session:
        got = session.run(y, {fed: x, times: 0})
    close(got, dense(dense(dense(x))))
    with tf.Graph().as_default() as graph:
        fed = tf1.placeholder(tf.float32, [None, 4])
        v = tf1.get_variable("v", initializer=WEIGHTS[1], use_resource=True, collections=[])
        y = tf.cond(tf1.is_variable_initialized(v), lambda: dense(fed @ v), lambda: dense(fed))
        y = dense(dense(y))
    x = random(2, 4)
    with tf1.Session(graph=graph) as session:
        before = session.run(y, {fed: x})
        session.run(v.initializer)
        after = session.run(y, {fed: x})
    close(before, dense(dense(dense(x))))
    close(after, dense(dense(dense(x @ WEIGHTS[1]))))


def test_gradients():
    """The lists of a loop leave the function, for its gradient."""
    layer = layers.LSTM(5, return_sequences=True)
    x = tf.constant(random(2, 6, 4))
    layer(x)

    def loss(forward):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.square(forward(x)))
        return y, *tape.gradient(y, [x, *layer.trainable_variables])

    want = loss(layer)
    close(loss(tf.function(lambda v: dense(layer(v) @ random(5, 4) * 0 + layer(v)[..., :4]) * 0
                           + layer(v)[..., :4])), loss(lambda v: layer(v)[..., :4]))
    close(loss(tf.function(lambda v: layer(v))), want)


def test_training():
    model = tf.keras.Sequential([layers.GRU(6), layers.Dense(3)])
    x, y = random(8, 5, 4), rng.integers(0, 3, 8)
    model(x)
    start = model.get_weights()
    losses = []
    for eager in (True, False):
        model.set_weights(start)
        model.compile(tf.keras.optimizers.SGD(0.1),
                      tf.keras.losses.SparseCategoricalCrossentropy(True), run_eagerly=eager)
        history, ops = ops_that_ran(lambda: model.fit(x, y, epochs=3, shuffle=False, verbose=0).history)
        losses.append(history["loss"])
    close(losses[0], losses[1])
    # All of a step waits for the data.
    assert "IteratorGetNext" in ops and WHOLE in ops and "Enter" not in ops, ops


def test_training_of_larger_layers():
    """Products leave these loops (MoveLoopProducts, MoveLoopSums), which may be in a loop of steps."""
    model = tf.keras.Sequential([layers.LSTM(384, return_sequences=True), layers.GRU(80), layers.Dense(3)])
    x, y = random(20, 5, 96), random(20, 3)  # three batches, the last one smaller
    model(x)
    start = model.get_weights()
    losses, weights = [], []
    for how in ({"run_eagerly": True}, {}, {"steps_per_execution": 3}):
        model.set_weights(start)
        model.compile(tf.keras.optimizers.SGD(0.1), "mse", **how)
        losses.append(model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0).history["loss"])
        weights.append(model.get_weights())
    for other in (1, 2):
        close(losses[0], losses[other])
        close(weights[0], weights[other])


def test_shapes_of_variables():
    """Known from what reads them; one has no shape of its own."""
    v = tf.Variable(random(5, 4))
    u = tf.Variable(random(2, 4), shape=tf.TensorShape(None))

    def sizes(x):
        shapes = [tf.raw_ops.VariableShape(input=w.handle, out_type=t)
                  for w in (v, u) for t in (tf.int32, tf.int64)]
        return dense(dense(x) + tf.reduce_sum(v) + tf.reduce_sum(u)), *shapes

    run = check(sizes, tf.constant(random(3, 4)))
    for shape in ((3, 4), (6, 2, 4)):
        u.assign(random(*shape))
        x = tf.constant(random(2, 4))
        close(run(x), sizes(x))


def test_loops_that_change_variables():
    """TensorFlow runs them; their gradients' sums begin with constants that only an Enter reads."""
    k, count = tf.Variable(random(4, 4)), tf.Variable(0.)

    def train(x, how):
        def body(i, h):
            count.assign_add(1.)
            return i + 1, dense(tf.tanh(h @ k) * count)

        count.assign(0.)
        with tf.GradientTape() as tape:
            h = x
            if how:
                _, h = tf.while_loop(lambda i, _: i < 3, body, (0, x))
            loss = tf.reduce_sum(dense(dense(h)) @ k)
        return loss, tape.gradient(loss, k)

    x = tf.constant(random(2, 4))
    in_function = tf.function(train)
    for how in (True, False):
        close(in_function(x, how), train(x, how))
        close(in_function(x, tf.constant(how)), train(x, how))


def test_mixed_precision():
    """Loss scaling is a branch beside constants that rewriting makes for several readers."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = tf.keras.Sequential([layers.Dense(32, "gelu"), layers.Dense(32, "gelu"),
                                     layers.LayerNormalization(), layers.Dense(3, dtype="float32")])
        model(random(8, 16))
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(True))
        history = model.fit(random(16, 16), rng.integers(0, 3, 16), epochs=2, verbose=0).history
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    assert np.isfinite(history["loss"]).all(), history


def test_control_flow_v1():
    """Of TensorFlow 1, without functions, with a TensorArray."""
    tf1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph:
            fed = tf1.placeholder(tf.float32, [None, 4])
            which = tf1.placeholder(tf.bool, [])
            y = tf1.cond(which, lambda: dense(dense(dense(fed)), 1), lambda: dense(fed, 2))
            _, y = tf1.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, dense(dense(v))), [0, y])
            y = dense(dense(y))
            array = tf.TensorArray(tf.float32, 3, element_shape=[None, 4])
            _, array = tf1.while_loop(lambda i, _: i < 3,
                                      lambda i, a: (i + 1, a.write(i, dense(dense(fed + tf.cast(i, tf.float32))))),
                                      [0, array])
            rows = dense(array.stack()[1])
    finally:
        tf1.enable_control_flow_v2()
    x = random(2, 4)
    for taken in (True, False):
        want = dense(dense(dense(x)), 1) if taken else dense(x, 2)
        for _ in range(8):
            want = dense(want)
        (got, of_rows), nodes = run_session(graph, [y, rows], {fed: x, which: taken})
        close(got, want)
        close(of_rows, dense(dense(dense(x + 1))))
        assert WHOLE in {n.op for n in nodes.values()}, nodes


def test_errors():
    """In a loop: they name the node, and the next call runs."""
    def run(x, w):
        return dense(tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.tanh(tf.tanh(y @ w) @ w)), [0, x],
                                   [tf.TensorShape([]), tf.TensorShape([None, None])])[1])

    f = tf.function(run, input_signature=[VECTORS, tf.TensorSpec([None, None])])
    x = random(2, 4)
    for _ in range(2):
        close(f(x, WEIGHTS[0]), run(x, WEIGHTS[0]))
        try:
            f(x, random(5, 4))
        except tf.errors.InvalidArgumentError as error:
            assert "input 'w' must have shape [4,4], but has [5,4]" in str(error), error
        else:
            raise AssertionError("no error")


def test_many_outputs():
    def run(x):
        y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, dense(dense(y))), [0, x])[1]
        return [dense(y * i) for i in range(70)]

    check(run, random(2, 4))


def test_threads():
    layer = layers.LSTM(8)
    run = tf.function(layer, input_signature=[tf.TensorSpec([None, None, 4])])
    inputs = [tf.constant(random(n, 3 + n, 4)) for n in (1, 2, 3, 4)]
    want = [layer(x) for x in inputs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for got, w in zip(pool.map(run, inputs * 20), want * 20):
            close(got, w)


inside.run_tests(globals())
