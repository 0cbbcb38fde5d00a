#include "tests/unit/graph_rewrite/data_cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/text.h"
#include "tests/support/source_dir.h"

namespace tenon {

std::vector<RewriteCase> LoadRewriteCases() {
  std::vector<RewriteCase> cases;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/rewrite"))) {
    if (entry.path().extension() == ".graph") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    std::ifstream in(file);
    std::string line;
    bool in_graph = false;
    for (int number = 1; std::getline(in, line); ++number) {
      if (absl::StartsWith(line, "===")) {
        cases.emplace_back();
        cases.back().title =
            std::string(absl::StripAsciiWhitespace(absl::string_view(line).substr(3)));
        cases.back().file = std::filesystem::path(file).stem().string();
        cases.back().line = number;
        in_graph = false;
        continue;
      }
      if (cases.empty() || cases.back().file != std::filesystem::path(file).stem()) continue;
      RewriteCase& c = cases.back();
      if (in_graph) {
        c.graph += line + "\n";
        continue;
      }
      if (absl::StripAsciiWhitespace(line) == "---") {
        in_graph = true;
        continue;
      }
      const absl::string_view text =
          absl::StripAsciiWhitespace(absl::string_view(line).substr(0, line.find('#')));
      if (text.empty()) continue;
      const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
      const std::string key(absl::StripAsciiWhitespace(parts[0]));
      const std::string value(absl::StripAsciiWhitespace(parts.size() > 1 ? parts[1] : ""));
      if (key == "expect") {
        c.expect.push_back(value);
      } else if (key == "expect-not") {
        c.expect_not.push_back(value);
      } else if (key == "ops") {
        c.ops = value;
        c.check_ops = true;
      } else if (key == "unknown") {
        EXPECT_TRUE(absl::SimpleAtoi(value, &c.unknown));
      } else if (key == "flags") {
        EXPECT_EQ(value, "strict_nan") << c.title;
        c.flags.strict_nan = true;
      } else if (key == "last") {
        EXPECT_EQ(value, "rename") << c.title;
        c.last = Phase::kRename;
      } else if (key == "within") {
        EXPECT_TRUE(absl::SimpleAtof(value, &c.within)) << c.title;
      } else if (absl::StartsWith(key, "feed ")) {
        auto g = ParseGraph("%v = Const() {value=" + value + "}");
        EXPECT_TRUE(g.ok()) << c.title << g.status();
        if (g.ok()) c.feeds[key.substr(5)] = *g->node(0).attr<Tensor>("value");
      } else {
        ADD_FAILURE() << c.title << ": what is '" << line << "'?";
      }
    }
  }
  return cases;
}

std::string RewriteCaseName(const ::testing::TestParamInfo<RewriteCase>& info) {
  std::string name = info.param.file + "_";
  for (char c : info.param.title) name += absl::ascii_isalnum(c) ? c : '_';
  return absl::StrCat(name, "_", info.param.line);
}

}  // namespace tenon
