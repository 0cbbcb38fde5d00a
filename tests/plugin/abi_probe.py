"""The probe (abi_probe.c) inside TensorFlow, which has loaded it; checks the values.

PROBE_LOG names the file for the probe's lines; abi_probe_test.py and the device tests compare them.
"""

import sys

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
INPUTS = [np.array([[1, -2, 3], [4, 5, -6]], np.float32), np.array([7, -8], np.float32),
          np.array([9, 10, 11, -12], np.int32), np.array([0.5, 1.5, -2.5], np.float32)]


def lists(attr, kind, values):
    getattr(attr.list, kind).extend(values)


def tensor(*values, dtype=np.float32):
    return tf.make_tensor_proto(np.array(values, dtype))


def shape(*dims):
    return tf.TensorShape(dims).as_proto()


def attributes(graph_def):
    """Two nodes with an attribute of each kind, some of them empty in the second."""
    a = graph_def.node.add(name="attrs", op="DefaultAttrs", device="/device:APU:0").attr
    a["string_val"].s = b"hello"
    lists(a["string_list_val"], "s", [b"one", b"three", b""])
    a["int_val"].i = 41
    lists(a["int_list_val"], "i", [1, -2, 3])
    a["float_val"].f = 2.5
    lists(a["float_list_val"], "f", [0.5, -1])
    a["bool_val"].b = True
    lists(a["bool_list_val"], "b", [True, False, True])
    a["type_val"].type = tf.bfloat16.as_datatype_enum
    lists(a["type_list_val"], "type", [tf.float32.as_datatype_enum, tf.int32.as_datatype_enum])
    a["shape_val"].shape.CopyFrom(shape(2, 3, 4))
    lists(a["shape_list_val"], "shape", [shape(2), shape(3, 4), shape()])
    a["tensor_val"].tensor.CopyFrom(tensor(1.5, -2))
    lists(a["tensor_list_val"], "tensor", [tensor(1), tensor(2, 3)])

    a = graph_def.node.add(name="attrs_other", op="DefaultAttrs", device="/device:APU:0").attr
    a["string_val"].s = b""
    a["int_val"].i = 1 << 40
    lists(a["int_list_val"], "i", [-1, 1 << 30])
    a["bool_val"].b = False
    a["shape_val"].shape.CopyFrom(tf.TensorShape(None).as_proto())
    lists(a["shape_list_val"], "shape", [shape(None, 3), tf.TensorShape(None).as_proto()])
    for kind in ("string", "float", "bool", "type", "tensor"):
        a[f"{kind}_list_val"].list.SetInParent()


def graph(name):
    """The node, between nodes of the CPU, so that its inputs are its own."""
    graph_def = tf1.GraphDef()
    for i, value in enumerate(INPUTS):
        dtype = tf.as_dtype(value.dtype).as_datatype_enum
        node = graph_def.node.add(name=f"in{i}", op="Placeholder")
        node.attr["dtype"].type = dtype
        node.attr["shape"].shape.CopyFrom(shape(*value.shape))
        node = graph_def.node.add(name=f"neg{i}", op="Neg", input=[f"in{i}"], device="/device:CPU:0")
        node.attr["T"].type = dtype
    node = graph_def.node.add(name=name, op="IdentityN", device="/device:APU:0",
                              input=[f"neg{i}" for i in range(len(INPUTS))])
    lists(node.attr["T"], "type", [tf.as_dtype(v.dtype).as_datatype_enum for v in INPUTS])
    return graph_def


def run(graph_def, fetches, feeds):
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as g, tf1.Session(graph=g, config=config) as session:
        tf.import_graph_def(graph_def, name="")
        return session.run(fetches, feeds)


def run_node(name):
    return run(graph(name), [f"{name}:{i}" for i in range(len(INPUTS))],
               {f"in{i}:0": v for i, v in enumerate(INPUTS)})


def main():
    for name in ("attrs", "attrs_other"):  # in this order
        graph_def = tf1.GraphDef()
        attributes(graph_def)
        run(graph_def, name, {})
    for got, value in zip(run_node("probe"), INPUTS):
        np.testing.assert_array_equal(got, -value)
    for name, error, message in (
            ("fail_create", tf.errors.FailedPreconditionError, "the probe was told to fail"),
            ("fail_compute", tf.errors.DataLossError, "the probe lost something")):
        try:
            run_node(name)
            sys.exit(f"{name} did not fail")
        except error as found:
            assert message in str(found), found


if __name__ == "__main__":
    main()
