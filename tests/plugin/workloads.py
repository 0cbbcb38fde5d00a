"""What the plug-in's tests run inside TensorFlow, with the plug-in and without it.

    workloads.py OUT.npz [NAME…]

Each workload gives named arrays from fixed random inputs; plugin_test.py compares them.
"""

import sys

import numpy as np
import tensorflow as tf

WORKLOADS = {}


def workload(fn):
    WORKLOADS[fn.__name__] = fn
    return fn


class Random:
    """Seeded, so that both processes see the same numbers."""

    def __init__(self, seed=7):
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape, dtype=tf.float32, low=-1.0, high=1.0):
        return tf.constant(self.rng.uniform(low, high, shape), dtype)


def array(t):
    return np.asarray(tf.cast(t, tf.float32) if t.dtype == tf.bfloat16 else t)


def both(fn, *args):
    """The function called eagerly and as a graph."""
    eager = fn(*args)
    graph = tf.function(fn)(*args)
    flat = lambda x: [array(t) for t in tf.nest.flatten(x)]
    return {**{f"eager{i}": a for i, a in enumerate(flat(eager))},
            **{f"graph{i}": a for i, a in enumerate(flat(graph))}}


def with_gradients(fn, *args):
    """Results and the gradients of their weighted sum, eagerly and as a graph."""
    def run(*xs):
        with tf.GradientTape() as tape:
            for x in xs:
                tape.watch(x)
            y = fn(*xs)
            weights = tf.reshape(tf.cast(tf.range(tf.size(y)) % 5 - 2, y.dtype), tf.shape(y))
            loss = tf.reduce_sum(y * weights)
        return [y] + tape.gradient(loss, list(xs))
    return both(run, *args)


@workload
def conv2d():
    r = Random()
    out = {}
    for name, stride, padding in [("same", 1, "SAME"), ("valid", 2, "VALID"),
                                  ("explicit", 1, [[0, 0], [1, 2], [0, 1], [0, 0]])]:
        got = with_gradients(lambda x, w: tf.nn.conv2d(x, w, stride, padding),
                             r(2, 9, 10, 5), r(3, 3, 5, 8))
        out.update({f"{name}_{k}": v for k, v in got.items()})
    return out


@workload
def conv2d_bfloat16():
    r = Random()
    return both(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
                r(2, 9, 10, 5, dtype=tf.bfloat16), r(3, 3, 5, 8, dtype=tf.bfloat16))


@workload
def depthwise_conv2d():
    r = Random()
    return with_gradients(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
                          r(2, 9, 10, 5), r(3, 3, 5, 1))


@workload
def conv3d():
    r = Random()
    return with_gradients(lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"),
                          r(1, 4, 5, 6, 3), r(2, 3, 3, 3, 4))


@workload
def matmul():
    r = Random()
    out = with_gradients(tf.matmul, r(7, 33), r(33, 12))
    for ta in (False, True):
        for tb in (False, True):
            a = r(*((33, 7) if ta else (7, 33)))
            b = r(*((12, 33) if tb else (33, 12)))
            got = both(lambda x, y: tf.matmul(x, y, transpose_a=ta, transpose_b=tb), a, b)
            out.update({f"{ta}{tb}_{k}": v for k, v in got.items()})
    out.update({f"empty_{k}": v for k, v in both(tf.matmul, r(0, 4), r(4, 3)).items()})
    return out


@workload
def batch_matmul():
    r = Random()
    return with_gradients(tf.matmul, r(3, 1, 5, 17), r(4, 17, 6))


@workload
def einsum():
    r = Random()
    return with_gradients(lambda a, b: tf.einsum("bthd,bshd->bhts", a, b),
                          r(2, 5, 3, 8), r(2, 6, 3, 8))


