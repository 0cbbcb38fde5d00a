"""Gradients against differences of the function's values (tf.test.compute_gradient), and those in
bfloat16 against those in float32; checks itself. What runs with the plug-in is right by itself, not
only like TensorFlow's own kernels (whose sums in bfloat16 are rounded at each step)."""

import sys

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)


def r(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def apart(*shape):
    """Values that are nowhere near each other or 0, for functions with corners."""
    values = (np.arange(np.prod(shape)) - np.prod(shape) / 2 + 0.5) / 8
    return rng.permutation(values).reshape(shape).astype(np.float32)


def fused(x, w, b):
    return tf.nn.elu(tf.nn.conv2d(x, w, 1, "SAME") + b) * 0.5


def normalized(x, scale, offset):
    return tf.compat.v1.nn.fused_batch_norm(x, scale, offset)[0]


def moments(x, scale, offset):
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    return tf.nn.relu6(tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3))


def layer_norm(x, gamma, beta):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3) * gamma + beta


def attention(q, k, v):
    return tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.5), v)


nn = tf.nn
CASES = {
    "conv2d": (lambda x, w: nn.conv2d(x, w, 1, "SAME"), r(1, 5, 4, 2), r(3, 3, 2, 3)),
    "conv2d_strided": (lambda x, w: nn.conv2d(x, w, 2, "VALID"), r(1, 6, 5, 2), r(3, 2, 2, 3)),
    "conv2d_dilated": (lambda x, w: nn.conv2d(x, w, 1, "SAME", dilations=2), r(1, 6, 5, 2),
                       r(2, 2, 2, 2)),
    "conv2d_explicit": (lambda x, w: nn.conv2d(x, w, 1, [[0, 0], [1, 0], [0, 2], [0, 0]]),
                        r(1, 4, 4, 2), r(2, 3, 2, 2)),
    "conv2d_transpose": (lambda x, w: nn.conv2d_transpose(x, w, [1, 6, 6, 2], 2),
                         r(1, 3, 3, 3), r(2, 2, 2, 3)),
    "depthwise": (lambda x, w: nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), r(1, 4, 5, 3),
                  r(3, 3, 3, 2)),
    "conv3d": (lambda x, w: nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"), r(1, 3, 3, 4, 2),
               r(2, 2, 2, 2, 2)),
    "matmul": (tf.matmul, r(3, 5), r(5, 4)),
    "matmul_transposed": (lambda a, b: tf.matmul(a, b, True, True), r(5, 3), r(4, 5)),
    "batch_matmul": (tf.matmul, r(2, 1, 3, 4), r(2, 4, 2)),
    "einsum": (lambda a, b: tf.einsum("bthd,bshd->bhts", a, b), r(2, 2, 2, 3), r(2, 3, 2, 3)),
    "attention": (attention, r(2, 3, 4), r(2, 3, 4), r(2, 3, 4)),
    "max_pool": (lambda x: nn.max_pool2d(x, 3, 2, "SAME"), apart(1, 5, 6, 2)),
    "avg_pool": (lambda x: nn.avg_pool2d(x, 3, 2, "SAME"), r(1, 5, 6, 2)),
    "max_pool_3d": (lambda x: nn.max_pool3d(x, 2, 2, "VALID"), apart(1, 4, 4, 2, 2)),
    "avg_pool_3d": (lambda x: nn.avg_pool3d(x, 2, 2, "VALID"), r(1, 4, 4, 2, 2)),
    "lrn": (lambda x: nn.lrn(x, 2, 1.0, 0.5, 0.75), r(1, 2, 3, 6)),
    "fused_chain": (fused, r(1, 4, 4, 2), r(3, 3, 2, 3), r(3)),
    "batch_norm": (normalized, r(3, 2, 3, 2), r(2), r(2)),
    "moments": (moments, apart(3, 2, 3, 2), 3 + r(2), 3 + r(2) / 4),
    "layer_norm": (layer_norm, r(3, 6), r(6), r(6)),
    "softmax": (nn.softmax, r(3, 5)),
    "log_softmax": (nn.log_softmax, r(3, 5)),
    "bias_add": (nn.bias_add, r(2, 3, 4), r(4)),
    "relu": (nn.relu, apart(4, 5)),
    "relu6": (nn.relu6, apart(4, 5)),
    "leaky_relu": (nn.leaky_relu, apart(4, 5)),
    "elu": (nn.elu, r(4, 5)),
    "selu": (nn.selu, apart(4, 5)),
    "gelu": (nn.gelu, r(4, 5)),
    "swish": (nn.swish, r(4, 5)),
    "softplus": (nn.softplus, r(4, 5)),
    "tanh": (tf.tanh, r(4, 5)),
    "sigmoid": (tf.sigmoid, r(4, 5)),
    "add": (tf.add, r(3, 4), r(4)),
    "mul": (tf.multiply, r(3, 4), r(3, 1)),
    "squared_difference": (tf.math.squared_difference, r(3, 4), r(4)),
    "mean": (lambda x: tf.reduce_mean(x, [1, 2]), r(2, 3, 2, 3)),
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), r(2, 3, 4)),
    "concat": (lambda a, b: tf.concat([a, b], 1), r(2, 3), r(2, 2)),
}


ONE_ROUNDING = ("conv2d", "conv2d_strided", "conv2d_dilated", "conv2d_explicit", "conv2d_transpose",
                "depthwise", "matmul", "matmul_transposed", "batch_matmul", "max_pool", "avg_pool",
                "relu", "relu6", "leaky_relu", "tanh", "sigmoid", "bias_add", "add", "mul", "mean",
                "transpose", "concat")


def gradients(fn, args):
    with tf.GradientTape() as tape:
        tape.watch(args)
        y = fn(*args)
        weights = tf.reshape(tf.cast(tf.range(tf.size(y)) % 5 - 2, y.dtype), tf.shape(y))
        loss = tf.reduce_sum(y * weights)
    return [tf.cast(g, tf.float32).numpy() for g in tape.gradient(loss, args)]


def bfloat16_failures():
    """The same values in both dtypes; only results and what a gradient keeps are rounded."""
    failed = 0
    for name in ONE_ROUNDING:
        fn, *args = CASES[name]
        rounded = [tf.cast(a, tf.bfloat16) for a in args]
        want = gradients(fn, [tf.cast(a, tf.float32) for a in rounded])
        for how, call in (("eager", fn), ("graph", tf.function(fn))):
            for i, (a, b) in enumerate(zip(gradients(call, rounded), want)):
                if not np.abs(a - b).max(initial=0) <= 2 * 2.0**-8 * max(1.0, np.abs(b).max()):
                    print(f"bfloat16 {name}, {how}, argument {i}: {np.abs(a - b).max()} of "
                          f"{np.abs(b).max()}")
                    failed += 1
    return failed


def main():
    failed = bfloat16_failures()
    for name, (fn, *args) in CASES.items():
        for how, call in (("eager", fn), ("graph", tf.function(fn))):
            exact, by_difference = tf.test.compute_gradient(call, args, delta=2.0**-7)
            for i, (a, b) in enumerate(zip(exact, by_difference)):
                # The step's square, and the values' rounding over the step.
                if not np.abs(a - b).max(initial=0) <= 4e-3 * max(1.0, np.abs(b).max(initial=0)):
                    print(f"{name}, {how}, argument {i}: {np.abs(a - b).max()}")
                    failed += 1
    print(f"{len(CASES)} functions, {len(ONE_ROUNDING)} of them in bfloat16 too, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
