"""Runs that end early: by timeout, by Ctrl-C, with their task."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import unittest

import numpy as np
import tenon
from support import ModelCase, node

CONDITION, BODY = "condition", "body"


def endless() -> str:
    """A GraphDef whose loop runs for as long as x >= 0."""
    t = "type: DT_FLOAT"
    argument = 'input_arg { name: "v" type: DT_FLOAT }'
    zero = node("zero", "Const", dtype=t, value="tensor { dtype: DT_FLOAT tensor_shape { } float_val: 0 }")
    zero = zero.replace("node {", "node_def {", 1)
    test = node("test", "GreaterEqual", "v", "zero:output:0", T=t).replace("node {", "node_def {", 1)
    same = node("same", "Identity", "v", T=t).replace("node {", "node_def {", 1)
    return (node("x", "Placeholder", dtype=t, shape="shape { }") +
            node("y", "While", "x", T="list { type: DT_FLOAT }", cond=f'func {{ name: "{CONDITION}" }}',
                 body=f'func {{ name: "{BODY}" }}', output_shapes="list { shape { } }") +
            "library {" +
            f' function {{ signature {{ name: "{CONDITION}" {argument} output_arg {{ name: "go" type: DT_BOOL }} }}' +
            f' {zero} {test} ret {{ key: "go" value: "test:z:0" }} }}' +
            f' function {{ signature {{ name: "{BODY}" {argument} output_arg {{ name: "out" type: DT_FLOAT }} }}' +
            f' {same} ret {{ key: "out" value: "same:output:0" }} }} }}')


class InterruptTest(ModelCase):

    def setUp(self) -> None:
        super().setUp()
        self.model = self.graph(endless())
        self.assertEqual(self.model(-1.0)["y:0"], -1)

    def test_timeout(self) -> None:
        with self.assertRaises(TimeoutError):
            self.model.run({"x": 1.0}, timeout=0.05)
        with self.assertRaises(tenon.DeadlineExceededError):
            self.model.run({"x": 1.0}, timeout=0)
        self.assertEqual(self.model.run({"x": -1.0}, timeout=60)["y:0"], -1)

    def test_ctrl_c(self) -> None:
        # A shell's background processes ignore SIGINT, and Python then has no handler.
        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        before = signal.default_int_handler
        signal.signal(signal.SIGINT, before)
        time.sleep(0.005)  # after the run of setUp (python/core/interrupt.cc)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            self.model.run({"x": 1.0}, timeout=60)
        self.assertLess(time.monotonic() - start, 30)
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        self.assertEqual(self.model(-1.0)["y:0"], -1)
        with self.assertRaises(KeyboardInterrupt):  # Python's handler is in place again
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    def test_cancelled_task(self) -> None:
        async def main() -> None:
            task = asyncio.create_task(self.model.run_async({"x": 1.0}))
            await asyncio.sleep(0.1)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        self.model.close()  # waits for the run, which has ended


if __name__ == "__main__":
    unittest.main()
