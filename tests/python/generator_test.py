"""Tokens one by one."""

from __future__ import annotations

import gc
import itertools
import json
import os
import signal
import threading
import time
import unittest
from typing import List

import numpy as np
import support
import tenon
from support import ModelCase, node

MODELS = support.ROOT / "tests" / "models" / "generate"
# "The mill", and what TensorFlow continues it with.
EXPECTED = json.loads((MODELS / "expected.json").read_text())
PROMPT: List[int] = EXPECTED["ids"]
TOKENS: List[int] = EXPECTED["tokens"]
STEPS = ("variables", "feedback")


def take(generator: tenon.Generator, count: int = len(TOKENS)) -> List[int]:
    return list(itertools.islice(generator, count))


def sampled(seed: int) -> List[int]:
    model = tenon.load(MODELS / "feedback")
    generator = model.generator(temperature=2, top_k=50, top_p=0.99, seed=seed)
    generator.prompt(PROMPT)
    return take(generator)


class TokensTest(unittest.TestCase):

    def test_tokens_of_tensorflow(self) -> None:
        for name in STEPS:
            with self.subTest(name):
                generator = tenon.load(MODELS / name).generator()
                generator.prompt(PROMPT)
                self.assertEqual(next(generator), TOKENS[0])
                self.assertEqual(generator.next(), TOKENS[1])
                self.assertEqual(take(generator, len(TOKENS) - 2), TOKENS[2:])

    def test_reset(self) -> None:
        for name in STEPS:
            with self.subTest(name):
                generator = tenon.load(MODELS / name).generator()
                generator.prompt([1, 2, 3])
                take(generator)
                generator.reset()
                with self.assertRaises(tenon.FailedPreconditionError):
                    next(generator)
                generator.prompt(PROMPT[:3])  # a prompt in two parts is the same prompt
                generator.prompt(PROMPT[3:])
                self.assertEqual(take(generator), TOKENS)

    def test_forms_of_prompts(self) -> None:
        generator = tenon.load(MODELS / "feedback").generator()
        for prompt in (tuple(PROMPT), np.array(PROMPT, np.uint8), np.array([PROMPT], np.uint64)):
            generator.reset()
            generator.prompt(prompt)
            self.assertEqual(take(generator, 3), TOKENS[:3])

    def test_generate(self) -> None:
        generator = tenon.load(MODELS / "variables").generator()
        for stop, expected in ((None, TOKENS), (TOKENS[4], TOKENS[:4]), ([TOKENS[5], TOKENS[3]], TOKENS[:3]),
                               (np.int64(TOKENS[0]), []), (np.array(TOKENS[1:2]), TOKENS[:1])):
            with self.subTest(stop=stop):
                generator.reset()
                self.assertEqual(list(generator.generate(PROMPT, len(TOKENS), stop)), expected)
        generator.reset()
        self.assertEqual(list(generator.generate(PROMPT, 0)), [])
        self.assertEqual(take(generator), TOKENS)
        with self.assertRaisesRegex(ValueError, "max_tokens must not be negative, but is -1"):
            generator.generate(PROMPT, -1)

    def test_generate_refuses_at_once(self) -> None:
        with self.assertRaisesRegex(ValueError, "the prompt has no tokens"):
            tenon.load(MODELS / "variables").generator().generate([], 3)

    def test_sampling_follows_the_seed(self) -> None:
        self.assertEqual(sampled(1), sampled(1))
        self.assertNotEqual(sampled(1), sampled(2))
        self.assertNotEqual(sampled(1), TOKENS)
        generator = tenon.load(MODELS / "feedback").generator(temperature=2, top_k=50, top_p=0.99, seed=1)
        for _ in range(2):
            self.assertEqual(list(generator.generate(PROMPT, len(TOKENS))), sampled(1))
            generator.reset()

    def test_two_generators(self) -> None:
        model = tenon.load(MODELS / "feedback")
        first, second = model.generator(), model.generator()
        first.prompt(PROMPT)
        second.prompt([1, 2])
        other = list(tenon.load(MODELS / "feedback").generator().generate([1, 2], len(TOKENS)))
        self.assertEqual(list(itertools.islice(zip(first, second), len(TOKENS))), list(zip(TOKENS, other)))

    def test_first_value_of_the_cache(self) -> None:
        model = tenon.load(MODELS / "feedback")
        plain = model.generator()
        start = model.run({"token_ids": np.array([PROMPT[:4]]), "cache": np.zeros((1, 0, 2, 12), np.float32)})
        cache = start["cache"].copy()
        plain.set_input("cache", cache)
        cache[:] = np.nan  # it was copied
        for _ in range(2):
            plain.prompt(PROMPT[4:])
            self.assertEqual(take(plain), TOKENS)
            plain.reset()


