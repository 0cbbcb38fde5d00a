// The parts of a problem's line (draw.h).
#ifndef TENON_TESTS_SWEEP_LINE_H_
#define TENON_TESTS_SWEEP_LINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/sweep/draw.h"

namespace tenon::sweep {

using Ints = std::vector<int64_t>;

inline std::string List(const Ints& values) {
  return absl::StrCat("[", absl::StrJoin(values, ","), "]");
}
// An input such as "f32[1,2,3]", with values as in the case files.
inline std::string In(const std::string& dtype, const Ints& dims, const std::string& values = "") {
  return absl::StrCat(dtype, List(dims), values.empty() ? "" : "=", values);
}
inline std::string Sizes(const Ints& dims) {
  return absl::StrCat("i32[", dims.size(), "]=const:(", absl::StrJoin(dims, ","), ")");
}
inline std::string Line(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& attributes) {
  return absl::StrCat("p: ", op, "(", absl::StrJoin(inputs, ", "), ") ", attributes);
}
inline std::string Bool(bool value) { return value ? "true" : "false"; }
inline std::string FloatType(Dice& d) { return d.OneIn(3) ? "bf16" : "f32"; }

}  // namespace tenon::sweep

#endif  // TENON_TESTS_SWEEP_LINE_H_
