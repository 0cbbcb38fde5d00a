// Calls, which are inlined, and control flow, whose regions become functions.
#include <algorithm>
#include <utility>

#include "env/status.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

constexpr size_t kMaxCalls = 64;
constexpr int kMaxDepthOfCalls = 64;

absl::Status Inline(Body& body, const Op& op, absl::string_view name) {
  const Function* function = body.module().Find(name);
  if (function == nullptr) return InvalidArgument("calls '", name, "', which is not there");
  std::vector<absl::string_view>& calls = body.writer().calls;
  if (std::find(calls.begin(), calls.end(), function->name) != calls.end()) {
    return InvalidArgument("function '", name, "' calls itself");
  }
  if (calls.size() >= kMaxCalls) return Unimplemented("calls are nested too deeply");
  // A call costs a node, so that calls of functions without ops end too.
  if (body.writer().nodes_left == 0) {
    return absl::ResourceExhaustedError("the module has too many calls");
  }
  --body.writer().nodes_left;
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> args, body.Operands(op, 0, op.operands.size()));
  calls.push_back(function->name);
  absl::StatusOr<std::vector<Value>> results = body.Lower(function->body, args);
  calls.pop_back();
  if (!results.ok()) return Annotate(results.status(), absl::StrCat("function '", name, "'"));
  if (results->size() != op.results.size()) {
    return InvalidArgument("function '", name, "' gives ", results->size(), " results");
  }
  for (size_t i = 0; i < results->size(); ++i) {
    TENON_RETURN_IF_ERROR(body.DefineResult(op, i, std::move((*results)[i])));
  }
  return absl::OkStatus();
}

absl::Status Call(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const absl::string_view callee, TextOf(op, "callee"));
  return Inline(body, op, callee);
}

absl::Status TopK(Body& body, const Op& op, int64_t k) {
  TENON_ASSIGN_OR_RETURN(const Ref x, body.FullOperand(op, 0));
  if (op.results.size() != 2 || k < 0 || k > (1 << 30)) return InvalidArgument("of ", k);
  TENON_ASSIGN_OR_RETURN(const Ref count,
                         body.Constant(Tensor::Scalar<int32_t>(static_cast<int32_t>(k))));
  return DefineTopK(body, op, x, count);
}

// An op in its own right, with a function that computes it from others.
absl::Status Composite(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const absl::string_view name, TextOf(op, "name"));
  TENON_ASSIGN_OR_RETURN(const absl::string_view decomposition, TextOf(op, "decomposition"));
  if (op.operands.size() == 1 && op.results.size() == 1 &&
      (name == "chlo.erf" || name == "chlo.erfc")) {
    TENON_ASSIGN_OR_RETURN(const Value x, body.Operand(op, 0));
    if (IsFloating(x.dtype)) {
      TENON_ASSIGN_OR_RETURN(Value y, body.Map(name == "chlo.erf" ? "Erf" : "Erfc", {x}));
      return body.DefineResult(op, std::move(y));
    }
  }
  const Attribute* attributes = op.attr("composite_attributes");
  if (name == "chlo.top_k" && op.operands.size() == 1 && attributes != nullptr) {
    for (const auto& [key, value] : attributes->dictionary) {
      if (key == "k" && value->kind == Attribute::Kind::kInteger) {
        return TopK(body, op, value->integer);
      }
    }
  }
  return Inline(body, op, decomposition);
}

// Values that are passed on as they are.
absl::Status PassOn(Body& body, const Op& op) {
  for (size_t i = 0; i < op.results.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Value v, body.Operand(op, i));
    TENON_RETURN_IF_ERROR(body.DefineResult(op, i, std::move(v)));
  }
  return absl::OkStatus();
}

absl::Status Token(Body& body, const Op& op) { return body.DefineResult(op, Value()); }

// ---- regions ----

// A function that is made of a region.
struct RegionFunction {
  RegionFunction(Body& outer, absl::string_view what)
      : outer(outer), inner(outer.writer(), outer.writer().NewName(what)) {}

  // An argument like `v`; nothing for a token.
  Value AddArgument(const Value& v) {
    if (v.dtype == DType::kInvalid) return v;
    return Whole(inner.out().AddArgument(v.dtype), v.shape);
  }

  // Defines the values inside. Those that are not constants become arguments; `passed` gets what
  // the caller gives for them.
  absl::Status Capture(const std::vector<ValueId>& ids, std::vector<Ref>* passed) {
    for (ValueId id : ids) {
      TENON_ASSIGN_OR_RETURN(Value v, outer.Get(id));
      v.origin = nullptr;
      if (v.dtype == DType::kInvalid) {
        // A token.
      } else if (v.constant.valid()) {
        TENON_ASSIGN_OR_RETURN(v.base, inner.Constant(v.constant));
      } else {
        if (passed != nullptr) passed->push_back(v.base);
        v.base = inner.out().AddArgument(v.dtype);
        captured.push_back(v.base);
      }
      if (v.sizes.valid()) {
        if (passed != nullptr) passed->push_back(v.sizes);
        v.sizes = inner.out().AddArgument(v.sizes.dtype);
        captured.push_back(v.sizes);
      }
      TENON_RETURN_IF_ERROR(inner.Define(id, std::move(v)));
    }
    return absl::OkStatus();
  }