@workload
def pools():
    r = Random()
    x = r(2, 9, 10, 5)
    out = {}
    for name, fn in [
            ("max", lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME")),
            ("avg", lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME")),
            ("avg_valid", lambda x: tf.nn.avg_pool2d(x, 2, 1, "VALID"))]:
        out.update({f"{name}_{k}": v for k, v in with_gradients(fn, x).items()})
    x = r(1, 4, 6, 5, 3)
    for name, fn in [("max3d", lambda x: tf.nn.max_pool3d(x, 2, 2, "SAME")),
                     ("avg3d", lambda x: tf.nn.avg_pool3d(x, 2, 2, "SAME"))]:
        out.update({f"{name}_{k}": v for k, v in with_gradients(fn, x).items()})
    return out


@workload
def batch_norm():
    r = Random()

    def norm(training):
        def run(x, scale, offset, mean, variance):
            return tf.compat.v1.nn.fused_batch_norm(
                x, scale, offset, None if training else mean, None if training else variance,
                is_training=training)
        return run

    args = [r(4, 6, 5, 8), r(8, low=0.5), r(8), r(8), r(8, low=0.5, high=1.5)]
    out = both(norm(True), *args)
    out.update({f"inference_{k}": v for k, v in both(norm(False), *args).items()})
    got = with_gradients(lambda x, s, o: norm(True)(x, s, o, None, None)[0], *args[:3])
    out.update({f"gradient_{k}": v for k, v in got.items()})
    for name, act in (("relu", tf.nn.relu), ("relu6", tf.nn.relu6)):
        got = with_gradients(lambda x, s, o: act(norm(True)(x, s, o, None, None)[0]),
                             args[0], 6 * args[1], args[2])
        out.update({f"{name}_{k}": v for k, v in got.items()})
    return out


@workload
def moments():
    """Normalizations as Keras writes them, in training: moments, then scale and offset."""
    r = Random()

    def norm(axes, act=tf.identity):
        def run(x, scale, offset):
            mean, variance = tf.nn.moments(x, axes, keepdims=True)
            return act(tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3))
        return run

    x = r(6, 7, 15, 24)
    out = {}
    for name, act in (("none", tf.identity), ("relu", tf.nn.relu), ("relu6", tf.nn.relu6)):
        got = with_gradients(norm([0, 1, 2], act), x * 3 + 0.5, r(24, low=2, high=5), r(24))
        out.update({f"{name}_{k}": v for k, v in got.items()})
    for name, axes in (("first", [0, 2, 3]), ("last", [-1]), ("groups", [1, 3]), ("all", None)):
        shape = [1 if i in (axes or range(4)) or i - 4 in (axes or ()) else n
                 for i, n in enumerate(x.shape)]
        got = with_gradients(norm(axes or [0, 1, 2, 3], tf.nn.relu), x, r(*shape), r(*shape))
        out.update({f"{name}_{k}": v for k, v in got.items()})
    # Sizes that only calls give, down to none at all.
    unknown = tf.function(lambda x: tf.nn.moments(tf.nn.relu(x), [0, 1, 2]),
                          input_signature=[tf.TensorSpec([None, None, None, 24])])
    for rows in (6, 1, 0):
        for i, value in enumerate(unknown(x[:rows])):
            out[f"unknown{rows}_{i}"] = array(value)
    return out


@workload
def fused_chains():
    r = Random()
    out = {}
    filters = tf.Variable(r(3, 3, 6, 6))
    weights = tf.Variable(r(20, 30))
    activations = {
        "relu": tf.nn.relu, "relu6": tf.nn.relu6, "elu": tf.nn.elu, "tanh": tf.tanh,
        "sigmoid": tf.sigmoid, "swish": tf.nn.silu, "gelu": tf.nn.gelu,
        "gelu_tanh": lambda x: tf.nn.gelu(x, approximate=True),
        "leaky": lambda x: tf.nn.leaky_relu(x, 0.3),
        "hard_swish": lambda x: x * tf.nn.relu6(x + 3) / 6}
    x, residual, bias = r(2, 8, 9, 6), r(2, 8, 9, 6), r(6)
    a, dense_bias = r(5, 20), r(30)
    for name, act in activations.items():
        out.update({f"conv_{name}_{k}": v for k, v in both(
            lambda x: act(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, "SAME"), bias)), x).items()})
        out.update({f"dense_{name}_{k}": v for k, v in both(
            lambda a: act(tf.matmul(a, weights) + dense_bias), a).items()})
    out.update({f"residual_{k}": v for k, v in both(
        lambda x, y: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, "SAME"), bias) + y),
        x, residual).items()})
    # Partial shapes: whether the summand broadcasts is not known.
    unknown = tf.function(
        lambda x, y: tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + y),
        input_signature=[tf.TensorSpec([None, None, None, 6]), tf.TensorSpec(None)])
    out["unknown_full"] = array(unknown(x, residual))
    out["unknown_scalar"] = array(unknown(x, tf.constant(0.5)))
    return out


