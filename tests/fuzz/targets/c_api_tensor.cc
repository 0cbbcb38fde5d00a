// Calls of the target `c_api` on tensors.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/fuzz/targets/c_api.h"
#include "tests/fuzz/targets/target.h"

namespace tenon::c_api_fuzz {
namespace {

constexpr int64_t kMostElements = 1 << 12;

void Clear(tenon_tensor* t) {
  if (t == nullptr || tenon_tensor_data(t) == nullptr) return;
  std::memset(tenon_tensor_data(t), 0, tenon_tensor_bytes(t));
}

}  // namespace

void CreateTensor(Objects& o) {
  const int64_t dims[] = {o.Dim(), o.Dim(), o.Dim()};
  const int rank = static_cast<int>(o.bytes.Below(5)) - 1;
  const auto dtype = static_cast<tenon_dtype>(o.bytes.Below(25));
  tenon_tensor** place = o.tensors.Empty(o.bytes);
  if (o.bytes.Bool()) {
    // Calls that are pending may read the memory when all else is gone.
    auto* const memory = new std::array<float, 64>();
    const size_t size = std::min<size_t>(o.bytes.Byte(), sizeof(*memory));
    const auto release = [](void* m) { delete static_cast<std::array<float, 64>*>(m); };
    tenon_status* const status = tenon_tensor_view(dtype, dims, std::min(rank, 3), memory->data(),
                                                   size, release, memory, place);
    if (status != nullptr) release(memory);
    return Done(status);
  }
  Done(tenon_tensor_create(dtype, dims, std::min(rank, 3), place));
  Clear(*place);
}

// One that an input or output of a session takes, so that runs of real models get beyond the check
// of their inputs.
void CreateFittingTensor(Objects& o) {
  const tenon_session* s = o.sessions.Live(o.bytes);
  if (s == nullptr) return;
  tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
  const int index = static_cast<int>(o.bytes.Below(3));
  Done(o.bytes.Bool() ? tenon_session_output(s, index, &spec)
                      : tenon_session_input(s, index, &spec));
  if (spec.rank < 0 || spec.rank > 6) return;
  std::array<int64_t, 6> dims = {};
  int64_t elements = 1;
  for (int d = 0; d < spec.rank; ++d) {
    dims[d] = spec.dims[d] < 0 ? static_cast<int64_t>(o.bytes.Below(4)) : spec.dims[d];
    if (dims[d] > kMostElements || (elements *= dims[d]) > kMostElements) return;
  }
  tenon_tensor** place = o.tensors.Empty(o.bytes);
  Done(tenon_tensor_create(spec.dtype, dims.data(), spec.rank, place));
  Clear(*place);
  if (*place == nullptr || tenon_tensor_data(*place) == nullptr) return;
  const absl::string_view values = o.bytes.Take(std::min<size_t>(8, tenon_tensor_bytes(*place)));
  if (!values.empty()) std::memcpy(tenon_tensor_data(*place), values.data(), values.size());
}

void ReadTensor(Objects& o) {
  tenon_tensor* t = o.tensors.At(o.bytes);
  if (t == nullptr) return;
  volatile int64_t sum = 0;
  int64_t elements = 1;
  for (int d = 0; d < tenon_tensor_rank(t); ++d) elements *= tenon_tensor_dims(t)[d];
  if (elements != tenon_tensor_num_elements(t)) FuzzFailure("the number of elements");
  const auto* data = static_cast<const char*>(tenon_tensor_data(t));
  if (tenon_tensor_dtype(t) == TENON_STRING && data != nullptr) FuzzFailure("strings as memory");
  for (size_t i = 0; data != nullptr && i < tenon_tensor_bytes(t); ++i) sum = sum + data[i];
  const char* text = nullptr;
  size_t size = 0;
  Done(tenon_tensor_get_string(t, o.Dim(), &text, &size));
  for (size_t i = 0; i < size; ++i) sum = sum + text[i];
}

void SetString(Objects& o) {
  tenon_tensor* t = o.tensors.At(o.bytes);
  if (t == nullptr) return;
  const absl::string_view text = o.bytes.Take(o.bytes.Below(8));
  const int64_t index = o.Dim();
  if (o.may_write) Done(tenon_tensor_set_string(t, index, text.data(), text.size()));
}

}  // namespace tenon::c_api_fuzz
