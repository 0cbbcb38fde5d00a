#!/usr/bin/env python3
"""Checks what the compiler does not: layers, circular dependencies of folders, where libraries may
appear, lists of op names outside the op table, file sizes, formatting.

    tools/presubmit.py            check the whole tree
    tools/presubmit.py --fix      run clang-format over it first

Prints one line per finding, then a summary; exits with 1 if there are findings.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A layer may include from layers of a lower rank and from itself.
RANK = {
    "env": 0,
    "graph": 1,
    "primitive_cache": 1,
    "kernels": 2,
    "ops": 3,
    "proto": 4,
    "graph_rewrite": 4,
    "runtime": 5,
    "include": 6,
    "tools": 7,
    "tf_plugin": 7,
    "python": 8,
    "tests": 8,
    "bench": 8,
    "examples": 8,
}
# Where a header or function may appear, and why elsewhere is a mistake.
ONLY_IN = [
    (re.compile(r'#include [<"](oneapi/dnnl/|dnnl)'), {"primitive_cache"}, "oneDNN"),
    (re.compile(r'#include [<"](.*\.pb\.h|google/protobuf/)'), {"proto", "tools/serve"}, "protobuf"),
    (re.compile(r"\b(secure_)?getenv\s*\("), {"env"}, "getenv"),
    (re.compile(r"\babsl::Str(Append)?Format\("), {"runtime/explore", "tf_plugin", "tools", "bench"},
     "absl::StrFormat ends the process if memory is refused (use StrCat or SNPrintF): it"),
    (re.compile(r'#include "absl/container/(flat|node)_hash_|#include "absl/container/btree_'), {"env/containers.h"},
     "a table that refused memory damages (use HashMap, HashSet, OrderedMap or OrderedSet): it"),
]
# Facts about an op belong in its row: a statement elsewhere may name this many ops; one that names
# more gives the reason in a comment "op names: …". Tests and benchmarks name the ops that they run.
MAX_OP_NAMES = 2
NAMES_OPS = re.compile(r"ops/|bench/|tests/(?!support/)")
# Fields of a rule that name what it matches.
RULE_FIELDS = re.compile(r'\.(?:anchors|contraction|fused)\s*=\s*(?:"[^"]*"\s*)+')
# String literals, comments, characters, ends of lines and of statements.
TOKEN = re.compile(r'''"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)+'|\n|;''', re.S)
MAX_LINES = 800
MAX_BYTES = 30_000
SOURCE = {".h", ".cc", ".hpp", ".inc"}


def tracked_files():
    out = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return [pathlib.Path(p) for p in out.splitlines() if (ROOT / p).is_file()]


def check_layers(path, lines):
    """Yields findings about the includes of one source file."""
    layer = path.parts[0]
    if layer not in RANK:
        yield f"{path}: C++ outside the project's folders"
        return
    for number, line in enumerate(lines, 1):
        include = re.match(r'#include "([a-z_]+)/', line)
        if include:
            other = include.group(1)
            if other == "tenon":  # public headers are included as "tenon/..."
                other = "include"
            if line.startswith('#include "include/tenon/device_plugin.h"'):
                continue  # declarations of TensorFlow's C interface; includes nothing of ours
            rank = RANK.get(other)
            if rank is not None and other != layer and rank >= RANK[layer]:
                yield f"{path}:{number}: {layer} must not include {other}"
        for pattern, folders, what in ONLY_IN:
            inside = layer == "tests" or any(path.is_relative_to(f) for f in folders)
            if pattern.search(line) and not inside:
                yield f"{path}:{number}: {what} belongs in {', '.join(sorted(folders))} only"


def left_out():
    """The folders of kernels that a sanitizer's build leaves out."""
    text = (ROOT / "tools/sanitize.sh").read_text(encoding="utf-8")
    return set(re.search(r"TENON_WITHOUT_OPS=([a-z;]+)", text).group(1).split(";"))


def check_left_out(path, lines, folders):
    """Yields includes that such a build could not link."""
    # Text ops are a library of their own, which these builds do not link.
    if path.parts[0] not in ("ops", "kernels", "runtime") or path.parts[1] in folders | {"text"}:
        return
    for number, line in enumerate(lines, 1):
        include = re.match(r'#include "(?:kernels|ops)/([a-z_]+)/', line)
        if include and include.group(1) in folders:
            yield f"{path}:{number}: tools/sanitize.sh builds without kernels/{include.group(1)}"


def classes(path, lines):
    """Yields the classes that a source defines outside of unnamed namespaces, with their namespaces."""
    if path.parts[0] in ("tests", "bench", "examples"):  # programs of their own
        return
    scopes = []
    for line in lines:
        opened = re.match(r"(?:inline )?namespace ?([\w:]*) ?\{$", line)
        if opened:
            scopes.append(opened.group(1))
        elif line.startswith("}  // namespace"):
            scopes.pop()
        defined = re.match(r"(?:class|struct|union) (\w+)(?: final)?(?: :.*)? \{", line)
        if defined and "" not in scopes:
            yield "::".join([*scopes, defined.group(1)])


