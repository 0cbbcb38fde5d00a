// Properties of every op row, on random nodes and on those of the golden cases: whatever the
// shapes, dtypes and values, there is a result or a Status (never a crash, also where attributes
// and values are absurd); a shape function that knows less never contradicts one that knows more;
// and a kernel that learns a value late gives what one that knew it gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "env/flags.h"
#include "env/flush_denormals.h"
#include "graph/object.h"
#include "kernels/interface/types.h"
#include "ops/evaluate.h"
#include "tests/support/golden_case.h"
#include "tests/support/limits.h"

namespace tenon {
namespace {

constexpr int kNodesPerOp = 300;

enum class Numbers { kSmall, kAbsurd };

class Generator {
 public:
  Generator(uint64_t seed, Numbers numbers) : random_(seed), numbers_(numbers) {}

  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool Coin() { return Int(0, 1) == 1; }
  template <typename T>
  const T& Pick(const std::vector<T>& v) {
    return v[static_cast<size_t>(Int(0, std::ssize(v) - 1))];
  }

  // Sometimes the ends of the type's range, and what overflows when it is multiplied.
  template <typename T>
  std::optional<T> Absurd() {
    using Limits = std::numeric_limits<T>;
    if (numbers_ == Numbers::kSmall || Int(0, 2) != 0) return std::nullopt;
    if constexpr (Limits::is_integer) {
      const T large = static_cast<T>(Limits::max() / 3);
      return Pick<T>({Limits::min(), Limits::max(), static_cast<T>(Limits::max() - 1), large,
                      static_cast<T>(Limits::min() / 2)});
    } else {
      return Pick<T>({Limits::max(), Limits::lowest(), Limits::min(), Limits::infinity(),
                      -Limits::infinity(), Limits::quiet_NaN()});
    }
  }

  // Often one that goes with the others: a fixed base with some dimensions changed.
  Shape RandomShape() {
    Shape s;
    const int64_t rank = Int(0, 4);
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t other = Int(0, 9);
      s.push_back(other == 0 ? Int(0, 4) : (other == 1 ? 1 : 2 + (i + rank) % 2));
    }
    return s;
  }

  DType RandomType(const OpInfo& op, const std::string& attr) {
    static const std::vector<DType> kAny = {DType::kFloat,  DType::kInt32, DType::kBool,
                                            DType::kString, DType::kHalf,  DType::kComplex64,
                                            DType::kInt64};
    auto it = op.signature.types.find(attr);
    return Pick(it == op.signature.types.end() ? kAny : it->second);
  }

  Tensor RandomTensor(DType dtype, const Shape& shape) {
    Tensor t = *Tensor::Allocate(dtype, shape);
    const bool known = VisitTypes(AllTypes{}, dtype, [&]<typename T>() {
      for (T& v : t.flat<T>()) {
        if constexpr (std::is_same_v<T, std::string>) {
          v = Coin() ? "a" : "bc";
        } else if constexpr (kIsInt<T>) {
          const std::optional<T> absurd = Absurd<T>();
          v = absurd.has_value() ? *absurd : static_cast<T>(Int(std::is_signed_v<T> ? -2 : 0, 4));
        } else if constexpr (std::is_floating_point_v<T>) {
          const std::optional<T> absurd = Absurd<T>();
          v = absurd.has_value() ? *absurd : static_cast<T>(Int(-4, 8)) / 2;
        } else {
          v = static_cast<T>(static_cast<float>(Int(-4, 8)) / 2);
        }
      }
    });
    if (!known) std::memset(t.raw(), 0, t.bytes());
    return t;
  }

