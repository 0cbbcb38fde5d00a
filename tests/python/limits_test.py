"""Limits: memory, and graphs that are nested deeply, in any order, or large."""

from __future__ import annotations

import sys
import threading
import time
import unittest
from typing import Callable, List

import numpy as np
import support
import tenon
from support import ModelCase, node

sys.path.append(str(support.ROOT / "bench"))
import graph_size  # noqa: E402  the path is set above

FLOAT = "type: DT_FLOAT"
FLOATS = "list { type: DT_FLOAT }"
DEPTH = 1500


def on_small_stack(run: Callable[[], None]) -> None:
    """Runs it on a thread with a stack of half a megabyte, as some programs have."""
    failed: List[BaseException] = []

    def body() -> None:
        try:
            run()
        except BaseException as error:  # pylint: disable=broad-except  raised again below
            failed.append(error)
    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=body)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if failed:
        raise failed[0]


def function(name: str, body: str, result: str) -> str:
    return (f'function {{ signature {{ name: "{name}" input_arg {{ name: "x" type: DT_FLOAT }} '
            f'output_arg {{ name: "y" type: DT_FLOAT }} }} {body.replace("node {", "node_def {")} '
            f'ret {{ key: "y" value: "{result}" }} }}\n')


def leaf(name: str) -> str:
    return function(name, node("n", "Neg", "x", T=FLOAT), "n:y:0")


def call(name: str, value: str, callee: str) -> str:
    return node(name, "PartitionedCall", value, Tin=FLOATS, Tout=FLOATS, f=f'func {{ name: "{callee}" }}')


def branch(name: str, value: str, callee: str) -> str:
    """If the value is not zero, `callee`, otherwise the leaf."""
    return (node(f"{name}_c", "NotEqual", value, value, T=FLOAT) +
            node(name, "StatelessIf", f"{name}_c" if value == "x:0" else f"{name}_c:z:0", value, Tcond="type: DT_BOOL", Tin=FLOATS,
                 Tout=FLOATS, then_branch=f'func {{ name: "{callee}" }}', else_branch='func { name: "leaf" }'))


def loop(name: str, value: str, callee: str) -> str:
    return node(name, "StatelessWhile", value, T=FLOATS, cond='func { name: "small" }', body=f'func {{ name: "{callee}" }}')


SMALL = ('function { signature { name: "small" input_arg { name: "x" type: DT_FLOAT } '
         'output_arg { name: "y" type: DT_BOOL } } ' +
         node("c", "Const", dtype=FLOAT, value="tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 }").replace(
             "node {", "node_def {") +
         node("l", "Less", "x", "c:output:0", T=FLOAT).replace("node {", "node_def {") +
         'ret { key: "y" value: "l:z:0" } }\n')
GROW = function("grow", node("c", "Const", dtype=FLOAT,
                             value="tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 }") +
                node("a", "AddV2", "x", "c:output:0", T=FLOAT), "a:z:0")
INPUT = node("x", "Placeholder", dtype=FLOAT, shape="shape { }")


def nested(form: Callable[[str, str, str], str], depth: int, innermost: str) -> str:
    """A graph whose output is `depth` functions deep."""
    library = leaf("leaf") + SMALL + GROW
    for i in range(depth):
        callee = f"f{i + 1}" if i + 1 < depth else innermost
        library += function(f"f{i}", form("y", "x", callee), "y:output:0")
    return INPUT + form("out", "x:0", "f0") + "library { " + library + " }"


