// Bitcast: the same bytes as another dtype. Narrower elements form a new last dimension; wider ones
// consume the last dimension.
#include <cstring>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status BitcastShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const DType from, c.attrs().Type("T"));
  TENON_ASSIGN_OR_RETURN(const DType to, c.attrs().Type("type"));
  const int64_t in = static_cast<int64_t>(SizeOf(from)), out = static_cast<int64_t>(SizeOf(to));
  if (in == 0 || out == 0) return InvalidArgument("dtypes without elements in memory");
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape shape = c.input(0);
  if (in > out) {
    shape.push_back(in / out);
  } else if (in < out) {
    const int64_t last = shape.rank() == 0 ? 0 : shape.dim(shape.rank() - 1);
    if (shape.rank() == 0 || (last >= 0 && last != out / in)) {
      return InvalidArgument("the last dimension of ", shape.ToString(), " must be ", out / in);
    }
    shape.erase(shape.rank() - 1);
  }
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Bitcast(PrepareContext& p) {
  const size_t bytes =
      static_cast<size_t>(p.input_shape(0).num_elements()) * SizeOf(p.input_dtype(0));
  p.AllowInPlace(0, 0);
  return MakeKernel([bytes](RunContext& run) {
    if (run.output(0) != run.input(0)) std::memcpy(run.output(0), run.input(0), bytes);
    return absl::OkStatus();
  });
}

const OpRegistration bitcast({
    .name = "Bitcast",
    .inputs = "input: T",
    .outputs = "output: type",
    .attrs = "T: type; type: type",
    .types = "T: bfloat16 half float double int64 int32 uint8 uint16 uint32 uint64 int8 int16 "
             "complex64 complex128 qint8 quint8 qint16 quint16 qint32; "
             "type: bfloat16 half float double int64 int32 uint8 uint16 uint32 uint64 int8 int16 "
             "complex64 complex128 qint8 quint8 qint16 quint16 qint32",
    .shape = BitcastShape,
    .reference = Bitcast,
    .alias = true,
});

}  // namespace
}  // namespace tenon
