// Typed access to a node's attributes, for shape functions and kernels.
#ifndef TENON_GRAPH_ATTR_READER_H_
#define TENON_GRAPH_ATTR_READER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/dtype.h"
#include "graph/graph.h"
#include "graph/shape.h"

namespace tenon {

// Getters without a default return InvalidArgument, naming the attribute, if it is absent or has
// another type. (CompleteAttrs has run, so ops can rely on their defaults.)
class AttrReader {
 public:
  explicit AttrReader(const Node& node) : node_(node) {}
  const Node& node() const { return node_; }

  absl::StatusOr<int64_t> Int(absl::string_view name) const;
  absl::StatusOr<float> Float(absl::string_view name) const;
  absl::StatusOr<bool> Bool(absl::string_view name) const;
  absl::StatusOr<std::string> String(absl::string_view name) const;
  absl::StatusOr<DType> Type(absl::string_view name) const;
  absl::StatusOr<Shape> ShapeOf(absl::string_view name) const;
  absl::StatusOr<std::vector<int64_t>> Ints(absl::string_view name) const;
  absl::StatusOr<std::vector<float>> Floats(absl::string_view name) const;
  absl::StatusOr<std::vector<std::string>> Strings(absl::string_view name) const;

  int64_t Int(absl::string_view name, int64_t fallback) const;
  float Float(absl::string_view name, float fallback) const;
  bool Bool(absl::string_view name, bool fallback) const;
  std::string String(absl::string_view name, absl::string_view fallback) const;

 private:
  const Node& node_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_ATTR_READER_H_
