"""Threads: how many the plug-in uses, whatever says so, and how its OpenMP waits."""

import json
import os
import re

from support import HERE, PluginCase

# What the C library's environment holds; Python's is a copy from the start.
ENVIRONMENT = """
import ctypes, tensorflow
get = ctypes.CDLL(None).getenv
get.restype = ctypes.c_char_p
print(get(b"GOMP_SPINCOUNT"), get(b"OMP_WAIT_POLICY"))
"""


class ThreadsTest(PluginCase):
    def spin(self, **env):
        """Count and policy that libgomp was loaded with, and the environment's afterwards."""
        result = self.environment.run("-c", ENVIRONMENT, OMP_DISPLAY_ENV="verbose", **env)
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        found = [re.search(rf"{name} = '(\w+)'", result.stderr)
                 for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")]
        return *(f and f[1] for f in found), result.stdout.strip()

    def test_spins_shortly(self):
        self.assertEqual(self.spin(), ("10000", "ACTIVE", "None None"))

    def test_spins_as_the_user_says(self):
        self.assertEqual(self.spin(GOMP_SPINCOUNT="77"), ("77", "PASSIVE", "b'77' None"))
        self.assertNotEqual(self.spin(OMP_WAIT_POLICY="active")[0], "10000")

    def uses(self, *settings, **env):
        """How many threads ops used: {"what ran": threads}; and how many CPUs there are."""
        uses = json.loads(self.run_python(HERE / "intra_op.py", *settings, **env).splitlines()[-1])
        return uses, uses.pop("cpus")

    def check_uses(self, threads, *settings, **env):
        uses, cpus = self.uses(*settings, **env)
        self.assertGreater(len(uses), 2)
        self.assertEqual(uses, dict.fromkeys(uses, min(threads, cpus)))

    def test_nothing_said(self):
        self.check_uses(os.cpu_count(), "config", 0)

    def test_environment(self):
        self.check_uses(1, "config", 0, TF_NUM_INTRAOP_THREADS="1")
        self.check_uses(1, "config", 0, OMP_NUM_THREADS="1")

    def test_config_comes_before_environment(self):
        self.check_uses(1, "config", 1, TF_NUM_INTRAOP_THREADS="2")
        self.check_uses(5, "config", 5, TF_NUM_INTRAOP_THREADS="1", OMP_NUM_THREADS="1")

    def test_sessions(self):
        uses, cpus = self.uses("sessions", 1, 2, 1, 0)
        self.assertEqual(list(uses.values()), [1, min(2, cpus), 1, cpus])

    def test_starts_no_more_than_asked(self):
        for threads in (1, 2):
            started, cpus = map(int, self.run_python(
                HERE / "intra_op.py", "helpers", threads).split()[-2:])
            self.assertEqual(started, min(threads, cpus) - 1)

    def test_budget(self):
        for intra_op, inter_op in ((0, 8), (1, 8)):
            with self.subTest(intra_op=intra_op, inter_op=inter_op):
                uses, cpus = self.uses("wide", intra_op, inter_op)
                self.assertLessEqual(uses["at once"], cpus)
                self.assertEqual(uses["of an op"], min(intra_op or cpus, cpus))
                self.assertGreaterEqual(uses["at once"], uses["of an op"])
