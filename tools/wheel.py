#!/usr/bin/env python3
"""Packs what is built into wheels (tools/wheels.sh builds and packs all of them).

    tools/wheel.py [--build build] [--output dist]
    tools/wheel.py --core build/wheels/ID/tenon/_core.abi3.so [--output dist]

Without --core: the plug-in for stock TensorFlow, tenon_tensorflow. The libraries that it needs are bundled, except
those that every system with TensorFlow has. One wheel works with every Python and every TensorFlow whose C
interface has the functions that it uses. With --core: the package tenon around an extension module, without the
libraries that it needs (auditwheel bundles those).
"""

import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import zipfile

import sbom

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Parts of the system: they must not be in a process twice.
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.")
PLUGIN = "tenon_tensorflow"
METADATA = {
    "tenon": """Summary: Runs TensorFlow models on CPUs with oneDNN, without TensorFlow
Requires-Python: >=3.10
Requires-Dist: numpy>=1.23
Provides-Extra: ray
Requires-Dist: ray[data]>=2.40; extra == "ray"
Requires-Dist: pyarrow>=14; extra == "ray"
Provides-Extra: spark
Requires-Dist: pyspark>=3.4; extra == "spark"
Requires-Dist: pandas>=2; extra == "spark"
Requires-Dist: pyarrow>=14; extra == "spark"
""",
    PLUGIN: """Summary: Tenon's graph rewrites and oneDNN kernels inside stock TensorFlow
Requires-Python: >=3.9
""",
}


def bundled(library):
    """Paths of the shared libraries to bundle, by soname."""
    return {soname: path for soname, path in sbom.needed(library).items() if not SYSTEM.match(soname)}


def strip(folder):
    for path in folder.rglob("*.so*"):
        subprocess.run(["strip", "--strip-unneeded", path], check=True)


def stage_plugin(build, folder):
    """The plug-in's files under `folder`; returns the libraries that it bundles."""
    site = build / "site-packages"
    shutil.copytree(site / "tensorflow-plugins", folder / "tensorflow-plugins")
    shutil.copytree(site / PLUGIN, folder / PLUGIN, dirs_exist_ok=True)
    for path in (ROOT / "python" / PLUGIN).glob("*.py"):
        shutil.copy(path, folder / PLUGIN)
    libraries = folder / PLUGIN / "lib"
    libraries.mkdir()
    needed = bundled(folder / PLUGIN / f"lib{PLUGIN}.so")
    for soname, path in needed.items():
        shutil.copy(path, libraries / soname)
    strip(folder)
    return needed.values()


def stage_package(core, folder):
    """The package's files under `folder`; returns the libraries that auditwheel will bundle."""
    package = folder / "tenon"
    package.mkdir()
    for path in (ROOT / "python" / "tenon").iterdir():
        if path.is_file():
            shutil.copy(path, package)
    shutil.copy(core, package)
    strip(folder)
    return bundled(core).values()


def core_tag(core):
    """The Python and ABI tags of an extension module's file name."""
    if core.name.endswith(".abi3.so"):
        return "cp312-abi3"
    python = "cp" + re.search(r"cpython-(\d+)-", core.name).group(1)
    return f"{python}-{python}"


def add_licenses(folder, libraries, nanobind):
    """Copies the licences of this project and of everything in the wheel."""
    folder.mkdir()
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    for text in ROOT.glob("kernels/**/*.license"):  # of data that is not ours
        shutil.copy(text, folder / f"{text.stem}.txt")
    for package in sorted({*map(sbom.owner, libraries), *sbom.compiled_in("wheel")}):
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if text.exists():  # a package of parts refers to another's
            shutil.copy(text, folder / f"{package}.txt")
    if nanobind is not None:
        texts = sorted(nanobind.parent.glob("nanobind-*.dist-info/**/LICENSE*"))
        if not texts:
            raise SystemExit(f"{nanobind}: its licence is missing")
        shutil.copy(texts[0], folder / "nanobind.txt")


def tensorflow_headers(build):
    """The version of the TensorFlow whose headers the plug-in was compiled with."""
    cache = (build / "CMakeCache.txt").read_text()
    include = pathlib.Path(re.search(r"^TENON_TENSORFLOW_INCLUDE:PATH=(.+)$", cache, re.MULTILINE).group(1))
    return next(include.parents[1].glob("tensorflow*-*.dist-info")).stem.split("-")[1]


def write(folder, name, tag, target, libraries, nanobind, tensorflow=None):
    info = folder / f"{name}-{sbom.version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {sbom.version()}\n"
        f"License: Apache-2.0\n{METADATA[name]}")
    (info / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: tools/wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n")
    if name == "tenon":
        (info / "entry_points.txt").write_text("[console_scripts]\ntenon = tenon.__main__:main\n")
    add_licenses(info / "licenses", libraries, nanobind)
    (info / "sboms").mkdir()
    compiled_in = next(nanobind.parent.glob("nanobind-*.dist-info")).stem.removeprefix("nanobind-") if nanobind else None
    bill = sbom.document(name, f"pkg:pypi/{name.replace('_', '-')}@{sbom.version()}", map(sbom.owner, libraries), [],
                         compiled_in, tensorflow=tensorflow)
    (info / "sboms" / f"{name}.spdx.json").write_text(sbom.dump(bill))
    record = []
    # ZIP has no earlier times than 1980's, and no time zones.
    date = max(time.gmtime(sbom.epoch())[:6], (1980, 1, 1, 0, 0, 0))

    def add(wheel, path, data, mode):
        entry = zipfile.ZipInfo(str(path), date)
        entry.external_attr = mode << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)

    files = sorted(p for p in folder.rglob("*") if p.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in files:
            data = path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path.relative_to(folder)},sha256={digest},{len(data)}")
            # Readable by all, whatever the umask of the build.
            mode = 0o100755 if path.stat().st_mode & 0o100 else 0o100644
            add(wheel, path.relative_to(folder), data, mode)
        record.append(f"{info.name}/RECORD,,")
        add(wheel, f"{info.name}/RECORD", "\n".join(record) + "\n", 0o100644)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--core", type=pathlib.Path, help="an extension module: packs tenon")
    parser.add_argument("--nanobind", type=pathlib.Path, help="its folder, for its licence")
    parser.add_argument("--platform", default="linux_x86_64", help="the platform's tag")
    args = parser.parse_args()
    name = PLUGIN if args.core is None else "tenon"
    tag = f"{'py3-none' if args.core is None else core_tag(args.core)}-{args.platform}"
    args.output.mkdir(parents=True, exist_ok=True)
    target = args.output / f"{name}-{sbom.version()}-{tag}.whl"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if args.core is None:
            libraries = stage_plugin(args.build.resolve(), folder)
            tensorflow = tensorflow_headers(args.build)
        else:
            libraries = stage_package(args.core, folder)
            tensorflow = None
        write(folder, name, tag, target, libraries, args.nanobind, tensorflow)
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
