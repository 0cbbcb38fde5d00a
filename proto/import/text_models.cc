#include "proto/import/text_models.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "env/containers.h"
#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

const Node& ModelAt(const Draft& draft, Endpoint e) {
  const Node* n = &draft.node(e.node);
  while (n->op == "Identity" && n->inputs.size() == 1) n = &draft.node(n->inputs[0].node);
  return *n;
}

}  // namespace

bool IsTextModel(const Node& node) { return node.op == "SentencepieceOp"; }

absl::Status FreezeTextModels(Draft& draft) {
  const std::vector<bool> live = draft.Live();
  HashMap<std::string, Endpoint> constants;  // by the handle's name
  for (size_t i = 0; i < live.size(); ++i) {
    const NodeId id = static_cast<NodeId>(i);
    if (!live[i] || draft.node(id).inputs.empty()) continue;
    // The row that takes the model has an underscore before the op's name.
    const std::string op = absl::StrCat("_", draft.node(id).op);
    if (!absl::StartsWith(op, "_Sentencepiece") || !FindOp(op)) continue;
    const Node& model = ModelAt(draft, draft.node(id).inputs[0]);
    const std::string* bytes = model.attr<std::string>("model");
    if (!IsTextModel(model) || bytes == nullptr) {
      return Unimplemented(NodeLabel(draft.node(id)), ": the model is not known");
    }
    auto it = constants.find(model.name);
    if (it == constants.end()) {
      Node node;
      const std::string name = model.name;
      node.name = absl::StrCat(name, "/model");
      node.op = "Const";
      node.attrs["dtype"] = DType::kString;
      node.attrs["value"] = Tensor::Scalar<std::string>(*bytes);
      TENON_ASSIGN_OR_RETURN(const NodeId added, draft.Add(std::move(node), /*effect=*/false));
      it = constants.emplace(name, Endpoint{added, 0}).first;
    }
    draft.node(id).op = op;
    draft.node(id).inputs[0] = it->second;
  }
  return absl::OkStatus();
}

}  // namespace tenon
