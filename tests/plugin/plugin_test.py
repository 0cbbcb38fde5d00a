#!/usr/bin/env python3
"""Stock TensorFlow with the plug-in against the same without it.

    plugin_test.py --python PYTHON_WITH_TENSORFLOW --site-packages BUILD/site-packages [test…]

The plug-in goes into a virtual environment of its own, which borrows TensorFlow from PYTHON's: the
environment that golden values come from never sees it.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ARGS = None


def environment(folder, site_packages):
    """A Python that has TensorFlow and the plug-in, which is in `site_packages`."""
    venv = pathlib.Path(folder) / "venv"
    subprocess.run([ARGS.python, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/python3*/site-packages")
    borrowed = subprocess.run(
        [ARGS.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True).stdout
    (site / "tensorflow.pth").write_text(borrowed)
    for entry in pathlib.Path(site_packages).resolve().iterdir():
        (site / entry.name).symlink_to(entry)
    return venv / "bin" / "python"


def tolerance(reference, key):
    """Sums of up to about 1000 products: a few dozen roundings of the largest value."""
    if "_rounded" in key:  # a loss after several steps
        return 1e-4 * np.abs(reference) + 1e-5
    steps = 64 * np.finfo(np.float32).eps
    if "bfloat16" in key:
        steps = 2 * 2.0**-8
    return steps * max(1.0, float(np.abs(reference).max(initial=0)))


class PluginTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.python = environment(cls.folder.name, ARGS.site_packages)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_python(self, *args, onednn="1", **env):
        result = subprocess.run(
            [self.python, "-X", "faulthandler", *map(str, args)], text=True, capture_output=True,
            cwd=self.folder.name, timeout=900,
            env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": onednn, "TF_CPP_MIN_LOG_LEVEL": "2",
                 "CUDA_VISIBLE_DEVICES": "", **env})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr[-4000:])
        return result.stdout

    def test_same_results(self):
        files = {}
        dump = pathlib.Path(self.folder.name) / "dump"
        dump.mkdir()
        for onednn in ("0", "1"):
            files[onednn] = pathlib.Path(self.folder.name) / f"results{onednn}.npz"
            self.run_python(HERE / "workloads.py", files[onednn], onednn=onednn,
                            TENON_DUMP_DIR=str(dump) if onednn == "1" else "")
        want, got = np.load(files["0"]), np.load(files["1"])
        self.assertEqual(set(want.files), set(got.files))
        self.assertGreater(len(want.files), 200)
        for key in want.files:
            with self.subTest(key):
                self.assertEqual(want[key].shape, got[key].shape)
                self.assertEqual(want[key].dtype, got[key].dtype)
                wrong = np.abs(want[key] - got[key]) > tolerance(want[key], key)
                self.assertFalse(wrong.any(), f"{want[key][wrong][:5]} != {got[key][wrong][:5]}")
        # It was Tenon that ran: graphs were rewritten, forward and backward.
        graphs = "".join(f.read_text() for f in dump.glob("*_fuse.graph"))
        ops = set(re.findall(r" = (\w+)\(", graphs))
        self.assertLessEqual({"_FusedConv2D", "_FusedMatMul", "_FusedDepthwiseConv2dNative",
                              "Conv2DBackpropFilter", "Conv2DBackpropInput", "Einsum",
                              "FusedBatchNormV3", "_MaxPoolGradWithWorkspace"} - ops, set())

    def test_saved_model_has_no_private_op(self):
        self.run_python(HERE / "saved_model.py", "save", "saved")
        # Read again by a TensorFlow that does not have the plug-in, and by one that has.
        for onednn in ("0", "1"):
            self.run_python(HERE / "saved_model.py", "load", "saved", onednn=onednn)

    def test_wheel(self):
        """The wheel's files, unpacked, work with the libraries that they carry."""
        folder = pathlib.Path(self.folder.name) / "wheel"
        build = pathlib.Path(ARGS.site_packages).resolve().parent
        subprocess.run([sys.executable, HERE.parents[1] / "tools" / "wheel.py", "--build", build,
                        "--output", folder], check=True, capture_output=True)
        (wheel,) = folder.glob("*.whl")
        site = folder / "site"
        with zipfile.ZipFile(wheel) as files:
            files.extractall(site)
        python = environment(folder, site)
        out = subprocess.run([python, "-c", MAPPED], check=True, capture_output=True, text=True,
                             env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1"}).stdout
        out = {line for line in out.splitlines() if line.startswith("/")}
        for library in ("libtenon_tensorflow.so", "lib/libdnnl.so.2", "lib/libgomp.so.1"):
            self.assertIn(str(site / "tenon_tensorflow" / library), out)

    def test_threads(self):
        self.run_python(HERE / "threads.py")

    def test_gate(self):
        for onednn, there in (("0", False), ("1", True)):
            out = self.run_python("-c", GATE, onednn=onednn)
            self.assertEqual(out.strip(), str(there))

    def test_optimizer_switched_off(self):
        out = self.run_python("-c", SWITCHED_OFF)
        self.assertEqual(out.strip(), "no private op")


MAPPED = """
import tensorflow as tf
import tenon_tensorflow
print("\\n".join(line.split()[-1] for line in open("/proc/self/maps") if "tenon" in line))
print(tf.function(lambda x: tf.nn.relu(tf.matmul(x, x)))(tf.ones([4, 4])))
"""

GATE = """
import tensorflow as tf
from tensorflow.python.framework import op_def_registry
print(op_def_registry.get("_TenonConv2D") is not None)
"""

SWITCHED_OFF = """
import os, glob, tempfile
folder = tempfile.mkdtemp()
os.environ["TENON_DUMP_DIR"] = folder
import tensorflow as tf
tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": False})
tf.function(lambda x: tf.nn.relu(tf.matmul(x, x)))(tf.ones([4, 4]))
print("rewritten" if glob.glob(folder + "/*") else "no private op")
"""


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--site-packages", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
