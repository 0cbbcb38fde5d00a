#include "tools/text_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_join.h"
#include "env/mapped_file.h"
#include "env/status.h"
#include "runtime/generate/token_inputs.h"

namespace tenon {
namespace {

bool HasIds(const NamedTensor& output) {
  return IsTokenDType(output.second.dtype()) && output.second.shape().rank() > 0;
}

bool HasUsualName(const NamedTensor& output) {
  const std::string& name = output.first;
  return UsualRole(name) == TokenRole::kTokens || name == "values" || name == "flat_values" ||
         name == "output_0";
}

// Whether `splits` are the row splits [0, n] of one text's n values.
bool AreSplitsOf(const NamedTensor& splits, const NamedTensor& values) {
  if (splits.second.shape() != Shape({2}) || values.second.shape().rank() != 1) return false;
  const absl::StatusOr<std::vector<int64_t>> ends = IdsOf(splits.second);
  return ends.ok() && (*ends)[0] == 0 && (*ends)[1] == values.second.num_elements();
}

}  // namespace

Tensor StringTensor(const TensorInfo& input, const std::string& text) {
  const bool scalar = input.shape.has_rank() && input.shape.rank() == 0;
  return Tensor::From<std::string>(scalar ? Shape() : Shape({1}), {text});
}

absl::StatusOr<std::vector<int64_t>> IdsOf(const Tensor& t) {
  if (!IsTokenDType(t.dtype())) {
    return InvalidArgument("token ids are int32 or int64, but these are ", Name(t.dtype()));
  }
  return IntegerValues(t);
}

absl::StatusOr<TextModel> TextModel::Load(const std::string& where, const ModelArgs& model) {
  ModelArgs args;
  args.path = where;
  const size_t colon = where.rfind(':');
  std::error_code ignored;
  if (colon != std::string::npos && !std::filesystem::exists(where, ignored)) {
    args.path = where.substr(0, colon);
    args.signature = where.substr(colon + 1);
  }
  args.threads = model.threads;
  TENON_ASSIGN_OR_RETURN(OpenedSession opened, OpenSession(args));
  const std::vector<TensorInfo>& inputs = opened.session->inputs();
  std::vector<size_t> needed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].optional) needed.push_back(i);
  }
  if (needed.size() != 1) {
    return InvalidArgument("'", where, "' has ", needed.size(), " inputs; a tokenizer has one");
  }
  TextModel made;
  made.where_ = where;
  made.input_ = needed[0];
  made.session_ = std::move(opened.session);
  return made;
}

absl::StatusOr<std::vector<NamedTensor>> TextModel::Run(Tensor value) const {
  absl::StatusOr<std::vector<NamedTensor>> outputs =
      session_->Run(std::vector<NamedTensor>{{session_->inputs()[input_].name, std::move(value)}});
  if (!outputs.ok()) return Annotate(outputs.status(), absl::StrCat("'", where_, "'"));
  return outputs;
}

absl::StatusOr<std::vector<int64_t>> TextModel::Ids(const std::string& text) const {
  const TensorInfo& input = session_->inputs()[input_];
  if (input.dtype != DType::kString) {
    return InvalidArgument("'", where_, "' is no tokenizer: it takes '", input.name, "' (",
                           Name(input.dtype), "), not text");
  }
  TENON_ASSIGN_OR_RETURN(std::vector<NamedTensor> found, Run(StringTensor(input, text)));
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const NamedTensor& output) { return !HasIds(output); }),
              found.end());
  if (found.size() > 1) {
    const auto usual = std::find_if(found.begin(), found.end(), HasUsualName);
    if (usual != found.end()) return IdsOf(usual->second);
  }
  for (size_t i = 0; i < found.size() && found.size() > 1; ++i) {
    for (size_t j = 0; j < found.size(); ++j) {
      if (i == j || !AreSplitsOf(found[i], found[j])) continue;
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(i--));
      break;
    }
  }
  if (found.empty()) return InvalidArgument("'", where_, "' is no tokenizer: it gives no integers");
  if (found.size() > 1) {
    return InvalidArgument("'", where_, "' gives several outputs of integers (",
                           absl::StrJoin(found, ", ",
                                         [](std::string* out, const NamedTensor& t) {
                                           absl::StrAppend(out, t.first);
                                         }),
                           "); a tokenizer gives token ids");
  }
  return IdsOf(found[0].second);
}

absl::StatusOr<std::string> TextModel::Text(absl::Span<const int64_t> ids) const {
  TENON_ASSIGN_OR_RETURN(Tensor tensor, TokenTensor(session_->inputs()[input_], ids));
  TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> out, Run(std::move(tensor)));
  for (const auto& [name, strings] : out) {
    if (strings.dtype() == DType::kString) return absl::StrJoin(strings.flat<std::string>(), "");
  }
  return InvalidArgument("the detokenizer gives no strings");
}

absl::StatusOr<std::vector<int64_t>> IdsOfFile(const TextModel& tokenizer,
                                               const std::string& path) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  if (file->size() == 0) return InvalidArgument(path, " is empty");
  std::string text(file->size(), '\0');
  TENON_RETURN_IF_ERROR(file->Read(0, file->size(), text.data()));
  absl::StatusOr<std::vector<int64_t>> ids = tokenizer.Ids(text);
  if (!ids.ok()) return Annotate(ids.status(), path);
  if (ids->size() < 2) {
    return InvalidArgument(path, " has ", ids->size(), " tokens; to predict one, it takes two");
  }
  return ids;
}

}  // namespace tenon
