// The functions that control-flow ops call (a part of Finisher; declared in finish.h).
#include <optional>
#include <utility>
#include <vector>

#include "env/containers.h"
#include "env/status.h"
#include "graph/functions.h"
#include "ops/op.h"
#include "proto/import/finish.h"
#include "proto/import/text_models.h"

namespace tenon {
namespace {

// How an op passes its inputs to its functions.
struct Form {
  size_t first_input = 0;           // inputs from here on are the functions' arguments
  const char* types = nullptr;      // list(type) attribute that types them
  bool loop = false;                // the outputs are the body's, one per argument
  const char* stateless = nullptr;  // the op to use if no function has side effects
};

const Form* FormOf(const std::string& op) {
  static const Form kIf{1, "Tin", false, "StatelessIf"};
  static const Form kCase{1, "Tin", false, "StatelessCase"};
  static const Form kWhile{0, "T", true, "StatelessWhile"};
  switch (FactsOf(op).control_flow) {
    case ControlFlow::kIf:
      return &kIf;
    case ControlFlow::kCase:
      return &kCase;
    case ControlFlow::kWhile:
      return &kWhile;
    case ControlFlow::kNone:
      break;
  }
  return nullptr;
}

template <typename T>
void EraseMarked(std::vector<T>& list, const std::vector<const Node*>& marked) {
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i < marked.size() && marked[i] != nullptr) continue;
    if (kept != i) list[kept] = std::move(list[i]);
    ++kept;
  }
  list.resize(kept);
}

// The variable, table or text model that an endpoint is a handle of, or null.
const Node* HandleAt(const Draft& draft, Endpoint e) {
  const Node* n = &draft.node(draft.SkipIdentities(e).node);
  return n->op == "VarHandleOp" || IsTable(*n) || IsTextModel(*n) ? n : nullptr;
}

// Marks the handles that an If or Case gives and nobody reads.
std::vector<const Node*> UnreadHandles(const Draft& draft, const Node& n, const Form* form) {
  const auto* types = n.attr<std::vector<DType>>("Tout");
  if (form == nullptr || form->loop || types == nullptr) return {};
  std::vector<const Node*> unread(types->size(), nullptr);
  for (size_t i = 0; i < types->size(); ++i) {
    if ((*types)[i] == DType::kResource) unread[i] = &n;
  }
  const auto read = [&](const Endpoint& e) {
    if (e.node == n.id && static_cast<size_t>(e.port) < unread.size()) {
      unread[static_cast<size_t>(e.port)] = nullptr;
    }
  };
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    for (const Endpoint& e : draft.node(id).inputs) read(e);
  }
  for (const GraphOutput& output : draft.outputs) read(output.source);
  return unread;
}

// Looks for the handles that branches pass on.
class PassedHandles {
 public:
  explicit PassedHandles(Importer& importer) : importer_(importer) {}

  // What each result of an If or Case in the draft is that is one of its arguments, whichever
  // branch runs.
  HashMap<Endpoint, Endpoint> Find(const Draft& draft) {
    HashMap<Endpoint, Endpoint> passed;
    for (NodeId id = 0; id < draft.end_id(); ++id) {
      const auto* types = draft.node(id).attr<std::vector<DType>>("Tout");
      for (size_t r = 0; types != nullptr && r < types->size(); ++r) {
        if ((*types)[r] != DType::kResource) continue;
        const Endpoint result{id, static_cast<int>(r)};
        const std::optional<Endpoint> argument = ArgumentOf(draft, result, 0);
        if (argument.has_value()) passed[result] = *argument;
      }
    }
    return passed;
  }

 private:
  static constexpr int kMostDepth = 8;

  // Of a branch's result.
  std::optional<Endpoint> ArgumentOf(const Draft& draft, Endpoint result, int depth) {
    const Node& n = draft.node(result.node);
    const Form* const form = FormOf(n.op);
    if (form == nullptr || form->loop || depth > kMostDepth) return std::nullopt;
    std::optional<size_t> same;
    std::vector<FuncRef> branches;
    ForEachNamedFunction(n, [&](const FuncRef& f) { branches.push_back(f); });
    for (const FuncRef& branch : branches) {
      const std::optional<size_t> given = GivenBy(branch, result.port, depth + 1);
      if (!given.has_value() || (same.has_value() && *same != *given)) return std::nullopt;
      same = given;
    }
    const size_t input = form->first_input + same.value_or(n.inputs.size());
    return input < n.inputs.size() ? std::optional(n.inputs[input]) : std::nullopt;
  }

