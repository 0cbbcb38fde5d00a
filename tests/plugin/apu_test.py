#!/usr/bin/env python3
"""The sample device plug-in (apu/) inside stock TensorFlow, alone and beside Tenon's plug-in.

    apu_test.py --python PYTHON_WITH_TENSORFLOW --plugin BUILD/apu/libapu_….so \\
                --probe BUILD/apu/libapu_probe.so --site-packages BUILD/site-packages [test…]
"""

import argparse
import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np

from support import HERE, Environment

ARGS = None


def with_plugin(plugin, site_packages, folder):
    """An environment that has the plug-in, and Tenon's unless `site_packages` is None."""
    environment = Environment(ARGS.python, site_packages, folder)
    plugins = environment.site / "tensorflow-plugins"
    plugins.mkdir(exist_ok=True)
    (plugins / plugin.name).symlink_to(plugin)
    return environment


class ApuTest(unittest.TestCase):
    def run_work(self, site_packages):
        with tempfile.TemporaryDirectory() as folder:
            environment = with_plugin(ARGS.plugin, site_packages, folder)
            result = environment.run(HERE / "apu_work.py", ARGS.plugin, TENON_DUMP_DIR=folder)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr[-4000:])
            graphs = "".join(f.read_text() for f in pathlib.Path(folder).glob("*_fuse.graph"))
        return json.loads(result.stdout.splitlines()[-1]), graphs

    def check(self, out):
        self.assertIn(["/physical_device:CPU:0", "CPU"], out["devices"])
        self.assertIn(["/physical_device:APU:0", "APU"], out["devices"])
        self.assertIn("/device:APU:0", out["where"])
        self.assertEqual(out["eager"], [[0, 2, 0, 5.5], 1, 0])
        self.assertEqual(out["eager_empty"][:2], [[], 0])
        self.assertEqual(out["eager_double"][:2], [[0, 2, 0, 5.5], 0])  # no such kernel: the CPU's
        self.assertEqual(out["function"][:2], [[0, 4, 0, 11], 1])
        self.assertEqual(out["loop"][:2], [[0, 0, 0, 2.5], 3])
        self.assertEqual(out["branch"][:2], [[0, 2, 0, 5.5], 1])
        # Iteration by iteration: |x| - 1, four times, and no copy of what is only kept.
        self.assertEqual(out["mixed_loop"][:2], [[-1, 2, -3, 7], 4])
        self.assertGreaterEqual(min(out["mixed_loop_copies"]), 4)
        self.assertLessEqual(max(out["mixed_loop_copies"]), 8)  # the result is fetched as well
        self.assertEqual(out["nested"][0][:2], [[0, 0, 0, 0], 2])
        self.assertEqual(out["nested"][1][:2], [[8, 7, 10, 7], 1])
        self.assertEqual(out["session_loop"][:2], [[0, 0, 0, 2.5], 3])
        self.assertEqual(out["gradient"][:2], [[0, 4, 0, 11], 1])
        self.assertEqual(out["threads"][1], 80)
        self.assertEqual(out["threads"][0], [[0, 4 + 2 * i, 0, 11 + 2 * i] if i < 2 else
                                             [2 * (i - 1), 4 + 2 * i, 0, 11 + 2 * i]
                                             for i in range(4)])
        self.assertGreater(out["function"][2], 0)  # the plug-in's optimizer saw the graph
        got, runs, _ = out["convolution"]
        self.assertEqual(runs, 1)
        np.testing.assert_allclose(got, out["convolution_wanted"], rtol=1e-5, atol=1e-4)
        self.assertGreater(min(out["copies"]), 0)
        self.assertEqual(out["profile"], ["Relu"])

    def test_alone(self):
        out, graphs = self.run_work(None)
        self.check(out)
        self.assertEqual(graphs, "")

    def test_beside_tenon(self):
        out, graphs = self.run_work(ARGS.site_packages)
        self.check(out)
        self.assertIn("_FusedConv2D", graphs)  # Tenon ran, and left the APU's node alone

    def test_interface(self):
        """What TensorFlow answers to a plug-in: abi_probe.txt, which Tenon's answers are compared
        with as well (tests/unit/device_abi)."""
        want = (HERE / "abi_probe.txt").read_text().splitlines()
        self.assertGreater(len(want), 500)
        # TensorFlow forwards an input's memory only if another of its threads no longer holds it.
        # The probe waits for that thread, but on a busy machine perhaps not long enough.
        for _ in range(5):
            got = self.probe()
            if got == want:
                return
        self.assertEqual(got, want)

    def probe(self):
        """The lines that the probe wrote: what TensorFlow answered."""
        with tempfile.TemporaryDirectory() as folder:
            environment = with_plugin(ARGS.probe, None, folder)
            log = pathlib.Path(folder) / "log"
            result = environment.run(HERE / "abi_probe.py", PROBE_LOG=str(log))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr[-4000:])
            return log.read_text().splitlines()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--site-packages", required=True)
    ARGS, rest = parser.parse_known_args()
    ARGS.plugin = pathlib.Path(ARGS.plugin).resolve()
    ARGS.probe = pathlib.Path(ARGS.probe).resolve()
    unittest.main(argv=[sys.argv[0], *rest])