  // False: an op that random nodes make no sense of.
  bool RandomAttr(const OpInfo& op, const AttrSpec& spec, AttrValue& out) {
    // Of fused chains, some of them well-formed.
    static const std::vector<std::string> kChain = {
        "BiasAdd", "Relu",         "Add", "Relu $0", "AddV2 $0 $1", "Mul %0 $1",
        "Exp %9",  "Tanh $999999", "",    "$",       "Mul"};
    static const std::vector<std::string> kStrings = {"SAME",    "VALID",     "NHWC",     "NCHW",
                                                      "REFLECT", "SYMMETRIC", "ab,bc->ac"};
    if (spec.kind == "type") {
      out = RandomType(op, spec.name);
    } else if (spec.kind == "int") {
      out = IntAttr(0);
    } else if (spec.kind == "bool") {
      out = Coin();
    } else if (spec.kind == "float") {
      out = Absurd<float>().value_or(0.5f);
    } else if (spec.kind == "string") {
      out = Pick(kStrings);
    } else if (spec.kind == "shape") {
      out = RandomShape();
    } else if (spec.kind == "list(type)") {
      std::vector<DType> list(static_cast<size_t>(Int(1, 3)));
      for (DType& d : list) d = RandomType(op, spec.name);
      out = std::move(list);
    } else if (spec.kind == "list(int)") {
      std::vector<int64_t> list(static_cast<size_t>(Int(0, 4)));
      for (int64_t& v : list) v = IntAttr(-1);
      out = std::move(list);
    } else if (spec.kind == "list(string)") {
      std::vector<std::string> list(static_cast<size_t>(Int(0, 3)));
      for (std::string& v : list) v = Pick(kChain);
      out = std::move(list);
    } else {
      return false;
    }
    return true;
  }

 private:
  int64_t IntAttr(int64_t low) {
    const std::optional<int64_t> absurd = Absurd<int64_t>();
    return absurd.has_value() ? *absurd : Int(low, 3);
  }

