#!/usr/bin/env python3
"""Writes tests/numerics/files/messages.bin: the descriptor_source of DecodeProtoV2's cases.

  tests/makers/message_files.py
"""

from __future__ import annotations

import pathlib

from google.protobuf import descriptor_pb2

FILES = pathlib.Path(__file__).resolve().parent.parent / "numerics" / "files"
FIELDS = descriptor_pb2.FieldDescriptorProto

# Default values by type; the fields of a message p.All have these names.
DEFAULTS = {
    "double": "1.5", "float": "-inf", "int64": "-5", "uint64": "18446744073709551615",
    "int32": "-7", "fixed64": "3", "fixed32": "70000", "bool": "true", "string": "hi",
    "bytes": r"a\001\377", "uint32": "4000000000", "sfixed32": "-2", "sfixed64": "-3",
    "sint32": "-4", "sint64": "-6",
}


def described() -> descriptor_pb2.FileDescriptorSet:
  files = descriptor_pb2.FileDescriptorSet()
  imported = files.file.add(name="color.proto", package="c")
  color = imported.enum_type.add(name="Color")
  color.value.add(name="RED", number=5)
  color.value.add(name="BLUE", number=-3)
  file = files.file.add(name="p.proto", package="p", dependency=["color.proto"])
  message = file.message_type.add(name="All")

  def add(name: str, kind: str, label: int = FIELDS.LABEL_OPTIONAL,
          **kwargs: str) -> descriptor_pb2.FieldDescriptorProto:
    return message.field.add(name=name, number=len(message.field) + 1, label=label,
                             type=FIELDS.Type.Value(f"TYPE_{kind.upper()}"), **kwargs)

  for kind, default in DEFAULTS.items():  # numbers 1 to 15
    add(kind, kind, default_value=default)
  for kind in DEFAULTS:  # 16 to 30
    add(f"r_{kind}", kind, FIELDS.LABEL_REPEATED)
  for kind in ("int32", "sint64", "float", "fixed32"):  # 31 to 34
    add(f"p_{kind}", kind, FIELDS.LABEL_REPEATED).options.packed = True
  add("enum", "enum", type_name=".c.Color")  # 35
  add("blue", "enum", type_name=".c.Color", default_value="BLUE")
  add("all", "message", type_name=".p.All")
  message.nested_type.add(name="Group").field.add(
      name="x", number=1, type=FIELDS.TYPE_INT32, label=FIELDS.LABEL_OPTIONAL)
  add("group", "group", type_name=".p.All.Group")  # 38
  message.extension_range.add(start=100, end=200)
  file.extension.add(name="more", number=100, type=FIELDS.TYPE_INT32,
                     label=FIELDS.LABEL_OPTIONAL, extendee=".p.All")
  return files


if __name__ == "__main__":
  (FILES / "messages.bin").write_bytes(
      b"bytes://" + described().SerializeToString(deterministic=True))
