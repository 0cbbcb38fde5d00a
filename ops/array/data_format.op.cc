// DataFormatDimMap, DataFormatVecPermute: dimension numbers, and per-dimension values, from one
// data format (NHWC ...) to another.
#include <algorithm>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Formats {
  std::string from, to;
};

absl::StatusOr<Formats> FormatsOf(const AttrReader& attrs) {
  Formats f = {attrs.String("src_format", "NHWC"), attrs.String("dst_format", "NCHW")};
  std::string a = f.from, b = f.to;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if ((f.from.size() != 4 && f.from.size() != 5) || a != b ||
      std::adjacent_find(a.begin(), a.end()) != a.end()) {
    return InvalidArgument("src_format '", f.from, "' and dst_format '", f.to,
                           "' must have the same 4 or 5 letters");
  }
  return f;
}

absl::StatusOr<std::unique_ptr<Kernel>> DimMap(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Formats f, FormatsOf(p.attrs()));
  const int64_t n = p.input_shape(0).num_elements();
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([f, n](RunContext& run) -> absl::Status {
      const T rank = static_cast<T>(f.from.size());
      for (int64_t i = 0; i < n; ++i) {
        const T d = run.input<T>(0)[i];
        if (d < -rank || d >= rank) {
          return InvalidArgument("dimension ", d, " of a format of ", rank);
        }
        const char letter = f.from[static_cast<size_t>(d < 0 ? d + rank : d)];
        run.output<T>(0)[i] = static_cast<T>(f.to.find(letter));
      }
      return absl::OkStatus();
    });
  });
}

absl::Status PermuteShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Formats f, FormatsOf(c.attrs()));
  const Shape& x = c.input(0);
  const int64_t rank = static_cast<int64_t>(f.from.size());
  if (x.has_rank() && x.rank() != 1 && x.rank() != 2) {
    return InvalidArgument("x must be a vector or a matrix, but has shape ", x.ToString());
  }
  if (x.has_rank() && x.dim(0) >= 0 && x.dim(0) != rank && x.dim(0) != rank - 2) {
    return InvalidArgument("x must have ", rank, " or ", rank - 2, " rows, but has shape ",
                           x.ToString());
  }
  if (x.has_rank() && x.rank() == 2 && x.dim(1) >= 0 && x.dim(1) != 2) {
    return InvalidArgument("x must have 2 columns, but has shape ", x.ToString());
  }
  c.set_output(0, x);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Permute(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(Formats f, FormatsOf(p.attrs()));
  const Shape& x = p.input_shape(0);
  const int64_t columns = x.rank() == 2 ? 2 : 1;
  if (x.dim(0) == static_cast<int64_t>(f.from.size()) - 2) {
    // Only the spatial dimensions.
    for (std::string* format : {&f.from, &f.to}) {
      std::erase_if(*format, [](char c) { return c == 'N' || c == 'C'; });
    }
    if (x.dim(0) != static_cast<int64_t>(f.from.size())) {
      return InvalidArgument("formats without N and C for ", x.dim(0), " spatial dimensions");
    }
  }
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([f, columns](RunContext& run) {
      T* out = run.output<T>(0);
      for (const char letter : f.to) {
        const int64_t row = static_cast<int64_t>(f.from.find(letter));
        out = std::copy_n(run.input<T>(0) + row * columns, columns, out);
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration data_format_dim_map({
    .name = "DataFormatDimMap",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type = int32; src_format: string = NHWC; dst_format: string = NCHW",
    .types = "T: int32 int64",
    .shape = UnchangedShape,
    .reference = DimMap,
});

const OpRegistration data_format_vec_permute({
    .name = "DataFormatVecPermute",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type = int32; src_format: string = NHWC; dst_format: string = NCHW",
    .types = "T: int32 int64",
    .shape = PermuteShape,
    .reference = Permute,
});

}  // namespace
}  // namespace tenon
