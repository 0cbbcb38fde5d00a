"""How many threads Tenon's ops use, printed as JSON.

    intra_op.py config N         as tf.config.threading says (0: nothing): eager, functions, tf.data
    intra_op.py sessions N...    v1 sessions, one after another, in one process
    intra_op.py helpers N        threads that the process has more after the first large op; CPUs
    intra_op.py wide N M         branches side by side, and callers, with M inter-op threads
"""

import json
import os
import sys
import threading

import numpy as np
import tenon_tensorflow
import tensorflow as tf

rng = np.random.default_rng(0)
IMAGE = rng.normal(size=[1, 32, 32, 32]).astype(np.float32)  # enough work for several threads
FILTER = rng.normal(size=[3, 3, 32, 32]).astype(np.float32)


def conv(x, w=FILTER):
    return tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME"))


def config(threads):
    if threads > 0:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
    w = tf.Variable(FILTER)
    convolve = tf.function(conv)

    @tf.function
    def loop(x):
        return tf.while_loop(lambda x: tf.reduce_sum(x) < 0, conv, [conv(x, w)])

    @tf.function
    def constants(x):  # evaluated while the graph is optimized, where no session says anything
        return x + conv(tf.constant(IMAGE), tf.constant(FILTER))

    ran = {
        "first eager": lambda: conv(tf.constant(IMAGE)),
        "eager": lambda: conv(tf.constant(IMAGE), w),
        "function": lambda: convolve(IMAGE),
        "loop": lambda: loop(IMAGE),
        "constants": lambda: [constants(IMAGE), convolve(IMAGE)],
        "gradient": lambda: gradient(w),
        "map": lambda: list(tf.data.Dataset.from_tensors(IMAGE).map(conv)),
    }
    return {name: used_by(run).of_an_op for name, run in ran.items()}


def gradient(w):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(conv(tf.constant(IMAGE), w))
    return tape.gradient(y, w)


def used_by(run):
    tenon_tensorflow.thread_use()  # from here on
    run()
    return tenon_tensorflow.thread_use()


def sessions(*threads):
    uses = {}
    for number, n in enumerate(threads):
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, IMAGE.shape)
            y = conv(x)
            options = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=n)
            with tf.compat.v1.Session(config=options) as session:
                used = used_by(lambda: session.run(y, {x: IMAGE}))
        uses[f"session {number}"] = used.of_an_op
    return uses


def count_threads():
    return len(os.listdir("/proc/self/task"))


def helpers(threads):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    x, w = tf.constant(IMAGE), tf.constant(FILTER)  # TensorFlow has its threads now
    tf.nn.relu(tf.nn.conv2d(x[:, :4, :4, :4], w[:, :, :4, :4], 1, "SAME")).numpy()
    before = count_threads()
    conv(x, w).numpy()
    return count_threads() - before


def wide(intra_op, inter_op):
    tf.config.threading.set_intra_op_parallelism_threads(intra_op)
    tf.config.threading.set_inter_op_parallelism_threads(inter_op)
    few = tf.constant(rng.normal(size=[16, 16]).astype(np.float32))

    @tf.function
    def run(x, small):
        branches = []
        for _ in range(2 * inter_op):
            y, s = x, small
            for _ in range(3):
                y = conv(y) * 1e-2
                s = tf.matmul(tf.nn.softmax(s), few)  # too little for more than one thread
            branches.append(tf.reduce_mean(y) + tf.reduce_mean(s))
        return tf.add_n(branches)

    def call():
        for _ in range(5):
            run(IMAGE, few)
            tf.matmul(few, few)

    def calls():
        threads = [threading.Thread(target=call) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    used = used_by(calls)
    return {"of an op": used.of_an_op, "at once": used.at_once}


def main():
    uses = globals()[sys.argv[1]](*map(int, sys.argv[2:]))
    cpus = tenon_tensorflow.thread_use().cpus
    print(f"{uses} {cpus}" if isinstance(uses, int) else json.dumps({**uses, "cpus": cpus}))


if __name__ == "__main__":
    main()
