#include "tools/serve/kserve.h"

#include <cstring>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using inference::ModelInferResponse;

struct TypeName {
  tenon_dtype dtype;
  const char* name;
  int triton;  // number in Triton's model configuration
};
constexpr TypeName kTypes[] = {
    {TENON_BOOL, "BOOL", 1},     {TENON_UINT8, "UINT8", 2},    {TENON_UINT16, "UINT16", 3},
    {TENON_UINT32, "UINT32", 4}, {TENON_UINT64, "UINT64", 5},  {TENON_INT8, "INT8", 6},
    {TENON_INT16, "INT16", 7},   {TENON_INT32, "INT32", 8},    {TENON_INT64, "INT64", 9},
    {TENON_HALF, "FP16", 10},    {TENON_FLOAT, "FP32", 11},    {TENON_DOUBLE, "FP64", 12},
    {TENON_STRING, "BYTES", 13}, {TENON_BFLOAT16, "BF16", 14},
};

const TypeName* Type(tenon_dtype dtype) {
  for (const TypeName& type : kTypes) {
    if (type.dtype == dtype) return &type;
  }
  return nullptr;
}

// Strings are stored as a length of four bytes, little-endian, and the text.
absl::StatusOr<Tensor> ReadStrings(const std::string& name, const std::vector<int64_t>& dims,
                                   absl::string_view bytes) {
  const auto count = CountElements(name, TENON_STRING, dims);
  if (!count.ok()) return count.status();
  const auto wrong = [&] {
    return absl::InvalidArgumentError(absl::StrCat("the data of BYTES input '", name,
                                                   "' does not have ", *count,
                                                   " strings with their lengths"));
  };
  if (*count > static_cast<int64_t>(bytes.size() / 4)) return wrong();
  try {
    Tensor tensor = Tensor::Create(TENON_STRING, dims);
    for (int64_t i = 0; i < *count; ++i) {
      if (bytes.size() < 4) return wrong();
      uint32_t size;
      std::memcpy(&size, bytes.data(), 4);
      bytes.remove_prefix(4);
      if (size > bytes.size()) return wrong();
      tensor.SetString(i, std::string(bytes.substr(0, size)));
      bytes.remove_prefix(size);
    }
    if (!bytes.empty()) return wrong();
    return tensor;
  } catch (const Error& error) {
    return ToStatus(error);
  }
}

std::string WriteStrings(const Tensor& tensor) {
  std::string bytes;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const std::string text = tensor.GetString(i);
    const uint32_t size = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&size), 4);
    bytes.append(text);
  }
  return bytes;
}

// A copy of `values` as elements of type To.
template <typename To, typename Values>
absl::StatusOr<Tensor> Convert(const std::string& name, tenon_dtype dtype,
                               const std::vector<int64_t>& dims, int64_t count,
                               const Values& values) {
  if (values.size() != count) {
    return absl::InvalidArgumentError(absl::StrCat("input '", name, "' has ", values.size(),
                                                   " elements, but its shape needs ", count));
  }
  try {
    Tensor tensor = Tensor::Create(dtype, dims);
    To* out = static_cast<To*>(tenon_tensor_data(tensor.get()));
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<To>(values.Get(static_cast<int>(i)));
    return tensor;
  } catch (const Error& error) {
    return ToStatus(error);
  }
}

absl::StatusOr<Tensor> ReadContents(const std::string& name, tenon_dtype dtype,
                                    const std::vector<int64_t>& dims,
                                    const InferTensorContents& contents) {
  const auto count = CountElements(name, dtype, dims);
  if (!count.ok()) return count.status();
  const int64_t n = *count;
  switch (dtype) {
    case TENON_BOOL:
      return Convert<bool>(name, dtype, dims, n, contents.bool_contents());
    case TENON_INT8:
      return Convert<int8_t>(name, dtype, dims, n, contents.int_contents());
    case TENON_INT16:
      return Convert<int16_t>(name, dtype, dims, n, contents.int_contents());
    case TENON_INT32:
      return Convert<int32_t>(name, dtype, dims, n, contents.int_contents());
    case TENON_INT64:
      return Convert<int64_t>(name, dtype, dims, n, contents.int64_contents());
    case TENON_UINT8:
      return Convert<uint8_t>(name, dtype, dims, n, contents.uint_contents());
    case TENON_UINT16:
      return Convert<uint16_t>(name, dtype, dims, n, contents.uint_contents());
    case TENON_UINT32:
      return Convert<uint32_t>(name, dtype, dims, n, contents.uint_contents());
    case TENON_UINT64:
      return Convert<uint64_t>(name, dtype, dims, n, contents.uint64_contents());
    case TENON_FLOAT:
      return Convert<float>(name, dtype, dims, n, contents.fp32_contents());
    case TENON_DOUBLE:
      return Convert<double>(name, dtype, dims, n, contents.fp64_contents());
    case TENON_STRING: {
      if (contents.bytes_contents_size() != n) {
        return absl::InvalidArgumentError(absl::StrCat("input '", name, "' has ",
                                                       contents.bytes_contents_size(),
                                                       " elements, but its shape needs ", n));
      }
      try {
        Tensor tensor = Tensor::Create(dtype, dims);
        for (int64_t i = 0; i < n; ++i) {
          tensor.SetString(i, contents.bytes_contents(static_cast<int>(i)));
        }
        return tensor;
      } catch (const Error& error) {
        return ToStatus(error);
      }
    }
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("input '", name, "' must be in raw_input_contents"));
  }
}

