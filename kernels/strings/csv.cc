#include "kernels/strings/csv.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "env/status.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

// The fields of one record, without those that are not chosen. What follows the last of these is
// not read.
absl::StatusOr<std::vector<std::string>> FieldsOf(absl::string_view text, const CsvDialect& d) {
  std::vector<std::string> fields;
  if (text.empty()) return fields;
  size_t next = 0;
  int64_t column = 0;
  auto add = [&](std::string field) {
    const bool all = d.chosen.empty();
    if (all || (next < d.chosen.size() && d.chosen[next] == column)) {
      fields.push_back(std::move(field));
      ++next;
    }
    ++column;
  };
  size_t at = 0;
  while (at < text.size()) {
    if (IsLineEnd(text[at])) {
      ++at;
      continue;
    }
    std::string field;
    if (d.quotes && text[at] == '"') {
      ++at;
      for (;;) {
        if (at >= text.size()) return InvalidArgument("a quoted field has no end");
        if (text[at] != '"') {
          field += text[at++];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          field += '"';
          at += 2;
        } else {
          break;
        }
      }
      ++at;
      if (at < text.size() && text[at] != d.delimiter && !IsLineEnd(text[at])) {
        return InvalidArgument("a quoted field is followed by '", text.substr(at, 1), "'");
      }
    } else {
      for (; at < text.size() && text[at] != d.delimiter; ++at) {
        if (IsLineEnd(text[at]) || (d.quotes && text[at] == '"')) {
          return InvalidArgument("an unquoted field has a quote or a line break");
        }
        field += text[at];
      }
    }
    add(std::move(field));
    if (at >= text.size() || (!d.chosen.empty() && next == d.chosen.size())) break;
    if (IsLineEnd(text[at])) {
      ++at;
      continue;
    }
    ++at;                                       // the delimiter
    if (at == text.size()) add(std::string());  // an empty last field
  }
  return fields;
}

bool ParseField(const std::string& text, float& v) { return absl::SimpleAtof(text, &v); }

bool ParseField(const std::string& text, double& v) { return absl::SimpleAtod(text, &v); }

bool ParseField(const std::string& text, std::string& v) {
  v = text;
  return true;
}

template <typename I>
bool ParseField(const std::string& text, I& v) {
  return absl::SimpleAtoi(text, &v);
}

}  // namespace

absl::StatusOr<CsvDialect> ReadCsvDialect(const AttrReader& attrs, int columns) {
  CsvDialect d;
  const std::string delimiter = attrs.String("field_delim", ",");
  if (delimiter.size() != 1) {
    return InvalidArgument("field_delim must be one character, but is '", delimiter, "'");
  }
  d.delimiter = delimiter[0];
  d.quotes = attrs.Bool("use_quote_delim", true);
  d.missing = attrs.String("na_value", "");
  if (const auto* chosen = attrs.node().attr<std::vector<int64_t>>("select_cols")) {
    d.chosen = *chosen;
  }
  if (!d.chosen.empty() && std::ssize(d.chosen) != columns) {
    return InvalidArgument("select_cols has ", d.chosen.size(), " columns for ", columns,
                           " record_defaults");
  }
  for (size_t i = 0; i < d.chosen.size(); ++i) {
    if (d.chosen[i] < 0 || (i > 0 && d.chosen[i] <= d.chosen[i - 1])) {
      return InvalidArgument("select_cols must be non-negative and ascending");
    }
  }
  return d;
}

absl::StatusOr<std::unique_ptr<Kernel>> DecodeCsvKernel(PrepareContext& p) {
  const int columns = p.num_inputs() - 1;
  TENON_ASSIGN_OR_RETURN(const CsvDialect dialect, ReadCsvDialect(p.attrs(), columns));
  const int64_t records = p.input_shape(0).num_elements();
  std::vector<DType> dtypes;
  std::vector<bool> has_default;
  for (int i = 0; i < columns; ++i) {
    dtypes.push_back(p.output_dtype(i));
    has_default.push_back(p.input_shape(i + 1).num_elements() > 0);
  }
  return MakeKernel([=](RunContext& run) -> absl::Status {
    for (int64_t r = 0; r < records; ++r) {
      auto fields = FieldsOf(run.input<std::string>(0)[r], dialect);
      if (!fields.ok()) return Annotate(fields.status(), absl::StrCat("record ", r));
      if (std::ssize(*fields) != columns) {
        return InvalidArgument("record ", r, " has ", fields->size(), " fields, not ", columns);
      }
      for (size_t i = 0; i < fields->size(); ++i) {
        const std::string& field = (*fields)[i];
        const int k = static_cast<int>(i);
        const bool missing = field.empty() || field == dialect.missing;
        if (missing && !has_default[i]) {
          return InvalidArgument("field ", i, " of record ", r, " is missing and has no default");
        }
        bool parsed = false;
        VisitTypes(TypeList<float, double, int32_t, int64_t, std::string>{}, dtypes[i],
                   [&]<typename T>() {
                     T& out = run.output<T>(k)[r];
                     parsed = missing || ParseField(field, out);
                     if (missing) out = *run.input<T>(k + 1);
                   });
        if (!parsed) {
          return InvalidArgument("field ", i, " of record ", r, " is not a valid ", Name(dtypes[i]),
                                 ": '", field, "'");
        }
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
