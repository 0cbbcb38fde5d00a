#include "kernels/layout/copy.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "graph/object.h"
#include "kernels/interface/parallel.h"

namespace tenon {

void CopyElements(DType dtype, const void* src, void* dst, int64_t n) {
  if (src == dst || n <= 0) return;
  if (dtype == DType::kString) {
    std::copy_n(static_cast<const std::string*>(src), n, static_cast<std::string*>(dst));
  } else if (HoldsObjects(dtype)) {
    std::copy_n(static_cast<const ObjectPtr*>(src), n, static_cast<ObjectPtr*>(dst));
  } else {
    std::memcpy(dst, src, static_cast<size_t>(n) * SizeOf(dtype));
  }
}

void CopyElements(int threads, DType dtype, const void* src, void* dst, int64_t n) {
  if (src == dst) return;
  const double ns = static_cast<double>(SizeOf(dtype)) / kBytesPerNs;
  ParallelFor(threads, n, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
    CopyElements(dtype, ElementAddress(src, dtype, begin), ElementAddress(dst, dtype, begin),
                 end - begin);
  });
}

const void* ElementAddress(const void* data, DType dtype, int64_t element) {
  const size_t size = HoldsObjects(dtype) ? sizeof(ObjectPtr) : SizeOf(dtype);
  return static_cast<const char*>(data) + static_cast<size_t>(element) * size;
}

void* ElementAddress(void* data, DType dtype, int64_t element) {
  return const_cast<void*>(ElementAddress(static_cast<const void*>(data), dtype, element));
}

absl::StatusOr<std::unique_ptr<Kernel>> CopyKernel(PrepareContext& p) {
  std::vector<TensorSpec> specs;
  for (int i = 0; i < p.num_outputs(); ++i) {
    specs.push_back({p.input_dtype(i), p.input_shape(i), nullptr});
    p.AllowInPlace(i, i);
  }
  for (int i = p.num_outputs(); i < p.num_inputs(); ++i) p.InputNotRead(i);
  return MakeKernel([specs](RunContext& run) {
    for (size_t i = 0; i < specs.size(); ++i) {
      const int k = static_cast<int>(i);
      CopyElements(specs[i].dtype, run.input(k), run.output(k), specs[i].shape.num_elements());
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