template <typename From, typename Field>
void Append(const Tensor& tensor, Field* field) {
  const auto* data = static_cast<const From*>(tenon_tensor_data(tensor.get()));
  field->Add(data, data + tensor.num_elements());
}

// False if the dtype has no field.
bool WriteContents(const Tensor& tensor, InferTensorContents* out) {
  switch (tensor.dtype()) {
    case TENON_BOOL:
      Append<bool>(tensor, out->mutable_bool_contents());
      return true;
    case TENON_INT8:
      Append<int8_t>(tensor, out->mutable_int_contents());
      return true;
    case TENON_INT16:
      Append<int16_t>(tensor, out->mutable_int_contents());
      return true;
    case TENON_INT32:
      Append<int32_t>(tensor, out->mutable_int_contents());
      return true;
    case TENON_INT64:
      Append<int64_t>(tensor, out->mutable_int64_contents());
      return true;
    case TENON_UINT8:
      Append<uint8_t>(tensor, out->mutable_uint_contents());
      return true;
    case TENON_UINT16:
      Append<uint16_t>(tensor, out->mutable_uint_contents());
      return true;
    case TENON_UINT32:
      Append<uint32_t>(tensor, out->mutable_uint_contents());
      return true;
    case TENON_UINT64:
      Append<uint64_t>(tensor, out->mutable_uint64_contents());
      return true;
    case TENON_FLOAT:
      Append<float>(tensor, out->mutable_fp32_contents());
      return true;
    case TENON_DOUBLE:
      Append<double>(tensor, out->mutable_fp64_contents());
      return true;
    case TENON_STRING:
      for (int64_t i = 0; i < tensor.num_elements(); ++i) {
        out->add_bytes_contents(tensor.GetString(i));
      }
      return true;
    default:
      return false;
  }
}

absl::StatusOr<Tensor> ReadInput(const ModelInferRequest& request, int index,
                                 const TensorSpec& spec) {
  const auto& input = request.inputs(index);
  const std::string wanted = KServeName(spec.dtype);
  if (input.datatype() != wanted) {
    return absl::InvalidArgumentError(absl::StrCat("inference input '", input.name(),
                                                   "' data-type is '", input.datatype(),
                                                   "', model expects '", wanted, "'"));
  }
  const std::vector<int64_t> dims(input.shape().begin(), input.shape().end());
  if (request.raw_input_contents().empty()) {
    return ReadContents(input.name(), spec.dtype, dims, input.contents());
  }
  const std::string& raw = request.raw_input_contents(index);
  return spec.dtype == TENON_STRING ? ReadStrings(input.name(), dims, raw)
                                    : FromBytes(input.name(), spec.dtype, dims, raw);
}

void WriteOutput(const std::string& name, const Tensor& tensor, bool raw,
                 ModelInferResponse* response) {
  auto* const output = response->add_outputs();
  output->set_name(name);
  output->set_datatype(KServeName(tensor.dtype()));
  for (const int64_t dim : tensor.dims()) output->add_shape(dim);
  if (!raw) {
    WriteContents(tensor, output->mutable_contents());
  } else if (tensor.dtype() == TENON_STRING) {
    response->add_raw_output_contents(WriteStrings(tensor));
  } else {
    response->add_raw_output_contents(tenon_tensor_data(tensor.get()), tensor.bytes());
  }
}

absl::Status UnknownModel(const std::string& name, const std::string& version) {
  return absl::NotFoundError(
      version.empty() ? absl::StrCat("Request for unknown model: '", name, "' is not found")
                      : absl::StrCat("Request for unknown model: '", name, "' version ", version,
                                     " is not found"));
}

template <typename Message>
void FillMetadata(const TensorSpec& spec, Message* out) {
  out->set_name(spec.name);
  out->set_datatype(KServeName(spec.dtype));
  for (const int64_t dim : spec.dims.value_or(std::vector<int64_t>{-1})) out->add_shape(dim);
}