class ErrorsTest(unittest.TestCase):

    def test_options(self) -> None:
        model = tenon.load(MODELS / "variables")
        with self.assertRaisesRegex(ValueError, "top-p must be above 0 and at most 1, but is 2"):
            model.generator(top_p=2)
        with self.assertRaisesRegex(ValueError, "seed must be at least 0 and below 2.*, not -1"):
            model.generator(seed=-1)
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "no input 'words'; it takes input_ids"):
            model.generator(tokens="words")
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "no output 'scores'; it gives logits"):
            model.generator(logits="scores")
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "which input takes the tokens is not clear"):
            tenon.load(support.MLP / "saved_model").generator()

    def test_prompts(self) -> None:
        generator = tenon.load(MODELS / "variables").generator()
        with self.assertRaisesRegex(tenon.FailedPreconditionError, "there is no prompt yet"):
            next(generator)
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "the prompt has no tokens"):
            generator.prompt([])
        with self.assertRaisesRegex(TypeError, "token ids are integers, but an object of type 'list' and dtype float64"):
            generator.prompt([1.0])
        with self.assertRaisesRegex(TypeError, "token ids are integers"):
            generator.prompt(["The", "mill"])
        with self.assertRaisesRegex(ValueError, r"shape \[tokens\] or \[1, tokens\], but .* shape \(2, 2\)"):
            generator.prompt([[1, 2], [3, 4]])
        with self.assertRaisesRegex(ValueError, "shape"):
            generator.prompt(5)
        with self.assertRaises(OverflowError):
            generator.prompt([1 << 63])
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "token 4294967296 does not fit into int32"):
            generator.prompt([1 << 32])
        self.assertEqual(list(generator.generate(PROMPT, 3)), TOKENS[:3])

    def test_inputs(self) -> None:
        generator = tenon.load(MODELS / "feedback").generator()
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "no input 'store'; it takes cache .*, token_ids "):
            generator.set_input("store", np.zeros(1, np.float32))
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "input 'token_ids' is set by the generator"):
            generator.set_input("token_ids", np.zeros((1, 1), np.int64))
        with self.assertRaisesRegex(TypeError, "input 'cache' is of dtype float32, but .* dtype float64"):
            generator.set_input("cache", np.zeros((1, 0, 2, 12)))
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "input 'cache' must have shape .*12.*, but has .*13"):
            generator.set_input("cache", np.zeros((1, 0, 2, 13), np.float32))
        with self.assertRaisesRegex(tenon.InvalidArgumentError, "input 'cache' needs a value"):
            generator.set_input("cache", None)
        self.assertEqual(list(generator.generate(PROMPT, 3)), TOKENS[:3])

    def test_a_model_that_casts(self) -> None:
        generator = tenon.load(MODELS / "feedback", cast=True).generator()
        generator.set_input("cache", np.zeros((1, 0, 2, 12)))
        self.assertEqual(list(generator.generate(PROMPT, 3)), TOKENS[:3])


