"""Threads, processes, futures, pickling."""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import unittest

import numpy as np
import support
import tenon


def run_model(model: tenon.Model) -> np.ndarray:
    return model(support.mlp_inputs())["output_0"]


class ConcurrencyTest(unittest.TestCase):

    def setUp(self) -> None:
        self.model = tenon.load(support.MLP / "saved_model")
        self.x = support.mlp_inputs()

    def check(self, output: np.ndarray) -> None:
        np.testing.assert_allclose(output, support.mlp_outputs(), rtol=1e-5, atol=1e-6)

    def test_sixteen_threads(self) -> None:
        failures = []
        start = threading.Barrier(16)
        # The bits of each batch, before any other thread runs; a batch's size may change the last ones.
        alone = {}
        for rows in range(1, 5):
            alone[rows] = self.model(np.repeat(self.x, rows, axis=0))["output_0"].copy()
            self.check(alone[rows][:1])

        def work(rows: int) -> None:
            start.wait()
            for _ in range(50):
                y = self.model(np.repeat(self.x, rows, axis=0))["output_0"]
                if y.shape != alone[rows].shape or y.tobytes() != alone[rows].tobytes():
                    failures.append(rows)

        threads = [threading.Thread(target=work, args=(i % 4 + 1,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_futures(self) -> None:
        self.check(self.model.submit({"features": self.x}).result()["output_0"])
        with self.assertRaises(ValueError):
            self.model.submit({"features": self.x[:, :3].copy()}).result()
        self.check(asyncio.run(self.model.run_async({"features": self.x}))["output_0"])

    def test_map_keeps_the_order_and_reads_no_further_than_needed(self) -> None:
        read = []

        def feeds():
            for i in range(100):
                read.append(i)
                yield {"features": np.full((1, 16), i, np.float32)}

        results = self.model.map(feeds(), in_flight=3)
        first = next(results)["output_0"]
        self.assertLessEqual(len(read), 4)
        expected = [self.model(np.full((1, 16), i, np.float32))["output_0"] for i in range(100)]
        for got, want in zip([first, *(r["output_0"] for r in results)], expected):
            np.testing.assert_array_equal(got, want)
        with self.assertRaises(ValueError):
            self.model.map([], in_flight=0)

    def test_pickle(self) -> None:
        self.check(run_model(pickle.loads(pickle.dumps(self.model))))

    def test_fork_after_runs(self) -> None:
        run_model(self.model)
        self.model.submit({"features": self.x}).result()
        with concurrent.futures.ProcessPoolExecutor(
                2, mp_context=multiprocessing.get_context("fork")) as pool:
            for output in pool.map(forked, [self.model] * 4):
                self.check(output)
        self.check(run_model(self.model))

    def test_fork_with_the_parents_model(self) -> None:
        run_model(self.model)
        child = os.fork()
        if child == 0:
            try:
                self.check(run_model(self.model))
                self.check(self.model.submit({"features": self.x}).result(60)["output_0"])
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_spawn(self) -> None:
        with concurrent.futures.ProcessPoolExecutor(
                1, mp_context=multiprocessing.get_context("spawn")) as pool:
            self.check(pool.submit(run_model, self.model).result(120))

    def test_exit_with_a_model_and_results_alive(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c",
             "import support, tenon\n"
             "m = tenon.load(support.MLP / 'saved_model')\n"
             "y = m(support.mlp_inputs()); f = m.submit({'features': support.mlp_inputs()})\n"],
            cwd=support.ROOT / "tests" / "python", capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


def forked(model: tenon.Model) -> np.ndarray:
    return run_model(model)


if __name__ == "__main__":
    unittest.main()
