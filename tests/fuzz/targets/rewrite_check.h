// Compares a graph's results before and after rewriting.
#ifndef TENON_TESTS_FUZZ_TARGETS_REWRITE_CHECK_H_
#define TENON_TESTS_FUZZ_TARGETS_REWRITE_CHECK_H_

#include <map>
#include <string>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon {

// Runs `graph`, whose attributes are complete, node by node with the reference kernels, and in
// sessions that rewrite it and that do not; a difference is a FuzzFailure. `feeds`: a tensor for
// each Placeholder, by node name.
//
// How far results may differ is measured: the reference run is repeated with a random rounding
// error of a few ulps after every node. Results that this changes much, or that are near overflow,
// are not compared.
void CheckRewrite(const Graph& graph, const std::map<std::string, Tensor>& feeds);

}  // namespace tenon

#endif  // TENON_TESTS_FUZZ_TARGETS_REWRITE_CHECK_H_