class NestingTest(ModelCase):

    def refused(self, text: str, *words: str) -> None:
        def load() -> None:
            start = time.process_time()
            with self.assertRaises(tenon.Error) as caught:
                self.graph(text)
            for word in words:
                self.assertIn(word, str(caught.exception))
            self.assertLess(time.process_time() - start, 20)
        on_small_stack(load)

    def test_calls(self) -> None:
        self.refused(nested(call, DEPTH, "leaf"), "nested too deeply", "out")

    def test_branches(self) -> None:
        self.refused(nested(branch, DEPTH, "leaf"), "nested too deeply", "out")

    def test_loops(self) -> None:
        self.refused(nested(loop, DEPTH, "grow"), "nested too deeply", "out")

    def test_recursion(self) -> None:
        for form in (call, branch, loop):
            self.refused(nested(form, 3, "f0"), "'f0' calls itself", "out")

    def test_recursion_through_different_ops(self) -> None:
        text = INPUT + call("out", "x:0", "f0") + "library { " + leaf("leaf") + function(
            "f0", branch("y", "x", "f1"), "y:output:0") + function("f1", call("y", "x", "f0"), "y:output:0") + " }"
        self.refused(text, "calls itself", "out")

    def test_moderate_depth_runs(self) -> None:
        def run() -> None:
            for form, innermost, x, y in ((call, "leaf", 3, -3), (branch, "leaf", 3, -3), (loop, "grow", 0.5, 1.5)):
                start = time.process_time()
                model = self.graph(nested(form, 60, innermost))
                self.assertEqual(float(next(iter(model(np.float32(x)).values()))), y)
                self.assertLess(time.process_time() - start, 20)
        on_small_stack(run)

    def test_nested_messages(self) -> None:
        """A function attribute inside of a function attribute, in binary form."""
        def field(tag: int, content: bytes) -> bytes:
            size, length = b"", len(content)
            while length > 127:
                size, length = size + bytes([length % 128 | 128]), length // 128
            return bytes([tag << 3 | 2]) + size + bytes([length]) + content

        value = b""
        for _ in range(DEPTH):  # AttrValue.func = 10, NameAttrList.attr = 2, a map's value = 2
            value = field(10, field(2, field(1, b"a") + field(2, value)))
        data = field(1, field(1, b"y") + field(2, b"f") + field(5, field(1, b"a") + field(2, value)))

        def load() -> None:
            with self.assertRaises(tenon.InvalidArgumentError):
                tenon.load(data)
        on_small_stack(load)


class SizeTest(ModelCase):

    def test_a_long_chain_in_any_order(self) -> None:
        """Importing, rewriting and planning do not recurse along a graph's edges."""
        n = 20000
        ops = ["Tanh", "Sin", "Neg"]  # too long to become one fused node
        chain = [node("x", "Placeholder", dtype=FLOAT, shape="shape { dim { size: 2 } }")]
        chain += [node(f"n{i}", ops[i % 3], f"n{i - 1}" if i else "x", T=FLOAT) for i in range(n)]

        def run() -> None:
            expected = None
            for nodes in (chain, chain[::-1]):
                model = self.graph("".join(nodes))
                (y,) = model(np.float32([0.5, -1])).values()
                self.assertEqual(y.shape, (2,))
                expected = y if expected is None else expected
                np.testing.assert_allclose(y, expected, atol=1e-6)
        on_small_stack(run)

    def test_time_grows_with_the_nodes(self) -> None:
        """Eight times the nodes take about eight times as long: a quadratic step would take 64 times."""
        sizes = 1000, 8000
        for shape in graph_size.SHAPES:
            with self.subTest(shape):
                small, large = (graph_size.measure(shape, n) for n in sizes)
                self.assertLess(graph_size.total(large) / graph_size.total(small), 24, (small, large))


class MemoryLimitTest(ModelCase):

    def test_what_does_not_fit_names_the_node(self) -> None:
        with self.assertRaises(tenon.ResourceExhaustedError) as caught:
            tenon.load(support.ROOT / "tests" / "models" / "mobilenetv2" / "saved_model", memory_limit=100_000)
        self.assertRegex(str(caught.exception), r"entry '.*memory limit: of 100000 bytes")

    def test_the_model_goes_on(self) -> None:
        text = (node("x", "Placeholder", dtype=FLOAT, shape="shape { dim { size: -1 } }") + node("y", "Neg", "x", T=FLOAT))
        model = self.graph(text, memory_limit=100_000)
        with self.assertRaisesRegex(tenon.ResourceExhaustedError, "node 'y'.*400000 bytes do not fit"):
            model(np.zeros(100_000, np.float32))
        results = [model(np.zeros(1000, np.float32)) for _ in range(3)]
        memory = model.memory()
        self.assertEqual(memory.limit, 100_000)
        self.assertGreaterEqual(memory.held or 0, 3 * 4000)
        self.assertGreaterEqual(memory.peak or 0, memory.held or 0)
        del results
        self.assertLess(model.memory().held or 0, 4000)

    def test_no_limit(self) -> None:
        model = tenon.load(support.MLP / "saved_model")
        self.assertIsNone(model.memory().limit)
        for bad in (0, -1):
            with self.assertRaises(ValueError):
                tenon.load(support.MLP / "saved_model", memory_limit=bad)

    def test_from_memory(self) -> None:
        weights = node("w", "Const", dtype=FLOAT,
                       value="tensor { dtype: DT_FLOAT tensor_shape { dim { size: 100000 } } float_val: 1 float_val: 2 }")
        text = node("x", "Placeholder", dtype=FLOAT, shape="shape { }") + weights + node("y", "AddV2", "x", "w", T=FLOAT)
        with self.assertRaisesRegex(tenon.ResourceExhaustedError, "node 'w'"):
            tenon.load(text.encode(), memory_limit=100_000)


if __name__ == "__main__":
    unittest.main()
