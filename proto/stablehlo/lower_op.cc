// The table of all lowerings, and what they share.
#include <algorithm>
#include <limits>

#include "env/status.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/stablehlo/lowering.h"

namespace tenon::stablehlo {
namespace {

using Table = HashMap<absl::string_view, absl::Status (*)(Body&, const Op&)>;

const Table& AllLowerings() {
  static const Table* const all = [] {
    auto* table = new Table;
    for (absl::Span<const Lowering> rows :
         {ElementwiseLowerings(), NumberLowerings(), ShapeLowerings(), MoveLowerings(),
          IndexedLowerings(), ContractionLowerings(), ReductionLowerings(), WindowLowerings(),
          CallLowerings(), CustomCallLowerings(), LinearAlgebraLowerings()}) {
      for (const Lowering& row : rows) table->emplace(row.op, row.lower);
    }
    return table;
  }();
  return *all;
}

absl::StatusOr<const Attribute*> Find(const Op& op, absl::string_view key) {
  const Attribute* a = op.attr(key);
  if (a == nullptr) return InvalidArgument("attribute '", key, "' is missing");
  return a;
}

absl::Status WrongKind(absl::string_view key) {
  return InvalidArgument("attribute '", key, "' has a wrong type");
}

void CollectCaptured(const Block& block, HashSet<ValueId>& defined, std::vector<ValueId>& captured,
                     HashSet<ValueId>& seen) {
  defined.insert(block.args.begin(), block.args.end());
  for (const Op& op : block.ops) {
    for (ValueId id : op.operands) {
      if (!defined.contains(id) && seen.insert(id).second) captured.push_back(id);
    }
    for (const std::vector<Block>& region : op.regions) {
      for (const Block& inner : region) CollectCaptured(inner, defined, captured, seen);
    }
    defined.insert(op.results.begin(), op.results.end());
  }
}

}  // namespace

absl::Status LowerOp(Body& body, const Op& op) {
  const auto found = op.dialect == "vhlo" ? AllLowerings().find(op.name) : AllLowerings().end();
  if (found == AllLowerings().end()) {
    return Unimplemented("Tenon does not have this op of dialect '", op.dialect, "'");
  }
  return found->second(body, op);
}

absl::StatusOr<int64_t> IntegerOf(const Op& op, absl::string_view key) {
  TENON_ASSIGN_OR_RETURN(const Attribute* a, Find(op, key));
  if (a->kind != Attribute::Kind::kInteger) return WrongKind(key);
  return a->integer;
}

absl::StatusOr<std::vector<int64_t>> IntegersOf(const Op& op, absl::string_view key) {
  TENON_ASSIGN_OR_RETURN(const Attribute* a, Find(op, key));
  std::vector<int64_t> values;
  if (a->kind == Attribute::Kind::kList) {
    for (const AttributePtr& element : a->list) {
      if (element->kind != Attribute::Kind::kInteger) return WrongKind(key);
      values.push_back(element->integer);
    }
    return values;
  }
  if (a->kind != Attribute::Kind::kTensor || !a->tensor.valid()) return WrongKind(key);
  const int64_t n = a->type->shape.num_elements();
  if (a->tensor.num_elements() == n && a->tensor.dtype() != DType::kBool) {
    return IntegerValues(a->tensor);
  }
  // One element for all; no op of a real module has many.
  if (n > 1024) return WrongKind(key);
  int64_t value = 0;
  if (a->tensor.dtype() == DType::kBool) {
    if (a->tensor.num_elements() == n) {
      for (bool b : a->tensor.flat<bool>()) values.push_back(b);
      return values;
    }
    value = a->tensor.data<bool>()[0];
  } else {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> one, IntegerValues(a->tensor));
    value = one[0];
  }
  values.assign(static_cast<size_t>(n), value);
  return values;
}

absl::StatusOr<absl::string_view> TextOf(const Op& op, absl::string_view key) {
  TENON_ASSIGN_OR_RETURN(const Attribute* a, Find(op, key));
  if (a->kind != Attribute::Kind::kString) return WrongKind(key);
  return a->text;
}

absl::StatusOr<std::vector<int64_t>> DimsOf(const Op& op, absl::string_view key, int rank) {
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> dims, IntegersOf(op, key));
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t d : dims) {
    if (d < 0 || d >= rank || seen[static_cast<size_t>(d)]) {
      return InvalidArgument("attribute '", key, "' does not name dimensions of a tensor of rank ",
                             rank);
    }
    seen[static_cast<size_t>(d)] = true;
  }
  return dims;
}

absl::Status DefineTensors(Body& body, const Op& op, const std::vector<Ref>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Type* type, body.ResultType(op, i));
    TENON_RETURN_IF_ERROR(body.DefineResult(op, i, Whole(tensors[i], type->shape)));
  }
  return absl::OkStatus();
}

