// Fingerprint: FarmHash's 64-bit fingerprint of the bytes of each row of `data`, as 8 bytes.
// Several strings in a row: the fingerprint of their fingerprints.
#include "kernels/strings/fingerprint.h"

#include <cstring>

#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kBytes = sizeof(uint64_t);

absl::Status FingerprintShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  const Shape& data = c.input(0);
  if (data.has_rank() && data.rank() == 0) return InvalidArgument("data must have a first axis");
  c.set_output(0, Shape({data.has_rank() ? data.dim(0) : -1, kBytes}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> FingerprintKernel(PrepareContext& p) {
  const DType dtype = p.input_dtype(0);
  const int64_t rows = p.input_shape(0).dim(0);
  const int64_t width = rows == 0 ? 0 : p.input_shape(0).num_elements() / rows;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::string& method = run.input<std::string>(1)[0];
    if (method != "farmhash64") {
      return InvalidArgument("the method must be 'farmhash64', not '", method, "'");
    }
    uint8_t* out = run.output<uint8_t>(0);
    std::string bytes;
    for (int64_t row = 0; row < rows; ++row, out += kBytes) {
      if (dtype != DType::kString) {
        const size_t size = static_cast<size_t>(width) * SizeOf(dtype);
        bytes.assign(run.input<char>(0) + static_cast<size_t>(row) * size, size);
      } else if (width == 1) {
        bytes = run.input<std::string>(0)[row];
      } else {
        bytes.clear();
        for (int64_t i = 0; i < width; ++i) {
          const uint64_t one = Fingerprint64(run.input<std::string>(0)[row * width + i]);
          bytes.append(reinterpret_cast<const char*>(&one), sizeof(one));
        }
      }
      const uint64_t fingerprint = Fingerprint64(bytes);
      std::memcpy(out, &fingerprint, sizeof(fingerprint));
    }
    return absl::OkStatus();
  });
}

const OpRegistration fingerprint_op({
    .name = "Fingerprint",
    .inputs = "data: T, method: string",
    .outputs = "fingerprint: uint8",
    .attrs = "T: type",
    .shape = FingerprintShape,
    .reference = FingerprintKernel,
});

}  // namespace
}  // namespace tenon
