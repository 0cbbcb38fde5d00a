// RegexReplace, StaticRegexReplace, RegexFullMatch, StaticRegexFullMatch, by RE2.
#include <re2/re2.h>

#include <memory>

#include "kernels/strings/map.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::shared_ptr<const RE2>> Compile(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>(pattern, options);
  if (!regex->ok()) {
    return InvalidArgument("invalid pattern: ", pattern, ", error: ", regex->error());
  }
  return regex;
}

void Replace(const RE2& regex, const std::string& rewrite, bool global, std::string& text) {
  if (global) {
    RE2::GlobalReplace(&text, regex, rewrite);
  } else {
    RE2::Replace(&text, regex, rewrite);
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> StaticReplace(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::string pattern, p.attrs().String("pattern"));
  TENON_ASSIGN_OR_RETURN(const std::string rewrite, p.attrs().String("rewrite"));
  TENON_ASSIGN_OR_RETURN(const auto regex, Compile(pattern));
  const bool global = p.attrs().Bool("replace_global", true);
  return MapStrings<std::string>(p, [=](const std::string& in, std::string& out) {
    out = in;
    Replace(*regex, rewrite, global, out);
    return absl::OkStatus();
  });
}

absl::Status ReplaceShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return UnchangedShape(c);
}

absl::StatusOr<std::unique_ptr<Kernel>> DynamicReplace(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const bool global = p.attrs().Bool("replace_global", true);
  return MakeKernel([n, global](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const auto regex, Compile(*run.input<std::string>(1)));
    for (int64_t i = 0; i < n; ++i) {
      std::string& out = run.output<std::string>(0)[i];
      out = run.input<std::string>(0)[i];
      Replace(*regex, *run.input<std::string>(2), global, out);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> StaticMatch(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::string pattern, p.attrs().String("pattern"));
  TENON_ASSIGN_OR_RETURN(const auto regex, Compile(pattern));
  return MapStrings<bool>(p, [=](const std::string& in, bool& out) {
    out = RE2::FullMatch(in, *regex);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> DynamicMatch(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([n](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const auto regex, Compile(*run.input<std::string>(1)));
    for (int64_t i = 0; i < n; ++i) {
      run.output<bool>(0)[i] = RE2::FullMatch(run.input<std::string>(0)[i], *regex);
    }
    return absl::OkStatus();
  });
}

const OpRegistration regex_replace_op({
    .name = "RegexReplace",
    .inputs = "input: string, pattern: string, rewrite: string",
    .outputs = "output: string",
    .attrs = "replace_global: bool = true",
    .shape = ReplaceShape,
    .reference = DynamicReplace,
});

const OpRegistration static_regex_replace_op({
    .name = "StaticRegexReplace",
    .inputs = "input: string",
    .outputs = "output: string",
    .attrs = "pattern: string; rewrite: string; replace_global: bool = true",
    .shape = UnchangedShape,
    .reference = StaticReplace,
});

const OpRegistration regex_full_match_op({
    .name = "RegexFullMatch",
    .inputs = "input: string, pattern: string",
    .outputs = "output: bool",
    .shape = ReplaceShape,
    .reference = DynamicMatch,
});

const OpRegistration static_regex_full_match_op({
    .name = "StaticRegexFullMatch",
    .inputs = "input: string",
    .outputs = "output: bool",
    .attrs = "pattern: string",
    .shape = UnchangedShape,
    .reference = StaticMatch,
});

}  // namespace
}  // namespace tenon
