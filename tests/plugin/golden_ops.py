"""Every op that the plug-in has a kernel for, on the golden cases of tests/numerics.

    golden_ops.py ERRORS.json [--only CASES.json] [TOPIC…]

Eagerly, where the plug-in's kernels come first by priority, and as nodes of one graph per topic,
where the graph pass renames them. Prints what differs from the goldens; exit status 1 if anything.
ERRORS.json gets the exception's class for each case that must fail. `--only`: no others than the
failing cases that an earlier ERRORS.json has, which needs no plug-in.
"""

import argparse
import json
import os
import pathlib
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session as c_api
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_registry

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "makers"), str(HERE.parent)]
GATE = os.environ.get("TF_ENABLE_ONEDNN_OPTS")
import cpu  # noqa: E402
import goldens  # noqa: E402  (sets the variable)
from golden_cases import QUANTIZED, CaseError, make_input, read_cases  # noqa: E402

if GATE is not None:
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = GATE

tf1 = tf.compat.v1
# With oneDNN on, TensorFlow goes wrong before our kernel is asked, without the plug-in too.
TENSORFLOWS_OWN = {
    "dequantize_i32_scaled": "renamed to _MklDequantize, which has no kernel for qint32",
    "bias_transposed_scaled": "its eager rewrite drops the transposition of quantized ops",
    "bias_transposed_min_first": "the same"}
if "avx512_fp16" in cpu.flags():
    TENSORFLOWS_OWN["train_f16"] = "renamed on these CPUs; its reserve_space_3 is empty, not a scalar"
# Ops that TensorFlow defines, but refuses to run.
REMOVED = {"Conv3DBackpropInput", "Conv3DBackpropFilter"}
# _TenonQuantizedMatMul is Tenon's own _QuantizedMatMul, not this one.
UNTESTED = REMOVED | {"QuantizedMatMul"}
EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7,
           "complex64": 2.0**-23, "complex128": 2.0**-52}


def ours(op):
    return op not in REMOVED and op_def_registry.get(f"_Tenon{op}") is not None


def largest(array):
    array = np.abs(array.astype(np.complex128))
    return float(array[np.isfinite(array)].max(initial=0))


def tolerance(case, values, golden):
    """Sums of up to 64 terms, each step rounded: 2 eps sqrt(64) of the largest value. The kernels'
    own tests are sharper; this is for what stands between TensorFlow and them."""
    if case.inputs[0].dtype in QUANTIZED and golden.dtype.kind in "iu":
        # A rounding of the real number may decide a tie.
        return float(golden.dtype.itemsize == 1 or "WithBias" in case.op)
    eps = EPSILON.get(str(golden.dtype), 0)
    if eps == 0:
        return 0
    # Variances are of differences, which are rounded at the size of the inputs.
    inputs = values if case.op.startswith("FusedBatchNorm") else []
    return 16 * eps * max(1.0, *map(largest, [golden, *inputs]))


def difference(got, golden, limit):
    """Empty where they agree."""
    if got.dtype != golden.dtype or got.shape != golden.shape:
        return f"{got.dtype}{list(got.shape)}, expected {golden.dtype}{list(golden.shape)}"
    wide = np.complex128 if golden.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), golden.astype(wide)
    with np.errstate(invalid="ignore"):
        equal = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= limit)
    if equal.all():
        return ""
    i = np.unravel_index(int(np.argmin(equal)), equal.shape)
    return f"element {list(map(int, i))} is {a[i]}, expected {b[i]}"


class Topic:
    """The cases of one file whose op the plug-in has, with their inputs and golden outputs."""

    def __init__(self, path, wanted):
        self.cases = [c for c in read_cases(path) if wanted(c)]
        self.values = {c.name: [make_input(c, i) for i in range(len(c.inputs))] for c in self.cases}
        self.arrays = np.load(goldens.GOLDENS / f"{path.stem}.npz") if self.cases else {}

    def wanted_outputs(self, case, outputs):
        """Golden arrays in the dtypes of `outputs`, as many as have a defined value."""
        found = []
        for i, output in enumerate(outputs):
            key = f"{case.name}/out{i}"
            if key not in self.arrays:
                break
            stored = self.arrays[key]
            found.append(stored.view(output.dtype) if output.dtype.kind == "V" else stored)
        return found


def plain(tensor):
    """Quantized elements as the integers that stand for them."""
    if tensor.dtype.is_quantized:
        return tf.bitcast(tensor, QUANTIZED[goldens.QUANTIZED_NAMES[tensor.dtype.name]][1])
    return tensor


