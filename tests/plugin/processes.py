"""Processes that start others, and endlessly many shapes.

    processes.py fork_after_import | fork_after_eager | spawn | reload | shapes | eager_shapes
"""

import multiprocessing
import sys

import numpy as np
import tensorflow as tf

SECONDS = 300  # a child that has to import TensorFlow, on a busy machine


def network():
    """Eager ops large enough for several threads, and a function; their sums."""
    rng = np.random.default_rng(0)
    filters = tf.constant(rng.normal(size=[3, 3, 16, 32]).astype(np.float32))
    x = tf.constant(rng.normal(size=[4, 64, 64, 16]).astype(np.float32))

    def eager():
        return float(tf.nn.conv2d(x, filters, 1, "SAME").numpy().sum(dtype=np.float64))

    @tf.function
    def graph():
        return tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + 0.5)

    return eager, lambda: float(graph().numpy().sum(dtype=np.float64))


def everything(queue):
    eager, graph = network()
    queue.put((eager(), graph()))


def answers_of(method, target, count=2):
    """What `target` puts into a queue, in each of some processes."""
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    children = [context.Process(target=target, args=(queue,)) for _ in range(count)]
    for child in children:
        child.start()
    for child in children:
        child.join(SECONDS)
    stuck = [c for c in children if c.exitcode is None]
    for child in stuck:
        child.kill()
    assert not stuck, f"{len(stuck)} children do not end"
    assert all(c.exitcode == 0 for c in children), [c.exitcode for c in children]
    return [queue.get() for _ in children]


def fork_after_import():
    forked = answers_of("fork", everything)
    eager, graph = network()
    assert forked == [(eager(), graph())] * 2, forked


def fork_after_eager():
    """TensorFlow's own threads are not in the child, so it can run no graph there; an eager op runs
    on the calling thread, and Tenon starts threads anew."""
    eager, _ = network()
    want = [eager(), eager()]
    assert answers_of("fork", lambda queue: queue.put(eager())) == want
    assert eager() == want[0]


def spawn():
    eager, graph = network()
    want = (eager(), graph())
    assert answers_of("spawn", everything, 1) == [want]


def reload():
    import importlib
    import tenon_tensorflow
    _, graph = network()
    want = graph()
    importlib.reload(tf)
    importlib.reload(tenon_tensorflow)
    _, graph = network()
    assert graph() == want


def resident():
    """Bytes of this process."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


def many_shapes(run, side):
    """Runs side * side shapes, more than any cache keeps; memory must not grow with them."""
    rng = np.random.default_rng(3)
    sizes = [(h, w) for h in range(3, 3 + side) for w in range(3, 3 + side)]
    rng.shuffle(sizes)
    levels = []
    for i, (h, w) in enumerate(sizes, 1):
        run(tf.constant(rng.normal(size=[1, h, w, 4]).astype(np.float32)))
        if i % (len(sizes) // 6) == 0:
            levels.append(resident() >> 20)
    print(levels, "MB")
    # After a half there is nothing new of any size; the allocator's pools still move a little.
    assert levels[5] - levels[2] < 48, levels


def shapes():
    filters = tf.Variable(np.ones([3, 3, 4, 16], np.float32))
    weights = tf.Variable(np.ones([16, 8], np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 4])])
    def run(x):
        y = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + 0.5)
        y = tf.nn.max_pool2d(y, 2, 1, "SAME")
        return tf.matmul(tf.reshape(y, [-1, 16]), weights)

    many_shapes(run, 56)


def eager_shapes():
    filters = tf.Variable(np.ones([3, 3, 4, 16], np.float32))
    many_shapes(lambda x: tf.nn.avg_pool2d(tf.nn.conv2d(x, filters, 1, "SAME"), 2, 1, "SAME"),
                36)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
