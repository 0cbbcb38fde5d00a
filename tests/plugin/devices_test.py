#!/usr/bin/env python3
"""The command line with the sample device plug-in (apu/).

    devices_test.py --tenon BUILD/bin/tenon --plugin BUILD/apu/libapu_….so [test…]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
MLP = MODELS / "mlp" / "saved_model"
ARGS = None


def tenon(*args, **env):
    return subprocess.run([ARGS.tenon, *map(str, args)], text=True, capture_output=True,
                          timeout=120, env={**os.environ, **env})


class DevicesTest(unittest.TestCase):
    def ok(self, *args, **env):
        result = tenon(*args, **env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def error(self, *args, **env):
        result = tenon(*args, **env)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        return result.stderr

    def test_list(self):
        for out in (self.ok("devices", "--plugin", ARGS.plugin),
                    self.ok("devices", TENON_PLUGIN_PATH=ARGS.plugin)):
            self.assertRegex(out, r"CPU:0 +oneDNN")
            self.assertRegex(out, r"APU:0 +SAMPLE_APU +.*1024 of 1024 MiB free +1 +\S*apu")
        self.assertNotIn("APU", self.ok("devices"))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ARGS.plugin, folder)
            (pathlib.Path(folder) / "notes.txt").write_text("not a plug-in")
            self.assertIn("APU:0", self.ok("devices", "--plugin", folder))

    def test_run(self):
        """Models, two of them with nodes of the device in bodies of loops and branches."""
        with tempfile.TemporaryDirectory() as folder:
            for model, placed in (("mlp", 3), ("control/loops", 1), ("control/branches", 1)):
                saved = MODELS / model / "saved_model"
                device = ["--plugin", ARGS.plugin, "--device", "apu:0"]
                dump = self.ok("dump", saved, "--phase", "rename", *device)
                self.assertEqual(dump.count('_device="APU:0", _op="Relu"'), 2 * placed)
                for inputs in sorted((MODELS / model).glob("inputs*.npz")):
                    outputs = []
                    for args in ([], device):
                        file = pathlib.Path(folder) / "out.npz"
                        self.ok("run", saved, "--inputs", inputs, "--outputs", file, *args)
                        outputs.append(dict(np.load(file)))
                    wanted = np.load(inputs.with_name(inputs.name.replace("inputs", "outputs")))
                    for name, value in outputs[0].items():
                        np.testing.assert_allclose(outputs[1][name], value, rtol=1e-5, atol=1e-6)
                        np.testing.assert_allclose(outputs[1][name], wanted[name], rtol=1e-4,
                                                   atol=1e-5)

    def test_profile_shows_copies(self):
        out = self.ok("bench", MLP, "--plugin", ARGS.plugin, "--device", "APU:0", "--seconds",
                      "0.05", "--profile")
        sums = dict(re.findall(r"(\w+) \((\d+)\)$", out, flags=re.M))
        self.assertEqual((sums["Relu"], sums["CopyToDevice"], sums["CopyToHost"]), ("3", "3", "3"))
        self.assertEqual(sums["_MklNativeFusedMatMul"], "4")  # the rest fuses as ever

    def test_dump_shows_placement(self):
        args = ["dump", MLP, "--phase", "rename", "--plugin", ARGS.plugin]
        self.assertEqual(self.ok(*args, "--device", "APU").count('_device="APU:0", _op="Relu"'),
                         2 * 3)  # before and after the phase
        self.assertNotIn("_OnDevice", self.ok(*args))

    def test_errors(self):
        plugin = ["--plugin", ARGS.plugin]
        self.assertIn("there is no device 'GPU:1'; devices are CPU:0, APU:0",
                      self.error("run", MLP, *plugin, "--device", "GPU:1"))
        self.assertIn("devices are CPU:0", self.error("run", MLP, "--device", "APU:0"))
        self.assertIn("'/none.so': no such file", self.error("devices", "--plugin", "/none.so"))
        self.assertIn("'/none.so': no such file", self.error("devices", TENON_PLUGIN_PATH="/none.so"))
        self.assertIn("cannot be loaded", self.error("devices", "--plugin", __file__))
        for where, message in (("init", "SE_InitPlugin: the APU is switched off"),
                               ("version", "implements version 1.0.1 of the device interface"),
                               ("size", "SP_Platform has struct_size 0")):
            error = self.error("devices", *plugin, APU_FAIL=where)
            self.assertIn(message, error)
            self.assertIn(ARGS.plugin, error)
        for where, message in (("kernel", "the APU has lost its way"),
                               ("create", "kernel of APU:0: no APU is free")):
            error = self.error("run", MLP, *plugin, "--device", "APU:0", "--inputs",
                               MODELS / "mlp" / "inputs.npz", APU_FAIL=where)
            self.assertRegex(error, r"node '.*Relu'.*" + message)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--plugin", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