  // The argument that a function's result is.
  std::optional<size_t> GivenBy(const FuncRef& function, int result, int depth) {
    const absl::StatusOr<Draft> draft = importer_.ImportFunction(function, {});
    if (!draft.ok() || static_cast<size_t>(result) >= draft->outputs.size()) return std::nullopt;
    Endpoint e = draft->SkipIdentities(draft->outputs[static_cast<size_t>(result)].source);
    while (true) {
      for (size_t i = 0; i < draft->inputs.size(); ++i) {
        if (draft->inputs[i].node == e.node) return i;
      }
      const std::optional<Endpoint> before = ArgumentOf(*draft, e, depth);
      if (!before.has_value()) return std::nullopt;
      e = draft->SkipIdentities(*before);
    }
  }

  Importer& importer_;
};

}  // namespace

absl::Status Finisher::ImportBodies(Draft& draft) {
  const std::vector<bool> live = draft.Live();
  HashMap<Endpoint, Endpoint> forward;
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    const NodeId id = static_cast<NodeId>(i);
    if (!forward.empty()) {  // its inputs may have moved
      for (Endpoint& e : draft.node(id).inputs) {
        if (auto it = forward.find(e); it != forward.end()) e = it->second;
      }
    }
    absl::Status status = ImportBodiesOf(draft, id, forward);
    if (!status.ok()) {
      return Annotate(status, NodeLabel(draft.node(id)));
    }
  }
  for (GraphOutput& output : draft.outputs) {
    if (auto it = forward.find(output.source); it != forward.end()) output.source = it->second;
  }
  return absl::OkStatus();
}

void Finisher::MarkStateless(Draft& draft) const {
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    Node& n = draft.node(id);
    const Form* form = FormOf(n.op);
    if (form == nullptr) continue;
    bool effects = false;
    for (const auto& [key, value] : n.attrs) {
      if (const FuncRef* function = value.get_if<FuncRef>()) {
        effects = effects || with_side_effects_.contains(function->name);
      } else if (const auto* functions = value.get_if<std::vector<FuncRef>>()) {
        for (const FuncRef& f : *functions) {
          effects = effects || with_side_effects_.contains(f.name);
        }
      }
    }
    if (!effects) n.op = form->stateless;
  }
}