void SetDuration(uint64_t count, uint64_t ns, inference::StatisticDuration* out) {
  out->set_count(count);
  out->set_ns(ns);
}

}  // namespace

std::string KServeName(tenon_dtype dtype) {
  const TypeName* const type = Type(dtype);
  return type == nullptr ? "" : type->name;
}

absl::StatusOr<std::shared_ptr<Servable>> KServe::Find(const std::string& name,
                                                       const std::string& version) const {
  tensorflow::serving::ModelSpec spec;
  spec.set_name(name);
  int64_t number;
  if (!version.empty()) {
    // What is no number is a label.
    if (absl::SimpleAtoi(version, &number)) {
      spec.mutable_version()->set_value(number);
    } else {
      spec.set_version_label(version);
    }
  }
  auto servable = predictor_.repository().Find(spec);
  if (!servable.ok()) return UnknownModel(name, version);
  return servable;
}

void KServe::Infer(const ModelInferRequest& request, ModelInferResponse* response, Caller caller,
                   Done done) {
  const auto servable = Find(request.model_name(), request.model_version());
  if (!servable.ok()) return done(servable.status());
  Runnable* runnable = (*servable)->Default();
  const auto signature = request.parameters().find("signature_name");
  if (signature != request.parameters().end()) {
    runnable = (*servable)->Find(signature->second.string_param());
    if (runnable == nullptr) {
      return done(absl::InvalidArgumentError(absl::StrCat("model '", request.model_name(),
                                                          "' has no signature '",
                                                          signature->second.string_param(), "'")));
    }
  }
  const int raw = request.raw_input_contents_size();
  if (raw != 0 && raw != request.inputs_size()) {
    return done(absl::InvalidArgumentError(
        absl::StrCat("expected ", request.inputs_size(), " raw input contents, got ", raw)));
  }
  auto job = std::make_unique<Job>();
  for (const TensorSpec& spec : runnable->signature.inputs) {
    int index = -1;
    for (int i = 0; i < request.inputs_size(); ++i) {
      if (request.inputs(i).name() != spec.name) continue;
      if (index >= 0) {
        return done(absl::InvalidArgumentError(
            absl::StrCat("input '", spec.name, "' is given more than once")));
      }
      index = i;
    }
    if (index < 0) {
      if (spec.optional) continue;
      return done(absl::InvalidArgumentError(absl::StrCat(
          "expected ", runnable->signature.inputs.size(), " inputs but got ", request.inputs_size(),
          " inputs for model '", request.model_name(), "'. Got no input '", spec.name, "'")));
    }
    auto tensor = ReadInput(request, index, spec);
    if (!tensor.ok()) return done(tensor.status());
    job->inputs.emplace_back(spec.name, *std::move(tensor));
  }
  for (const auto& input : request.inputs()) {
    if (runnable->Input(input.name()) == nullptr) {
      return done(
          absl::InvalidArgumentError(absl::StrCat("unexpected inference input '", input.name(),
                                                  "' for model '", request.model_name(), "'")));
    }
  }
  for (const auto& output : request.outputs()) {
    if (runnable->Output(output.name()) == nullptr) {
      return done(
          absl::InvalidArgumentError(absl::StrCat("unexpected inference output '", output.name(),
                                                  "' for model '", request.model_name(), "'")));
    }
    job->outputs.push_back(output.name());
  }
  if (job->outputs.empty()) {
    for (const TensorSpec& spec : runnable->signature.outputs) job->outputs.push_back(spec.name);
  }
  response->set_model_name(request.model_name());
  response->set_model_version(absl::StrCat((*servable)->version()));
  response->set_id(request.id());
  job->servable = *servable;
  job->runnable = runnable;
  job->arrived = caller.arrived;
  job->deadline = caller.deadline;
  job->cancelled = std::move(caller.cancelled);
  const bool raw_outputs = raw > 0 || request.inputs_size() == 0;
  job->done = [response, raw_outputs, names = job->outputs,
               done = std::move(done)](absl::StatusOr<std::vector<Tensor>> results) {
    if (!results.ok()) return done(results.status());
    bool all_raw = raw_outputs;
    for (const Tensor& tensor : *results) {
      if (Type(tensor.dtype()) == nullptr) {
        return done(absl::UnimplementedError("an output has a dtype that this protocol lacks"));
      }
      // These two have no field; then all outputs are raw.
      all_raw = all_raw || tensor.dtype() == TENON_HALF || tensor.dtype() == TENON_BFLOAT16;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      WriteOutput(names[i], (*results)[i], all_raw, response);
    }
    done(absl::OkStatus());
  };
  predictor_.scheduler().Submit(std::move(job));
}

