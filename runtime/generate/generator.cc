#include "runtime/generate/generator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "runtime/generate/token_inputs.h"
#include "runtime/session/check_input.h"

namespace tenon {
namespace {

absl::StatusOr<Tensor> Zeros(const TensorInfo& info) {
  if (!info.shape.has_rank()) {
    return InvalidArgument("input '", info.name,
                           "' has no known rank: its first value must be given");
  }
  Shape shape;
  for (int d = 0; d < info.shape.rank(); ++d) {
    const int64_t size = info.shape.dim(d);
    shape.push_back(size >= 0 ? size : d == 0 ? 1 : 0);
  }
  TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(info.dtype, shape));
  if (info.dtype != DType::kString && zeros.bytes() > 0) {
    std::memset(zeros.raw(), 0, zeros.bytes());
  }
  return zeros;
}

// [n] or [1, n], as the input wants it.
Shape RowOf(const TensorInfo& info, int64_t n) {
  return info.shape.has_rank() && info.shape.rank() == 1 ? Shape({n}) : Shape({1, n});
}

// The number of tokens that the input takes at once; -1: any.
int64_t TokensAtOnce(const TensorInfo& info) {
  if (!info.shape.has_rank()) return -1;
  return info.shape.rank() == 0 ? 1 : info.shape.dim(info.shape.rank() - 1);
}

}  // namespace

absl::Status Generator::FindInputs(const GeneratorOptions& options) {
  const std::vector<TensorInfo>& infos = session_->inputs();
  const auto fed_back = [&](size_t i) {
    return FindByName(session_->outputs(), infos[i].name).has_value();
  };

  if (!options.position.empty()) {
    TENON_ASSIGN_OR_RETURN(position_input_, FindIntegerInput(infos, options.position));
  }
  std::vector<size_t> candidates;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (!IsTokenDType(infos[i].dtype) || fed_back(i) || infos[i].name == options.tokens) continue;
    const TokenRole role = UsualRole(infos[i].name);
    if (role == TokenRole::kMask && !mask_input_) {
      mask_input_ = i;
    } else if (role == TokenRole::kPositions && options.position.empty() && !position_input_) {
      position_input_ = i;
    } else if (position_input_ != i) {
      candidates.push_back(i);
    }
  }
  TENON_ASSIGN_OR_RETURN(tokens_input_, FindTokenInput(infos, options.tokens, candidates));
  const TensorInfo& tokens = infos[tokens_input_];
  if (tokens.shape.has_rank() && tokens.shape.rank() > 2) {
    return InvalidArgument("input '", tokens.name, "' has shape ", tokens.shape.ToString(),
                           "; tokens are [tokens] or [1, tokens]");
  }
  return absl::OkStatus();
}

absl::Status Generator::FindOutputs(const GeneratorOptions& options) {
  const std::vector<TensorInfo>& infos = session_->outputs();
  std::vector<size_t> candidates;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (const std::optional<size_t> input = FindByName(session_->inputs(), infos[i].name)) {
      feedback_.push_back({*input, i});
    } else if (infos[i].dtype == DType::kFloat) {
      candidates.push_back(i);
    }
  }
  const std::string wanted = options.logits.empty() ? "logits" : options.logits;
  if (const std::optional<size_t> found = FindByName(infos, wanted)) {
    logits_output_ = *found;
  } else if (options.logits.empty() && candidates.size() == 1) {
    logits_output_ = candidates[0];
  } else {
    return InvalidArgument("the model has no output '", wanted, "'; it gives ", ListOf(infos));
  }
  if (infos[logits_output_].dtype != DType::kFloat) {
    return InvalidArgument("output '", wanted, "' is ", Name(infos[logits_output_].dtype),
                           "; logits are float");
  }
  return absl::OkStatus();
}