  std::mt19937_64 random_;
  const Numbers numbers_;
};

Shape Forget(Generator& g, const Shape& shape) {
  if (g.Int(0, 4) == 0) return Shape::Unknown();
  Shape out = shape;
  for (int i = 0; i < out.rank(); ++i) {
    if (g.Coin()) out.set_dim(i, -1);
  }
  return out;
}

std::string Describe(const Node& node, const std::vector<Tensor>& inputs) {
  std::string text = node.op + "(";
  for (const Tensor& t : inputs) absl::StrAppend(&text, Name(t.dtype()), t.shape().ToString(), " ");
  text += ")";
  for (const auto& [name, value] : node.attrs) {
    if (const auto* v = value.get_if<int64_t>()) absl::StrAppend(&text, " ", name, "=", *v);
    if (const auto* v = value.get_if<bool>()) absl::StrAppend(&text, " ", name, "=", *v);
    if (const auto* v = value.get_if<std::string>()) absl::StrAppend(&text, " ", name, "=", *v);
  }
  return text;
}

bool SaneCode(const absl::Status& s) {
  return s.ok() || absl::IsInvalidArgument(s) || absl::IsUnimplemented(s);
}

struct Call {
  Node node;
  std::vector<Tensor> inputs;
};

// The calls of the golden cases, by op. Random nodes of many ops are never valid.
const std::map<std::string, std::vector<Call>>& GoldenCalls() {
  static const auto* const calls = [] {
    auto* const by_op = new std::map<std::string, std::vector<Call>>;
    for (const std::string& topic : GoldenTopics()) {
      const auto cases = GoldenCasesOf(topic);
      EXPECT_TRUE(cases.ok()) << cases.status();
      if (!cases.ok()) continue;
      for (const GoldenCase& c : *cases) {
        if (c.fails) continue;
        const auto node = MakeNode(c);
        EXPECT_TRUE(node.ok()) << node.status();
        if (!node.ok()) continue;
        auto inputs = GoldenInputs(topic, c);
        EXPECT_TRUE(inputs.ok()) << inputs.status();
        if (!inputs.ok()) continue;
        (*by_op)[c.op].push_back({*node, *std::move(inputs)});
      }
    }
    return by_op;
  }();
  return *calls;
}

// Whether one node alone can be run: no op that import takes away, and none on variables, tables or
// tensor lists, whose handles only a session has.
bool RunsAlone(const OpInfo& op) {
  if (op.row.reference == nullptr && op.row.accelerated == nullptr) return false;
  return std::none_of(op.signature.inputs.begin(), op.signature.inputs.end(),
                      [](const ArgSpec& arg) {
                        return arg.dtype == DType::kResource || arg.dtype == DType::kVariant;
                      });
}

// Other ops of which neither a random call nor a golden case is valid, and why.
const std::map<std::string, std::string>& NeverValid() {
  constexpr char kPrivate[] =
      "private, so that TensorFlow gives no golden values; tests/rewrite runs it";
  constexpr char kMatrix[] = "golden values have no variants; tests/models/objects/csr runs it";
  constexpr char kPieces[] = "it needs a SentencePiece model; tests/models/text runs it";
  constexpr char kState[] = "golden values have no state; tests/models/steps/shared_state runs it";
  constexpr char kQueue[] = "golden values have no handles; tests/models/steps/queues runs it";
  static const auto* const reasons = new std::map<std::string, std::string>{
      {"AddManySparseToTensorsMap", kState},
      {"AddSparseToTensorsMap", kState},
      {"Const", "random attributes have no tensor"},
      {"DenseToCSRSparseMatrix", kMatrix},
      {"MapPeek", kState},
      {"MapStage", kState},
      {"MapUnstage", kState},
      {"MapUnstageNoKey", kState},
      {"MaxPoolGradGradWithArgmax", "TensorFlow runs it on GPUs only; pool_grad_test runs it"},
      {"NormalizeUTF8WithOffsetsMap", "golden values have no variants; tests/models/text runs it"},
      {"OrderedMapPeek", kState},
      {"OrderedMapStage", kState},
      {"OrderedMapUnstage", kState},
      {"OrderedMapUnstageNoKey", kState},
      {"StagePeek", kState},
      {"PaddingFIFOQueueV2", kQueue},
      {"PriorityQueueV2", kQueue},
      {"SparseTensorToCSRSparseMatrix", kMatrix},
      {"TakeManySparseFromTensorsMap", kState},
      {"Unstage", kState},
      {"_Attention", kPrivate},
      {"_Conv2DBackpropFilterWithBias", kPrivate},
      {"_FusedBatchNormEx", kPrivate},
      {"_FusedBatchNormGradEx", kPrivate},
      {"_FusedConv3D", kPrivate},
      {"_FusedDepthwiseConv2dNative", kPrivate},
      {"_FusedEinsum", kPrivate},
      {"_FusedInvertedResidual", kPrivate},
      {"_MaxPoolGradWithWorkspace", kPrivate},
      {"_MaxPoolWithWorkspace", kPrivate},
      {"_PadWithFusedConv2D", kPrivate},
      {"_Recurrence", kPrivate},
      {"_SentencepieceDetokenizeOp", kPieces},
      {"_SentencepieceIdToStringOp", kPieces},
      {"_SentencepieceStringToIdOp", kPieces},
      {"_SentencepieceTokenizeOp", kPieces},
      {"_SentencepieceTokenizeWithOffsetsOp", kPieces},
      {"_SentencepieceVocabSizeOp", kPieces},
      {"_SortByKeys", kPrivate},
      {"_XlaScatter", kPrivate},
  };
  return *reasons;
}

class OpProperties : public ::testing::TestWithParam<const OpInfo*> {
 protected:
  // None where the attributes contradict each other.
  static std::optional<Call> RandomCall(Generator& g, const OpInfo& op) {
    Call call;
    Node& node = call.node;
    node.name = "node";
    node.op = op.row.name;
    for (const AttrSpec& spec : op.signature.attrs) {
      if (spec.has_default && spec.kind != "type" && g.Coin()) continue;
      AttrValue value;
      if (g.RandomAttr(op, spec, value)) node.attrs[spec.name] = std::move(value);
    }
    if (!CompleteAttrs(op, node).ok()) return std::nullopt;
    const auto dtypes = InputDTypes(op, node);
    if (!dtypes.ok() || !OutputDTypes(op, node).ok()) return std::nullopt;
    const Shape base = g.RandomShape();
    for (DType dtype : *dtypes) {
      if (SizeOf(dtype) == 0) return std::nullopt;
      call.inputs.push_back(g.RandomTensor(dtype, g.Coin() ? base : g.RandomShape()));
    }
    return call;
  }

  // True: the call was valid, and gave a result.
  bool CheckNode(Generator& g, const OpInfo& op) {
    const std::optional<Call> call = RandomCall(g, op);
    if (!call.has_value()) return false;
    absl::Status status;
    CheckCall(g, op, *call, status);
    return status.ok();
  }

