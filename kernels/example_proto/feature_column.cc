#include "kernels/example_proto/feature_column.h"

#include "env/status.h"

namespace tenon {

bool AreFeatures(const std::vector<DType>& dtypes) {
  return std::all_of(dtypes.begin(), dtypes.end(), [](DType d) {
    return d == DType::kFloat || d == DType::kInt64 || d == DType::kString;
  });
}

const Feature* FindFeature(const FeatureMap& features, const std::string& key) {
  const auto it = features.find(key);
  return it == features.end() || it->second.dtype == DType::kInvalid ? nullptr : &it->second;
}

absl::StatusOr<int64_t> AppendFeature(const std::string& key, DType dtype, const Feature& feature,
                                      Column& column) {
  if (feature.dtype != dtype) {
    return InvalidArgument("feature '", key, "' has values of ", Name(feature.dtype), ", not of ",
                           Name(dtype));
  }
  int64_t added = 0;
  const absl::Status status = DispatchType(FeatureTypes{}, dtype, [&]<typename T>() {
    std::vector<T>& values = column.values<T>();
    const int64_t before = std::ssize(values);
    const absl::Status appended = AppendValues(feature, values);
    added = std::ssize(values) - before;
    column.ends.push_back(before + added);
    return appended;
  });
  if (!status.ok()) return Annotate(status, absl::StrCat("feature '", key, "'"));
  return added;
}

void AppendNothing(Column& column) { column.ends.push_back(column.count()); }

absl::Status WriteValues(RunContext& run, int output, DType dtype, Column& column) {
  absl::Status status;
  VisitTypes(FeatureTypes{}, dtype, [&]<typename T>() {
    std::vector<T>& values = column.values<T>();
    absl::StatusOr<void*> out = run.AllocateOutput(output, Shape({std::ssize(values)}));
    status = out.status();
    if (out.ok()) std::move(values.begin(), values.end(), static_cast<T*>(*out));
  });
  return status;
}

void WriteSplits(DType dtype, const std::vector<int64_t>& ends, void* out) {
  VisitTypes(TypeList<int32_t, int64_t>{}, dtype, [&]<typename I>() {
    I* to = static_cast<I*>(out);
    *to++ = 0;
    for (const int64_t end : ends) *to++ = static_cast<I>(end);
  });
}

Shape Batched(const Shape& batch, const Shape& shape) {
  Shape out = batch;
  for (int d = 0; d < shape.rank(); ++d) out.push_back(shape.dim(d));
  return out;
}

}  // namespace tenon