def folder_includes(path, lines):
    """Yields the other folders of the same layer that a source file includes from."""
    for line in lines:
        include = re.match(r'#include "([a-z_]+)/(.*/)?[^/]+"', line)
        if include and include.group(1) == path.parts[0]:
            folder = f"{include.group(1)}/{include.group(2) or ''}".rstrip("/")
            if folder != str(path.parent):
                yield folder


def check_circles(edges):
    """Yields the circles among folders; `edges` maps (from, to) to a file that includes."""
    graph = {}
    for start, end in edges:
        graph.setdefault(start, set()).add(end)
    for start in sorted(graph):
        ways = {start: None}  # folder -> its predecessor; breadth first, so the path is shortest
        queue = [start]
        for folder in queue:
            for other in sorted(graph.get(folder, ())):
                if other == start:
                    way = [start]
                    while folder is not None:
                        way.append(folder)
                        folder = ways[folder]
                    if min(way) == start:  # once, from the first of its folders
                        files = ", ".join(edges[a, b] for a, b in zip(way[::-1], way[-2::-1]))
                        yield f"folders in a circle: {' -> '.join(way[::-1])} ({files})"
                    queue.clear()
                    break
                if other not in ways:
                    ways[other] = folder
                    queue.append(other)


def known_ops():
    """The names of the op table, as the generated docs/OPS.md lists them, and their native names."""
    page = (ROOT / "docs/OPS.md").read_text(encoding="utf-8").partition("## Every op")[2]
    return set(re.findall(r"^\| (\w+) \|", page, re.MULTILINE)) | set(
        re.findall(r"\b_Mkl\w+", page))


def statements(text):
    """Yields each statement as a list of (line, string literal), without its comments."""
    blank = lambda found: "\n" * found.group().count("\n")
    number, literals = 1, []
    for token in TOKEN.finditer(RULE_FIELDS.sub(blank, text)):
        word = token.group()
        if word[0] == '"':
            literals.append((number, word[1:-1]))
        elif word == ";":
            yield literals
            literals = []
        number += word.count("\n")


def check_op_names(path, text, ops):
    """Yields the statements of a source file that are lists of op names."""
    if NAMES_OPS.match(str(path)):
        return
    lines = text.splitlines()
    for literals in statements(text):
        named = {}  # op -> line
        for number, literal in literals:
            words = re.split(r"[ |,]+", literal.strip())
            named.update({word: number for word in words if ops.issuperset(words)})
        if len(named) <= MAX_OP_NAMES:
            continue
        first, last = min(named.values()), max(named.values())
        if not any("op names: " in line for line in lines[max(0, first - 4):last]):
            yield (f"{path}:{first}: a list of ops ({', '.join(sorted(named)[:3])}…): say it in "
                   "their rows, or why not: // op names: …")


def check_python(paths):
    """Yields scripts that do not parse: not every one of them runs in the tests."""
    for path in paths:
        try:
            compile((ROOT / path).read_bytes(), str(path), "exec")
        except SyntaxError as error:
            yield f"{path}:{error.lineno}: {error.msg}"


def check_format(sources):
    if shutil.which("clang-format") is None:
        yield "clang-format is not installed"
        return
    result = subprocess.run(
        ["clang-format", "--dry-run", "--Werror", *map(str, sources)],
        cwd=ROOT, capture_output=True, text=True)
    seen = set()
    for line in result.stderr.splitlines():
        found = re.match(r"(.+?):(\d+):\d+: error", line)
        if found and found.group(1) not in seen:
            seen.add(found.group(1))
            yield f"{found.group(1)}:{found.group(2)}: not formatted (tools/presubmit.py --fix)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="format the sources first")
    args = parser.parse_args()

    sources = [p for p in tracked_files() if p.suffix in SOURCE]
    if args.fix:
        subprocess.run(["clang-format", "-i", *map(str, sources)], cwd=ROOT, check=True)
    findings, edges, ops, without, defined = [], {}, known_ops(), left_out(), {}
    for path in sources:
        text = (ROOT / path).read_text(encoding="utf-8")
        lines = text.splitlines()
        findings += check_layers(path, lines)
        findings += check_left_out(path, lines, without)
        findings += check_op_names(path, text, ops)
        for name in classes(path, lines):
            # Two classes of one name share their inline functions, whichever the linker keeps.
            if defined.setdefault(name, path) != path:
                findings.append(f"{path}: {name} is also a class in {defined[name]}")
        for folder in folder_includes(path, lines):
            edges.setdefault((str(path.parent), folder), str(path))
        if len(lines) > MAX_LINES:
            findings.append(f"{path}: {len(lines)} lines (at most {MAX_LINES})")
        size = (ROOT / path).stat().st_size
        if size > MAX_BYTES:
            findings.append(f"{path}: {size} bytes (at most {MAX_BYTES})")
    findings += check_circles(edges)
    findings += check_python(p for p in tracked_files() if p.suffix == ".py")
    findings += check_format(sources)
    for finding in findings:
        print(finding)
    print(f"presubmit: {len(sources)} sources, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
