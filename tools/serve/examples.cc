#include "tools/serve/examples.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

using tensorflow::serving::Input;

constexpr char kInputs[] = "inputs", kClasses[] = "classes", kScores[] = "scores",
               kOutputs[] = "outputs";

// The examples as a string tensor of shape [examples]. A context's features come first in each.
absl::StatusOr<Tensor> Serialized(const Input& input) {
  const bool context = input.has_example_list_with_context();
  const auto& examples =
      context ? input.example_list_with_context().examples() : input.example_list().examples();
  if (examples.empty()) return absl::InvalidArgumentError("Input is empty.");
  // Messages that follow each other are parsed as one.
  const std::string before =
      context ? input.example_list_with_context().context().SerializeAsString() : "";
  try {
    Tensor tensor = Tensor::Create(TENON_STRING, {int64_t{examples.size()}});
    for (int i = 0; i < examples.size(); ++i) {
      tensor.SetString(i, before + examples[i].SerializeAsString());
    }
    return tensor;
  } catch (const Error& error) {
    return ToStatus(error);
  }
}

absl::StatusOr<Runnable*> FindSignature(const Servable& servable, const std::string& signature) {
  Runnable* const runnable = servable.Find(signature);
  if (runnable == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("No signature was found with the name: ",
                     signature.empty() ? kDefaultSignature : signature));
  }
  if (runnable->signature.inputs.size() != 1) {
    return absl::InvalidArgumentError("Expected one input Tensor.");
  }
  return runnable;
}

absl::StatusOr<std::unique_ptr<Job>> JobFor(const std::shared_ptr<Servable>& servable,
                                            Runnable* runnable, const Input& input) {
  auto examples = Serialized(input);
  if (!examples.ok()) return examples.status();
  auto job = std::make_unique<Job>();
  job->servable = servable;
  job->runnable = runnable;
  job->inputs.emplace_back(kInputs, *std::move(examples));
  return job;
}

std::string Listed(const std::vector<int64_t>& dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Job>> ClassificationJob(const std::shared_ptr<Servable>& servable,
                                                       const std::string& signature,
                                                       const Input& input) {
  const auto runnable = FindSignature(*servable, signature);
  if (!runnable.ok()) return runnable.status();
  const size_t outputs = (*runnable)->signature.outputs.size();
  if (outputs != 1 && outputs != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected one or two output Tensors, found ", outputs));
  }
  if ((*runnable)->Input(kInputs) == nullptr) {
    return absl::InvalidArgumentError(
        "No classification inputs found in SignatureDef: it has no input named inputs");
  }
  auto job = JobFor(servable, *runnable, input);
  if (!job.ok()) return job.status();
  for (const char* name : {kClasses, kScores}) {
    if ((*runnable)->Output(name) != nullptr) (*job)->outputs.push_back(name);
  }
  if ((*job)->outputs.empty()) {
    return absl::InvalidArgumentError(
        "Expected classification signature outputs to contain at least one of \"classes\" or "
        "\"scores\".");
  }
  return job;
}

absl::StatusOr<std::unique_ptr<Job>> RegressionJob(const std::shared_ptr<Servable>& servable,
                                                   const std::string& signature,
                                                   const Input& input) {
  const auto runnable = FindSignature(*servable, signature);
  if (!runnable.ok()) return runnable.status();
  if ((*runnable)->signature.outputs.size() != 1) {
    return absl::InvalidArgumentError("Expected one output Tensor.");
  }
  if ((*runnable)->Input(kInputs) == nullptr) {
    return absl::InvalidArgumentError(
        "No regression inputs found in SignatureDef: it has no input named inputs");
  }
  if ((*runnable)->Output(kOutputs) == nullptr) {
    return absl::InvalidArgumentError(
        "No regression outputs found in SignatureDef: it has no output named outputs");
  }
  auto job = JobFor(servable, *runnable, input);
  if (job.ok()) (*job)->outputs.push_back(kOutputs);
  return job;
}

absl::Status FillClassifications(const std::vector<std::string>& names,
                                 const std::vector<Tensor>& outputs, int64_t examples,
                                 tensorflow::serving::ClassificationResult* result) {
  const Tensor* classes = nullptr;
  const Tensor* scores = nullptr;
  int64_t count = -1;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_classes = names[i] == kClasses;
    (is_classes ? classes : scores) = &outputs[i];
    const std::vector<int64_t> dims = outputs[i].dims();
    if (dims.size() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("Expected Tensor shape: [batch_size num_classes] but got ", Listed(dims)));
    }
    if (outputs[i].dtype() != (is_classes ? TENON_STRING : TENON_FLOAT)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Expected ", names[i], " Tensor of ", is_classes ? "DT_STRING" : "DT_FLOAT",
                       ". Got another dtype: ", static_cast<int>(outputs[i].dtype())));
    }
    if (dims[0] != examples) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Expected ", names[i], " output batch size of ", examples, ". Got: ", dims[0]));
    }
    if (count >= 0 && count != dims[1]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Tensors class and score should match in dim_size(1). Got ", count, " vs. ", dims[1]));
    }
    count = dims[1];
  }
  for (int64_t i = 0; i < examples; ++i) {
    auto* const row = result->add_classifications();
    for (int64_t c = 0; c < count; ++c) {
      auto* const item = row->add_classes();
      if (classes != nullptr) item->set_label(classes->GetString(i * count + c));
      if (scores != nullptr) item->set_score(scores->data<float>()[i * count + c]);
    }
  }
  return absl::OkStatus();
}

absl::Status FillRegressions(const std::vector<Tensor>& outputs, int64_t examples,
                             tensorflow::serving::RegressionResult* result) {
  const Tensor& output = outputs.front();
  const std::vector<int64_t> dims = output.dims();
  if (dims.size() != 1 && !(dims.size() == 2 && dims[1] == 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected output Tensor shape to be either [batch_size] or [batch_size, 1] "
                     "but got ",
                     Listed(dims)));
  }
  if (dims[0] != examples) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Input batch size did not match output batch size: ", examples, " vs. ", dims[0]));
  }
  if (output.dtype() != TENON_FLOAT) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected output Tensor of DT_FLOAT.  Got another dtype: ",
                     static_cast<int>(output.dtype())));
  }
  for (const float value : output.elements<float>()) result->add_regressions()->set_value(value);
  return absl::OkStatus();
}

}  // namespace tenon::serve
