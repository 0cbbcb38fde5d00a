"""Functions whose graphs cannot be rewritten still give right values; checks itself.

    failures.py rules | loop | none
"""

import sys

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

tf1 = tf.compat.v1
rng = np.random.default_rng(4)
weights = rng.normal(size=[4, 4]).astype(np.float32)
x_value = rng.normal(size=[3, 4]).astype(np.float32)
want = np.maximum(x_value @ weights + 0.5, 0)


def ops_of(metadata):
    return {n.op for g in metadata.partition_graphs for n in g.node}


def functions(rewritten):
    """Several functions, each run twice."""
    for i in range(3):
        function = tf.function(lambda x: tf.nn.relu(tf.matmul(x, weights) + 0.5) * (i + 1))
        tf1.logging.set_verbosity(tf1.logging.ERROR)
        from tensorflow.python.eager import context
        context.context().enable_graph_collection()
        for _ in range(2):
            got = function(tf.constant(x_value))
        ops = ops_of(context.context().export_run_metadata())
        context.context().disable_graph_collection()
        np.testing.assert_allclose(got, want * (i + 1), rtol=1e-5, atol=1e-5)
        assert ("_TenonFusedMatMul" in ops) == rewritten, ops


# A loop of TensorFlow 1 over a reference variable, of which import knows no way back.
LOOP = """
node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 4 } dim { size: 4 } } } } }
node { name: "i0" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
       attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
node { name: "enter" op: "RefEnter" input: "v" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "frame_name" value { s: "f" } } }
node { name: "enter_i" op: "Enter" input: "i0" attr { key: "T" value { type: DT_INT32 } }
       attr { key: "frame_name" value { s: "f" } } }
node { name: "merge" op: "RefMerge" input: "enter" input: "next"
       attr { key: "T" value { type: DT_FLOAT } } attr { key: "N" value { i: 2 } } }
node { name: "merge_i" op: "Merge" input: "enter_i" input: "next_i"
       attr { key: "T" value { type: DT_INT32 } } attr { key: "N" value { i: 2 } } }
node { name: "three" op: "Const" input: "^merge_i" attr { key: "dtype" value { type: DT_INT32 } }
       attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 3 } } } }
node { name: "less" op: "Less" input: "merge_i" input: "three"
       attr { key: "T" value { type: DT_INT32 } } }
node { name: "cond" op: "LoopCond" input: "less" }
node { name: "switch" op: "RefSwitch" input: "merge" input: "cond"
       attr { key: "T" value { type: DT_FLOAT } } }
node { name: "switch_i" op: "Switch" input: "merge_i" input: "cond"
       attr { key: "T" value { type: DT_INT32 } } }
node { name: "one" op: "Const" input: "^switch_i" attr { key: "dtype" value { type: DT_INT32 } }
       attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
node { name: "add_i" op: "Add" input: "switch_i:1" input: "one"
       attr { key: "T" value { type: DT_INT32 } } }
node { name: "next" op: "RefNextIteration" input: "switch:1"
       attr { key: "T" value { type: DT_FLOAT } } }
node { name: "next_i" op: "NextIteration" input: "add_i" attr { key: "T" value { type: DT_INT32 } } }
node { name: "exit" op: "RefExit" input: "switch" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "exit_i" op: "Exit" input: "switch_i" attr { key: "T" value { type: DT_INT32 } } }
"""


def loop():
    graph_def = text_format.Parse(LOOP, tf1.GraphDef())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        v, end, count = (graph.get_tensor_by_name(n) for n in ("v:0", "exit:0", "exit_i:0"))
        fill = tf.raw_ops.Assign(ref=v, value=weights)
        x = tf1.placeholder(tf.float32, [None, 4])
        y = tf.nn.relu(tf.matmul(x, weights) + 0.5)
        product = tf.matmul(x, tf.identity(end))
        metadata = tf1.RunMetadata()
        options = tf1.RunOptions(output_partition_graphs=True)
        with tf1.Session(graph=graph) as session:
            session.run(fill.op)
            for _ in range(2):
                got, through, times = session.run([y, product, count], {x: x_value}, options,
                                                  metadata)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(through, x_value @ weights, rtol=1e-5, atol=1e-5)
    assert times == 3, times
    ops = ops_of(metadata)
    assert "RefNextIteration" in ops and not [o for o in ops if o.startswith("_Tenon")], ops


if sys.argv[1] == "loop":
    loop()
else:
    functions(rewritten=sys.argv[1] == "none")