  void CheckCall(Generator& g, const OpInfo& op, const Call& call, absl::Status& status) {
    const auto& [node, inputs] = call;
    SCOPED_TRACE(Describe(node, inputs));
    const FlushDenormals flush;  // as in a session

    const Flags flags;
    Services services;
    services.flags = &flags;
    const auto known = Evaluate(node, inputs, services);
    status = known.status();
    EXPECT_TRUE(SaneCode(known.status())) << known.status();

    std::vector<TensorSpec> complete, partial, late;
    for (const Tensor& t : inputs) {
      complete.push_back({t.dtype(), t.shape(), &t});
      partial.push_back({t.dtype(), Forget(g, t.shape()), g.Coin() ? &t : nullptr});
      late.push_back({t.dtype(), t.shape(), nullptr});
      // A value that is known has a shape that is known.
      if (partial.back().value != nullptr) partial.back().shape = t.shape();
    }
    const auto full = InferOutputs(op, node, complete);
    const auto part = InferOutputs(op, node, partial);
    EXPECT_TRUE(SaneCode(part.status())) << part.status();
    if (!full.ok()) return;
    ASSERT_TRUE(part.ok()) << part.status() << ": knows less, and refuses";
    for (size_t i = 0; i < full->size(); ++i) {
      EXPECT_TRUE((*part)[i].shape.CompatibleWith((*full)[i].shape))
          << "output " << i << ": " << (*part)[i].shape.ToString() << " against "
          << (*full)[i].shape.ToString();
    }
    if (!known.ok() || op.row.reference == nullptr || op.row.stateful) return;
    const auto prepared = PrepareNode(node, late, {}, services);
    if (absl::IsUnimplemented(prepared.status())) return;
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    std::vector<Tensor> read = inputs;
    for (int i : prepared->unread) read[static_cast<size_t>(i)] = Tensor();
    const auto outputs = RunKernel(*prepared, read);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (size_t i = 0; i < outputs->size(); ++i) {
      if (HoldsObjects((*outputs)[i].dtype())) continue;  // another object each time
      EXPECT_TRUE(Identical((*outputs)[i], (*known)[i])) << "output " << i << " when known late";
    }
  }
};

TEST_P(OpProperties, Hold) {
  const OpInfo& op = *GetParam();
  const uint64_t seed = 20240607;
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Generator g(seed, Numbers::kSmall);
  int valid = 0;
  for (int i = 0; i < kNodesPerOp && !HasFailure(); ++i) valid += CheckNode(g, op) ? 1 : 0;
  if (const auto golden = GoldenCalls().find(op.row.name); golden != GoldenCalls().end()) {
    for (const Call& call : golden->second) {
      absl::Status status;
      CheckCall(g, op, call, status);
      EXPECT_TRUE(status.ok()) << status << ": a golden case";
      valid += status.ok() ? 1 : 0;
    }
  }
  if (!RunsAlone(op)) return;
  const auto exception = NeverValid().find(op.row.name);
  if (exception == NeverValid().end()) {
    EXPECT_GT(valid, 0) << "no call was valid, so nothing was tested";
  } else {
    EXPECT_EQ(valid, 0) << "now valid, although " << exception->second;
  }
}

TEST_P(OpProperties, SurviveAbsurdNumbers) {
  const MemoryLimit limit;
  const OpInfo& op = *GetParam();
  const uint64_t seed = 20250113;
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Generator g(seed, Numbers::kAbsurd);
  const Flags flags;
  Services services;
  services.flags = &flags;
  for (int i = 0; i < kNodesPerOp && !HasFailure(); ++i) {
    const std::optional<Call> call = RandomCall(g, op);
    if (!call.has_value()) continue;
    SCOPED_TRACE(Describe(call->node, call->inputs));
    const absl::Status status = Evaluate(call->node, call->inputs, services).status();
    EXPECT_TRUE(SaneCode(status) || absl::IsResourceExhausted(status)) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpProperties, ::testing::ValuesIn(AllOps()), [](const auto& info) {
  std::string name = info.param->row.name;
  std::replace(name.begin(), name.end(), '>', '_');  // TFText>X
  return name;
});

}  // namespace
}  // namespace tenon
