// Kernels that turn each row of text into a list of tokens. Rows are shared among threads: each
// range of rows collects its lists in a part of its own, and the outputs are the parts in order.
//
//   struct Words { std::vector<absl::string_view> tokens; std::vector<int64_t> counts; };
//   TENON_ASSIGN_OR_RETURN(auto parts, RowsInParts<Words>(threads, in, AddWords));
//   TENON_RETURN_IF_ERROR(WriteParts<std::string>(run, 0, parts, &Words::tokens));
//   WriteSplits(parts, &Words::counts, run.output<int64_t>(1));
#ifndef TENON_KERNELS_TEXT_ROWS_H_
#define TENON_KERNELS_TEXT_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "env/status.h"
#include "kernels/interface/in_parts.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The mean cost of a row of text that costs `ns` per byte.
inline double RowCost(absl::Span<const std::string> rows, double ns) {
  size_t bytes = 0;
  for (const std::string& row : rows) bytes += row.size();
  return 20 + ns * static_cast<double>(bytes) / static_cast<double>(rows.empty() ? 1 : rows.size());
}

// Output `o`, a vector of unknown size, gets all parts' lists.
template <typename T, typename Part, typename List>
absl::Status WriteParts(RunContext& run, int o, const std::vector<Part>& parts, List Part::*list) {
  int64_t count = 0;
  for (const Part& part : parts) count += std::ssize(part.*list);
  TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(o, Shape({count})));
  T* to = static_cast<T*>(memory);
  for (const Part& part : parts) {
    for (const auto& value : part.*list) {
      if constexpr (std::is_same_v<T, std::string>) {
        to->assign(value.data(), value.size());
        ++to;
      } else {
        *to++ = static_cast<T>(value);
      }
    }
  }
  return absl::OkStatus();
}

// Row splits from the rows' sizes.
template <typename T, typename Part>
void WriteSplits(const std::vector<Part>& parts, std::vector<int64_t> Part::*sizes, T* to) {
  int64_t sum = 0;
  *to++ = 0;
  for (const Part& part : parts) {
    for (const int64_t size : part.*sizes) *to++ = static_cast<T>(sum += size);
  }
}

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_ROWS_H_