absl::Status Finisher::ImportBodiesOf(Draft& draft, NodeId id,
                                      HashMap<Endpoint, Endpoint>& forward) {
  Node& n = draft.node(id);
  bool calls = false;
  for (const auto& [key, value] : n.attrs) {
    calls = calls || value.get_if<FuncRef>() != nullptr ||
            value.get_if<std::vector<FuncRef>>() != nullptr;
  }
  if (!calls) return absl::OkStatus();

  std::vector<const Node*> captured;  // by argument: the variable whose handle it is
  const Form* form = FormOf(n.op);
  if (form != nullptr) {
    for (size_t i = form->first_input; i < n.inputs.size(); ++i) {
      captured.push_back(HandleAt(draft, n.inputs[i]));
    }
  }
  const std::vector<const Node*> unread = UnreadHandles(draft, n, form);
  for (auto& [key, value] : n.attrs) {
    if (const FuncRef* function = value.get_if<FuncRef>()) {
      const bool loop_body = form != nullptr && form->loop && key == "body";
      TENON_ASSIGN_OR_RETURN(FuncRef ref, ImportBody(*function, captured, unread, loop_body));
      value = AttrValue(std::move(ref));
    } else if (const auto* functions = value.get_if<std::vector<FuncRef>>()) {
      std::vector<FuncRef> refs;
      for (const FuncRef& function : *functions) {
        TENON_ASSIGN_OR_RETURN(FuncRef ref, ImportBody(function, captured, unread, false));
        refs.push_back(std::move(ref));
      }
      value = AttrValue(std::move(refs));
    }
  }
  if (form == nullptr) return absl::OkStatus();

  // Captured handles are no longer arguments.
  std::vector<Endpoint> args(n.inputs.begin() + static_cast<long>(form->first_input),
                             n.inputs.end());
  const std::vector<const Node*>& dropped = form->loop ? captured : unread;
  int next = 0;
  for (size_t i = 0; i < dropped.size(); ++i) {
    const Endpoint old{id, static_cast<int>(i)};
    if (dropped[i] == nullptr) {
      const Endpoint moved{id, next++};
      if (moved != old) forward[old] = moved;
    } else if (form->loop) {
      forward[old] = args[i];
    }
  }
  if (const auto* types = n.attr<std::vector<DType>>("Tout"); types != nullptr && !form->loop) {
    std::vector<DType> kept = *types;
    EraseMarked(kept, unread);
    if (kept.size() != types->size()) n.attrs.erase("output_shapes");
    n.attrs["Tout"] = AttrValue(std::move(kept));
  }
  EraseMarked(args, captured);
  n.inputs.resize(form->first_input);
  n.inputs.insert(n.inputs.end(), args.begin(), args.end());
  if (const auto* types = n.attr<std::vector<DType>>(form->types)) {
    std::vector<DType> kept = *types;
    EraseMarked(kept, captured);
    n.attrs[form->types] = AttrValue(std::move(kept));
  }
  if (form->loop) n.attrs.erase("output_shapes");
  return absl::OkStatus();
}

absl::StatusOr<FuncRef> Finisher::ImportBody(const FuncRef& function,
                                             const std::vector<const Node*>& captured,
                                             const std::vector<const Node*>& unread,
                                             bool loop_body) {
  std::string key = absl::StrCat(function.name, loop_body ? "|loop" : "|");
  for (size_t i = 0; i < captured.size(); ++i) {
    if (captured[i] != nullptr) absl::StrAppend(&key, "|", i, "=", VariableName(*captured[i]));
  }
  for (size_t i = 0; i < unread.size(); ++i) {
    if (unread[i] != nullptr) absl::StrAppend(&key, "|-", i);
  }
  const bool plain =
      function.attrs == nullptr;  // instances of polymorphic functions are not shared
  if (auto it = imported_.find(key); plain && it != imported_.end()) return FuncRef{it->second, {}};
  for (const std::string& outer : in_progress_) {
    if (outer == function.name) return Unimplemented("function '", outer, "' calls itself");
  }
  if (in_progress_.size() > 64) return Unimplemented("functions are nested too deeply");
  in_progress_.push_back(function.name);

  TENON_ASSIGN_OR_RETURN(Draft draft, importer_.ImportFunction(function, captured));
  draft.Forward(PassedHandles(importer_).Find(draft));
  const std::vector<GraphInput> inputs = draft.inputs;
  if (inputs.size() < captured.size()) {
    return InvalidArgument("gives ", captured.size(), " arguments to function '", function.name,
                           "', which takes ", inputs.size());
  }
  if (loop_body) {
    if (draft.outputs.size() != inputs.size()) {
      return InvalidArgument("function '", function.name, "' takes ", inputs.size(),
                             " arguments and gives ", draft.outputs.size(), " results");
    }
    for (size_t i = 0; i < captured.size(); ++i) {
      if (captured[i] == nullptr) continue;
      if (HandleAt(draft, draft.outputs[i].source) != &draft.node(inputs[i].node)) {
        return Unimplemented("function '", function.name, "' changes which variable it uses");
      }
    }
    EraseMarked(draft.outputs, captured);
  }
  EraseMarked(draft.outputs, unread);
  EraseMarked(draft.inputs, captured);

  std::string name = function.name;
  for (int i = 1; library_.contains(name); ++i) name = absl::StrCat(function.name, "_", i);
  library_[name] = nullptr;  // reserved
  TENON_RETURN_IF_ERROR(ImportBodies(draft));
  bodies_.push_back({name, std::move(draft)});
  in_progress_.pop_back();
  imported_[key] = name;
  return FuncRef{name, {}};
}

}  // namespace tenon