absl::Status Generator::SaveVariables() {
  for (const std::string& name : session_->VariableNames()) {
    absl::StatusOr<Tensor> value = session_->ReadVariable(name);
    if (absl::IsFailedPrecondition(value.status())) continue;  // the step initializes it
    if (!value.ok()) return value.status();
    variables_.emplace_back(name, *std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Generator>> Generator::Create(Session* session,
                                                             const GeneratorOptions& options) {
  TENON_RETURN_IF_ERROR(CheckSampling(options.sampling));
  std::unique_ptr<Generator> made(new Generator(session, options.sampling));
  TENON_RETURN_IF_ERROR(made->FindInputs(options));
  TENON_RETURN_IF_ERROR(made->FindOutputs(options));
  TENON_RETURN_IF_ERROR(made->SaveVariables());
  made->initial_.resize(session->inputs().size());
  made->inputs_ = made->initial_;
  return made;
}

absl::Status Generator::SetInput(const std::string& name, Tensor value) {
  const std::optional<size_t> found = FindByName(session_->inputs(), name);
  if (!found) {
    return InvalidArgument("the model has no input '", name, "'; it takes ",
                           ListOf(session_->inputs()));
  }
  if (*found == tokens_input_ || found == position_input_) {
    return InvalidArgument("input '", name, "' is set by the generator");
  }
  TENON_RETURN_IF_ERROR(CheckInput(session_->inputs()[*found], value));
  initial_[*found] = value;
  inputs_[*found] = std::move(value);
  return absl::OkStatus();
}

absl::Status Generator::KeepLogits(const Tensor& logits) {
  const Shape& shape = logits.shape();
  if (shape.rank() == 0 || logits.num_elements() == 0) {
    return InvalidArgument("output '", session_->outputs()[logits_output_].name, "' has shape ",
                           shape.ToString(), "; logits are [1, tokens, vocabulary]");
  }
  const int64_t vocabulary = shape.dim(shape.rank() - 1);
  const float* last = logits.data<float>() + (logits.num_elements() - vocabulary);
  logits_.assign(last, last + vocabulary);
  return absl::OkStatus();
}

absl::Status Generator::Step(absl::Span<const int64_t> tokens) {
  const std::vector<TensorInfo>& infos = session_->inputs();
  const auto count = static_cast<int64_t>(tokens.size());
  std::vector<Tensor> inputs = inputs_;

  const TensorInfo& ids = infos[tokens_input_];
  TENON_ASSIGN_OR_RETURN(inputs[tokens_input_], TokenTensor(ids, tokens));
  if (position_input_) {
    TENON_ASSIGN_OR_RETURN(inputs[*position_input_],
                           PositionTensor(infos[*position_input_], 1, count, position_));
  }
  if (mask_input_ && !initial_[*mask_input_].valid()) {
    const TensorInfo& info = infos[*mask_input_];
    TENON_ASSIGN_OR_RETURN(inputs[*mask_input_],
                           Filled(info.dtype, RowOf(info, position_ + count), 1, 0));
  }
  for (const Feedback& each : feedback_) {
    if (inputs[each.input].valid()) continue;
    TENON_ASSIGN_OR_RETURN(inputs[each.input], Zeros(infos[each.input]));
  }

  // The values that are fed back belong to this run alone.
  for (const Feedback& each : feedback_) inputs_[each.input] = Tensor();
  absl::StatusOr<std::vector<Tensor>> outputs = session_->Run(inputs, {.stop = stop_});
  if (!outputs.ok()) {
    for (const Feedback& each : feedback_) inputs_[each.input] = inputs[each.input];
    return outputs.status();
  }
  TENON_RETURN_IF_ERROR(KeepLogits((*outputs)[logits_output_]));
  for (const Feedback& each : feedback_) {
    inputs_[each.input] = std::move((*outputs)[each.output]);
  }
  position_ += count;
  return absl::OkStatus();
}

absl::Status Generator::Prompt(absl::Span<const int64_t> tokens) {
  if (tokens.empty()) return InvalidArgument("the prompt has no tokens");
  std::vector<int64_t> all;
  if (pending_) all.push_back(*pending_);
  all.insert(all.end(), tokens.begin(), tokens.end());
  const int64_t at_once = TokensAtOnce(session_->inputs()[tokens_input_]);
  if (at_once < 0) {
    TENON_RETURN_IF_ERROR(Step(all));
    pending_.reset();
    return absl::OkStatus();
  }
  if (at_once == 0 || static_cast<int64_t>(all.size()) % at_once != 0) {
    return InvalidArgument("input '", session_->inputs()[tokens_input_].name, "' takes ", at_once,
                           " tokens at once, but there are ", all.size());
  }
  for (size_t i = 0; i < all.size(); i += static_cast<size_t>(at_once)) {
    TENON_RETURN_IF_ERROR(Step(absl::MakeConstSpan(all).subspan(i, static_cast<size_t>(at_once))));
    pending_.reset();  // it was the first of them
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Generator::Next() {
  if (pending_) {
    const int64_t token = *pending_;
    TENON_RETURN_IF_ERROR(Step({token}));
    pending_.reset();
  }
  if (logits_.empty()) return absl::FailedPreconditionError("there is no prompt yet");
  TENON_ASSIGN_OR_RETURN(const int64_t token, sampler_.Sample(logits_));
  pending_ = token;
  return token;
}

absl::Status Generator::Reset() {
  for (const auto& [name, value] : variables_) {
    TENON_RETURN_IF_ERROR(session_->AssignVariable(name, value));
  }
  inputs_ = initial_;
  logits_.clear();
  pending_.reset();
  position_ = 0;
  sampler_.Reset();
  return absl::OkStatus();
}

}  // namespace tenon
