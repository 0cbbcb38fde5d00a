"""For scripts that check from inside TensorFlow what ran."""

import sys

import tensorflow as tf
from tensorflow.python.eager import context

tf1 = tf.compat.v1


def ops_that_ran(fn, *args):
    """The ops of the graphs that TensorFlow executes for a function."""
    eager = context.context()
    eager.enable_graph_collection()
    result = fn(*args)
    metadata = eager.export_run_metadata()
    eager.disable_graph_collection()
    return result, [n.op for g in metadata.partition_graphs for n in g.node]


def run_session(graph, fetches, feeds):
    """Results, and the nodes of the graph that ran."""
    metadata = tf1.RunMetadata()
    options = tf1.RunOptions(output_partition_graphs=True)
    with tf1.Session(graph=graph) as session:
        if tf1.global_variables():
            session.run(tf1.global_variables_initializer())
        results = session.run(fetches, feeds, options, metadata)
    return results, {n.name: n for g in metadata.partition_graphs for n in g.node}


def waits_for(nodes, later, earlier):
    """Whether there is a way of edges from one node to the other."""
    sources = [i.lstrip("^").split(":")[0] for i in nodes[later].input]
    return earlier in sources or any(waits_for(nodes, s, earlier) for s in sources)


def run_tests(names):
    """Runs the functions named test_…, or those that the command line names, and exits."""
    failed = False
    for name, test in list(names.items()):
        if name.startswith("test_") and (not sys.argv[1:] or name in sys.argv[1:]):
            try:
                test()
            except Exception as error:  # pylint: disable=broad-except
                failed = True
                print(name, type(error).__name__, str(error)[:1500])
    sys.exit(failed)
