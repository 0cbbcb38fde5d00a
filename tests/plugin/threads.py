"""Eight threads call one function at once, with different shapes, and each gets its own results."""

import threading

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
filters = tf.Variable(rng.normal(size=[3, 3, 4, 16]).astype(np.float32))
dense = tf.Variable(rng.normal(size=[16, 8]).astype(np.float32))


@tf.function(input_signature=[tf.TensorSpec([None, None, None, 4])])
def run(x):
    y = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + 0.5)
    return tf.matmul(tf.reduce_mean(y, [1, 2]), dense)


inputs = [tf.constant(rng.normal(size=[1 + i % 3, 8 + i, 9, 4]).astype(np.float32))
          for i in range(8)]
expected = [run(x).numpy() for x in inputs]
wrong = []


def work(thread):
    for step in range(40):
        i = (thread + step) % len(inputs)
        if not np.array_equal(run(inputs[i]).numpy(), expected[i]):
            wrong.append((thread, step))


threads = [threading.Thread(target=work, args=[t]) for t in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not wrong, wrong
