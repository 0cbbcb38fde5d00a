"""Calls of single ops, made from the op table."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import keyword
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from tenon import _core
from tenon._feeds import tensor_for

# Of fixed dtypes and allowed ones, as the op table writes them.
_DTYPES = {"float": "float32", "double": "float64", "half": "float16"}


def _dtype(word: str) -> str:
    return _DTYPES.get(word, word)


@dataclasses.dataclass(frozen=True)
class _Argument:
    """An input or output: one tensor, or a list of them."""

    name: str
    dtype: str  # "" if an attribute decides
    type_attr: str
    number_attr: str  # the length of a list of tensors of one dtype
    type_list_attr: str  # the dtypes of a list of tensors

    @property
    def is_list(self) -> bool:
        return bool(self.number_attr or self.type_list_attr)


@dataclasses.dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str
    default: Optional[str]


def _split(text: str, separator: str) -> List[str]:
    """At separators outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


class _Op:
    """An op of the table."""

    def __init__(self, name: str, inputs: str, outputs: str, attrs: str, types: str,
                 accelerated: str) -> None:
        self.name = name
        self.attrs: Dict[str, _Attribute] = {}
        for text in _split(attrs, ";"):
            attr, _, rest = text.partition(":")
            kind, has_default, default = rest.partition("=")
            self.attrs[attr.strip()] = _Attribute(attr.strip(), kind.strip(),
                                                  default.strip() if has_default else None)
        self.inputs = [self._argument(text) for text in _split(inputs, ",")]
        self.outputs = [self._argument(text) for text in _split(outputs, ",")]
        self.types = {text.partition(":")[0].strip(): text.partition(":")[2].split()
                      for text in _split(types, ";")}
        self.accelerated = accelerated
        self.texts = inputs, outputs
        self.result = collections.namedtuple(  # type: ignore[misc]
            name if name.isidentifier() else "Outputs", [arg.name + "_" * keyword.iskeyword(arg.name) for arg in self.outputs],
            rename=True)

    def _argument(self, text: str) -> _Argument:
        name, _, kind = (part.strip() for part in text.partition(":"))
        number, star, element = (part.strip() for part in kind.partition("*"))
        if not star:
            number, element = "", kind
        attr = self.attrs.get(element)
        if attr is None:
            return _Argument(name, _dtype(element), "", number, "")
        if attr.kind == "list(type)":
            return _Argument(name, "", "", "", element)
        return _Argument(name, "", element, number, "")

    # ---- a call ----

    def call(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        values, given = self._bind(args, kwargs)
        types = self._types(values, given)
        tensors: List[_core.Tensor] = []
        numbers: Dict[str, int] = {}
        for arg, value in zip(self.inputs, values):
            items = list(value) if arg.is_list else [value]
            if numbers.setdefault(arg.number_attr, len(items)) != len(items) and arg.number_attr:
                raise ValueError(f"{self.name}: '{arg.name}' has {len(items)} elements, but {arg.number_attr} is "
                                 f"{numbers[arg.number_attr]}")
            converted = [self._tensor(arg, item, types) for item in items]
            if arg.type_list_attr:
                numbers[arg.type_list_attr] = len(items)
                given.setdefault(arg.type_list_attr, [tensor.dtype for tensor in converted])
            tensors += converted
        for arg in self.inputs:
            if arg.number_attr:
                given.setdefault(arg.number_attr, numbers[arg.number_attr])
        attrs = [(name, self.attrs[name].kind, _attr_value(self.attrs[name].kind, value))
                 for name, value in given.items()]
        for name, dtype in types.items():
            if name not in given and self.attrs[name].kind == "type":
                attrs.append((name, "type", dtype))
        outputs = _core.execute(self.name, tensors, attrs)
        for name, value in given.items():
            if self.attrs[name].kind == "int":
                numbers[name] = value
            elif self.attrs[name].kind == "list(type)":
                numbers[name] = len(value)
        return self._results(outputs, numbers)

    def _bind(self, args: Tuple[Any, ...],
              kwargs: Dict[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
        """The inputs in order, and the attributes."""
        if len(args) > len(self.inputs):
            raise TypeError(f"{self.name} takes {len(self.inputs)} inputs, but {len(args)} were given; "
                            "attributes are given by name")
        attrs = dict(kwargs)
        values = list(args)
        for arg in self.inputs[:len(args)]:
            if arg.name in attrs and arg.name not in self.attrs:
                raise TypeError(f"{self.name}: input '{arg.name}' is given twice")
        for arg in self.inputs[len(args):]:
            if arg.name not in attrs:
                raise TypeError(f"{self.name}: input '{arg.name}' is missing: {self.signature()}")
            values.append(attrs.pop(arg.name))
        for name in attrs:
            if name not in self.attrs:
                raise TypeError(f"{self.name} has no input or attribute '{name}': {self.signature()}")
        return values, attrs

    def _types(self, values: List[Any], given: Dict[str, Any]) -> Dict[str, str]:
        """The dtypes that attributes and inputs decide."""
        types = {name: str(_attr_value("type", value)) for name, value in given.items()
                 if self.attrs[name].kind == "type"}
        plain: List[Tuple[str, Any]] = []
        for arg, value in zip(self.inputs, values):
            if not arg.type_attr or arg.type_attr in types:
                continue
            for item in value if arg.is_list else [value]:
                dtype = _dtype_of(item)
                if dtype:
                    types.setdefault(arg.type_attr, dtype)
                else:
                    plain.append((arg.type_attr, item))
        for name, item in plain:  # numbers and lists: the attribute's default if it is of their kind
            if name not in types:
                types[name] = self._type_of_plain(name, item)
        return types

    def _type_of_plain(self, name: str, value: Any) -> str:
        array: np.ndarray[Any, Any] = np.asarray(value)
        if array.dtype.kind in "SUOT":
            return "string"
        default = self.attrs[name].default
        wanted = str({"int64": "int32", "float64": "float32", "complex128": "complex64"}.get(
            array.dtype.name, array.dtype.name))
        if default is not None:
            dtype = _dtype(default.removeprefix("DT_").lower())
            if np.can_cast(array.dtype, np.dtype(dtype), "same_kind"):
                return dtype
        allowed = [_dtype(word) for word in self.types.get(name, [])]
        if allowed and wanted not in allowed and array.dtype.name in allowed:
            return str(array.dtype.name)
        if allowed and wanted not in allowed and wanted == "int32" and "float32" in allowed:
            return "float32"
        return wanted

    def _tensor(self, arg: _Argument, value: Any, types: Dict[str, str]) -> _core.Tensor:
        dtype = arg.dtype or types.get(arg.type_attr, "") or _dtype_of(value)
        if not dtype:
            dtype = {"int64": "int32", "float64": "float32"}.get(np.asarray(value).dtype.name, "")
        return tensor_for(value, dtype, arg.name, False)

    def _results(self, outputs: List[_core.Tensor], numbers: Dict[str, int]) -> Any:
        if not self.outputs:
            return None
        if len(self.outputs) == 1:
            return outputs if self.outputs[0].is_list else outputs[0]
        results: List[Any] = []
        at = 0
        for arg in self.outputs:
            if not arg.is_list:
                results.append(outputs[at])
                at += 1
                continue
            count = numbers.get(arg.number_attr or arg.type_list_attr, 0)
            results.append(outputs[at:at + count])
            at += count
        return self.result(*results)

    # ---- what it is ----

    def signature(self) -> str:
        attrs = [name + ("" if attr.default is None else f"={attr.default}")
                 for name, attr in self.attrs.items() if not self._follows(name)]
        return f"{self.name}({', '.join([arg.name for arg in self.inputs] + attrs)})"

    def _follows(self, attr: str) -> bool:
        """Whether the inputs decide it."""
        return any(attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)
                   for arg in self.inputs)

    def doc(self) -> str:
        lines = [f"TensorFlow's op {self.name}.", ""]
        for title, text in zip(("Inputs", "Outputs"), self.texts):
            lines.append(f"{title}: {text or 'none'}")
        for name, attr in self.attrs.items():
            default = "" if attr.default is None else f", by default {attr.default}"
            follows = "; follows from the inputs" if self._follows(name) else ""
            types = f" ({' '.join(_dtype(t) for t in self.types[name])})" if name in self.types else ""
            lines.append(f"Attribute {name}: {attr.kind}{types}{default}{follows}")
        if self.accelerated:
            lines.append(f"Accelerated for {self.accelerated}.")
        lines += ["", "Returns a tenon.Tensor for each output. Raises TypeError for a wrong dtype or argument, "
                  "ValueError for values or shapes that do not fit."]
        return "\n".join(lines)

    def python_signature(self) -> inspect.Signature:
        parameters = []
        for arg in self.inputs:
            parameters.append(inspect.Parameter(
                arg.name + "_" * keyword.iskeyword(arg.name), inspect.Parameter.POSITIONAL_OR_KEYWORD))
        taken = {arg.name for arg in self.inputs}
        for name, attr in self.attrs.items():
            if self._follows(name) or name in taken or keyword.iskeyword(name):
                continue
            parameters.append(inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if attr.default is None else attr.default))
        try:
            return inspect.Signature(parameters)
        except ValueError:  # names that only TensorFlow takes for arguments
            return inspect.Signature()


def _dtype_of(value: Any) -> str:
    """The dtype that a value brings along; "" for numbers and lists."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return ""
    if isinstance(value, np.ndarray) and value.dtype.kind in "SUOT":
        return "string"
    return str(dtype).rpartition(".")[2]  # torch.float32


def _attr_value(kind: str, value: Any) -> Any:
    """As the extension module takes it."""
    if kind == "string":
        return value.encode() if isinstance(value, str) else value
    if kind == "type":
        return _dtype(value) if isinstance(value, str) else np.dtype(value).name
    if kind.startswith("list("):
        return [_attr_value(kind[5:-1], item) for item in value]
    if kind == "tensor" and not isinstance(value, _core.Tensor):
        return tensor_for(value, "", "", False)
    return value


@functools.lru_cache(maxsize=None)
def _table() -> Dict[str, Tuple[str, ...]]:
    return {row[0]: row for row in _core.op_table()}


def names() -> List[str]:
    return sorted(_table())


@functools.lru_cache(maxsize=None)
def function(name: str) -> Callable[..., Any]:
    """The function that calls an op. AttributeError if there is none of that name."""
    if name.startswith("_") or name not in _table():
        raise AttributeError(f"there is no op {name!r}")
    op = _Op(*_table()[name])

    def call(*args: Any, **kwargs: Any) -> Any:
        return op.call(args, kwargs)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "tenon.ops"
    call.__doc__ = op.doc()
    call.__signature__ = op.python_signature()  # type: ignore[attr-defined]
    return call
