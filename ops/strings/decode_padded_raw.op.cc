// DecodePaddedRaw: the bytes of strings as numbers; each string is cut or padded with zeros to the
// same length.
#include <algorithm>
#include <cstring>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<int64_t> NumbersIn(int64_t bytes, DType dtype) {
  const int64_t size = static_cast<int64_t>(SizeOf(dtype));
  if (bytes <= 0) return InvalidArgument("fixed_length must be positive, but is ", bytes);
  if (bytes % size != 0) {
    return InvalidArgument("fixed_length ", bytes, " is not a multiple of the size of ",
                           Name(dtype));
  }
  return bytes / size;
}

absl::StatusOr<DType> OutType(const ShapeContext& c) { return c.attrs().Type("out_type"); }

absl::Status PaddedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape out = c.input(0);
  int64_t numbers = -1;
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const DType dtype, OutType(c));
    TENON_ASSIGN_OR_RETURN(const int64_t bytes, ScalarInteger(*c.value(1), "fixed_length"));
    TENON_ASSIGN_OR_RETURN(numbers, NumbersIn(bytes, dtype));
  }
  out.push_back(numbers);
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> DecodePadded(PrepareContext& p) {
  const Shape in = p.input_shape(0), planned = p.output_shape(0);
  const DType dtype = p.output_dtype(0);
  const bool swap = !p.attrs().Bool("little_endian", true);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t bytes = *run.input<int32_t>(1);
    TENON_ASSIGN_OR_RETURN(const int64_t numbers, NumbersIn(bytes, dtype));
    char* out = static_cast<char*>(run.output(0));
    if (!planned.IsComplete()) {
      Shape shape = in;
      shape.push_back(numbers);
      TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
      out = static_cast<char*>(memory);
    }
    const size_t unit = SizeOf(dtype);
    for (int64_t i = 0; i < in.num_elements(); ++i, out += bytes) {
      const std::string& text = run.input<std::string>(0)[i];
      const size_t n = std::min(text.size(), static_cast<size_t>(bytes));
      std::fill(std::copy_n(text.data(), n, out), out + bytes, '\0');
      for (char* at = out; swap && at < out + bytes; at += unit) std::reverse(at, at + unit);
    }
    return absl::OkStatus();
  });
}

const OpRegistration decode_padded_raw_op({
    .name = "DecodePaddedRaw",
    .inputs = "input_bytes: string, fixed_length: int32",
    .outputs = "output: out_type",
    .attrs = "out_type: type; little_endian: bool = true",
    .types = "out_type: half float double int32 uint16 uint8 int16 int8 int64 bfloat16",
    .shape = PaddedShape,
    .reference = DecodePadded,
});

}  // namespace
}  // namespace tenon
