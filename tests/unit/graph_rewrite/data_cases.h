// The cases of tests/rewrite/*.graph. A case:
//
//   === title of the case
//   expect = FuseSwish          # must fire; one line per rule
//   expect-not = FuseHardSwish  # must not fire
//   ops = _Swish:1 Mul:2        # all nodes after the fuse phase, except Const and Placeholder
//   unknown = 3                 # value of unknown dimensions when it runs (default 2)
//   feed x = float<2>{nan, 1}   # instead of seeded numbers
//   flags = strict_nan
//   last = rename               # the last phase, instead of fuse; ops are then native ones
//   within = 0.02               # one scale of the integers, if ties may round differently
//   ---
//   the graph, as in graph/text.h; types and defaults are filled in
#ifndef TENON_TESTS_UNIT_GRAPH_REWRITE_DATA_CASES_H_
#define TENON_TESTS_UNIT_GRAPH_REWRITE_DATA_CASES_H_

#include <map>
#include <string>
#include <vector>

#include "env/flags.h"
#include "graph/tensor.h"
#include "graph_rewrite/rule.h"
#include "gtest/gtest.h"

namespace tenon {

struct RewriteCase {
  std::string title;
  std::string file;
  int line = 0;
  std::vector<std::string> expect, expect_not;
  std::string ops;
  bool check_ops = false;
  int64_t unknown = 2;
  Phase last = Phase::kFuse;
  std::map<std::string, Tensor> feeds;
  Flags flags;
  float within = 0;
  std::string graph;
};

std::vector<RewriteCase> LoadRewriteCases();

// For INSTANTIATE_TEST_SUITE_P.
std::string RewriteCaseName(const ::testing::TestParamInfo<RewriteCase>& info);

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_GRAPH_REWRITE_DATA_CASES_H_
