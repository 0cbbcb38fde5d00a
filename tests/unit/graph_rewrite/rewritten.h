// Rewrites a graph in text form, and finds what its nodes became.
#ifndef TENON_TESTS_UNIT_GRAPH_REWRITE_REWRITTEN_H_
#define TENON_TESTS_UNIT_GRAPH_REWRITE_REWRITTEN_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "env/flags.h"
#include "graph/text.h"
#include "graph_rewrite/pipeline.h"
#include "tests/support/interpreter.h"

namespace tenon {

// `options` without services; `disabled` is as in TENON_DISABLE_RULES.
inline Graph Rewritten(const char* text, RewriteOptions options, const std::string& disabled = "") {
  Flags flags;
  flags.disabled_rules = disabled;
  const Services services{.flags = &flags, .threads = 1};
  options.services = &services;
  options.verify = true;
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(testing::CompleteGraph(*graph).ok());
  auto report = Rewrite(*graph, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(graph);
}

inline DType TypeOf(const Graph& graph, const char* node, const char* attr = "T") {
  const Node* n = graph.FindNode(node);
  const DType* dtype = n == nullptr ? nullptr : n->attr<DType>(attr);
  EXPECT_NE(dtype, nullptr) << node << " in\n" << PrintGraph(graph);
  return dtype == nullptr ? DType::kInvalid : *dtype;
}

inline int CountOf(const Graph& graph, const std::string& op) {
  const auto counts = CountOps(graph);
  const auto it = counts.find(op);
  return it == counts.end() ? 0 : it->second;
}

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_GRAPH_REWRITE_REWRITTEN_H_