  // Lowers the block and returns the dtypes of what it returns, without tokens.
  absl::StatusOr<std::vector<DType>> Fill(const Block& block, absl::Span<const Value> args) {
    ModuleWriter& writer = outer.writer();
    if (writer.depth >= kMaxDepthOfCalls) return Unimplemented("regions are nested too deeply");
    ++writer.depth;
    absl::StatusOr<std::vector<Value>> results = inner.Lower(block, args);
    --writer.depth;
    if (!results.ok()) return results.status();
    std::vector<DType> dtypes;
    for (const Value& v : *results) {
      if (v.dtype == DType::kInvalid) continue;
      TENON_ASSIGN_OR_RETURN(const Ref result, inner.Full(v));
      inner.out().AddResult(result);
      dtypes.push_back(v.dtype);
    }
    return dtypes;
  }

  FuncRef Finish() {
    FuncRef ref;
    ref.name = inner.out().name();
    outer.writer().functions.push_back(std::move(inner.out()).Finish());
    return ref;
  }

  Body& outer;
  Body inner;
  std::vector<Ref> captured;  // inside
};

// The op's results, of which tokens have no tensor.
absl::Status DefineResults(Body& body, const Op& op, const std::vector<Ref>& tensors) {
  size_t next = 0;
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (body.module().type(op.results[i]).kind == Type::Kind::kToken) {
      TENON_RETURN_IF_ERROR(body.DefineResult(op, i, Value()));
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op, i));
    if (next >= tensors.size()) return InvalidArgument("gives ", tensors.size(), " results");
    TENON_RETURN_IF_ERROR(body.DefineResult(op, i, Whole(tensors[next++], type->shape)));
  }
  return absl::OkStatus();
}

absl::Status While(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Block* condition, RegionOf(op, 0));
  TENON_ASSIGN_OR_RETURN(const Block* step, RegionOf(op, 1));
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> start, body.Operands(op, 0, op.operands.size()));
  if (op.results.size() != start.size()) return InvalidArgument("gives another number of values");
  const std::vector<ValueId> captured = CapturedBy({condition, step});
  std::vector<Ref> inputs;
  std::vector<DType> dtypes;
  for (const Value& v : start) {
    if (v.dtype == DType::kInvalid) continue;
    TENON_ASSIGN_OR_RETURN(Ref input, body.Full(v));
    dtypes.push_back(v.dtype);
    inputs.push_back(std::move(input));
  }
  const std::vector<DType> states = dtypes;
  FuncRef functions[2];
  for (const bool is_step : {false, true}) {
    RegionFunction function(body, is_step ? "while_body" : "while_cond");
    std::vector<Value> args;
    for (size_t i = 0; i < start.size(); ++i) {
      Value like = start[i];
      // What changes from one iteration to the next may have another shape than at the start.
      const Type& type = body.module().type(op.results[i]);
      if (type.kind == Type::Kind::kTensor) like.shape = type.shape;
      args.push_back(function.AddArgument(like));
    }
    TENON_RETURN_IF_ERROR(function.Capture(captured, is_step ? &inputs : nullptr));
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> results,
                           function.Fill(is_step ? *step : *condition, args));
    if (is_step ? results != states : results != std::vector<DType>{DType::kBool}) {
      return InvalidArgument("has a ", is_step ? "body" : "condition", " of another type");
    }
    if (is_step) {
      for (const Ref& constant : function.captured) {
        function.inner.out().AddResult(constant);
        dtypes.push_back(constant.dtype);
      }
    }
    functions[is_step ? 1 : 0] = function.Finish();
  }
  TENON_ASSIGN_OR_RETURN(
      const std::vector<Ref> made,
      body.Nodes("StatelessWhile", inputs,
                 {{"T", dtypes}, {"cond", functions[0]}, {"body", functions[1]}}, dtypes));
  return DefineResults(body, op, made);
}

// if, whose operand chooses the first region, and case, whose operand is a region's number.
absl::Status Branch(Body& body, const Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value which, body.Operand(op, 0));
  const bool two = op.name == "if";
  if (op.regions.empty() || (two && op.regions.size() != 2))
    return InvalidArgument("of no regions");
  std::vector<const Block*> blocks;
  for (size_t i = 0; i < op.regions.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Block* block, RegionOf(op, i));
    blocks.push_back(block);
  }
  const std::vector<ValueId> captured = CapturedBy(blocks);
  TENON_ASSIGN_OR_RETURN(const Ref chosen, body.Full(which));
  std::vector<Ref> inputs = {chosen};
  std::vector<FuncRef> functions;
  std::vector<DType> results;
  for (size_t i = 0; i < blocks.size(); ++i) {
    RegionFunction function(body, absl::StrCat(op.name, "_", i));
    TENON_RETURN_IF_ERROR(function.Capture(captured, i == 0 ? &inputs : nullptr));
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> dtypes, function.Fill(*blocks[i], {}));
    if (i == 0) results = dtypes;
    if (dtypes != results) return InvalidArgument("has regions of different types");
    functions.push_back(function.Finish());
  }
  std::vector<DType> args;
  for (size_t i = 1; i < inputs.size(); ++i) args.push_back(inputs[i].dtype);
  AttrMap attrs{{"Tin", args}, {"Tout", results}};
  if (two) {
    attrs["Tcond"] = chosen.dtype;
    attrs["then_branch"] = functions[0];
    attrs["else_branch"] = functions[1];
  } else {
    attrs["branches"] = functions;
  }
  TENON_ASSIGN_OR_RETURN(
      const std::vector<Ref> made,
      body.Nodes(two ? "StatelessIf" : "StatelessCase", inputs, std::move(attrs), results));
  return DefineResults(body, op, made);
}

constexpr Lowering kCalls[] = {
    {"after_all", Token},     {"call", Call}, {"case", Branch},
    {"composite", Composite}, {"if", Branch}, {"optimization_barrier", PassOn},
    {"while", While},
};

}  // namespace

absl::Span<const Lowering> CallLowerings() { return kCalls; }

}  // namespace tenon::stablehlo
