#!/usr/bin/env python3
"""include/tenon/device_plugin*.h against TensorFlow's own headers: every struct's size, every
field's place and type, every function's type, every constant. Both are compiled into the same
program.

    abi_test.py --tensorflow-include DIR [--cxx g++]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ["device_plugin.h", "device_plugin_tools.h"]
THEIRS = ["experimental/grappler/grappler.h", "experimental/pluggable_profiler/pluggable_profiler.h",
          "experimental/stream_executor/stream_executor.h", "kernels.h"]
# Not in TensorFlow's headers by that name.
OWN = {"TENON_DEVICE_PLUGIN_H_", "TENON_DEVICE_PLUGIN_TOOLS_H_", "TF_CAPI_EXPORT",
       "TF_OFFSET_OF_END", "TF_Bool", "TF_UNAUTHENTICATED", "TF_PayloadVisitor"}


def declared(text):
    """What the header declares: struct fields, functions, constants."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    constants = [m for m in re.findall(r"^#define (\w+)\b(?!\()", text, flags=re.M) if m not in OWN]
    text = re.sub(r"^#.*?(?<!\\)$", "", text, flags=re.M | re.S)
    fields = []
    for body, name in re.findall(r"typedef struct \w*\s*\{(.*?)\}\s*(\w+);", text, flags=re.S):
        for field in body.split(";"):
            found = re.search(r"\(\*(\w+)\)", field) or re.search(r"(\w+)\s*$", field.strip())
            if found:
                fields.append((name, found.group(1)))
    for body in re.findall(r"typedef enum \w+\s*\{(.*?)\}", text, flags=re.S):
        constants += re.findall(r"^\s*(\w+)", body.replace(",", "\n"), flags=re.M)
    functions = re.findall(r"\b((?:TF|SE)_\w+)\([^;{]*\);", re.sub(r"typedef[^;]*;", "", text))
    return fields, functions, constants


def program(includes):
    fields, functions, constants = declared(
        "".join((ROOT / "include" / "tenon" / h).read_text() for h in OURS))
    lines = [*includes, "#include <cstdio>", "#include <cstddef>", "#include <typeinfo>",
             "int main() {"]
    for struct in dict.fromkeys(s for s, _ in fields):
        lines.append(f'std::printf("{struct} %zu\\n", sizeof({struct}));')
    for struct, field in fields:
        lines.append(f'std::printf("{struct}.{field} %zu %s\\n", offsetof({struct}, {field}), '
                     f"typeid(decltype({struct}::{field})).name());")
    for name in functions:
        lines.append(f'std::printf("{name} %s\\n", typeid({name}).name());')
    for name in constants:
        lines.append(f'std::printf("{name} %lld\\n", static_cast<long long>({name}));')
    return "\n".join([*lines, "}"]), len(fields), len(functions), len(constants)


def output(cxx, folder, name, includes, flags):
    source, *counts = program(includes)
    file = pathlib.Path(folder) / f"{name}.cc"
    file.write_text(source)
    subprocess.run([cxx, "-std=c++17", "-w", *flags, file, "-o", file.with_suffix("")], check=True)
    return subprocess.run([file.with_suffix("")], check=True, capture_output=True,
                          text=True).stdout.splitlines(), counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-include", required=True)
    parser.add_argument("--cxx", default="c++")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours, counts = output(args.cxx, folder, "ours", [f'#include "tenon/{h}"' for h in OURS],
                              [f"-I{ROOT / 'include'}"])
        theirs, _ = output(args.cxx, folder, "theirs",
                           [f'#include "tensorflow/c/{h}"' for h in THEIRS],
                           [f"-I{args.tensorflow_include}"])
    different = [f"{a}   TensorFlow: {b}" for a, b in zip(ours, theirs) if a != b]
    print("\n".join(different))
    print("fields %d, functions %d, constants %d: %d differences" % (*counts, len(different)))
    return 1 if different or len(ours) != len(theirs) or min(counts) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
