#include "tests/fuzz/targets/rewrite_check.h"

#include <Eigen/Core>
#include <chrono>
#include <cmath>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph/text.h"
#include "kernels/interface/types.h"
#include "ops/evaluate.h"
#include "proto/export/export.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/settings.h"
#include "tests/support/tolerance.h"

namespace tenon {
namespace {

constexpr int kJitters = 4;
constexpr int64_t kMemoryLimit = int64_t{256} << 20;  // of a run, which is repeated several times

using Feeds = std::map<std::string, Tensor>;
using Tensors = std::vector<Tensor>;

// The graph as import makes it from a file; tensors are fetched by name.
absl::StatusOr<Model> Imported(const Graph& graph, LoadOptions& load) {
  TENON_ASSIGN_OR_RETURN(const std::string text, GraphDefText(graph, {}));
  for (const GraphOutput& output : graph.outputs()) {
    const Endpoint e = output.source;
    load.fetches.push_back(absl::StrCat(graph.node(e.node).name, ":", e.port));
  }
  return ParseModel(text, load);
}

double Largest(const Tensor& t) {
  double largest = 0;
  VisitTypes(FloatsAndComplexes{}, t.dtype(), [&]<typename T>() {
    for (const T& v : t.flat<T>()) {
      const double a = std::abs(std::complex<double>(static_cast<ComputeType<T>>(v)));
      largest = std::isfinite(a) ? std::max(largest, a) : std::numeric_limits<double>::infinity();
    }
  });
  return largest;
}

// What the numbers that an op makes of quantized input 0 are parts of: the ends of its range. 0 for
// other ops.
double RangeOf(const Tensors& inputs) {
  double range = 0;
  if (inputs.empty() || !IsQuantized(inputs[0].dtype())) return range;
  for (const Tensor& t : inputs) range = std::max(range, Largest(t));
  return range;
}

class Reference {
 public:
  Reference(const Graph& graph, const Feeds& feeds, const Services& services)
      : graph_(graph), feeds_(feeds), services_(services) {}

  // With errors like those of rounding.
  struct Errors {
    enum Kind { kNone, kRandom, kUp, kDown } kind = kNone;  // away from 0, or towards it
    uint32_t seed = 0;
  };
  absl::StatusOr<Tensors> Run(Errors errors) {
    random_.seed(errors.seed);
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph_.TopologicalOrder());
    std::map<NodeId, Tensors> values;
    for (const NodeId id : order) {
      const Node& n = graph_.node(id);
      Tensors inputs;
      for (const Endpoint& e : n.inputs) {
        const Tensors& from = values[e.node];
        if (static_cast<size_t>(e.port) >= from.size()) return InvalidArgument("no such output");
        inputs.push_back(from[static_cast<size_t>(e.port)]);
      }
      TENON_ASSIGN_OR_RETURN(values[id], Outputs(n, inputs, errors.kind));
      for (const Tensor& t : values[id]) {
        const double largest = Largest(t);
        near_overflow_ |= largest > (t.dtype() == DType::kHalf ? 1e3 : 1e12);
      }
    }
    Tensors outputs;
    for (const GraphOutput& o : graph_.outputs()) {
      const Tensors& from = values[o.source.node];
      if (static_cast<size_t>(o.source.port) >= from.size()) return InvalidArgument("no output");
      outputs.push_back(from[static_cast<size_t>(o.source.port)]);
    }
    return outputs;
  }

  // Whether any run had values near the end of the dtype's range, infinities or NaN.
  bool near_overflow() const { return near_overflow_; }

 private:
  absl::StatusOr<Tensors> Outputs(const Node& n, const Tensors& inputs, Errors::Kind errors) {
    if (const auto fed = feeds_.find(n.name); fed != feeds_.end()) return Tensors{fed->second};
    if (const Tensor* value = n.attr<Tensor>("value"); n.op == "Const" && value != nullptr) {
      return Tensors{*value};
    }
    TENON_ASSIGN_OR_RETURN(Tensors outputs, Evaluate(n, inputs, services_));
    const OpRow& row = FactsOf(n.op);
    if (errors == Errors::kNone || row.moves_elements || row.alias) return outputs;
    const double range = RangeOf(inputs);
    for (Tensor& t : outputs) {
      TENON_ASSIGN_OR_RETURN(t, t.Clone());
      const double most = 4 * Epsilon(t.dtype());
      std::uniform_real_distribution<double> any(-most, most);
      const auto error = [&] {
        return errors == Errors::kRandom ? any(random_) : errors == Errors::kUp ? most : -most;
      };
      VisitTypes(FloatsAndComplexes{}, t.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        for (T& v : t.flat<T>()) {
          const C x = static_cast<C>(v);
          v = static_cast<T>(range == 0 ? x * C(1 + error()) : x + C(range * error()));
        }
      });
    }
    return outputs;
  }

  const Graph& graph_;
  const Feeds& feeds_;
  const Services& services_;
  std::mt19937 random_;
  bool near_overflow_ = false;
};

// What rounding errors can do to an output.
struct Stability {
  bool exact = true;  // nothing
  double spread = 0;  // the largest change of an element
  bool unstable = false;
};

double LargestDifference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  VisitTypes(FloatsAndComplexes{}, a.dtype(), [&]<typename T>() {
    using C = ComputeType<T>;
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const std::complex<double> x(static_cast<C>(a.data<T>()[i]));
      const std::complex<double> y(static_cast<C>(b.data<T>()[i]));
      const double difference = std::abs(x - y);
      largest = std::isfinite(difference) ? std::max(largest, difference)
                                          : std::numeric_limits<double>::infinity();
    }
  });
  return largest;
}