absl::Status DefineTopK(Body& body, const Op& op, const Ref& x, const Ref& count) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Ref> made,
                         body.Nodes("TopKV2", {x, count}, {{"T", x.dtype}, {"sorted", true}},
                                    {x.dtype, DType::kInt32}));
  return DefineTensors(body, op, made);
}

absl::StatusOr<const Block*> RegionOf(const Op& op, size_t i) {
  if (i >= op.regions.size() || op.regions[i].size() != 1) {
    return InvalidArgument("has no region ", i, " of one block");
  }
  return &op.regions[i][0];
}

std::vector<ValueId> CapturedBy(absl::Span<const Block* const> blocks) {
  std::vector<ValueId> captured;
  HashSet<ValueId> seen;
  for (const Block* block : blocks) {
    HashSet<ValueId> defined;
    CollectCaptured(*block, defined, captured, seen);
  }
  return captured;
}

absl::StatusOr<FuncRef> ScalarFunction(Body& body, const Block& block, absl::string_view what) {
  Body function(body.writer(), body.writer().NewName(what));
  for (ValueId id : CapturedBy({&block})) {
    TENON_ASSIGN_OR_RETURN(const Value outer, body.Get(id));
    if (!outer.constant.valid()) {
      return Unimplemented("with a function that reads values from outside of it");
    }
    TENON_ASSIGN_OR_RETURN(const Ref constant, function.Constant(outer.constant));
    Value inner = outer;
    inner.base = constant;
    TENON_RETURN_IF_ERROR(function.Define(id, std::move(inner)));
  }
  std::vector<Value> args;
  for (ValueId id : block.args) {
    const Type& type = body.module().type(id);
    if (type.dtype == DType::kInvalid) return Unimplemented("on elements of an unknown type");
    args.push_back(Whole(function.out().AddArgument(type.dtype), type.shape));
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> results, function.Lower(block, args));
  for (const Value& v : results) {
    TENON_ASSIGN_OR_RETURN(const Ref result, function.Full(v));
    function.out().AddResult(result);
  }
  FuncRef ref;
  ref.name = function.out().name();
  body.writer().functions.push_back(std::move(function.out()).Finish());
  return ref;
}

absl::string_view BinaryOpOf(const Block& block) {
  if (block.args.size() != 2 || block.ops.size() != 2) return "";
  const Op &op = block.ops[0], &end = block.ops[1];
  if (op.operands.size() != 2 || op.results.size() != 1 || !op.regions.empty()) return "";
  const bool straight = op.operands[0] == block.args[0] && op.operands[1] == block.args[1];
  const bool swapped = op.operands[0] == block.args[1] && op.operands[1] == block.args[0];
  const bool returned = end.name == "return" && end.operands == op.results;
  return returned && (straight || swapped) ? op.name : absl::string_view();
}

absl::StatusOr<Value> CompareBy(Body& body, absl::string_view tf_op, const Value& a,
                                const Value& b) {
  return body.Elementwise(tf_op, {a, b}, DType::kBool, {{"T", a.dtype}});
}

absl::StatusOr<Value> Choose(Body& body, const Value& condition, const Value& yes,
                             const Value& no) {
  return body.Elementwise("SelectV2", {condition, yes, no}, yes.dtype, {{"T", yes.dtype}});
}

absl::StatusOr<Value> CastTo(Body& body, const Value& x, DType dtype) {
  return body.Elementwise("Cast", {x}, dtype, {{"SrcT", x.dtype}, {"DstT", dtype}});
}

bool IsUnsigned(DType dtype) {
  return dtype == DType::kUint8 || dtype == DType::kUint16 || dtype == DType::kUint32 ||
         dtype == DType::kUint64;
}

bool IsNeutral(absl::string_view op, const Value& v) {
  double x;
  if (!v.UniformNumber(x)) return false;
  const bool floating = IsFloating(v.dtype);
  if (v.dtype == DType::kBool)
    return (x != 0) == (op == "and" || op == "multiply" || op == "minimum");
  if (op == "add") return x == 0;
  if (op == "multiply") return x == 1;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (op == "maximum" && floating) return x == -kInfinity;
  if (op == "minimum" && floating) return x == kInfinity;
  const auto limits = [&](auto lowest, auto highest) {
    return op == "maximum" ? x == static_cast<double>(lowest)
                           : op == "minimum" && x == static_cast<double>(highest);
  };
  switch (v.dtype) {
    case DType::kInt8:
      return limits(std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max());
    case DType::kInt16:
      return limits(std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max());
    case DType::kInt32:
      return limits(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    case DType::kUint8:
      return limits(0, std::numeric_limits<uint8_t>::max());
    case DType::kUint16:
      return limits(0, std::numeric_limits<uint16_t>::max());
    case DType::kUint32:
      return limits(0, std::numeric_limits<uint32_t>::max());
    default:  // wider ones are not exact in a double
      return false;
  }
}

}  // namespace tenon::stablehlo
