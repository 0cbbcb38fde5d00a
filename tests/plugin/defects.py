"""The graphs of tests/models/defects, on which TensorFlow with oneDNN on goes wrong.

Each runs in a v1 session, as a tf.function, and op by op. Prints what is wrong.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_registry

tf1 = tf.compat.v1
FOLDER = pathlib.Path(__file__).resolve().parents[1] / "models" / "defects"


def in_session(graph_def, inputs):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf1.Session(graph=graph) as session:
            return session.run("out:0", {f"{k}:0": v for k, v in inputs.items()})


def in_function(graph_def, inputs):
    names = list(inputs)
    wrapped = tf1.wrap_function(
        lambda: tf.import_graph_def(graph_def, name=""), [])
    pruned = wrapped.prune([f"{k}:0" for k in names], "out:0")
    return pruned(*[tf.constant(inputs[k]) for k in names]).numpy()


def attribute(value):
    """An AttrValue in Python."""
    kind = value.WhichOneof("value")
    if kind != "list":
        return getattr(value, kind)
    lists = [list(field) for _, field in value.list.ListFields()]
    return lists[0] if lists else []


def op_by_op(graph_def, inputs):
    """Each node as an eager call: nothing is fused."""
    context.ensure_initialized()
    values = {}
    for node in graph_def.node:  # in topological order, as TensorFlow writes them
        if node.op == "Placeholder":
            values[node.name] = [tf.constant(inputs[node.name])]
            continue
        if node.op == "Const":
            values[node.name] = [tf.constant(tf.make_ndarray(node.attr["value"].tensor))]
            continue
        definition = op_def_registry.get(node.op)
        attrs = {k: attribute(v) for k, v in node.attr.items() if not k.startswith("_")}
        outputs = sum(attrs[a.number_attr] if a.number_attr else 1 for a in definition.output_arg)
        sources = [name.partition(":") for name in node.input]
        args = [values[name][int(port or 0)] for name, _, port in sources]
        flat = tuple(x for pair in attrs.items() for x in pair)
        values[node.name] = execute.execute(node.op.encode(), outputs, args, flat,
                                            context.context())
    return values["out"][0].numpy()


def main():
    failures = []
    folders = sorted(p for p in FOLDER.iterdir() if p.is_dir())
    assert len(folders) >= 23, folders
    for folder in folders:
        graph_def = tf1.GraphDef.FromString((folder / "model.pb").read_bytes())
        with np.load(folder / "inputs.npz") as inputs, np.load(folder / "outputs.npz") as outputs:
            inputs, want = dict(inputs), outputs["out"]
        for run in (in_session, in_function, op_by_op):
            where = f"{folder.name} {run.__name__}"
            print(where, flush=True)  # the last line, should TensorFlow end the process
            try:
                got = run(graph_def, inputs)
            except tf.errors.OpError as error:
                failures.append(f"{where}: {type(error).__name__} {error}"[:300])
                continue
            limit = 64 * np.finfo(np.float32).eps * np.abs(want[np.isfinite(want)]).max(initial=1)
            if got.shape != want.shape or not np.allclose(got, want, 0, limit, equal_nan=True):
                failures.append(f"{where}: {got.ravel()[:5]}, expected {want.ravel()[:5]}")
    print("failures:", *failures, sep="\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
