#!/usr/bin/env python3
"""Software bills of materials, SPDX 2.3 in JSON: what a wheel or a Debian package contains and needs.

    tools/sbom.py FOLDER --name libtenon0 [--nanobind VERSION]     of the files to be packed, to standard output

Libraries are those of Debian packages. A library is linked statically (headers and archives: COMPILED_IN), bundled (tools/wheel.py),
or linked dynamically and installed by the system.
"""

import argparse
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Debian packages whose code is in our binaries without a shared library: their headers' and, in wheels, their archives'.
# The test derives it from the compiler's lists of dependencies.
COMPILED_IN = ["libcli11-dev", "libeigen3-dev", "libhwy-dev", "libicu-dev", "libleveldb-dev", "libsnappy-dev",
               "libxxhash-dev", "nlohmann-json3-dev"]
# tensorflow_model_server contains nothing of the engine, which is in libtenon.so.
SERVER = "tenon-server"
SERVER_COMPILED_IN = ["libboost1.81-dev", "libcli11-dev", "rapidjson-dev"]


def version():
    return re.search(r"project\(tenon VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def epoch():
    """The time that files in packages carry: SOURCE_DATE_EPOCH, else the last commit's; no commits: 1980."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else 315532800


OWN = "libtenon.so"  # of the package libtenon0, which is not installed where packages are made


def needed(binary):
    """Paths of the shared libraries that the loader would load, by soname; OWN's is None if it is not found."""
    out = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in out.splitlines():
        match = re.match(r"\s*(\S+) => (\S+)", line)
        if match and match.group(2) == "not" and match.group(1).startswith(OWN):
            found[match.group(1)] = None
        elif match and match.group(2) == "not":
            raise SystemExit(f"{binary}: needs {match.group(1)}, which is not found")
        elif match:
            found[match.group(1)] = pathlib.Path(match.group(2)).resolve()
    return found


@functools.cache
def owner(path):
    """The Debian package of a library."""
    for name in (path, pathlib.Path(str(path).removeprefix("/usr"))):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise SystemExit(f"{path}: no Debian package has this library, so its version and licence are not known")


def _package(name, version_text, supplier, url, declared="NOASSERTION"):
    return {
        "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "name": name, "versionInfo": version_text,
        "supplier": supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": declared, "copyrightText": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}],
    }


def _debian(name):
    """The installed Debian package, with its source: what advisories name."""
    fields = "${Version}\\t${Architecture}\\t${source:Package}\\t${source:Version}"
    out = subprocess.run(["dpkg-query", "-W", "-f", fields, name], check=True, capture_output=True, text=True).stdout
    installed, architecture, source, source_version = out.split("\t")
    package = _package(name, installed, "Organization: Debian",
                       f"pkg:deb/debian/{name}@{installed.replace(':', '%3A')}?arch={architecture}")
    package["sourceInfo"] = f"built from the Debian source package {source} {source_version}"
    return package


def _nanobind(text):
    package = _package("nanobind", text, "NOASSERTION", f"pkg:pypi/nanobind@{text}", "BSD-3-Clause")
    package["sourceInfo"] = "with tsl::robin_map, which it contains (MIT)"
    return package


def _tensorflow(text):
    package = _package("tensorflow", text, "NOASSERTION", f"pkg:pypi/tensorflow@{text}", "Apache-2.0")
    package["sourceInfo"] = "headers of the C interface, whose inline functions for strings are compiled"
    return package


def compiled_in(name):
    """The Debian packages of COMPILED_IN for that package."""
    return SERVER_COMPILED_IN if name == SERVER else COMPILED_IN


def document(name, purl, bundled, linked, nanobind, needs_own=False, tensorflow=None):
    """The document. `bundled`, `linked`: names of Debian packages in the package, and of those that it needs;
    `nanobind`, `tensorflow`: the version whose code is in the package, or None; `needs_own`: whether it needs libtenon0."""
    root = _package(name, version(), "Organization: Tenon", purl, "Apache-2.0")
    root["primaryPackagePurpose"] = "LIBRARY"
    packages = [root]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", root["SPDXID"])]
    for names, kind in ((compiled_in(name), "STATIC_LINK"), (bundled, "CONTAINS"), (linked, "DYNAMIC_LINK")):
        for other in sorted(set(names)):
            packages.append(_debian(other))
            relations.append((root["SPDXID"], kind, packages[-1]["SPDXID"]))
    if needs_own:
        packages.append(_package("libtenon0", version(), "Organization: Tenon", f"pkg:generic/libtenon0@{version()}", "Apache-2.0"))
        relations.append((root["SPDXID"], "DYNAMIC_LINK", packages[-1]["SPDXID"]))
    for package in (nanobind and _nanobind(nanobind), tensorflow and _tensorflow(tensorflow)):
        if package:
            packages.append(package)
            relations.append((root["SPDXID"], "STATIC_LINK", package["SPDXID"]))
    found = {"packages": packages, "relationships": [
        {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version()}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version()}-{uuid.UUID(digest[:32])}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch())),
                         "creators": ["Tool: tenon-sbom", "Organization: Tenon"]},
        **found}


def dump(found):
    return json.dumps(found, indent=1) + "\n"


def of_folder(folder, name, nanobind):
    """The document of a Debian package whose files are in `folder`."""
    libraries = {}
    own = set()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        with path.open("rb") as file:
            if file.read(4) == b"\x7fELF" and path.suffix != ".o":
                own.add(path.name.split(".so")[0])
                libraries |= needed(path)
    others = {soname: path for soname, path in libraries.items()
              if not soname.startswith("linux-vdso") and soname.split(".so")[0] not in own}
    linked = {owner(path) for soname, path in others.items() if not soname.startswith(OWN)}
    needs_own = any(soname.startswith(OWN) for soname in others)
    return document(name, f"pkg:generic/{name}@{version()}", [], linked, nanobind, needs_own)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--nanobind", metavar="VERSION", help="its code is in the package")
    args = parser.parse_args()
    sys.stdout.write(dump(of_folder(args.folder, args.name, args.nanobind)))


if __name__ == "__main__":
    main()
