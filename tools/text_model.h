// Models that turn text into token ids, or token ids into text.
//
//   TENON_ASSIGN_OR_RETURN(TextModel tokenizer, TextModel::Load("my_model:tokenize", args));
//   TENON_ASSIGN_OR_RETURN(std::vector<int64_t> ids, tokenizer.Ids("The mill"));
#ifndef TENON_TOOLS_TEXT_MODEL_H_
#define TENON_TOOLS_TEXT_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/model_args.h"

namespace tenon {

// A tensor [] or [1], as the input takes it, with one text.
Tensor StringTensor(const TensorInfo& input, const std::string& text);
// The elements of an int32 or int64 tensor.
absl::StatusOr<std::vector<int64_t>> IdsOf(const Tensor& t);

class TextModel {
 public:
  // `where`: a SavedModel, with ":SIGNATURE" behind it if that is not the default. The number of
  // threads is that of `model`. InvalidArgument, naming the model, unless its signature needs
  // exactly one input.
  static absl::StatusOr<TextModel> Load(const std::string& where, const ModelArgs& model);

  // The token ids of one text. The signature takes a string, [] or [texts], and gives integers
  // [tokens], [texts, tokens], or ragged: the values, and their row splits as another output. If
  // there are more outputs of integers, one of them has a usual name (input_ids, values, ...).
  absl::StatusOr<std::vector<int64_t>> Ids(const std::string& text) const;
  // The text of token ids; the signature takes integers and gives strings.
  absl::StatusOr<std::string> Text(absl::Span<const int64_t> ids) const;

 private:
  std::string where_;
  std::unique_ptr<Session> session_;
  size_t input_ = 0;

  absl::StatusOr<std::vector<NamedTensor>> Run(Tensor value) const;
};

// The token ids of a file with plain text, all of it one text. InvalidArgument or NotFound, naming
// the file, if it cannot be read, is no regular file, or has fewer than two tokens.
absl::StatusOr<std::vector<int64_t>> IdsOfFile(const TextModel& tokenizer, const std::string& path);

}  // namespace tenon

#endif  // TENON_TOOLS_TEXT_MODEL_H_
