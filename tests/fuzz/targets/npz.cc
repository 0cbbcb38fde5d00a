// Arrays of NumPy: a .npy's bytes, and an .npz as a whole. What is read can be written and read
// again.
#include "graph/npz/npz.h"

#include "graph/npz/npy.h"
#include "tests/fuzz/targets/byte_reader.h"
#include "tests/fuzz/targets/scratch_folder.h"
#include "tests/fuzz/targets/target.h"

namespace tenon {
namespace {

absl::StatusOr<Tensor> FromBytes(absl::string_view bytes) {
  return ReadNpy(bytes.size(), [&](void* to, size_t size) -> absl::Status {
    if (size > bytes.size()) return absl::InvalidArgumentError("too short");
    if (size > 0) std::memcpy(to, bytes.data(), size);
    bytes.remove_prefix(size);
    return absl::OkStatus();
  });
}

int FuzzNpy(const uint8_t* data, size_t size) {
  const auto t = FromBytes({reinterpret_cast<const char*>(data), size});
  if (!t.ok()) return 0;
  const auto file = FormatNpy(*t);
  if (!file.ok()) return 0;
  std::string bytes = file->header;
  bytes.append(static_cast<const char*>(file->data.raw()), file->data.bytes());
  const auto again = FromBytes(bytes);
  if (!again.ok()) FuzzFailure("written, but not readable: " + again.status().ToString());
  // NumPy drops NULs at the end of strings.
  if (t->dtype() != DType::kString && !Identical(*t, *again)) FuzzFailure("another array");
  return 0;
}

int FuzzNpz(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto arrays = ReadNpz(WriteScratchFile("arrays.npz", bytes));
  if (!arrays.ok() && arrays.status().message().empty()) FuzzFailure("an error without a message");
  return 0;
}

const FuzzTarget kNpy("npy", FuzzNpy);
const FuzzTarget kNpz("npz", FuzzNpz);

}  // namespace
}  // namespace tenon