@workload
def pads():
    r = Random()
    w = r(3, 3, 4, 8)
    return both(lambda x: tf.nn.relu(tf.nn.conv2d(
        tf.pad(x, [[0, 0], [1, 1], [2, 0], [0, 0]]), w, 2, "VALID")), r(2, 9, 10, 4))


@workload
def pad_gradients():
    """Strided convolutions behind a Pad, as Keras writes them, of known and unknown sizes."""
    r = Random()
    x, w, d = r(2, 9, 10, 4), r(3, 3, 4, 8), r(3, 3, 4, 1)
    pads = [[0, 0], [0, 1], [1, 1], [0, 0]]
    fns = {"conv": lambda x, w: tf.nn.conv2d(tf.pad(x, pads), w, 2, "VALID"),
           "depthwise": lambda x, d: tf.nn.depthwise_conv2d(tf.pad(x, pads), d, [1, 2, 2, 1],
                                                            "VALID")}
    out = {}
    for name, kernel in (("conv", w), ("depthwise", d)):
        got = with_gradients(fns[name], x, kernel)
        out.update({f"{name}_{k}": v for k, v in got.items()})

        def gradient(x, kernel, fn=fns[name]):
            return tf.gradients(tf.square(fn(x, kernel)), [x, kernel])

        unknown = tf.function(gradient, input_signature=[
            tf.TensorSpec([None, None, None, 4]), tf.TensorSpec(kernel.shape)])
        for rows in (9, 6):
            for i, value in enumerate(unknown(x[:, :rows], kernel)):
                out[f"{name}_unknown{rows}_{i}"] = array(value)
    return out


@workload
def variables_change():
    """Packed weights follow the variable, whatever way it is written."""
    r = Random()
    w = tf.Variable(r(3, 3, 4, 8))
    d = tf.Variable(r(8, 5))
    x = r(1, 6, 6, 4)

    @tf.function
    def run(x):
        y = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME"))
        return tf.matmul(tf.reduce_mean(y, [1, 2]), d)

    out = {}
    for step in range(12):
        out[f"step{step}"] = array(run(x))
        if step % 3 == 0:
            w.assign_add(r(3, 3, 4, 8))
        elif step % 3 == 1:
            d.assign(r(8, 5))
        elif step == 5:
            d.scatter_nd_update([[1]], r(1, 5))
    return out


@workload
def control_flow():
    r = Random()
    w = tf.Variable(r(4, 4))
    b = r(4)

    @tf.function
    def run(x, n, flip):
        for _ in tf.range(n):
            x = tf.nn.relu(tf.matmul(x, w) + b) * 0.5 + 0.25
        if flip:
            x = tf.tanh(tf.matmul(x, w, transpose_b=True) + 1.0)
        else:
            x = tf.matmul(x, x, transpose_a=True)
        return x

    out = {}
    for n in (0, 1, 5):
        for flip in (False, True):
            out[f"{n}_{flip}"] = array(run(r(4, 4), tf.constant(n), tf.constant(flip)))
    return out


