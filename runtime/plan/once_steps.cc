#include "runtime/plan/once_steps.h"

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "env/memory_account.h"
#include "graph/object.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Kept results share their memory with nothing else.
constexpr int64_t kMostKeptBytes = int64_t{256} << 20;

class OnceSteps {
 public:
  OnceSteps(const std::vector<bool>& invariant, FlatPlan& plan, const PlanMemory& memory)
      : invariant_(invariant), plan_(plan), memory_(memory), refused_(plan.steps.size(), false) {}

  // Gives the buffers to keep.
  std::vector<int> Mark() {
    // Of a memory limit's rest, most is for the loop itself.
    const int64_t most = std::min(kMostKeptBytes, MemoryScope::Available() / 4);
    while (true) {
      Choose();
      std::vector<int> kept = Kept();
      int64_t bytes = 0;
      for (int buffer : kept) bytes += BytesOf(buffer);
      if (bytes <= most) return kept;
      const int largest = *std::max_element(kept.begin(), kept.end(),
                                            [&](int a, int b) { return BytesOf(a) < BytesOf(b); });
      refused_[static_cast<size_t>(writers_[static_cast<size_t>(largest)])] = true;
    }
  }

 private:
  int64_t BytesOf(int buffer) const { return static_cast<int64_t>(memory_.at(buffer).bytes); }

  // Whether all iterations find the same elements there.
  bool IsFixed(int buffer) const {
    const int whole = memory_.WholeOf(buffer);
    const PlanMemory::Item& item = memory_.at(whole);
    const size_t index = static_cast<size_t>(item.index);
    switch (item.kind) {
      case Buffer::Kind::kConstant:
        return !HoldsObjects(plan_.constants[index].dtype());
      case Buffer::Kind::kFeed:
        return invariant_[index] && !HoldsObjects(plan_.feeds[index].first);
      default:
        return writers_[static_cast<size_t>(whole)] >= 0;
    }
  }

  bool CanKeep(int buffer) const {
    const PlanMemory::Item& item = memory_.at(buffer);
    return item.kind == Buffer::Kind::kArena && !item.fetched;  // others belong to one iteration
  }

  absl::Span<const int> Pointers(int begin, int end) const {
    return absl::MakeConstSpan(plan_.pointers)
        .subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  bool IsOnce(const FlatStep& step) const {
    if (step.kernel == nullptr || FactsOf(plan_.graph->node(step.node).op).stateful) return false;
    for (int read : Pointers(step.inputs, step.outputs)) {
      if (read >= 0 && !IsFixed(read)) return false;
    }
    const absl::Span<const int> outputs = Pointers(step.outputs, step.scratch);
    return !outputs.empty() &&
           std::all_of(outputs.begin(), outputs.end(), [&](int b) { return CanKeep(b); });
  }

  void Choose() {
    writers_.assign(memory_.size(), -1);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      FlatStep& step = plan_.steps[s];
      step.once = !refused_[s] && IsOnce(step);
      if (!step.once) continue;
      for (int buffer : Pointers(step.outputs, step.scratch)) {
        writers_[static_cast<size_t>(buffer)] = static_cast<int>(s);
      }
    }
  }

  // What steps of every iteration read of the first one's results.
  std::vector<int> Kept() const {
    std::vector<int> kept;
    const auto read = [&](int buffer) {
      if (buffer < 0) return;
      const int whole = memory_.WholeOf(buffer);
      if (writers_[static_cast<size_t>(whole)] >= 0) kept.push_back(whole);
    };
    for (const FlatStep& step : plan_.steps) {
      if (step.once) continue;
      if (step.kernel != nullptr) {
        for (int buffer : Pointers(step.inputs, step.outputs)) read(buffer);
      } else {
        for (const StepArg& arg : step.step->inputs()) read(arg.buffer);
      }
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
  }

  const std::vector<bool>& invariant_;
  FlatPlan& plan_;
  const PlanMemory& memory_;
  std::vector<bool> refused_;  // by step
  std::vector<int> writers_;   // by buffer: the once step that writes it, or -1
};

}  // namespace

void MarkOnce(const std::vector<bool>& invariant, FlatPlan& plan, PlanMemory& memory) {
  const std::vector<int> kept = OnceSteps(invariant, plan, memory).Mark();
  for (int buffer : kept) memory.Keep(buffer, static_cast<int>(plan.steps.size()));
}

}  // namespace tenon
