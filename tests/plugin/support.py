"""Shared by the plug-in's test cases: an environment with the wheel, and scripts run in it."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def borrowed_packages(python):
    """The folder in which `python` has TensorFlow."""
    return subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True).stdout.strip()


class Environment:
    """A virtual environment that borrows TensorFlow from `python`, into which pip installs the
    wheel of the build in `site_packages` (None: no wheel). The environment of `python` never sees
    the plug-in."""

    def __init__(self, python, site_packages, folder):
        self.folder = pathlib.Path(folder)
        self.borrowed_from = pathlib.Path(python)
        venv = self.folder / "venv"
        subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)
        (self.site,) = venv.glob("lib/python3*/site-packages")
        (self.site / "tensorflow.pth").write_text(borrowed_packages(python))
        self.python = venv / "bin" / "python"
        if site_packages is None:
            return
        build = pathlib.Path(site_packages).resolve().parent
        subprocess.run([sys.executable, ROOT / "tools" / "wheel.py", "--build", build, "--output",
                        self.folder / "dist"], check=True, capture_output=True)
        (self.wheel,) = (self.folder / "dist").glob("*.whl")
        self.pip("install", "--no-deps", "--no-index", self.wheel)

    def pip(self, *args):
        """pip of the borrowed environment, at work on this one."""
        subprocess.run([self.borrowed_from, "-m", "pip", "--python", self.python,
                        "--disable-pip-version-check", "-q", *args], check=True)

    def run(self, *args, onednn="1", timeout=900, **env):
        """Runs Python in the environment; its result, whatever the exit status."""
        return self._run(self.python, *args, onednn=onednn, timeout=timeout, **env)

    def run_without(self, *args, **kwargs):
        """The same without the plug-in."""
        return self._run(self.borrowed_from, *args, **kwargs)

    def _run(self, python, *args, onednn="1", timeout=900, **env):
        return subprocess.run(
            [python, "-X", "faulthandler", *map(str, args)], text=True, capture_output=True,
            cwd=self.folder, timeout=timeout,
            env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": onednn, "TF_CPP_MIN_LOG_LEVEL": "2",
                 "CUDA_VISIBLE_DEVICES": "", **env})


class PluginCase(unittest.TestCase):
    """A test case with the environment that plugin_test.py makes before any of them runs."""

    environment = None

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(dir=self.environment.folder))

    def run_python(self, *args, **kwargs):
        """Output of a run that must succeed."""
        result = self.environment.run(*args, **kwargs)
        self.assertEqual(result.returncode, 0, result.stdout[-6000:] + result.stderr[-4000:])
        return result.stdout

    def same_results(self, script, *args, least=1, **env):
        """Runs a script that writes an .npz, without and with the plug-in, and compares."""
        files = {}
        for onednn in ("0", "1"):
            files[onednn] = self.scratch / f"results{onednn}.npz"
            self.run_python(HERE / script, files[onednn], *args, onednn=onednn,
                            **(env if onednn == "1" else {}))
        want, got = np.load(files["0"]), np.load(files["1"])
        self.assertEqual(set(want.files), set(got.files))
        self.compare(want, got, least)

    def compare(self, want, got, least):
        """All arrays of `want` against those of the same name."""
        self.assertGreaterEqual(len(want.files), least)
        for key in want.files:
            with self.subTest(key):
                self.assertEqual(want[key].shape, got[key].shape)
                self.assertEqual(want[key].dtype, got[key].dtype)
                with np.errstate(invalid="ignore"):
                    near = np.abs(want[key] - got[key]) <= tolerance(want[key], key)
                wrong = ~(near | (want[key] == got[key]) |
                          (np.isnan(want[key]) & np.isnan(got[key])))
                self.assertFalse(wrong.any(), f"{want[key][wrong][:5]} != {got[key][wrong][:5]}")


def tolerance(reference, key):
    """Sums of up to about 1000 products: a few dozen roundings of the largest value."""
    if "_rounded" in key:  # a loss after several steps
        return 1e-4 * np.abs(reference) + 1e-5
    steps = 64 * np.finfo(np.float32).eps
    if "_deep" in key:  # normalizations over a handful of values, one after another, enlarge errors
        steps *= 256
    if "bfloat16" in key:
        steps = 2 * 2.0**-8
    finite = np.abs(reference[np.isfinite(reference)])
    if "_rewritten" in key:  # as in tests/unit/graph_rewrite; a tie of integers may be a step off
        return 2e-5 * float(finite.max(initial=0)) + 1e-7 + float(key.split("_rewritten")[1])
    return steps * max(1.0, float(finite.max(initial=0)))