@workload
def v1_session():
    r = Random()
    x_value, w_value, b_value = (array(t) for t in (r(2, 8, 8, 3), r(3, 3, 3, 4), r(4)))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 8, 8, 3])
        # A reference variable: written in place, whoever reads it.
        w = tf.compat.v1.get_variable("w", initializer=w_value, use_resource=False)
        b = tf.constant(b_value, name="b")
        y = tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b, name="y")
        z = tf.nn.relu(y, name="z")
        session.run(tf.compat.v1.global_variables_initializer())
        out = {"z": session.run(z, {x: x_value})}
        session.run(w.assign(w_value * 2))
        out["doubled"] = session.run(z, {x: x_value})
        session.run(w.assign_add(w_value))
        out["y"], out["both"] = session.run([y, z], {x: x_value})
        # A constant, and what stands inside a fusion, may be fed.
        out["fed_constant"] = session.run(z, {x: x_value, b: b_value + 1})
        out["fed_inside"] = session.run(z, {y: np.full([1, 8, 8, 4], -0.5, np.float32)})
    return out


@workload
def frozen():
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2)
    r = Random()
    w, s = tf.Variable(r(3, 3, 4, 8)), tf.Variable(r(8, low=0.5))

    @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 4])])
    def run(x):
        y = tf.nn.conv2d(x, w, 1, "SAME") * s - 0.25
        return tf.nn.relu(y)

    f = convert_variables_to_constants_v2(run.get_concrete_function())
    x = r(3, 8, 8, 4)
    return {f"call{i}": array(f(x)[0]) for i in range(3)}


@workload
def keras_predict():
    model, x, _ = small_network()
    # Twice: the second call has packed weights.
    return {"first": model.predict(x, verbose=0), "second": model.predict(x, verbose=0),
            "called": array(model(x))}


@workload
def keras_fit():
    model, x, y = small_network()
    model.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9),
                  tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0)
    return {"loss_rounded": np.asarray(history.history["loss"], np.float32),
            "evaluate_rounded": np.asarray(model.evaluate(x, y, verbose=0), np.float32)}


def small_network():
    r = Random(3)
    layers = tf.keras.layers
    inputs = layers.Input([16, 16, 3])
    x = layers.Conv2D(8, 3, padding="same", use_bias=False)(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    skip = x
    x = layers.DepthwiseConv2D(3, padding="same")(x)
    x = layers.Conv2D(8, 1, activation="relu6")(x)
    x = layers.Add()([x, skip])
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(16, 3, strides=2, activation="gelu")(x)
    x = layers.AveragePooling2D(pool_size=2, strides=1)(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dense(24, activation="silu")(x)
    model = tf.keras.Model(inputs, layers.Dense(5)(x))
    rng = np.random.default_rng(5)
    for v in model.variables:
        if v.dtype == "float32":
            low, high = (0.5, 1.5) if "variance" in v.path or "gamma" in v.path else (-0.4, 0.4)
            v.assign(rng.uniform(low, high, v.shape))
    x = array(r(48, 16, 16, 3))
    return model, x, np.arange(48) % 5


@workload
def dataset_map():
    r = Random()
    w = r(3, 3, 3, 4)
    data = tf.data.Dataset.from_tensor_slices(r(6, 8, 8, 3)).batch(2)
    data = data.map(lambda x: tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + 0.1))
    return {str(i): array(x) for i, x in enumerate(data)}


@workload
def many_shapes():
    r = Random()
    w = tf.Variable(r(3, 3, 3, 4))
    run = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")),
                      input_signature=[tf.TensorSpec([None, None, None, 3])])
    return {f"{h}x{v}": array(run(r(1, h, v, 3))) for h in range(1, 9) for v in range(1, 9)}


def main():
    names = sys.argv[2:] or list(WORKLOADS)
    out = {}
    for name in names:
        for key, value in WORKLOADS[name]().items():
            out[f"{name}/{key}"] = value
    np.savez(sys.argv[1], **out)


if __name__ == "__main__":
    main()
