#include "kernels/text/boise.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/ragged/nested_splits.h"
#include "kernels/text/rows.h"

namespace tenon {
namespace {

// The splits in input `first`, which those in the next `count` - 1 inputs must equal.
absl::StatusOr<std::vector<int64_t>> CommonSplits(RunContext& run, int first, int count,
                                                  int64_t size, int64_t values) {
  TENON_ASSIGN_OR_RETURN(const NestedSplits nested, ReadSplits(run, DType::kInt64, {size}, values,
                                                               /*complete=*/true, first));
  const int64_t* splits = run.input<int64_t>(first);
  for (int i = first + 1; i < first + count; ++i) {
    if (!std::equal(splits, splits + size, run.input<int64_t>(i))) {
      return InvalidArgument("row splits of inputs ", first, " and ", i, " differ");
    }
  }
  return nested[0];
}

struct Span {
  int32_t begin, end;
};

// The tag of a token. `next` is the first span that may still overlap a token.
std::string TagOf(Span token, const int32_t* begins, const int32_t* ends, const std::string* types,
                  int64_t spans, bool strict, int64_t& next) {
  std::string tag = "O";
  while (next < spans) {
    const Span span = {begins[next], ends[next]};
    const std::string& type = types[next];
    if (token.end <= span.begin) break;
    if (token.begin >= span.end) {
      ++next;
      continue;
    }
    if (token.begin <= span.begin && token.end <= span.end) {
      if (token.begin == span.begin && token.end == span.end) {
        ++next;
        return absl::StrCat("S-", type);
      }
      return strict && token.begin != span.begin ? tag : absl::StrCat("B-", type);
    }
    if (token.begin >= span.begin && token.end >= span.end) {
      ++next;
      if (strict && token.end != span.end) return tag;
      tag = absl::StrCat("E-", type);
    } else if (token.begin >= span.begin) {
      return absl::StrCat("I-", type);
    } else {  // the span is inside the token
      tag = absl::StrCat("B-", type);
      ++next;
    }
  }
  return tag;
}

struct Spans {
  std::vector<int32_t> begins, ends;
  std::vector<std::string> types;
  std::vector<int64_t> counts;

  void Add(Span span, absl::string_view type) {
    begins.push_back(span.begin);
    ends.push_back(span.end);
    types.emplace_back(type);
  }
};

void AddSpans(const int32_t* begins, const int32_t* ends, const std::string* tags, int64_t tokens,
              Spans& to) {
  const size_t before = to.types.size();
  bool open = false;
  int32_t begin = 0;
  absl::string_view type;
  for (int64_t i = 0; i < tokens; ++i) {
    const absl::string_view tag = tags[i];
    const absl::string_view own = absl::ClippedSubstr(tag, 2);
    if (absl::StartsWith(tag, "B-") || absl::StartsWith(tag, "I-")) {
      if (!open) begin = begins[i];
      open = true;
      type = own;
    } else if (absl::StartsWith(tag, "E-") || absl::StartsWith(tag, "S-")) {
      to.Add({open ? begin : begins[i], ends[i]}, own);
      open = false;
    } else if (open && absl::StartsWith(tag, "O")) {
      to.Add({begin, ends[i - 1]}, type);
      open = false;
    }
  }
  if (open) to.Add({begin, ends[tokens - 1]}, type);
  to.counts.push_back(static_cast<int64_t>(to.types.size() - before));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SpansToTagsKernel(PrepareContext& p) {
  const int64_t tokens = p.input_shape(0).dim(0), spans = p.input_shape(2).dim(0);
  const int64_t splits = p.input_shape(5).dim(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> rows,
                           CommonSplits(run, 5, 2, splits, tokens));
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> of_spans,
                           CommonSplits(run, 7, 3, splits, spans));
    const bool strict = *run.input<bool>(10);
    for (size_t r = 0; r + 1 < rows.size(); ++r) {
      const int64_t first = of_spans[r];
      int64_t next = 0;
      for (int64_t i = rows[r]; i < rows[r + 1]; ++i) {
        run.output<std::string>(0)[i] =
            TagOf({run.input<int32_t>(0)[i], run.input<int32_t>(1)[i]},
                  run.input<int32_t>(2) + first, run.input<int32_t>(3) + first,
                  run.input<std::string>(4) + first, of_spans[r + 1] - first, strict, next);
      }
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> TagsToSpansKernel(PrepareContext& p) {
  const int64_t tokens = p.input_shape(0).dim(0), splits = p.input_shape(3).dim(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> rows,
                           CommonSplits(run, 3, 3, splits, tokens));
    std::vector<Spans> spans(1);
    for (size_t r = 0; r + 1 < rows.size(); ++r) {
      AddSpans(run.input<int32_t>(0) + rows[r], run.input<int32_t>(1) + rows[r],
               run.input<std::string>(2) + rows[r], rows[r + 1] - rows[r], spans[0]);
    }
    TENON_RETURN_IF_ERROR(WriteParts<int32_t>(run, 0, spans, &Spans::begins));
    TENON_RETURN_IF_ERROR(WriteParts<int32_t>(run, 1, spans, &Spans::ends));
    TENON_RETURN_IF_ERROR(WriteParts<std::string>(run, 2, spans, &Spans::types));
    WriteSplits(spans, &Spans::counts, run.output<int64_t>(3));
    return absl::OkStatus();
  });
}

}  // namespace tenon
