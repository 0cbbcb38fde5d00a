"""A graph that cannot be rewritten stays as it is, and one line says why."""

from support import HERE, PluginCase


class FailuresTest(PluginCase):
    def said(self, name, **env):
        """What the plug-in says where failures.py finds the right values."""
        result = self.environment.run(HERE / "failures.py", name, **env)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr[-4000:])
        return [line for line in result.stderr.splitlines() if line.startswith("tenon:")]

    def test_nothing_fails(self):
        self.assertEqual(self.said("none"), [])

    def test_rewriting_fails(self):
        """Three functions, each optimized twice, and one line."""
        (line,) = self.said("rules", TENON_DISABLE_RULES="NoSuchRule")
        self.assertIn("a graph is not rewritten, TensorFlow runs it as it is", line)
        self.assertIn("NoSuchRule", line)

    def test_import_fails(self):
        (line,) = self.said("loop")
        self.assertIn("a graph is not rewritten", line)
