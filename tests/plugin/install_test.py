"""The wheel: what pip installs, what is loaded, how to switch it off, how to uninstall it."""

import subprocess

from support import PluginCase

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


class InstallTest(PluginCase):
    def test_bundled_libraries(self):
        """The wheel works with the libraries that it contains."""
        out = self.run_python("-c", MAPPED)
        out = {line for line in out.splitlines() if line.startswith("/")}
        for library in ("libtenon_tensorflow.so", "lib/libdnnl.so.2", "lib/libgomp.so.1"):
            self.assertIn(str(self.environment.site / "tenon_tensorflow" / library), out)

    def test_gate(self):
        for onednn, there in (("0", False), ("1", True)):
            out = self.run_python("-c", GATE, onednn=onednn)
            self.assertEqual(out.strip(), str(there))

    def test_optimizer_switched_off(self):
        self.assertEqual(self.run_python("-c", SWITCHED_OFF).strip(), "no private op")

    def test_uninstall(self):
        """Nothing stays behind, and TensorFlow still runs without it."""
        environment = self.environment
        try:
            environment.pip("uninstall", "-y", "tenon-tensorflow")
            left = [p.name for p in environment.site.iterdir() if p.name != "tensorflow.pth"]
            self.assertEqual(left, [])
            self.assertEqual(self.run_python("-c", GATE).strip(), "False")
        finally:
            environment.pip("install", "--no-deps", "--no-index", environment.wheel)
