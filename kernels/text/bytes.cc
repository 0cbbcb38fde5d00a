#include "kernels/text/bytes.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "kernels/ragged/nested_splits.h"
#include "kernels/text/rows.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> ByteSplitKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([n](RunContext& run) -> absl::Status {
    const std::string* texts = run.input<std::string>(0);
    int64_t *splits = run.output<int64_t>(1), count = 0;
    *splits++ = 0;
    for (int64_t i = 0; i < n; ++i) *splits++ = count += std::ssize(texts[i]);
    void* outputs[4] = {};
    for (const int o : {0, 2, 3}) {
      TENON_ASSIGN_OR_RETURN(outputs[o], run.AllocateOutput(o, Shape({count})));
    }
    uint8_t* byte = static_cast<uint8_t*>(outputs[0]);
    int32_t *start = static_cast<int32_t*>(outputs[2]), *end = static_cast<int32_t*>(outputs[3]);
    for (int64_t i = 0; i < n; ++i) {
      const std::ptrdiff_t size = std::ssize(texts[i]);
      byte = std::copy(texts[i].begin(), texts[i].end(), byte);
      std::iota(start, start + size, 0);
      std::iota(end, end + size, 1);
      start += size;
      end += size;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitByOffsetsKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const int64_t offsets = std::min(p.input_shape(1).dim(0), p.input_shape(2).dim(0));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    struct Parts {
      std::vector<absl::string_view> parts;
      std::vector<int64_t> counts;
    };
    std::vector<Parts> all(1);
    TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                           ReadSplits(run, DType::kInt64, {n + 1}, offsets, false, 3));
    const std::vector<int64_t>& rows = nested[0];
    for (size_t r = 0; r + 1 < rows.size(); ++r) {
      const absl::string_view text = run.input<std::string>(0)[r];
      for (int64_t i = rows[r]; i < rows[r + 1]; ++i) {
        const int64_t start = run.input<int32_t>(1)[i], end = run.input<int32_t>(2)[i];
        if (start < 0 || start > std::ssize(text)) {
          return InvalidArgument("Start offsets out of range.");
        }
        if (end < 0 || end > std::ssize(text)) return InvalidArgument("End offsets out of range.");
        if (start > end) return InvalidArgument("Start offset after end offset.");
        all[0].parts.push_back(
            text.substr(static_cast<size_t>(start), static_cast<size_t>(end - start)));
      }
      all[0].counts.push_back(rows[r + 1] - rows[r]);
    }
    WriteSplits(all, &Parts::counts, run.output<int64_t>(1));
    return WriteParts<std::string>(run, 0, all, &Parts::parts);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> BinarizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t length, p.attrs().Int("word_length"));
  TENON_ASSIGN_OR_RETURN(const int64_t bits, p.attrs().Int("bits_per_char"));
  TENON_ASSIGN_OR_RETURN(const int64_t replacement, p.attrs().Int("replacement_char"));
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([=](RunContext& run) {
    float* out = run.output<float>(0);
    for (int64_t i = 0; i < n; ++i) {
      const std::string& text = run.input<std::string>(0)[i];
      const int32_t size = static_cast<int32_t>(text.size());
      float* const end = out + length * bits;
      int32_t at = 0;
      for (int64_t k = 0; k < length && at < size; ++k) {
        UChar32 c;
        U8_NEXT(text.data(), at, size, c);
        const int64_t character = c < 0 ? replacement : c;
        for (int64_t b = 0; b < bits; ++b) {
          *out++ = (character >> std::min<int64_t>(b, 31) & 1) != 0 ? 1.0f : 0.0f;
        }
      }
      std::fill(out, end, 0.0f);
      out = end;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> JoinRunsKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t width, p.attrs().Int("width"));
  TENON_ASSIGN_OR_RETURN(const std::string separator, p.attrs().String("string_separator"));
  const int splits = p.num_inputs() - 1;
  const Shape values = p.input_shape(0);
  std::vector<int64_t> sizes;
  for (int i = 1; i <= splits; ++i) sizes.push_back(p.input_shape(i).dim(0));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::string* tokens = run.input<std::string>(0);
    auto add_runs = [&](int64_t begin, int64_t end, auto&& add) {
      for (int64_t i = begin; i + width <= end; ++i) {
        add(absl::StrJoin(tokens + i, tokens + i + width, separator));
      }
    };
    if (splits == 0) {
      const int64_t row = values.dim(values.rank() - 1);
      std::string* out = run.output<std::string>(0);
      for (int64_t begin = 0; begin < values.num_elements(); begin += row) {
        add_runs(begin, begin + row, [&](std::string joined) { *out++ = std::move(joined); });
      }
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(
        const NestedSplits nested,
        ReadSplits(run, DType::kInt64, sizes, values.dim(0), /*complete=*/false, 1));
    for (int i = 1; i < splits; ++i) {
      const std::vector<int64_t>& same = nested[static_cast<size_t>(i) - 1];
      std::copy(same.begin(), same.end(), run.output<int64_t>(i));
    }
    std::vector<std::string> joined;
    int64_t* ends = run.output<int64_t>(splits);
    *ends++ = 0;
    const std::vector<int64_t>& rows = nested.back();
    for (size_t r = 0; r + 1 < rows.size(); ++r) {
      add_runs(rows[r], rows[r + 1], [&](std::string j) { joined.push_back(std::move(j)); });
      *ends++ = std::ssize(joined);
    }
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, Shape({std::ssize(joined)})));
    std::move(joined.begin(), joined.end(), static_cast<std::string*>(memory));
    return absl::OkStatus();
  });
}

}  // namespace tenon
