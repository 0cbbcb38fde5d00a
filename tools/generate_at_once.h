// Generation by a signature that loops in the graph: one run gives everything.
//
//   TENON_ASSIGN_OR_RETURN(GenerationResult result,
//                          GenerateAtOnce(session, {.text = "The mill"}, {}, 64, nullptr));
#ifndef TENON_TOOLS_GENERATE_AT_ONCE_H_
#define TENON_TOOLS_GENERATE_AT_ONCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/execution/plan.h"
#include "runtime/session/session.h"
#include "tools/text_model.h"

namespace tenon {

// The loop that takes most of a run; most models that loop in the graph add a token to each
// sequence in an iteration.
class LongestLoop final : public StepObserver {
 public:
  void OnRun(const std::shared_ptr<const Plan>& plan) override { plan_ = plan; }
  void OnLoop(int step, int64_t iterations) override { now_ = {step, iterations}; }
  void OnStep(int step, int64_t nanoseconds) override {
    if (now_.step == step && nanoseconds > longest_.nanoseconds) {
      longest_ = {step, now_.iterations, nanoseconds};
    }
  }

  bool found() const { return longest_.step >= 0; }
  std::string name() const { return plan_->Describe()[static_cast<size_t>(longest_.step)].node; }
  int64_t iterations() const { return longest_.iterations; }
  double ms() const { return static_cast<double>(longest_.nanoseconds) / 1e6; }
  double per_second() const { return static_cast<double>(iterations()) / ms() * 1e3; }

 private:
  struct Loop {
    int step = -1;
    int64_t iterations = 0, nanoseconds = -1;
  };
  std::shared_ptr<const Plan> plan_;
  Loop now_, longest_;
};

struct GenerationResult {
  std::vector<int64_t> prompt;
  std::optional<std::vector<int64_t>> tokens;  // unknown if the model gives text
  std::vector<std::string> text;
  std::optional<int64_t> characters;  // of the text, without the prompt, if tokens are unknown
  std::optional<double> first_ms;     // from the prompt to the first token
  double total_ms = 0;
  LongestLoop loop;  // of a run that gives everything
};

struct Prompt {
  std::string text = "";          // for a model that takes text
  std::vector<int64_t> ids = {};  // the same as token ids, as far as known
};

// Adds the prompt to `inputs`, and masks over it. A model with a mask among its inputs and among
// its outputs (KerasHub's) takes the prompt with `max_tokens` places for new tokens, or as many as
// its signature has; of others, the model itself knows where it ends. `tokenizer` counts the tokens
// of text; may be null. InvalidArgument if the model gives neither tokens nor text.
absl::StatusOr<GenerationResult> GenerateAtOnce(Session& session, Prompt prompt,
                                                std::vector<NamedTensor> inputs, int64_t max_tokens,
                                                const TextModel* tokenizer);

}  // namespace tenon

#endif  // TENON_TOOLS_GENERATE_AT_ONCE_H_
