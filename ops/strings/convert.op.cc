// AsString, StringToNumber, DecodeRaw, EncodeBase64, DecodeBase64: conversions between strings and
// other values.
#include "kernels/strings/convert.h"

#include <algorithm>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DecodeRawShape(ShapeContext& c) {
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape out = c.input(0);
  out.push_back(-1);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration as_string_op({
    .name = "AsString",
    .inputs = "input: T",
    .outputs = "output: string",
    .attrs = "T: type; precision: int = -1; scientific: bool = false; shortest: bool = false; "
             "width: int = -1; fill: string = ",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64 "
             "complex64 complex128 bool string",
    .shape = UnchangedShape,
    .reference = AsStringKernel,
});

const OpRegistration string_to_number_op({
    .name = "StringToNumber",
    .inputs = "string_tensor: string",
    .outputs = "output: out_type",
    .attrs = "out_type: type = float",
    .types = "out_type: float double int32 int64 uint32 uint64",
    .shape = UnchangedShape,
    .reference = StringToNumberKernel,
});

const OpRegistration decode_raw_op({
    .name = "DecodeRaw",
    .inputs = "bytes: string",
    .outputs = "output: out_type",
    .attrs = "out_type: type; little_endian: bool = true",
    .types = "out_type: half float double int32 uint16 uint8 int16 int8 int64 complex64 complex128 "
             "bool bfloat16",
    .shape = DecodeRawShape,
    .reference = DecodeRawKernel,
});

const OpRegistration encode_base64_op({
    .name = "EncodeBase64",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "pad: bool = false",
    .shape = UnchangedShape,
    .reference = EncodeBase64Kernel,
});

const OpRegistration decode_base64_op({
    .name = "DecodeBase64",
    .inputs = "input: string",
    .outputs = "output: string",
    .shape = UnchangedShape,
    .reference = DecodeBase64Kernel,
});

}  // namespace
}  // namespace tenon