class LifeTest(ModelCase):

    def test_it_keeps_its_model(self) -> None:
        generator = tenon.load(MODELS / "feedback").generator()
        gc.collect()
        self.assertEqual(list(generator.generate(PROMPT, 3)), TOKENS[:3])

    def test_a_closed_model(self) -> None:
        model = tenon.load(MODELS / "variables")
        generator = model.generator()
        generator.prompt(PROMPT)
        model.close()
        for call in (generator.next, generator.reset, model.generator, lambda: generator.prompt(PROMPT)):
            with self.assertRaisesRegex(tenon.FailedPreconditionError, "the model is closed"):
                call()

    def test_timeout(self) -> None:
        generator = tenon.load(MODELS / "feedback").generator()
        with self.assertRaises(tenon.DeadlineExceededError):
            generator.prompt(PROMPT, timeout=0)
        generator.prompt(PROMPT, timeout=60)
        self.assertEqual(generator.next(timeout=60), TOKENS[0])
        with self.assertRaises(TimeoutError):
            generator.next(timeout=0)
        self.assertEqual(take(generator, len(TOKENS) - 1), TOKENS[1:])  # nothing was lost
        with self.assertRaises(TimeoutError):
            generator.generate(PROMPT, 3, timeout=0)

    def endless(self) -> tenon.Generator:
        """A step that ends only for the token 0."""
        return self.graph(endless_step()).generator()

    def test_ctrl_c(self) -> None:
        generator = self.endless()
        # A shell's background processes ignore SIGINT, and Python then has no handler.
        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        time.sleep(0.005)  # since an earlier run (python/core/interrupt.cc)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            generator.prompt([1], timeout=60)
        self.assertLess(time.monotonic() - start, 30)
        generator.prompt([0])
        self.assertEqual(next(generator), 1)

    def test_one_thread_at_a_time(self) -> None:
        generator = self.endless()
        ended: List[BaseException] = []

        def prompt() -> None:
            try:
                generator.prompt([1], timeout=2)
            except tenon.DeadlineExceededError as error:
                ended.append(error)
        thread = threading.Thread(target=prompt)
        thread.start()
        time.sleep(0.2)  # the other thread computes without the interpreter's lock
        with self.assertRaisesRegex(tenon.FailedPreconditionError, "already running"):
            next(generator)
        thread.join()
        self.assertEqual(len(ended), 1)


def endless_step() -> str:
    """A GraphDef from ids [1, ?] to logits [1, 3], which are largest for 1; its loop ends if all ids are 0."""
    t = "type: DT_INT32"
    argument = 'input_arg { name: "v" type: DT_INT32 }'

    def inner(text: str) -> str:
        return text.replace("node {", "node_def {", 1)

    zero = inner(node("zero", "Const", dtype=t, value="tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 }"))
    axes = node("axes", "Const", dtype=t, value="tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 0 int_val: 1 }")
    row = node("row", "Const", dtype="type: DT_FLOAT", value="tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1 } dim { size: 3 } } "
               "float_val: 0 float_val: 1 float_val: 0 }")
    test = inner(node("test", "Greater", "v", "zero:output:0", T=t))
    same = inner(node("same", "Identity", "v", T=t))
    return (node("ids", "Placeholder", dtype=t, shape="shape { dim { size: 1 } dim { size: -1 } }") + axes + row +
            node("sum", "Sum", "ids", "axes", T=t, Tidx=t, keep_dims="b: false") +
            node("loop", "While", "sum", T="list { type: DT_INT32 }", cond='func { name: "condition" }',
                 body='func { name: "body" }', output_shapes="list { shape { } }") +
            node("float", "Cast", "loop", SrcT=t, DstT="type: DT_FLOAT") +
            node("logits", "AddV2", "row", "float", T="type: DT_FLOAT") +
            "library {" +
            f' function {{ signature {{ name: "condition" {argument} output_arg {{ name: "go" type: DT_BOOL }} }}' +
            f' {zero} {test} ret {{ key: "go" value: "test:z:0" }} }}' +
            f' function {{ signature {{ name: "body" {argument} output_arg {{ name: "out" type: DT_INT32 }} }}' +
            f' {same} ret {{ key: "out" value: "same:output:0" }} }} }}')


if __name__ == "__main__":
    unittest.main()