bool KServe::ModelReady(const std::string& name, const std::string& version) const {
  return Find(name, version).ok();
}

void KServe::ServerMetadata(inference::ServerMetadataResponse* response) const {
  response->set_name("tenon");
  response->set_version(tenon_version());
  for (const char* extension : {"binary_tensor_data", "model_configuration", "model_repository",
                                "parameters", "statistics"}) {
    response->add_extensions(extension);
  }
}

absl::Status KServe::ModelMetadata(const std::string& name, const std::string& version,
                                   inference::ModelMetadataResponse* response) const {
  const auto servable = Find(name, version);
  if (!servable.ok()) return servable.status();
  response->set_name(name);
  for (const auto& other : predictor_.repository().Servables()) {
    if (other->name() == name) response->add_versions(absl::StrCat(other->version()));
  }
  response->set_platform("tensorflow_savedmodel");
  const Signature& signature = (*servable)->Default()->signature;
  for (const TensorSpec& spec : signature.inputs) FillMetadata(spec, response->add_inputs());
  for (const TensorSpec& spec : signature.outputs) FillMetadata(spec, response->add_outputs());
  return absl::OkStatus();
}

absl::Status KServe::ModelConfig(const std::string& name, const std::string& version,
                                 inference::ModelConfig* config) const {
  const auto servable = Find(name, version);
  if (!servable.ok()) return servable.status();
  config->set_name(name);
  config->set_platform("tensorflow_savedmodel");
  config->set_backend("tenon");
  // 0: shapes are complete, with the rows as their first dimension.
  config->set_max_batch_size(0);
  const Signature& signature = (*servable)->Default()->signature;
  const auto fill = [](const TensorSpec& spec, auto* out) {
    const TypeName* const type = Type(spec.dtype);
    out->set_name(spec.name);
    out->set_data_type(static_cast<inference::DataType>(type == nullptr ? 0 : type->triton));
    for (const int64_t dim : spec.dims.value_or(std::vector<int64_t>{-1})) out->add_dims(dim);
  };
  for (const TensorSpec& spec : signature.inputs) fill(spec, config->add_input());
  for (const TensorSpec& spec : signature.outputs) fill(spec, config->add_output());
  return absl::OkStatus();
}

absl::Status KServe::Statistics(const std::string& name, const std::string& version,
                                inference::ModelStatisticsResponse* response) const {
  if (!name.empty()) {
    const auto servable = Find(name, version);
    if (!servable.ok()) return servable.status();
  }
  for (const auto& servable : predictor_.repository().Servables()) {
    const std::string number = absl::StrCat(servable->version());
    if (!name.empty() && servable->name() != name) continue;
    if (!version.empty() && version != number) continue;
    const ServableCounts& counts = servable->counts();
    auto* const out = response->add_model_stats();
    out->set_name(servable->name());
    out->set_version(number);
    out->set_last_inference(counts.last_ms);
    out->set_inference_count(counts.rows);
    out->set_execution_count(counts.runs);
    auto* const times = out->mutable_inference_stats();
    const uint64_t requests = counts.succeeded + counts.failed;
    SetDuration(counts.succeeded, counts.success_ns, times->mutable_success());
    SetDuration(counts.failed, counts.fail_ns, times->mutable_fail());
    SetDuration(requests, counts.queue_ns, times->mutable_queue());
    SetDuration(requests, 0, times->mutable_compute_input());
    SetDuration(requests, counts.compute_ns, times->mutable_compute_infer());
    SetDuration(requests, 0, times->mutable_compute_output());
  }
  return absl::OkStatus();
}

void KServe::Index(bool only_ready, inference::RepositoryIndexResponse* response) const {
  for (const std::string& name : predictor_.repository().Names()) {
    tensorflow::serving::ModelSpec spec;
    spec.set_name(name);
    const auto statuses = predictor_.repository().Statuses(spec);
    if (!statuses.ok()) {
      if (!only_ready) {
        auto* const model = response->add_models();
        model->set_name(name);
        model->set_state("UNAVAILABLE");
        model->set_reason(std::string(statuses.status().message()));
      }
      continue;
    }
    for (const VersionStatus& status : *statuses) {
      const bool ready = status.state == VersionState::kAvailable;
      if (only_ready && !ready) continue;
      auto* const model = response->add_models();
      model->set_name(name);
      model->set_version(absl::StrCat(status.version));
      model->set_state(ready                                      ? "READY"
                       : status.state == VersionState::kLoading   ? "LOADING"
                       : status.state == VersionState::kUnloading ? "UNLOADING"
                                                                  : "UNAVAILABLE");
      if (!ready) {
        model->set_reason(status.status.ok() ? "unloaded" : std::string(status.status.message()));
      }
    }
  }
}

}  // namespace tenon::serve
