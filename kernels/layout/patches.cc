#include "kernels/layout/patches.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Attributes with spatial + 2 entries, of which the first and last are 1.
absl::StatusOr<std::vector<int64_t>> Spatial(const AttrReader& attrs, const char* name, int rank) {
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> v, attrs.Ints(name));
  if (std::ssize(v) != rank || v.front() != 1 || v.back() != 1) {
    return InvalidArgument(name, " must have ", rank, " entries, the first and last 1");
  }
  v = std::vector<int64_t>(v.begin() + 1, v.end() - 1);
  for (int64_t x : v) {
    if (x < 1 || x > INT32_MAX) return InvalidArgument(name, " must be positive, but has ", x);
  }
  return v;
}

}  // namespace

absl::StatusOr<Patches> ReadPatches(const AttrReader& attrs, int rank) {
  Patches p;
  TENON_ASSIGN_OR_RETURN(p.size, Spatial(attrs, "ksizes", rank));
  TENON_ASSIGN_OR_RETURN(p.stride, Spatial(attrs, "strides", rank));
  p.rate.assign(p.size.size(), 1);
  if (rank == 4) {
    TENON_ASSIGN_OR_RETURN(p.rate, Spatial(attrs, "rates", rank));
  }
  TENON_ASSIGN_OR_RETURN(const std::string padding, attrs.String("padding"));
  if (padding != "SAME" && padding != "VALID") return InvalidArgument("padding '", padding, "'");
  p.same = padding == "SAME";
  return p;
}

absl::StatusOr<std::unique_ptr<Kernel>> ExtractPatchesKernel(PrepareContext& p, int rank) {
  TENON_ASSIGN_OR_RETURN(const Patches patches, ReadPatches(p.attrs(), rank));
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  int64_t n[3] = {1, 1, 1}, places[3] = {1, 1, 1}, size[3] = {1, 1, 1}, stride[3] = {1, 1, 1};
  int64_t rate[3] = {1, 1, 1}, before[3] = {0, 0, 0};
  for (size_t i = 0; i < patches.size.size(); ++i) {
    const size_t k = i + 5 - static_cast<size_t>(rank);
    n[k] = in.dims()[i + 1];
    places[k] = out.dims()[i + 1];
    size[k] = patches.size[i];
    stride[k] = patches.stride[i];
    rate[k] = patches.rate[i];
    const int64_t window = (size[k] - 1) * rate[k] + 1;
    const int64_t padding = (places[k] - 1) * stride[k] + window - n[k];
    if (patches.same) before[k] = std::max<int64_t>(0, padding) / 2;
  }
  const int64_t batch = in.dim(0), channels = in.dim(rank - 1);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      const T* image = run.input<T>(0);
      T* to = run.output<T>(0);
      auto position = [&](int k, int64_t place, int64_t in_window) {
        const int64_t at = place * stride[k] - before[k] + in_window * rate[k];
        return at >= 0 && at < n[k] ? at : -1;
      };
      for (int64_t b = 0; b < batch; ++b, image += n[0] * n[1] * n[2] * channels) {
        for (int64_t i = 0; i < places[0] * places[1] * places[2]; ++i) {
          const int64_t pd = i / (places[1] * places[2]);
          const int64_t pr = i / places[2] % places[1], pc = i % places[2];
          for (int64_t kd = 0; kd < size[0]; ++kd) {
            const int64_t d = position(0, pd, kd);
            for (int64_t kr = 0; kr < size[1]; ++kr) {
              const int64_t r = position(1, pr, kr);
              for (int64_t kc = 0; kc < size[2]; ++kc) {
                const int64_t c = position(2, pc, kc);
                to =
                    d < 0 || r < 0 || c < 0
                        ? std::fill_n(to, channels, T())
                        : std::copy_n(image + ((d * n[1] + r) * n[2] + c) * channels, channels, to);
              }
            }
          }
        }
      }
    });
    return absl::OkStatus();
  });
}

}  // namespace tenon
