// Prebuilt models of text ops, which are inputs or attributes of nodes: of wordpieces, of BERT's
// normalization, of SentencePiece. Some texts are tokenized with them, and tokens joined again.
#include "absl/strings/str_split.h"
#include "env/flags.h"
#include "kernels/text/sentencepiece_model.h"
#include "ops/evaluate.h"
#include "tests/fuzz/targets/byte_reader.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

// "treat" leaves the path to "tread" before that is a word.
const std::vector<std::string>& Texts() {
  static const auto* const texts = new std::vector<std::string>(absl::StrSplit(
      "|unaffable|the unaffable don't|##|a##b ab|abcdz|treat|日本語! été|\xff\xe3 a", '|'));
  return *texts;
}

void Run(const char* op, std::vector<Tensor> inputs) {
  static const SessionOptions options = DefaultOptions(/*threads=*/1);
  Services services;
  services.flags = &*options.flags;
  Node node;
  node.name = "node";
  node.op = op;
  if (node.op == "FastBertNormalize") node.attrs["get_offsets"] = true;
  const auto outputs = Evaluate(node, inputs, services);
  if (!outputs.ok() && outputs.status().message().empty())
    FuzzFailure("an error without a message");
}

int FuzzTextModel(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  const size_t kind = bytes.Below(3);
  const absl::string_view model = bytes.Rest();
  if (kind == 2) {
    const auto parsed = SentencePieceModel::Parse(model);
    if (!parsed.ok()) return 0;
    for (const std::string& text : Texts()) {
      std::vector<SentencePiece> pieces;
      if (!(*parsed)->Encode(text, {}, pieces).ok()) continue;
      std::vector<std::string> joined;
      for (const SentencePiece& piece : pieces) joined.push_back(piece.piece);
      (void)(*parsed)->Decode(joined, {});
    }
    return 0;
  }
  const Tensor texts = Tensor::Vector<std::string>(Texts());
  const Tensor tensor = Tensor::Vector<uint8_t>({model.begin(), model.end()});
  if (kind == 1) {
    Run("FastBertNormalize", {texts, tensor});
    return 0;
  }
  Run("FastWordpieceTokenizeWithOffsets", {texts, tensor});
  Run("TFText>FastWordpieceDetokenize",
      {Tensor::Vector<int32_t>({0, 1, 5, 2}), Tensor::Vector<int64_t>({0, 2, 4}), tensor});
  return 0;
}

const FuzzTarget kTarget("text_model", FuzzTextModel);

}  // namespace
}  // namespace tenon
