#!/usr/bin/env python3
"""Writes ops.pyi, which tells type checkers and editors the inputs and attributes of every op of tenon.ops, into the
package that it imports, from the op table. With PYTHONPATH=build/python, that is python/tenon/ops.pyi.

    PYTHONPATH=build/python tools/ops_stub.py            write it
    PYTHONPATH=build/python tools/ops_stub.py --check    fail if it is out of date
"""

import argparse
import json
import keyword
import pathlib
import sys

from tenon import _ops

STUB = pathlib.Path(_ops.__file__).with_name("ops.pyi")
WIDTH = 120
# Names with an underscore: TensorFlow has ops called Any, List and the like.
HEADER = '''\
# Written by tools/ops_stub.py; do not edit.
"""TensorFlow's ops, one at a time: every op that Tenon has, by its TensorFlow name.

A docstring gives the dtypes: an attribute such as T stands for one dtype, "N * T" for a list of N tensors. Attributes
without a default must be given; a dtype attribute may be given to convert numbers and lists to that dtype.
"""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, Protocol as _Protocol, TypeAlias as _TypeAlias

from numpy.typing import ArrayLike as _ArrayLike, DTypeLike as _DType
from tenon._core import Tensor as _Tensor

class _DLPack(_Protocol):
    def __dlpack__(self, *args: _Any, **kwargs: _Any) -> _Any: ...

_Value: _TypeAlias = _ArrayLike | _DLPack
_Shape: _TypeAlias = _Sequence[int | None] | None

def __dir__() -> list[str]: ...
'''
# Kinds of attributes that calls from Python can set.
TYPES = {"int": "int", "float": "float", "bool": "bool", "string": "str | bytes", "type": "_DType",
         "shape": "_Shape", "tensor": "_Value"}
TYPES.update({f"list({kind})": f"_Sequence[{TYPES[kind]}]" for kind in ("int", "float", "string", "type")})
# Members of tuples, which a field of the same name replaces.
TUPLE_MEMBERS = {"count", "index"}


def default_text(attr):
    """Its default as Python; "..." for those that are not one number, string or dtype."""
    text = attr.default
    if attr.kind == "bool":
        return str(text == "true")
    if attr.kind == "string":
        return json.dumps(text)
    if attr.kind == "type":
        return json.dumps(_ops._dtype(text.removeprefix("DT_").lower()))
    return text if attr.kind in ("int", "float") and text else "..."


def attribute(op, attr):
    """Its parameter; "" if a call cannot or need not give it."""
    is_dtype = attr.kind == "type" and op._follows(attr.name)
    if attr.kind not in TYPES or keyword.iskeyword(attr.name) or op._follows(attr.name) and not is_dtype:
        return ""
    text = f"{attr.name}: {TYPES[attr.kind]}"
    if is_dtype:
        return f"{text} = ..."
    return text if attr.default is None else f"{text} = {default_text(attr)}"


def parameters(op):
    words = []
    for arg in op.inputs:
        name = arg.name + "_" * keyword.iskeyword(arg.name)
        words.append(f"{name}: {'_Sequence[_Value]' if arg.is_list else '_Value'}")
        if name != arg.name:  # it cannot be given by name
            words = [word for word in words if word != "/"] + ["/"]
    taken = {arg.name for arg in op.inputs}
    attrs = [text for attr in op.attrs.values() if attr.name not in taken and (text := attribute(op, attr))]
    return words + (["*"] + attrs if attrs else [])


def wrapped(words, before, after):
    """The parameters between `before` and `after`, on as many lines as they need."""
    lines = [before]
    for i, word in enumerate(words):
        word += ", " if i + 1 < len(words) else after
        if len(lines[-1]) + len(word.rstrip()) > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * 8)
        lines[-1] += word
    if not words:
        lines[-1] += after
    return "\n".join(lines)


def outputs(op):
    """The type of what a call returns, and the class to define for it."""
    types = ["list[_Tensor]" if arg.is_list else "_Tensor" for arg in op.outputs]
    if len(types) < 2:
        return types[0] if types else "None", ""
    name = f"_{op.name}Outputs"
    lines = [f"class {name}(_NamedTuple):"]
    for field, kind in zip(op.result._fields, types):
        if field.startswith("_"):  # a name that Python does not allow
            return f"tuple[{', '.join(types)}]", ""
        lines.append(f"    {field}: {kind}" + "  # type: ignore" * (field in TUPLE_MEMBERS))
    return name, "\n".join(lines) + "\n\n"


def dtypes(text):
    return " ".join(map(_ops._dtype, text.split()))


def docstring(op):
    text = " -> ".join(", ".join(f"{arg.name}: {_described(arg)}" for arg in args) or "nothing"
                       for args in (op.inputs, op.outputs)) + "."
    for name, allowed in op.types.items():
        text += f" {name}: {dtypes(' '.join(allowed))}."
    if op.accelerated:
        text += f" Accelerated for {dtypes(op.accelerated)}."
    quoted = f'    """{text}"""'
    if len(quoted) <= WIDTH:
        return quoted
    lines, line = [], '    """'
    for word in text.split(" "):
        if len(line) + len(word) > WIDTH:
            lines.append(line.rstrip())
            line = "    "
        line += word + " "
    return "\n".join([*lines, line.rstrip(), '    """'])


def _described(arg):
    element = arg.type_list_attr or arg.type_attr or arg.dtype
    return f"{arg.number_attr} * {element}" if arg.number_attr else element


def function(op):
    returned, result_class = outputs(op)
    return (f"{result_class}{wrapped(parameters(op), f'def {op.name}(', f') -> {returned}:')}\n"
            f"{docstring(op)}\n")


def stub():
    # Names such as "TFText>…" are no identifiers: such ops are called by getattr.
    rows = [row for name, row in sorted(_ops._table().items()) if name.isidentifier()]
    return "\n".join([HEADER, *(function(_ops._Op(*row)) for row in rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if it is out of date")
    args = parser.parse_args()
    text = stub()
    if not args.check:
        STUB.write_text(text)
    elif STUB.read_text() != text:
        print("python/tenon/ops.pyi is out of date: run tools/ops_stub.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
