#include "proto/import/table_content.h"

#include <algorithm>
#include <string>
#include <vector>

#include "env/containers.h"
#include "env/status.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using KeyTypes = TypeList<std::string, int32_t, int64_t>;

absl::StatusOr<Tensor> Chosen(const Tensor& t, const std::vector<int64_t>& places) {
  Shape shape = t.shape();
  const int64_t width = places.empty() ? 0 : t.num_elements() / shape.dim(0);
  shape.set_dim(0, std::ssize(places));
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(t.dtype(), shape));
  VisitStorage(t.dtype(), [&]<typename T>() {
    T* to = static_cast<T*>(out.raw());
    for (const int64_t i : places) {
      to = std::copy_n(static_cast<const T*>(t.raw()) + i * width, width, to);
    }
  });
  return out;
}

// A repeated entry counts once; as in TensorFlow, two values for one key are an error.
template <typename K>
absl::Status DropRepeated(TableContent& content) {
  const auto& [keys, values] = content;
  HashMap<K, int64_t> seen;
  std::vector<int64_t> kept;
  const int64_t width = keys.num_elements() == 0 ? 0 : values.num_elements() / keys.num_elements();
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    const auto [it, fresh] = seen.emplace(keys.template data<K>()[i], i);
    if (fresh) {
      kept.push_back(i);
      continue;
    }
    bool same = false;
    VisitStorage(values.dtype(), [&]<typename V>() {
      const V* const rows = static_cast<const V*>(values.raw());
      same = std::equal(rows + i * width, rows + (i + 1) * width, rows + it->second * width);
    });
    if (!same) return InvalidArgument("the table gets two values for the key of entry ", i);
  }
  if (std::ssize(kept) == keys.num_elements()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(content.keys, Chosen(content.keys, kept));
  TENON_ASSIGN_OR_RETURN(content.values, Chosen(content.values, kept));
  return absl::OkStatus();
}

// Drops the entries whose key is `mark`, a scalar.
absl::Status DropKey(const Tensor& mark, TableContent& content) {
  if (mark.dtype() != content.keys.dtype() || mark.num_elements() != 1) {
    return InvalidArgument("the keys are ", Name(content.keys.dtype()),
                           " scalars; the key of empty or deleted places is ", Name(mark.dtype()),
                           mark.shape().ToString());
  }
  std::vector<int64_t> kept;
  VisitTypes(KeyTypes{}, mark.dtype(), [&]<typename K>() {
    const K* const keys = content.keys.data<K>();
    for (int64_t i = 0; i < content.keys.num_elements(); ++i) {
      if (keys[i] != *mark.data<K>()) kept.push_back(i);
    }
  });
  TENON_ASSIGN_OR_RETURN(content.keys, Chosen(content.keys, kept));
  TENON_ASSIGN_OR_RETURN(content.values, Chosen(content.values, kept));
  return absl::OkStatus();
}

absl::Status CheckForm(const TableContent& content) {
  const DType keys = content.keys.dtype(), values = content.values.dtype();
  if (keys != DType::kString && keys != DType::kInt32 && keys != DType::kInt64) {
    return Unimplemented("tables with keys of ", Name(keys));
  }
  if (values != DType::kString && SizeOf(values) == 0) {
    return Unimplemented("tables with values of ", Name(values));
  }
  const int64_t n = content.values.shape().rank() == 0 ? 1 : content.values.shape().dim(0);
  if (content.keys.num_elements() != n || content.values.shape().rank() == 0) {
    return InvalidArgument("the table gets ", content.keys.num_elements(), " keys and ", n,
                           " values");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CleanTableContent(absl::Span<const Tensor> marks, TableContent& content) {
  TENON_RETURN_IF_ERROR(CheckForm(content));
  for (const Tensor& mark : marks) TENON_RETURN_IF_ERROR(DropKey(mark, content));
  absl::Status status;
  VisitTypes(KeyTypes{}, content.keys.dtype(),
             [&]<typename K>() { status = DropRepeated<K>(content); });
  return status;
}

}  // namespace tenon
