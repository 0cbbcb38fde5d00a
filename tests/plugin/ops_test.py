"""Op by op: values and errors."""

import json

from support import HERE, PluginCase


class OpsTest(PluginCase):
    # TensorFlow says Unimplemented (strides and rates of batch and depth) or FailedPrecondition.
    OTHER_ERRORS = {"conv/error_batch_stride", "pool3d/max_error_stride", "dilation/error_rates",
                    "detection/to_hsv_error", "pool/max_channels_error_rest", "pool/max_channels_error_overlap",
                    "pool/max_channels_error_positions", "pool/argmax_error_both", "pool/argmax_error_overlap",
                    "pool/argmax_error_rest", "pool/argmax_error_batch"}
    SAME_ERRORS = {"InvalidArgumentError", "ResourceExhaustedError", "ValueError"}

    def test_golden_cases(self):
        """Each op on the golden cases, and what is raised where it must fail."""
        errors = {}
        self.run_python(HERE / "golden_ops.py", self.scratch / "errors1.json")
        self.run_python(HERE / "golden_ops.py", self.scratch / "errors0.json",
                        "--only", self.scratch / "errors1.json", onednn="0")
        for onednn in "01":
            errors[onednn] = json.loads((self.scratch / f"errors{onednn}.json").read_text())
        self.assertGreater(len(errors["1"]), 200)
        self.assertEqual(set(errors["0"]), set(errors["1"]))
        for case, got in errors["1"].items():
            with self.subTest(case):
                self.assertNotEqual(got, "no error")
                if errors["0"][case] in self.SAME_ERRORS:
                    self.assertEqual(got, errors["0"][case])
                else:  # TensorFlow does not notice, or says Internal
                    self.assertEqual(got, "InvalidArgumentError")
                    self.assertTrue(case.startswith("quantize") or errors["0"][case] == "no error"
                                    or case.split()[0] in self.OTHER_ERRORS, errors["0"][case])
