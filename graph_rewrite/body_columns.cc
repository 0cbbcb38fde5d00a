#include "graph_rewrite/body_columns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph/constants.h"
#include "graph_rewrite/context.h"
#include "graph_rewrite/elements.h"

namespace tenon {
namespace {

// The columns of a StridedSlice that takes all rows, if there are any.
absl::StatusOr<std::pair<int64_t, int64_t>> ColumnRange(const Graph& body, const Node& n,
                                                        int64_t width, int rank) {
  auto mask = [&](const char* name) {
    const int64_t* v = n.attr<int64_t>(name);
    return v == nullptr ? 0 : *v;
  };
  std::vector<int64_t> spec[3];
  for (size_t i = 0; i < 3; ++i) {
    const Tensor* t = ConstantIn(body, n.inputs[i + 1]);
    if (t == nullptr || t->num_elements() != rank) return WhyNot("it does not take columns");
    TENON_ASSIGN_OR_RETURN(spec[i], IntegerValues(*t));
  }
  if (mask("shrink_axis_mask") != 0 || mask("new_axis_mask") != 0 || mask("ellipsis_mask") != 0 ||
      (rank == 2 && ((mask("begin_mask") & 1) == 0 || (mask("end_mask") & 1) == 0)) ||
      spec[2].front() != 1 || spec[2].back() != 1) {
    return WhyNot("it does not take columns");
  }
  auto bound = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + width : v, 0, width); };
  const int64_t begin = mask("begin_mask") & rank ? 0 : bound(spec[0].back());
  const int64_t end = mask("end_mask") & rank ? width : bound(spec[1].back());
  if (begin >= end) return WhyNot("it takes no columns");
  return std::pair(begin, end);
}

}  // namespace

absl::Status WhyNotInBody(const Node& n, absl::string_view reason) {
  return WhyNot(absl::StrCat("'", n.name, "' (", n.op, ") in its body: ", reason));
}

const Tensor* ConstantIn(const Graph& g, Endpoint e) { return ConstantOf(g.node(e.node)); }

int64_t IntegerIn(const Graph& g, Endpoint e, int64_t fallback) {
  const Tensor* t = ConstantIn(g, e);
  if (t == nullptr || t->num_elements() != 1 || !IsInteger(t->dtype())) return fallback;
  auto values = IntegerValues(*t);
  return values.ok() ? (*values)[0] : fallback;
}

absl::StatusOr<Columns> ColumnsOf(const Graph& body, const Node& n, int64_t width, int rank) {
  Columns out;
  std::vector<int64_t>& sizes = out.sizes;
  if (n.op == "StridedSlice") {
    TENON_ASSIGN_OR_RETURN(const auto range, ColumnRange(body, n, width, rank));
    out.begin = range.first;
    sizes = {range.second - range.first};
  } else {
    const int64_t axis = IntegerIn(body, n.inputs[n.op == "Split" ? 0 : 2], -2);
    if (axis != rank - 1 && axis != -1) return WhyNot("it does not split columns");
    if (n.op == "Split") {
      const int64_t* parts = n.attr<int64_t>("num_split");
      if (parts == nullptr || *parts < 1 || width % *parts != 0) return WhyNot("odd parts");
      sizes.assign(static_cast<size_t>(*parts), width / *parts);
    } else {
      const Tensor* t = ConstantIn(body, n.inputs[1]);
      if (t == nullptr) return WhyNot("its sizes are not constant");
      TENON_ASSIGN_OR_RETURN(sizes, IntegerValues(*t));
      const auto rest = std::find(sizes.begin(), sizes.end(), -1);
      if (rest != sizes.end()) {
        *rest = width - (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) + 1);
      }
      if (std::any_of(sizes.begin(), sizes.end(), [&](int64_t s) { return s < 0 || s > width; })) {
        return WhyNot("odd parts");
      }
    }
  }
  return out;
}

}  // namespace tenon