def eager(case, values):
    definition = op_def_registry.get(case.op)
    kinds = {a.name: a.type for a in definition.attr}
    values_of = {a.name: goldens._default(a.default_value, a.type) for a in definition.attr
                 if a.HasField("default_value")}
    values_of |= goldens._infer_types(case, definition) | case.attributes
    attrs = []
    for name, value in values_of.items():
        if kinds[name] == "type":
            value = tf.as_dtype(value).as_datatype_enum
        elif kinds[name] == "list(type)":
            value = [tf.as_dtype(v).as_datatype_enum for v in value]
        elif kinds[name] == "float":
            value = float(value)
        attrs += [name, value]
    inputs = [tf.bitcast(tf.constant(v), tf.as_dtype(QUANTIZED[s.dtype][0]))
              if s.dtype in QUANTIZED else tf.constant(v) for s, v in zip(case.inputs, values)]
    outputs = 0
    for arg in definition.output_arg:
        outputs += values_of[arg.number_attr] if arg.number_attr else 1
    ctx = context.context()
    ctx.ensure_initialized()
    results = execute.execute(case.op.encode(), outputs, inputs, tuple(attrs), ctx)
    return [plain(r).numpy() for r in results]


def in_one_graph(topic, cases):
    """Outputs by case, and the op that ran for each."""
    graph = tf.Graph()
    feeds, fetches = {}, {}
    with graph.as_default():
        for case in cases:
            values = topic.values[case.name]
            try:
                tf.import_graph_def(goldens.build_graph(case, values), name=case.name)
            except ValueError:
                continue  # TensorFlow's shape function does not know the form
            for i, (spec, value) in enumerate(zip(case.inputs, values)):
                if not spec.constant:
                    feeds[f"{case.name}/in{i}:0"] = value
            outputs = graph.get_operation_by_name(f"{case.name}/case").outputs
            fetches[case.name] = [plain(o) for o in outputs]
    metadata = tf1.RunMetadata()
    with tf1.Session(graph=graph) as session:
        results = session.run(fetches, feeds, run_metadata=metadata,
                              options=tf1.RunOptions(output_partition_graphs=True))
    ran = {n.name.split("/")[0]: n.op for g in metadata.partition_graphs for n in g.node
           if n.name.endswith("/case")}
    return results, ran


class Run:
    def __init__(self):
        self.problems = []
        self.errors = {}
        self.ops = set()
        self.compared = 0

    def compare(self, topic, case, mode, outputs):
        outputs = [goldens.bits_of_small(np.asarray(o)) for o in outputs]
        for i, golden in enumerate(topic.wanted_outputs(case, outputs)):
            limit = tolerance(case, topic.values[case.name], golden)
            text = difference(outputs[i], golden, limit)
            if text:
                self.problems.append(f"{case.topic}/{case.name} {mode}: {case.op} output {i}: {text}")
        self.compared += 1

    def fail(self, topic, case):
        for mode, call in (("eager", lambda: eager(case, topic.values[case.name])),
                           ("graph", lambda: goldens.run_case(case, topic.values[case.name]))):
            try:
                call()
                found = "no error"
            except Exception as error:  # pylint: disable=broad-except
                found = type(error).__name__
            self.errors[f"{case.topic}/{case.name} {mode}"] = found

    def topic(self, topic):
        for case in topic.cases:
            if case.fails and not case.alone:
                self.fail(topic, case)
        good = [c for c in topic.cases if not c.fails]
        for case in good:
            try:
                self.compare(topic, case, "eager", eager(case, topic.values[case.name]))
            except (tf.errors.OpError, CaseError) as error:
                self.problems.append(f"{case.topic}/{case.name} eager: {case.op}: "
                                     f"{type(error).__name__} {error}"[:800])
        if not good:
            return
        try:
            results, ran = in_one_graph(topic, good)
        except tf.errors.OpError as error:
            self.problems.append(f"graph: {type(error).__name__} {error}"[:400])
            return
        for case in good:
            if case.name in results:
                self.compare(topic, case, f"graph ({ran.get(case.name)})", results[case.name])
                self.ops.add(ran.get(case.name))


def private_ops():
    """The names of TensorFlow's ops that the plug-in has a private op for."""
    ops = op_def_pb2.OpList.FromString(c_api.TF_GetBuffer(c_api.TF_GetAllOpList()))
    names = {op.name for op in ops.op}
    return {n for n in names if f"_Tenon{n.removeprefix('_')}" in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("errors", type=pathlib.Path)
    parser.add_argument("--only", type=pathlib.Path)
    parser.add_argument("topics", nargs="*")
    args = parser.parse_args()
    run = Run()
    only = {k.split()[0] for k in json.loads(args.only.read_text())} if args.only else None
    for path in sorted(goldens.CASES.glob("*.txt")):
        if args.topics and path.stem not in args.topics:
            continue
        if only is not None:
            topic = Topic(path, lambda case: f"{case.topic}/{case.name}" in only)
        else:
            topic = Topic(path, lambda case: ours(case.op) and case.name not in TENSORFLOWS_OWN)
        run.topic(topic)
    args.errors.write_text(json.dumps(run.errors, indent=1))
    if only is None and not args.topics:
        never = {o for o in private_ops() - UNTESTED if not o.startswith("_") and f"_Tenon{o.removeprefix('_')}" not in run.ops}
        run.problems += [f"{op}: no case ran on the plug-in's kernel" for op in sorted(never)]
        if run.compared < 1800:
            run.problems.append(f"only {run.compared} comparisons")
    print(*run.problems, f"{run.compared} comparisons, {len(run.problems)} problems", sep="\n")
    sys.exit(1 if run.problems else 0)


if __name__ == "__main__":
    main()