Stability StabilityOf(const Tensor& exact, const std::vector<Tensors>& jittered, size_t output) {
  Stability s;
  for (const Tensors& run : jittered) {
    const Tensor& t = run[output];
    if (t.dtype() != exact.dtype() || t.shape() != exact.shape()) {
      s.unstable = true;
      return s;
    }
    if (Identical(t, exact)) continue;
    s.exact = false;
    if (Epsilon(t.dtype()) == 0) {
      s.unstable = true;
    } else {
      s.spread = std::max(s.spread, LargestDifference(t, exact));
    }
  }
  s.unstable |= s.spread > 0.01 * (Largest(exact) + 1e-3);
  return s;
}

bool Comparable(const Graph& graph) {
  if (!graph.functions().empty()) return false;
  for (const NodeId id : graph.NodeIds()) {
    if (FactsOf(graph.node(id).op).stateful) return false;
  }
  return true;
}

[[noreturn]] void Fail(const std::string& what, const Graph& graph, const Feeds& feeds) {
  std::string text = absl::StrCat(what, "\n", PrintGraph(graph, {.max_elements = 256}));
  for (const auto& [name, feed] : feeds) {
    absl::StrAppend(&text, "\nfeed ", name, " = ", PrintAttr(feed, {.max_elements = 256}));
  }
  FuzzFailure(text);
}

absl::StatusOr<std::vector<NamedTensor>> RunSession(const Graph& graph, const Feeds& feeds,
                                                    bool rewrite) {
  LoadOptions load;
  TENON_ASSIGN_OR_RETURN(Model model, Imported(graph, load));
  SessionOptions options = DefaultOptions(/*threads=*/1);
  options.flags->onednn_opts = rewrite;
  options.flags->strict_nan = true;
  options.memory_limit = kMemoryLimit;
  TENON_ASSIGN_OR_RETURN(const auto session, Session::Create(std::move(model), options));
  if (!session->report().status.ok()) Fail(session->report().status.ToString(), graph, feeds);
  std::vector<Tensor> inputs;
  for (const TensorInfo& info : session->inputs()) {
    const auto feed = feeds.find(info.name.substr(0, info.name.find(':')));
    if (feed == feeds.end()) return InvalidArgument("no feed for ", info.name);
    inputs.push_back(feed->second);
  }
  RunOptions run;
  run.stop.deadline = StopCondition::Clock::now() + std::chrono::seconds(2);
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, session->Run(inputs, run));
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < outputs.size(); ++i) {
    named.emplace_back(session->outputs()[i].name, std::move(outputs[i]));
  }
  return named;
}

void Compare(const Graph& graph, const Feeds& feeds, const Tensors& want,
             const std::vector<Tensors>& jittered, const std::vector<NamedTensor>& got,
             const std::string& how) {
  for (size_t i = 0; i < want.size(); ++i) {
    const Endpoint e = graph.outputs()[i].source;
    const std::string name = absl::StrCat(graph.node(e.node).name, ":", e.port);
    const auto found =
        std::find_if(got.begin(), got.end(), [&](const NamedTensor& t) { return t.first == name; });
    if (found == got.end()) Fail(absl::StrCat(how, ": no output ", name), graph, feeds);
    const Stability stability = StabilityOf(want[i], jittered, i);
    if (stability.unstable) continue;
    // A fused kernel adds in another order, which counts as roundings of each term.
    const double eps = Epsilon(want[i].dtype());
    const Tolerance tolerance{16 * eps, 32 * stability.spread + 16 * eps * Largest(want[i])};
    const std::string difference = Difference(found->second, want[i], tolerance);
    if (!difference.empty()) {
      Fail(absl::StrCat(how, ": output ", name, ": ", difference), graph, feeds);
    }
  }
}

bool Refused(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

void CheckRewrite(const Graph& graph, const Feeds& feeds) {
  const auto rewritten = RunSession(graph, feeds, /*rewrite=*/true);
  if (absl::IsInternal(rewritten.status())) Fail(rewritten.status().ToString(), graph, feeds);
  const auto plain = RunSession(graph, feeds, /*rewrite=*/false);
  if (absl::IsInternal(plain.status())) Fail(plain.status().ToString(), graph, feeds);
  if (Refused(rewritten.status()) || Refused(plain.status())) return;
  if (!Comparable(graph)) return;
  // A rewritten graph may do without a node that fails, but adds no error.
  if (plain.ok() && !rewritten.ok()) {
    Fail("rewritten: " + rewritten.status().ToString(), graph, feeds);
  }

  const SessionOptions options = DefaultOptions(/*threads=*/1);
  Services services;
  services.flags = &*options.flags;
  Reference reference(graph, feeds, services);
  const auto want = reference.Run({});
  if (!want.ok() || !plain.ok()) return;
  using Errors = Reference::Errors;
  // What lies halfway between two integers is rounded otherwise in one of the first two runs.
  std::vector<Errors> kinds = {{Errors::kUp}, {Errors::kDown}};
  for (uint32_t seed = 1; seed <= kJitters; ++seed) kinds.push_back({Errors::kRandom, seed});
  std::vector<Tensors> jittered;
  for (const Errors& errors : kinds) {
    auto run = reference.Run(errors);
    if (!run.ok()) return;
    jittered.push_back(*std::move(run));
  }
  if (reference.near_overflow()) return;
  Compare(graph, feeds, *want, jittered, *plain, "not rewritten");
  Compare(graph, feeds, *want, jittered, *rewritten, "rewritten");
}

}  // namespace tenon
