"""One process and several: threads, fork, spawn, reloading the plug-in, endlessly many shapes."""

import shutil
import subprocess

from support import HERE, ROOT, PluginCase

OTHER = """
import sys, tensorflow as tf
from tensorflow.python.framework import load_library, op_def_registry
for library in sys.argv[1:]:
    load_library.load_pluggable_device_library(library)
run = tf.function(lambda x: tf.nn.relu(tf.matmul(x, x)))
x = tf.ones([2, 2])
print(run(x).numpy().sum(), tf.matmul(x, x).numpy().sum(),
      op_def_registry.get("_TenonConv2D") is not None)
"""


class ProcessTest(PluginCase):
    def run_process(self, name, **env):
        return self.run_python(HERE / "processes.py", name, **env)

    def test_threads(self):
        self.run_python(HERE / "threads.py")

    def test_fork_after_import(self):
        self.run_process("fork_after_import")

    def test_fork_after_eager_ops(self):
        self.run_process("fork_after_eager")

    def test_spawn(self):
        self.run_process("spawn")

    def test_reload(self):
        self.run_process("reload")

    def test_memory_of_many_shapes(self):
        self.run_process("shapes", TENON_CACHE_ENTRIES="200")

    def test_memory_of_many_eager_shapes(self):
        self.run_process("eager_shapes", TENON_CACHE_ENTRIES="100")

    # Beside others.

    def load(self, *libraries, installed=True, **env):
        """What a program prints that loads them, and what the plug-in says to stderr."""
        run = self.environment.run if installed else self.environment.run_without
        result = run("-c", OTHER, *libraries, **env)
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        said = [line for line in result.stderr.splitlines() if line.startswith("tenon:")]
        return result.stdout.split(), "\n".join(said)

    def entry(self, site=None):
        return (site or self.environment.site) / "tensorflow-plugins" / "libtenon_plugin.so"

    def test_loaded_twice(self):
        """TF_PLUGGABLE_DEVICE_LIBRARY_PATH names what is in site-packages as well."""
        out, said = self.load(TF_PLUGGABLE_DEVICE_LIBRARY_PATH=str(self.entry()))
        self.assertEqual((out, said), (["8.0", "8.0", "True"], ""))

    def test_second_copy(self):
        copy = self.scratch / "copy"
        for folder in ("tenon_tensorflow", "tensorflow-plugins"):
            shutil.copytree(self.environment.site / folder, copy / folder)
        out, said = self.load(TF_PLUGGABLE_DEVICE_LIBRARY_PATH=str(self.entry(copy)))
        self.assertEqual(out, ["8.0", "8.0", "True"])
        self.assertIn("another copy is loaded", said)
        # An installation that is not whole does not stop TensorFlow.
        (copy / "tenon_tensorflow" / "libtenon_tensorflow.so").unlink()
        out, said = self.load(self.entry(copy), installed=False)
        self.assertEqual(out, ["8.0", "8.0", "False"])
        self.assertIn("TensorFlow runs without it", said)

    def other_plugin(self, device):
        """Another plug-in, whose optimizer for the device leaves graphs as they are."""
        include = subprocess.run(
            [self.environment.borrowed_from, ROOT / "tools" / "tensorflow_include.py"], check=True,
            capture_output=True, text=True).stdout.strip()
        library = self.scratch / f"other_{device}.so"
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", f'-DDEVICE="{device}"',
                        HERE / "other_plugin.c", "-o", library], check=True)
        return library

    def test_beside_a_plugin_for_another_device(self):
        out, said = self.load(self.other_plugin("GPU"))
        self.assertEqual((out, said), (["8.0", "8.0", "True"], ""))

    def test_after_another_plugin_for_the_cpu(self):
        """TensorFlow takes one optimizer for a device type. (After this plug-in, another one ends
        the process in TensorFlow: nothing can be done about that here.)"""
        out, said = self.load(self.other_plugin("CPU"), self.entry(), installed=False)
        self.assertEqual(out, ["8.0", "8.0", "True"])
        self.assertIn("graphs are not rewritten", said)
