// Generator: produces tokens one by one with a model whose signature is one step of a decoder.
//
// The signature takes token ids and gives logits. What it remembers between steps (the cache of
// keys and values) is kept in one of two ways:
//   - in variables that the graph changes (the session keeps them), or
//   - in outputs named like an input: each is fed to that input in the next step.
// Further inputs that it may have: the position of the first token, positions, an attention mask.
//
//   TENON_ASSIGN_OR_RETURN(auto generator, Generator::Create(session.get(), {}));
//   TENON_RETURN_IF_ERROR(generator->Prompt({464, 3290}));
//   TENON_ASSIGN_OR_RETURN(int64_t token, generator->Next());
#ifndef TENON_RUNTIME_GENERATE_GENERATOR_H_
#define TENON_RUNTIME_GENERATE_GENERATOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/generate/sampler.h"
#include "runtime/session/session.h"

namespace tenon {

struct GeneratorOptions {
  // Names of the signature's inputs and output; empty: found by dtype and by the usual names
  // (input_ids, position_ids, attention_mask, logits, ...).
  std::string tokens = "";
  std::string position = "";
  std::string logits = "";
  SamplingOptions sampling = {};
};

// One sequence. Not thread-safe; a session whose step changes variables serves one generator at a
// time.
class Generator {
 public:
  // InvalidArgument, naming inputs and outputs, if the signature is not such a step.
  static absl::StatusOr<std::unique_ptr<Generator>> Create(Session* session,
                                                           const GeneratorOptions& options);

  // The value of an input in the first step: of one that is fed back, or of one that stays the
  // same. Without it, an input that is fed back starts as zeros, its unknown dimensions being 1 in
  // the first place and 0 elsewhere.
  absl::Status SetInput(const std::string& name, Tensor value);
  // Appends tokens to the sequence, computing them at once if the signature takes any number of
  // tokens, else as many at a time as it takes. After an error of the model, Reset the generator.
  absl::Status Prompt(absl::Span<const int64_t> tokens);
  // Chooses the next token and appends it. FailedPrecondition before the first prompt.
  absl::StatusOr<int64_t> Next();
  // When Prompt and Next end early, between two steps of a run. What they computed until then is
  // kept if the model feeds its state back; a model that changes variables is Reset.
  void set_stop(const StopCondition& stop) { stop_ = stop; }
  // Forgets the sequence: variables get the values that they had in Create.
  absl::Status Reset();

  // The number of tokens in the sequence, prompts included.
  int64_t length() const { return position_ + (pending_.has_value() ? 1 : 0); }
  // Logits of the last computed token: [vocabulary].
  absl::Span<const float> logits() const { return logits_; }

 private:
  Generator(Session* session, const SamplingOptions& sampling)
      : session_(session), sampler_(sampling) {}

  absl::Status FindInputs(const GeneratorOptions& options);
  absl::Status FindOutputs(const GeneratorOptions& options);
  absl::Status SaveVariables();
  absl::Status Step(absl::Span<const int64_t> tokens);
  absl::Status KeepLogits(const Tensor& logits);

  struct Feedback {
    size_t input, output;
  };

  Session* session_;
  StopCondition stop_;
  Sampler sampler_;
  size_t tokens_input_ = 0, logits_output_ = 0;
  std::optional<size_t> position_input_, mask_input_;
  std::vector<Feedback> feedback_;
  std::vector<Tensor> inputs_;   // of the next step
  std::vector<Tensor> initial_;  // of the first step
  std::vector<NamedTensor> variables_;
  std::vector<float> logits_;
  std::optional<int64_t> pending_;  // chosen, but not computed yet
  int64_t position_ = 0;            // the number of computed tokens
};

}  // namespace tenon

#endif  // TENON_RUNTIME_GENERATE_GENERATOR_H_
