"""The graphs of tests/rewrite inside TensorFlow, one function each.

    rewrites.py OUT.npz [--ops OUT.json] [--may-refuse N] [TOPIC…]

OUT.npz gets the results, which workloads_test.py compares with TensorFlow's own; OUT.json the ops
of the graphs that ran, and those that nothing but rewriting makes. N graphs may be such that this
TensorFlow refuses them: ops for channels-first images, with ranges for each channel, or transposed
convolutions with dilations.
"""

import argparse
import json
import pathlib
import re
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session as c_api
from tensorflow.python.eager import context
from tensorflow.python.framework import op_def_library, op_def_registry

EXTRA = """
=== a fused einsum
---
%x = Placeholder() {shape=<2,3,4>}
%w = Const() {value=float<4,5>{random 1}}
%b = Const() {value=float<5>{random 2}}
%e = Einsum(%x, %w) {equation="abc,cd->abd"}
%s = AddV2(%e, %b)
%y = Relu(%s)
out y = %y

=== a fused einsum of two inputs
---
%x = Placeholder() {shape=<2,3,4,5>}
%z = Placeholder() {shape=<2,3,4,5>}
%scale = Const() {value=float<>{0.25}}
%e = Einsum(%x, %z) {equation="aecd,abcd->acbe"}
%y = Mul(%e, %scale)
out y = %y
"""
FOLDER = pathlib.Path(__file__).resolve().parents[1] / "rewrite"
TOKEN = re.compile(r'"[^"]*"|[%@]"?[\w./>-]+"?|[\w.+-]+|[=(){}\[\]<>,:^?*]')


class Reader:
    """The text form of graph/text.h, as far as these files go."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(re.sub(r"#.*", "", text))

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self, expected=None):
        token = self.tokens.pop(0)
        if expected not in (None, token):
            raise ValueError(f"{token} where {expected} should be, before {self.tokens[:5]}")
        return token

    def until(self, end):
        """The elements of a list, separated by commas."""
        while self.peek() != end:
            yield
            if self.peek() == ",":
                self.take()
        self.take(end)

    def shape(self):
        self.take("<")
        dims = [self.take() for _ in self.until(">")]
        return None if dims == ["*"] else [None if d == "?" else int(d) for d in dims]

    def tensor(self, dtype, shape):
        self.take("{")
        if self.peek() == "random":
            self.take()
            low, high = -1.0, 1.0
            seed = int(self.take())
            if self.peek() != "}":
                low, high = float(self.take()), float(self.take())
            self.take("}")
            return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)
        if self.peek() == "=":
            self.take()
            value = self.take()
            self.take("}")
            return np.full(shape, self.number(value), dtype)
        return np.array([self.number(self.take()) for _ in self.until("}")], dtype).reshape(shape)

    @staticmethod
    def number(token):
        if token in ("true", "false"):
            return token == "true"
        return int(token) if re.fullmatch(r"[+-]?\d+", token) else float(token)

    def value(self):
        token = self.peek()
        if token == "<":
            return tf.TensorShape(self.shape())
        token = self.take()
        if token == "[":
            if self.peek() == ":":
                self.tokens[:2] = []
            return [self.value() for _ in self.until("]")]
        if token.startswith('"'):
            return token[1:-1]
        if re.fullmatch(r"[+-]?(\d.*|inf|nan)|true|false", token):
            return self.number(token)
        dtype = tf.as_dtype(token)
        if self.peek() != "<":
            return dtype
        return self.tensor(dtype.as_numpy_dtype, self.shape())

    def attributes(self):
        found = {}
        if self.peek() == "{":
            self.take()
            for _ in self.until("}"):
                name = self.take()
                self.take("=")
                found[name] = self.value()
        return found


def default(attr):
    """An attribute's default, in Python."""
    kind = attr.default_value.WhichOneof("value")
    if kind == "list":
        lists = [list(field) for _, field in attr.default_value.list.ListFields()]
        return lists[0] if lists else []
    value = getattr(attr.default_value, kind)
    return tf.as_dtype(value) if kind == "type" else value


def apply(op, name, inputs, attrs):
    """The op's outputs; types and defaults fill themselves."""
    if op == "Const":
        return [tf.constant(attrs["value"], name=name)]
    definition = op_def_registry.get(op)
    arguments = {}
    left = list(inputs)
    for i, arg in enumerate(definition.input_arg):
        if not (arg.number_attr or arg.type_list_attr):
            arguments[arg.name] = left.pop(0)
            continue
        count = len(left) - (len(definition.input_arg) - i - 1)
        arguments[arg.name], left = left[:count], left[count:]
        if arg.number_attr:
            attrs.pop(arg.number_attr, None)
    inferred = {a for arg in definition.input_arg
                for a in (arg.type_attr, arg.type_list_attr) if a}
    attrs = {a.name: default(a) for a in definition.attr if a.HasField("default_value")} | attrs
    attrs = {k: v for k, v in attrs.items() if k not in inferred}
    return op_def_library.apply_op(op, name=name, **arguments, **attrs)


def operand(reader):
    name, port = reader.take(), 0
    if reader.peek() == ":":
        reader.take()
        port = int(reader.take())
    return name, port


