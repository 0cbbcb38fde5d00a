"""The sample device inside TensorFlow: devices, placement and results as JSON on stdout.

    apu_work.py PLUGIN
"""

import ctypes
import json
import sys
import tempfile
import threading

import numpy as np
import tensorflow as tf

APU = ctypes.CDLL(sys.argv[1])  # what TensorFlow has loaded already
APU.apu_count.restype = ctypes.c_int64
IMAGE = np.random.default_rng(1).standard_normal([2, 8, 8, 3]).astype(np.float32)
FILTER = tf.constant(np.random.default_rng(2).standard_normal([3, 3, 3, 4]).astype(np.float32))


def count(name):
    return APU.apu_count(name.encode())


def runs(fn, *args):
    """The result, how often the APU's kernel ran for it, and how many graphs it optimized."""
    before = count("kernel_runs"), count("graphs_optimized")
    result = fn(*args)
    result = result.numpy()
    return (result.tolist(), count("kernel_runs") - before[0],
            count("graphs_optimized") - before[1])


def copies(fn, *args):
    """To the device and to the host, of a function that has run before."""
    before = [count("copies_to_device"), count("copies_to_host")]
    fn(*args).numpy()
    return [count("copies_to_device") - before[0], count("copies_to_host") - before[1]]


def eager(x):
    with tf.device("/APU:0"):
        return tf.nn.relu(x)


@tf.function
def function(x):
    with tf.device("/APU:0"):
        y = tf.nn.relu(x)
    return 2 * y


@tf.function
def loop(x):
    def body(i, x):
        with tf.device("/APU:0"):
            return i + 1, tf.nn.relu(x - 1)
    return tf.while_loop(lambda i, x: i < 3, body, [0, x])[1]


@tf.function
def branch(x):
    def on_apu():
        with tf.device("/APU:0"):
            return tf.nn.relu(x)
    return tf.cond(tf.reduce_sum(x) < 0, on_apu, lambda: x)


@tf.function
def mixed_loop(x):
    """The device changes twice in each iteration; what is kept beside it never does."""
    def body(i, x, kept):
        with tf.device("/CPU:0"):
            x = tf.abs(x) - 1
        with tf.device("/APU:0"):
            x = tf.nn.relu(x)
        return i + 1, x, kept
    _, x, kept = tf.while_loop(lambda i, x, kept: i < 4, body, [0, x, x])
    return x + kept


@tf.function
def nested(x):
    """A branch in a loop in a branch."""
    def on_apu(x):
        with tf.device("/APU:0"):
            return tf.nn.relu(x)

    def body(i, x):
        return i + 1, tf.cond(i % 2 == 0, lambda: on_apu(x - 1), lambda: tf.negative(x))

    def loop():
        return tf.while_loop(lambda i, x: i < 4, body, [0, x])[1]

    return tf.cond(tf.reduce_sum(x[:2]) > 0, loop, lambda: on_apu(x) + 7)


def session_loop(x):
    """TensorFlow 1's loop, of Enter, Merge, Switch and NextIteration."""
    tf1 = tf.compat.v1
    with tf.Graph().as_default():
        tf1.disable_control_flow_v2()
        fed = tf1.placeholder(tf.float32, x.shape)

        def body(i, x):
            with tf.device("/CPU:0"):
                x = x - 1
            with tf.device("/APU:0"):
                return i + 1, tf.nn.relu(x)
        y = tf.while_loop(lambda i, x: i < 3, body, [0, fed])[1]
        with tf1.Session() as session:
            result = session.run(y, {fed: x.numpy()})
        tf1.enable_control_flow_v2()
    return tf.constant(result)


@tf.function
def convolution(x):
    with tf.device("/CPU:0"):  # where nothing is said, a plug-in's device goes before it
        y = tf.nn.relu(tf.nn.conv2d(x, FILTER, 1, "SAME"))
    with tf.device("/APU:0"):
        y = tf.nn.relu(y - 1)
    with tf.device("/CPU:0"):
        return tf.nn.relu(tf.nn.conv2d(y, tf.transpose(FILTER, [0, 1, 3, 2]), 1, "SAME"))


@tf.function
def gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.device("/APU:0"):
            y = tf.nn.relu(x)  # its gradient has no kernel there
        loss = tf.reduce_sum(y * y)
    return tape.gradient(loss, x)


def in_threads(x):
    results = [None] * 4

    def work(i):
        for _ in range(20):
            results[i] = function(x + i).numpy()

    threads = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return tf.constant(np.stack(results))


def profile():
    """The APU's plane in TensorFlow's profile: names of its events."""
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        eager(tf.constant([1.0])).numpy()
        tf.profiler.experimental.stop()
        from tensorflow.tsl.profiler.protobuf import xplane_pb2
        import pathlib
        (file,) = pathlib.Path(folder).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace.FromString(file.read_bytes())
    return [plane.event_metadata[event.metadata_id].name
            for plane in space.planes if plane.name.startswith("/device:APU")
            for line in plane.lines for event in line.events]


def main():
    x = tf.constant([-1.0, 2.0, float("-inf"), 5.5])
    z = tf.constant([-1.0, 2.0, -3.0, 5.5])
    out = {
        "devices": [[d.name, d.device_type] for d in tf.config.list_physical_devices()],
        "where": eager(x).device,
        "eager": runs(eager, x),
        "eager_empty": runs(eager, tf.zeros([0, 3])),
        "eager_double": runs(lambda v: tf.nn.relu(v), tf.cast(x, tf.float64)),
        "function": runs(function, x),
        "loop": runs(loop, x),
        "branch": runs(branch, x),
        "mixed_loop": runs(mixed_loop, z),
        "mixed_loop_copies": copies(mixed_loop, z),
        "nested": [runs(nested, z), runs(nested, -z)],
        "session_loop": runs(session_loop, z),
        "convolution": runs(convolution, tf.constant(IMAGE)),
        "gradient": runs(gradient, x),
        "threads": runs(in_threads, x),
        "copies": [count("copies_to_device"), count("copies_to_host")],
        "profile": profile(),
    }
    with tf.device("/CPU:0"):
        wanted = tf.nn.relu(tf.nn.conv2d(tf.nn.relu(tf.nn.relu(tf.nn.conv2d(
            IMAGE, FILTER, 1, "SAME")) - 1), tf.transpose(FILTER, [0, 1, 3, 2]), 1, "SAME"))
    out["convolution_wanted"] = wanted.numpy().tolist()
    print(json.dumps(out))


main()
