#!/usr/bin/env python3
"""What is delivered can be traced: bills of materials, wheels that depend on nothing but their contents, pinned packages,
and programs whose memory is protected.

  tests/supply_chain_test.py --build build
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"

# pylint: disable=wrong-import-position
import environments
import sbom
import wheel

BUILD = ROOT / "build"

# Prints what is wrong with the documents named.
VALIDATE = """
import sys
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
for path in sys.argv[1:]:
  for message in validate_full_spdx_document(parse_file(path)):
    print(path, message.validation_message)
"""


def program() -> pathlib.Path:
  return BUILD / "bin" / "tenon"


def products() -> dict[str, pathlib.Path]:
  """The programs and libraries that are delivered, of those that are built: by the names of their packages."""
  files = {"tenon": program(),
           "libtenon0": BUILD / "lib" / "libtenon.so",
           "device_abi": BUILD / "lib" / "libtenon_device_abi.so",
           sbom.SERVER: BUILD / "bin" / "tensorflow_model_server",
           "tenon_tensorflow": BUILD / "site-packages" / "tenon_tensorflow" / "libtenon_tensorflow.so",
           "plug-in's entry": BUILD / "site-packages" / "tensorflow-plugins" / "libtenon_plugin.so"}
  files |= {"python3-tenon": path for path in (BUILD / "python" / "tenon").glob("_core*.so")}
  return {name: path.resolve() for name, path in files.items() if path.exists()}


@functools.cache
def dependencies() -> dict[str, list[str]]:
  """The headers of each object, as the compiler listed them."""
  log = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], check=True, capture_output=True, text=True).stdout
  found = {}
  for entry in log.split("\n\n"):
    first, *files = entry.splitlines() or [""]
    found[first.split(": #deps")[0]] = [file.strip() for file in files]
  return found


@functools.cache
def direct_inputs(names: frozenset[str]) -> frozenset[str]:
  known = subprocess.run(["ninja", "-C", BUILD, "-t", "query", *(n for n in names if not n.startswith("/"))],
                         check=True, capture_output=True, text=True).stdout
  # "    FILE", or "    | FILE" if it is not on the command line; "    || FILE" is only built before.
  found = re.findall(r"^  input:.*\n((?:    .*\n)*)", known, re.MULTILINE)
  return frozenset(re.findall(r"^    (?:\| )?([^|\s]\S*)$", "".join(found), re.MULTILINE))


def third_party(path: pathlib.Path) -> set[str]:
  """Debian packages of the headers and archives that the build of that file reads."""
  inputs: set[str] = set()
  new = {str(path.relative_to(BUILD))}
  while new:  # of what is linked into the file, not of other shared libraries
    inputs |= new
    new = {i for i in direct_inputs(frozenset(new)) if i.endswith((".o", ".a", ".gch"))} - inputs
  files = {file for file in inputs if file.endswith(".a")}
  for name in inputs:
    if name.endswith((".o", ".gch")):
      files.update(dependencies()[name])  # none: ninja has no list of it, so build it again
  files = {os.path.normpath(BUILD / file) for file in files}
  # Python's packages: the test below has them.
  ours = (str(ROOT) + "/", *(text for text in (cached("TENON_NANOBIND"), cached("TENON_TENSORFLOW_INCLUDE")) if text))
  files = {file for file in files if not file.startswith(ours) and "/include/python3" not in file}
  return set(owners(frozenset(files)))


@functools.cache
def owners(files: frozenset[str]) -> frozenset[str]:
  """Like sbom.owner, which would start a program for each of a thousand files."""
  listed = subprocess.run(["dpkg", "-S", *files], check=True, capture_output=True, text=True).stdout
  return frozenset(line.split(":")[0] for line in listed.splitlines())


def cached(name: str) -> str:
  found = re.search(f"^{name}:[A-Z]+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
  return found[1] if found else ""


@functools.cache
def source_of(package: str) -> str:
  """The Debian source package: headers and the shared library of one source are one library."""
  return subprocess.run(["dpkg-query", "-W", "-f", "${source:Package}\n", package], check=True, capture_output=True,
                        text=True).stdout.split("\n")[0]


# Sources of the compiler, of libc and of the kernel's headers.
COMPILERS = {source_of(package) for package in ("libgcc-s1", "libc6", "linux-libc-dev")}
# Of these, what is compiled is all that there is, or all that is used.
HEADERS_ONLY = {"libeigen3-dev", "libhwy-dev", "libxxhash-dev", "nlohmann-json3-dev", "libcli11-dev", "rapidjson-dev",
                "libboost1.81-dev"}


class BillOfMaterials(unittest.TestCase):

  def setUp(self):
    self.folder = tempfile.TemporaryDirectory()
    self.addCleanup(self.folder.cleanup)
    self.path = pathlib.Path(self.folder.name)
    (self.path / "bin").mkdir()
    os.symlink(program(), self.path / "link")  # links are not files of the package
    (self.path / "bin" / "tenon").write_bytes(program().read_bytes())

  def test_of_a_package(self):
    bill = sbom.of_folder(self.path, "tenon", "3.1.0")
    names = {p["SPDXID"]: p["name"] for p in bill["packages"]}
    kinds = {names[r["relatedSpdxElement"]]: r["relationshipType"] for r in bill["relationships"]}
    for name in sbom.COMPILED_IN:
      self.assertEqual(kinds[name], "STATIC_LINK", name)
    self.assertEqual(kinds["nanobind"], "STATIC_LINK")
    self.assertEqual(kinds["libc6"], "DYNAMIC_LINK")
    # Every library that the loader will look for is that of a package listed.
    for soname, path in sbom.needed(program()).items():
      if not soname.startswith("linux-vdso"):
        self.assertIn(sbom.owner(path), kinds, soname)
    self.assertEqual(bill, sbom.of_folder(self.path, "tenon", "3.1.0"))

  def test_lists_every_header_and_archive_that_is_compiled(self):
    seen = set()
    for name, path in products().items():
      with self.subTest(name), tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / path.name).write_bytes(path.read_bytes())
        bill = sbom.of_folder(pathlib.Path(folder), name, None)
        static = {p["SPDXID"] for p in bill["packages"]} & {
            r["relatedSpdxElement"] for r in bill["relationships"] if r["relationshipType"] == "STATIC_LINK"}
        compiled = {p["name"] for p in bill["packages"] if p["SPDXID"] in static}
        sources = {source_of(p["name"]) for p in bill["packages"] if "pkg:deb" in p["externalRefs"][0]["referenceLocator"]
                   and p["SPDXID"] not in static} | COMPILERS
        headers = third_party(path)
        self.assertGreater(len(headers), 0)
        missing = {p for p in headers - compiled if source_of(p) not in sources}
        self.assertEqual(missing, set(), "add them to COMPILED_IN of tools/sbom.py")
        # Templates and inline functions are compiled, also those of a library that is linked dynamically too.
        self.assertEqual((HEADERS_ONLY & headers) - compiled, set())
        if name == sbom.SERVER:
          self.assertEqual(set(sbom.SERVER_COMPILED_IN) - headers, set(), name)
        else:
          seen |= headers
    # Nothing is listed for no reason; wheels have archives of two shared libraries (TENON_PORTABLE).
    self.assertEqual(set(sbom.COMPILED_IN) - seen, {"libsnappy-dev"})

  def test_is_valid_spdx(self):
    target = self.path / "tenon.spdx.json"
    target.write_text(sbom.dump(sbom.of_folder(self.path, "tenon", "3.1.0")))
    broken = self.path / "broken.spdx.json"
    bill = json.loads(target.read_text())
    bill["relationships"][0]["relatedSpdxElement"] = "SPDXRef-nothing"
    broken.write_text(sbom.dump(bill))
    python = environments.ensure("wheels")
    for path, valid in ((target, True), (broken, False)):
      done = subprocess.run([python, "-c", VALIDATE, path], capture_output=True, text=True, check=True)
      self.assertEqual(done.stdout == "", valid, done.stdout)


class Wheel(unittest.TestCase):

  def pack(self, folder: pathlib.Path, mask: int, tensorflow: str | None = None) -> bytes:
    """A wheel of one file and one bundled library, packed in `folder` with that umask."""
    before = os.umask(mask)
    try:
      content = folder / "content"
      (content / "package").mkdir(parents=True)
      (content / "package" / "file.py").write_text("x = 1\n")
      library = next(p for s, p in sbom.needed(program()).items() if not wheel.SYSTEM.match(s) and s != "linux-vdso.so.1")
      wheel.write(content, "tenon_tensorflow", "py3-none-any", folder / "x.whl", [library], None, tensorflow)
    finally:
      os.umask(before)
    self.library = library
    return (folder / "x.whl").read_bytes()

  def test_same_contents_give_the_same_bytes(self):
    wheels = []
    for mask in (0o022, 0o077):
      with tempfile.TemporaryDirectory() as folder:
        wheels.append(self.pack(pathlib.Path(folder), mask))
    self.assertEqual(*wheels)

  def test_lists_what_it_bundles(self):
    with tempfile.TemporaryDirectory() as folder:
      self.pack(pathlib.Path(folder), 0o022, "2.21.0")
      with zipfile.ZipFile(pathlib.Path(folder) / "x.whl") as file:
        (name,) = [n for n in file.namelist() if n.endswith("dist-info/sboms/tenon_tensorflow.spdx.json")]
        bill = json.loads(file.read(name))
    contained = {r["relatedSpdxElement"].removeprefix("SPDXRef-") for r in bill["relationships"]
                 if r["relationshipType"] == "CONTAINS"}
    self.assertEqual(contained, {sbom.owner(self.library)})
    self.assertIn("pkg:pypi/tensorflow@2.21.0", [p["externalRefs"][0]["referenceLocator"] for p in bill["packages"][1:]])
    self.assertEqual(bill["creationInfo"]["created"], "2023-11-14T22:13:20Z")

  def test_the_version_of_the_headers_of_tensorflow(self):
    if "tenon_tensorflow" not in products():
      self.skipTest("no plug-in in this build")
    self.assertRegex(wheel.tensorflow_headers(BUILD), r"^2\.\d+\.\d+")


def normal(requirement: str) -> str:
  """zope.event[test]==6.2: zope-event==6.2."""
  name, version = re.sub(r"\[.*?\]", "", requirement).split("==")
  return f"{re.sub('[._-]+', '-', name).lower()}=={version}"


class Requirements(unittest.TestCase):

  def test_every_package_is_pinned_by_hash(self):
    files = sorted(ROOT.glob("*/**/*requirements.in"))
    files = [f for f in files if "build" not in f.relative_to(ROOT).parts]
    self.assertGreater(len(files), 5)
    for wanted in files:
      pinned = wanted.with_suffix(".txt").read_text()
      entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", pinned, flags=re.MULTILINE).strip())
      names = set()  # normalized, and without extras, whose packages are listed
      for entry in entries:
        head = re.match(r"[\w.-]+==\S+", entry)
        self.assertTrue(head, f"{wanted}: {entry}")
        self.assertIn("--hash=sha256:", entry, wanted)
        names.add(normal(head[0]))
      for line in wanted.read_text().splitlines():
        if line and not line.startswith("#"):
          self.assertIn(normal(line), names, f"{wanted.with_suffix('.txt')}: run tools/pin.sh")


class Hardening(unittest.TestCase):

  def read(self, path: pathlib.Path, *options: str) -> str:
    return subprocess.run(["readelf", "-W", *options, path], check=True, capture_output=True, text=True).stdout

  def test_programs_and_libraries(self):
    for name, path in products().items():
      with self.subTest(name):
        self.assertIn("DYN", self.read(path, "-h"), "not position-independent")
        headers = self.read(path, "-l")
        self.assertIn("GNU_RELRO", headers)
        stack = next(line for line in headers.splitlines() if "GNU_STACK" in line)
        self.assertNotIn("RWE", stack, "an executable stack")
        self.assertFalse(re.search(r"LOAD .* RWE ", headers), "memory both writable and executable")
        dynamic = self.read(path, "-d")
        self.assertTrue("BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic), "symbols are bound lazily")
        self.assertNotIn("TEXTREL", dynamic)
        # Libraries are those of the system, or beside the file.
        for found in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic):
          for part in found.split(":"):
            self.assertTrue(part == "" or part.startswith(("$ORIGIN", str(BUILD))), part)

  def test_stacks_are_checked_where_files_are_read(self):
    """In each object of the folders that read files and messages. `least`: as many objects are there, so that a test of
    nothing does not pass; `plain`: sources with no array, and nothing whose address is taken, on the stack."""
    folders = {"proto/CMakeFiles/tenon_proto.dir": (10, {"tenon_config.pb.cc"}),
               "graph/npz/CMakeFiles/tenon_npz.dir": (2, set())}
    if sbom.SERVER in products():
      folders["tools/serve/CMakeFiles/tenon_serve.dir"] = (
          15, {"health.pb.cc", "reflection.pb.cc", "reflection_v1alpha.pb.cc"})
    commands = {re.search(r" -o (\S+)", entry["command"])[1]: entry["command"]
                for entry in json.loads((BUILD / "compile_commands.json").read_text())}
    for folder, (least, plain) in folders.items():
      objects = sorted(name for name in commands if name.startswith(folder + "/") and name.endswith(".o"))
      self.assertGreaterEqual(len(objects), least, folder)
      for name in objects:
        with self.subTest(name):
          for option in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"):
            self.assertIn(option, commands[name])
          symbols = subprocess.run(["nm", "--undefined-only", BUILD / name], check=True, capture_output=True, text=True).stdout
          self.assertEqual("__stack_chk_fail" in symbols, not name.endswith(tuple(f"/{source}.o" for source in plain)))

  def test_no_path_of_the_build_in_the_program(self):
    strings = subprocess.run(["strings", "-a", program()], check=True, capture_output=True, text=True).stdout
    found = [line for line in strings.splitlines() if str(ROOT) + "/" in line]
    self.assertEqual(found[:5], [])


if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.add_argument("--build", type=pathlib.Path, default=BUILD)
  args, rest = parser.parse_known_args()
  BUILD = args.build.resolve()
  unittest.main(argv=[sys.argv[0], *rest])