class Case:
    """Nodes (name, op, operands, attributes, control inputs) in an order that can be built."""

    def __init__(self, text):
        reader, left, self.outputs = Reader(text), [], {}
        while reader.peek():
            token = reader.take()
            if token == "out":
                name = reader.take()
                reader.take("=")
                self.outputs[name] = operand(reader)
                continue
            if token == "target":  # a function runs every op that has an effect
                reader.take()
                continue
            reader.take("=")
            op = reader.take()
            reader.take("(")
            inputs = [operand(reader) for _ in reader.until(")")]
            attrs, controls = reader.attributes(), []
            while reader.peek() == "^":
                reader.take()
                controls.append(reader.take())
            left.append((token, op, inputs, attrs, controls))
        self.nodes, known = [], set()
        while left:
            ready = [n for n in left if known.issuperset([i for i, _ in n[2]] + n[4])]
            self.nodes += ready
            known |= {n[0] for n in ready}
            left = [n for n in left if n[0] not in known]
        self.specs = {name: tf.TensorSpec(attrs.get("shape"), attrs.get("dtype", tf.float32))
                      for name, op, _, attrs, _ in self.nodes if op == "Placeholder"}

    def build(self, *args):
        values = {name: [arg] for name, arg in zip(self.specs, args[:-1])}
        for name, op, inputs, attrs, controls in self.nodes:
            if name in values:
                continue
            with tf.control_dependencies([values[c][0] for c in controls]):
                made = apply(op, name[1:].strip('"'), [values[i][p] for i, p in inputs],
                             dict(attrs))
            if isinstance(made, tf.Operation):
                values[name] = list(made.outputs) or [made]
            else:
                values[name] = list(made) if isinstance(made, (list, tuple)) else [made]
        results = {k: values[i][p] for k, (i, p) in self.outputs.items()}
        results["product"] = tf.matmul(args[-1], args[-1])  # or Tenon does not look at the graph
        return {k: tf.cast(v, tf.float32) if v.dtype.is_quantized else v
                for k, v in results.items()}

    def inputs(self, keys):
        rng = np.random.default_rng(17)
        fed = []
        for name, spec in self.specs.items():
            dims = [3] if spec.shape.rank is None else spec.shape.as_list()
            shape = [int(keys.get("unknown", 2)) if d is None else d for d in dims]
            value = rng.uniform(-1.5, 1.5, shape)
            if f"feed {name[1:]}" in keys:
                value = Reader(keys[f"feed {name[1:]}"]).value()
            elif spec.dtype == tf.bool:
                value = value > 0
            elif spec.dtype.is_integer:
                value = rng.integers(0, 3, shape)
            fed.append(tf.constant(value, spec.dtype))
        return fed + [tf.ones([2, 2])]


def cases(text):
    for part in text.split("\n==="):
        head, found, graph = part.partition("\n---\n")
        if found:
            keys = dict(line.split("#")[0].split("=", 1) for line in head.splitlines()[1:]
                        if "=" in line.split("#")[0])
            yield head.splitlines()[0].strip(" ="), {k.strip(): v.strip() for k, v in
                                                     keys.items()}, graph


def run(keys, text):
    """Results, and the ops of the graphs that ran, for a function of known shapes."""
    case = Case(text)
    function = tf.function(case.build, input_signature=[*case.specs.values(), tf.TensorSpec([2, 2])])
    collector = context.context()
    collector.enable_graph_collection()
    results = function(*case.inputs(keys))
    metadata = collector.export_run_metadata()
    collector.disable_graph_collection()
    return results, {n.op for g in metadata.partition_graphs for n in g.node}


def all_ops():
    """The names of the ops that this TensorFlow has."""
    ops = op_def_pb2.OpList.FromString(c_api.TF_GetBuffer(c_api.TF_GetAllOpList()))
    return {op.name for op in ops.op}


def is_built(text):
    """Whether this reader builds the graphs: it does not know functions."""
    return '\nfunction "' not in text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    parser.add_argument("--ops", type=pathlib.Path)
    parser.add_argument("--may-refuse", type=int, default=0)
    parser.add_argument("topics", nargs="*")
    args = parser.parse_args()
    out, ops, failed = {}, set(), []
    texts = {p.stem: p.read_text() for p in sorted(FOLDER.glob("*.graph"))} | {"extra": EXTRA}
    topics = {topic: text for topic, text in texts.items() if is_built(text)}
    for topic in args.topics or topics:
        for i, (title, keys, text) in enumerate(cases(topics[topic])):
            where = f"{topic}{i}"
            try:
                results, ran = run(keys, text)
            except Exception as error:  # pylint: disable=broad-except
                failed.append(f"{where} ({title}): {type(error).__name__} {str(error)[:300]}")
                continue
            ops |= ran
            for name, value in results.items():
                out[f"{where}/{name}_rewritten{keys.get('within', 0)}"] = np.asarray(value)
    np.savez(args.output, **out)
    if args.ops:
        made = {n for n in all_ops() if n.startswith("_Tenon") and n[len("_Tenon"):] not in all_ops()}
        args.ops.write_text(json.dumps({"ran": sorted(ops), "made_by_rewrites": sorted(made)}))
    print(*failed, f"{len(out)} results", sep="\n")
    sys.exit(1 if len(failed) > args.may_refuse else 0)


if __name__ == "__main__":
    main()
