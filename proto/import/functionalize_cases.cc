// Turns the Switches of Case, which TensorFlow lowers to _SwitchN and a Merge of all branches, into
// those of conditions one within another:
//   _SwitchN(data, index) -> Switch(data, index == 0): true is branch 0; in false, Switch(data,
//   index == 1) …; no match is the last branch
//   Merge(b0, b1, b2) -> Merge(Merge(b2, b1), b0)
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph/attr_reader.h"
#include "proto/import/functionalize.h"

namespace tenon {
namespace {

constexpr char kSwitchN[] = "_SwitchN";  // op names: TensorFlow's private ones

class CaseFunctionalization {
 public:
  explicit CaseFunctionalization(Draft& draft) : draft_(draft) {}

  absl::Status Run() {
    const NodeId end = draft_.end_id();
    for (NodeId id = 0; id < end; ++id) {
      const std::string op = draft_.node(id).op;
      if (op == kSwitchN) {
        TENON_RETURN_IF_ERROR(Annotate(SplitSwitch(id), NodeLabel(draft_.node(id))));
      } else if (op == "Merge" && draft_.node(id).inputs.size() > 2) {
        TENON_RETURN_IF_ERROR(SplitMerge(id));
      }
    }
    Redirect(draft_, forward_);
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Endpoint> AddSwitch(const std::string& name, DType dtype, Endpoint data,
                                     Endpoint predicate) {
    Node n;
    n.name = name;
    n.op = "Switch";
    n.inputs = {data, predicate};
    n.attrs["T"] = DType(dtype);
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(n), /*effect=*/true));
    return Endpoint{id, 0};
  }

  // Whether the index is 0, 1, … below branches - 1, each within the branch where the one before
  // does not hold. All Switches of a Case get the same.
  absl::StatusOr<std::vector<Endpoint>> PredicatesOf(Endpoint index, int64_t branches) {
    std::vector<Endpoint>& predicates = predicates_[index];
    while (std::ssize(predicates) + 1 < branches) {
      const int k = static_cast<int>(predicates.size());
      const std::string name = absl::StrCat(draft_.node(index.node).name, "/is_", k);
      TENON_ASSIGN_OR_RETURN(const NodeId number, draft_.AddScalar(name + "/y", k));
      Node equal;
      equal.name = name;
      equal.op = "Equal";
      equal.inputs = {index, {number, 0}};
      equal.attrs["T"] = DType::kInt32;
      TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(equal), /*effect=*/false));
      Endpoint predicate{id, 0};
      for (int i = 0; i < k; ++i) {
        TENON_ASSIGN_OR_RETURN(predicate, AddSwitch(absl::StrCat(name, "/not_", i), DType::kBool,
                                                    predicate, predicates[static_cast<size_t>(i)]));
      }
      predicates.push_back(predicate);
    }
    return std::vector<Endpoint>(predicates.begin(), predicates.begin() + (branches - 1));
  }

  absl::Status SplitSwitch(NodeId id) {
    const Node n = draft_.node(id);
    if (n.inputs.size() != 2) return InvalidArgument("needs 2 inputs");
    TENON_ASSIGN_OR_RETURN(const DType dtype, AttrReader(n).Type("T"));
    const int64_t branches = AttrReader(n).Int("num_outs", 0);
    constexpr int64_t kMostBranches = 1024;
    if (branches < 2 || branches > kMostBranches) {
      return Unimplemented("of ", branches, " branches");
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<Endpoint> predicates,
                           PredicatesOf(draft_.SkipIdentities(n.inputs[1]), branches));
    Endpoint data = n.inputs[0];
    for (int k = 0; k + 1 < branches; ++k) {
      TENON_ASSIGN_OR_RETURN(data, AddSwitch(absl::StrCat(n.name, "/", k), dtype, data,
                                             predicates[static_cast<size_t>(k)]));
      if (k == 0) draft_.node(data.node).control_inputs = n.control_inputs;
      forward_[{id, k}] = {data.node, 1};
    }
    forward_[{id, static_cast<int>(branches) - 1}] = data;
    return absl::OkStatus();
  }

  absl::Status SplitMerge(NodeId id) {
    const Node n = draft_.node(id);
    Endpoint rest = n.inputs.back();
    for (size_t k = n.inputs.size() - 1; k-- > 0;) {
      Node two;
      two.name = k == 0 ? n.name + "/all" : absl::StrCat(n.name, "/from_", k);
      two.op = "Merge";
      two.attrs = n.attrs;
      two.attrs["N"] = int64_t{2};
      two.inputs = {rest, n.inputs[k]};
      if (k == 0) two.control_inputs = n.control_inputs;
      TENON_ASSIGN_OR_RETURN(const NodeId merge, draft_.Add(std::move(two), /*effect=*/true));
      rest = {merge, 0};
    }
    forward_[{id, 0}] = rest;
    return absl::OkStatus();
  }

  Draft& draft_;
  HashMap<Endpoint, std::vector<Endpoint>> predicates_;  // by index
  HashMap<Endpoint, Endpoint> forward_;
};

}  // namespace

absl::Status FunctionalizeCases(Draft& draft) {
  return Uses(draft, kSwitchN) ? CaseFunctionalization(draft).Run() : absl::OkStatus();
}

}  // namespace tenon
