#include "kernels/xla/dimension_numbers.h"

#include <algorithm>

#include "absl/types/span.h"
#include "env/status.h"
#include "kernels/example_proto/wire.h"

namespace tenon {
namespace {

// A field of integers: a list, or one of which the last value counts.
struct Field {
  uint32_t number;
  DimList* list;
  int64_t* one = nullptr;
};

bool ReadField(const WireField& found, const Field& field) {
  const auto add = [&](uint64_t value) {
    if (field.list != nullptr) {
      field.list->push_back(static_cast<int64_t>(value));
    } else {
      *field.one = static_cast<int64_t>(value);
    }
  };
  if (found.type == WireType::kVarint) {
    add(found.value);
    return true;
  }
  if (field.list == nullptr || !found.is_bytes()) return false;
  WireReader packed(found.bytes);
  uint64_t value = 0;
  while (!packed.done()) {
    if (!packed.Varint(value)) return false;
    add(value);
  }
  return packed.ok();
}

absl::Status ReadFields(absl::string_view bytes, absl::Span<const Field> fields) {
  WireReader reader(bytes);
  WireField found;
  while (reader.Next(found)) {
    for (const Field& field : fields) {
      if (field.number == found.number && !ReadField(found, field)) {
        return InvalidArgument("field ", found.number,
                               " of the dimension numbers has a wrong type");
      }
    }
  }
  if (!reader.ok()) return InvalidArgument("the dimension numbers are not a serialized message");
  return absl::OkStatus();
}

}  // namespace

bool Contains(const DimList& dims, int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

bool AreDims(const DimList& dims, int64_t bound) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= bound) return false;
    if (std::find(dims.begin(), dims.begin() + static_cast<long>(i), dims[i]) !=
        dims.begin() + static_cast<long>(i)) {
      return false;
    }
  }
  return true;
}

bool ConvNumbers::Layout::Covers(int rank) const {
  DimList all = spatial;
  all.push_back(batch);
  all.push_back(feature);
  return static_cast<int>(all.size()) == rank && AreDims(all, rank);
}

absl::StatusOr<DotNumbers> ParseDotNumbers(absl::string_view bytes) {
  DotNumbers n;
  TENON_RETURN_IF_ERROR(ReadFields(
      bytes,
      {{1, &n.lhs_contracting}, {2, &n.rhs_contracting}, {3, &n.lhs_batch}, {4, &n.rhs_batch}}));
  if (n.lhs_contracting.size() != n.rhs_contracting.size() ||
      n.lhs_batch.size() != n.rhs_batch.size()) {
    return InvalidArgument("the operands have ", n.lhs_contracting.size(), " and ",
                           n.rhs_contracting.size(), " contracted and ", n.lhs_batch.size(),
                           " and ", n.rhs_batch.size(), " batch dimensions");
  }
  return n;
}

absl::StatusOr<ConvNumbers> ParseConvNumbers(absl::string_view bytes) {
  ConvNumbers n;
  TENON_RETURN_IF_ERROR(ReadFields(bytes, {{3, nullptr, &n.kernel.feature},
                                           {4, nullptr, &n.kernel.batch},
                                           {6, &n.kernel.spatial},
                                           {7, nullptr, &n.input.batch},
                                           {8, nullptr, &n.input.feature},
                                           {9, nullptr, &n.output.batch},
                                           {10, nullptr, &n.output.feature},
                                           {11, &n.input.spatial},
                                           {12, &n.output.spatial}}));
  return n;
}

absl::StatusOr<ConvNumbers> ParseUniformConvNumbers(absl::string_view bytes) {
  ConvNumbers n;
  TENON_RETURN_IF_ERROR(ReadFields(bytes, {{1, nullptr, &n.input.batch},
                                           {2, nullptr, &n.input.feature},
                                           {3, &n.input.spatial},
                                           {4, nullptr, &n.kernel.feature},
                                           {5, nullptr, &n.kernel.batch},
                                           {6, &n.kernel.spatial},
                                           {7, nullptr, &n.output.batch},
                                           {8, nullptr, &n.output.feature},
                                           {9, &n.output.spatial}}));
  return n;
}

absl::StatusOr<GatherNumbers> ParseGatherNumbers(absl::string_view bytes) {
  GatherNumbers n;
  TENON_RETURN_IF_ERROR(ReadFields(bytes, {{1, &n.offset},
                                           {2, &n.collapsed},
                                           {3, &n.index_map},
                                           {4, nullptr, &n.index_vector},
                                           {5, &n.operand_batch},
                                           {6, &n.indices_batch}}));
  return n;
}

}  // namespace tenon
