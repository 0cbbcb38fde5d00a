#!/usr/bin/env python3
"""Packs the built plug-in for stock TensorFlow into dist/tenon_tensorflow-VERSION-….whl.

    tools/wheel.py [--build build] [--output dist]

The libraries that the plug-in needs are bundled, except those that every system with TensorFlow
has. One wheel works with every Python and every TensorFlow whose C interface has the functions that it uses.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Parts of the system: they must not be in a process twice.
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.")
PACKAGE = "tenon_tensorflow"


def bundled(library):
    """Paths of the shared libraries to bundle, by soname."""
    out = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in out.splitlines():
        match = re.match(r"\s*(\S+) => (\S+)", line)
        if not match or SYSTEM.match(match.group(1)):
            continue
        if match.group(2) == "not":
            raise SystemExit(f"{library}: needs {match.group(1)}, which is not found")
        found[match.group(1)] = pathlib.Path(match.group(2)).resolve()
    return found


def version():
    return re.search(r"project\(tenon VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def stage(build, folder):
    """The wheel's files under `folder`."""
    site = build / "site-packages"
    shutil.copytree(site / "tensorflow-plugins", folder / "tensorflow-plugins")
    shutil.copytree(site / PACKAGE, folder / PACKAGE, dirs_exist_ok=True)
    for path in (ROOT / "python" / PACKAGE).glob("*.py"):
        shutil.copy(path, folder / PACKAGE)
    libraries = folder / PACKAGE / "lib"
    libraries.mkdir()
    for soname, path in bundled(folder / PACKAGE / f"lib{PACKAGE}.so").items():
        shutil.copy(path, libraries / soname)
    for path in folder.rglob("*.so*"):
        subprocess.run(["strip", "--strip-unneeded", path], check=True)


def write(folder, name, tag, target):
    info = folder / f"{name}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PACKAGE.replace('_', '-')}\nVersion: {version()}\n"
        "Summary: Tenon's graph rewrites and oneDNN kernels inside stock TensorFlow\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\n")
    (info / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: tools/wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n")
    record = []
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in files:
            data = path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path.relative_to(folder)},sha256={digest},{len(data)}")
            wheel.write(path, path.relative_to(folder))
        record.append(f"{info.name}/RECORD,,")
        wheel.writestr(f"{info.name}/RECORD", "\n".join(record) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "dist")
    args = parser.parse_args()
    name, tag = f"{PACKAGE}-{version()}", "py3-none-linux_x86_64"
    args.output.mkdir(parents=True, exist_ok=True)
    target = args.output / f"{name}-{tag}.whl"
    with tempfile.TemporaryDirectory() as folder:
        stage(args.build.resolve(), pathlib.Path(folder))
        write(pathlib.Path(folder), name, tag, target)
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
