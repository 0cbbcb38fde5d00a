// XlaVariadicSort by keys: JAX gives each sort a comparator, which in nearly all cases computes one
// number, or several, from each of two elements, and compares these. They are then computed once
// for each element, by the comparator's own nodes, instead of for each of n log n comparisons.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph_rewrite/comparator.h"
#include "graph_rewrite/inline_body.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

Outcome SortByKeys(RuleContext& context, NodeId id) {
  const Node sort = context.node(id);
  const FuncRef* comparator = sort.attr<FuncRef>("comparator");
  const auto* dtypes = sort.attr<std::vector<DType>>("T");
  if (comparator == nullptr || dtypes == nullptr) return Outcome::Skip(0, "it is malformed", id);
  const std::shared_ptr<const Graph> function = context.FindFunction(comparator->name);
  if (function == nullptr) return Outcome::Skip(0, "the comparator is not in the library", id);
  const Graph& body = *function;
  if (body.inputs().size() != 2 * dtypes->size() || sort.inputs.size() != dtypes->size() + 1) {
    return Outcome::Skip(0, "the comparator has another signature", id);
  }
  const auto keys = SortKeysOf(body);
  if (!keys.ok()) return Outcome::Skip(2, std::string(keys.status().message()), id);
  if (!context.IsCandidate(id)) return Outcome::Skip(1, "it has control inputs", id);

  std::vector<Endpoint> arguments, ends;
  for (size_t i = 0; i < dtypes->size(); ++i) arguments.insert(arguments.end(), 2, sort.inputs[i]);
  std::vector<DType> key_dtypes;
  std::vector<bool> descending;
  for (const SortKey& key : *keys) {
    ends.push_back(key.value);
    descending.push_back(key.descending);
  }
  const auto inputs = InlineBody(context, body, arguments, ends);
  if (!inputs.ok()) return Outcome::Skip(1, std::string(inputs.status().message()), id);
  context.shapes.ExpectMore();
  for (const Endpoint& key : *inputs) key_dtypes.push_back(context.shapes.dtype(key));

  Node by_keys;
  by_keys.name = sort.name;
  by_keys.op = "_SortByKeys";
  by_keys.device = sort.device;
  by_keys.inputs.assign(inputs->begin(), inputs->end());
  by_keys.inputs.insert(by_keys.inputs.end(), sort.inputs.begin(), sort.inputs.end());
  by_keys.attrs["K"] = std::move(key_dtypes);
  by_keys.attrs["T"] = *dtypes;
  by_keys.attrs["descending"] = std::move(descending);
  const size_t results = dtypes->size();
  const NodeId made = context.rw.AddNode(std::move(by_keys));
  for (size_t i = 0; i < results; ++i) {
    context.rw.ReplaceAllUses({id, static_cast<int>(i)}, {made, static_cast<int>(i)});
  }
  context.rw.ReplaceControlUses(id, made);
  context.RemoveIfDead(id);
  if (context.graph().FindNode(sort.name) == nullptr) context.rw.Rename(made, sort.name);
  return Outcome::Fired();
}

const RuleRegistration sort_by_keys({
    .name = "SortByKeys",
    .doc = "XlaVariadicSort whose comparator compares numbers that it computes from each element "
           "becomes a sort by these",
    .phase = Phase::kFold,
    .anchors = "XlaVariadicSort",
    .apply = SortByKeys,
});

}  // namespace
}  // namespace tenon
