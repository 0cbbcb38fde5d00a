// tenon generate: continues a prompt with a generating model, and reports its speed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "graph/npz/npz.h"
#include "runtime/generate/generator.h"
#include "runtime/generate/token_inputs.h"
#include "tools/command.h"
#include "tools/generate_at_once.h"
#include "tools/model_args.h"
#include "tools/text_model.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

struct GenerateArgs {
  ModelArgs model;
  GeneratorOptions generator;
  std::string prompt, ids, inputs, tokenizer, detokenizer, stop;
  int64_t max_tokens = 64;
  bool json = false;
};

absl::StatusOr<std::vector<int64_t>> ParseIds(absl::string_view text, absl::string_view option) {
  std::vector<int64_t> ids;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    int64_t id = 0;
    if (!absl::SimpleAtoi(part, &id)) {
      return InvalidArgument(option, ": '", part, "' is not an integer");
    }
    ids.push_back(id);
  }
  return ids;
}

// Prints tokens, or what they add to the text, as they come.
class Stream {
 public:
  Stream(const TextModel* detokenizer, bool quiet) : detokenizer_(detokenizer), quiet_(quiet) {}

  absl::Status Add(int64_t token) {
    ids_.push_back(token);
    if (detokenizer_ == nullptr) {
      if (!quiet_) std::printf("%s%lld", ids_.size() > 1 ? " " : "", static_cast<long long>(token));
    } else {
      TENON_ASSIGN_OR_RETURN(std::string text, detokenizer_->Text(ids_));
      // A character may need several tokens: until then, its text changes.
      if (!quiet_ && text.size() > text_.size() && text.compare(0, text_.size(), text_) == 0) {
        std::printf("%s", text.c_str() + text_.size());
      }
      text_ = std::move(text);
    }
    if (!quiet_) std::fflush(stdout);
    return absl::OkStatus();
  }
  void End() const {
    if (!quiet_) std::printf("\n");
  }
  const std::string& text() const { return text_; }

 private:
  const TextModel* detokenizer_;
  bool quiet_;
  std::vector<int64_t> ids_;
  std::string text_;
};

// A signature that is one step: this program loops.
absl::StatusOr<GenerationResult> BySteps(const GenerateArgs& args, Generator& generator,
                                         std::vector<int64_t> prompt,
                                         const TextModel* detokenizer) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> stop, ParseIds(args.stop, "--stop"));
  Stream stream(detokenizer, args.json);
  GenerationResult result;
  result.prompt = std::move(prompt);
  std::vector<int64_t>& tokens = result.tokens.emplace();
  const double start = NowMs();
  TENON_RETURN_IF_ERROR(generator.Prompt(result.prompt));
  while (static_cast<int64_t>(tokens.size()) < args.max_tokens) {
    TENON_ASSIGN_OR_RETURN(const int64_t token, generator.Next());
    if (!result.first_ms) result.first_ms = NowMs() - start;
    if (std::find(stop.begin(), stop.end(), token) != stop.end()) break;
    tokens.push_back(token);
    TENON_RETURN_IF_ERROR(stream.Add(token));
  }
  result.total_ms = NowMs() - start;
  stream.End();
  if (detokenizer != nullptr) result.text.push_back(stream.text());
  return result;
}

// Tokens per second, if tokens are known; the first one pays for the prompt.
std::optional<double> TokenRate(const GenerationResult& result) {
  if (!result.tokens) return std::nullopt;
  const double count = static_cast<double>(result.tokens->size());
  if (!result.first_ms && count > 0) return count / result.total_ms * 1e3;
  if (!result.first_ms || count <= 1 || result.total_ms <= *result.first_ms) return std::nullopt;
  return (count - 1) / (result.total_ms - *result.first_ms) * 1e3;
}

void ReportAsJson(const GenerationResult& result, double load_ms, int threads) {
  const std::optional<double> rate = TokenRate(result);
  Json json;
  json["prompt"] = result.prompt;
  if (result.tokens) json["tokens"] = *result.tokens;
  if (!result.text.empty()) json["text"] = result.text;
  if (result.characters) json["new_characters"] = *result.characters;
  if (result.first_ms) json["first_token_ms"] = *result.first_ms;
  json["total_ms"] = result.total_ms;
  if (rate) json["tokens_per_s"] = *rate;
  if (result.loop.found()) {
    json["loop"] = {{"node", result.loop.name()},
                    {"steps", result.loop.iterations()},
                    {"ms", result.loop.ms()}};
  }
  json["load_ms"] = load_ms;
  json["threads"] = threads;
  std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

void Report(const GenerationResult& result) {
  std::string line =
      result.tokens
          ? absl::StrFormat("%d tokens in %.1f ms", result.tokens->size(), result.total_ms)
          : absl::StrFormat("%d new characters in %.1f ms", *result.characters, result.total_ms);
  if (result.first_ms) absl::StrAppendFormat(&line, ", the first after %.1f ms", *result.first_ms);
  if (const auto rate = TokenRate(result)) absl::StrAppendFormat(&line, "; %.1f tokens/s", *rate);
  if (result.loop.found()) {
    absl::StrAppendFormat(&line, "; %d steps of '%s' in %.1f ms, %.1f steps/s",
                          result.loop.iterations(), result.loop.name(), result.loop.ms(),
                          result.loop.per_second());
  }
  if (!result.tokens) {
    absl::StrAppend(&line, " (the model gives text: its tokens are counted with a --tokenizer)");
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

absl::Status Generate(const GenerateArgs& args) {
  if (args.prompt.empty() == args.ids.empty()) {
    return InvalidArgument("give either --prompt or --ids");
  }
  TENON_RETURN_IF_ERROR(CheckSampling(args.generator.sampling));
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> prompt, ParseIds(args.ids, "--ids"));
  std::optional<TextModel> tokenizer, detokenizer;
  if (!args.tokenizer.empty()) {
    TENON_ASSIGN_OR_RETURN(tokenizer, TextModel::Load(args.tokenizer, args.model));
    if (!args.prompt.empty()) {
      TENON_ASSIGN_OR_RETURN(prompt, tokenizer->Ids(args.prompt));
    }
  }
  if (!args.detokenizer.empty()) {
    TENON_ASSIGN_OR_RETURN(detokenizer, TextModel::Load(args.detokenizer, args.model));
  }
  const TextModel* to_text = detokenizer ? &*detokenizer : nullptr;
  std::vector<NamedTensor> inputs;
  if (!args.inputs.empty()) {
    TENON_ASSIGN_OR_RETURN(inputs, ReadNpz(args.inputs));
  }
  TENON_ASSIGN_OR_RETURN(OpenedSession opened, OpenSession(args.model));
  Session& session = *opened.session;
  const auto has = [&](const std::vector<TensorInfo>& infos, auto is) {
    return std::any_of(infos.begin(), infos.end(),
                       [&](const TensorInfo& i) { return is(i.dtype); });
  };
  const auto is_string = [](DType d) { return d == DType::kString; };
  if (!args.prompt.empty() && !tokenizer && !has(session.inputs(), is_string)) {
    return InvalidArgument("the model takes token ids, not text: give --ids, or a --tokenizer");
  }
  // Logits make a step; a model that loops itself gives tokens or text.
  const bool is_step = has(session.outputs(), [](DType d) { return d == DType::kFloat; }) &&
                       !has(session.inputs(), is_string);
  GenerationResult result;
  if (is_step) {
    TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Generator> generator,
                           Generator::Create(&session, args.generator));
    for (auto& [name, value] : inputs) {
      TENON_RETURN_IF_ERROR(generator->SetInput(name, std::move(value)));
    }
    TENON_ASSIGN_OR_RETURN(result, BySteps(args, *generator, std::move(prompt), to_text));
  } else {
    TENON_ASSIGN_OR_RETURN(
        result,
        GenerateAtOnce(session, {.text = args.prompt, .ids = std::move(prompt)}, std::move(inputs),
                       args.max_tokens, tokenizer ? &*tokenizer : nullptr));
    if (to_text != nullptr && result.text.empty()) {
      TENON_ASSIGN_OR_RETURN(std::string text, to_text->Text(*result.tokens));
      result.text = {std::move(text)};
    }
    if (!args.json) {
      std::printf("%s\n", result.text.empty() ? absl::StrJoin(*result.tokens, " ").c_str()
                                              : absl::StrJoin(result.text, "\n").c_str());
    }
  }
  NoteFallbacks(session);
  if (args.json) {
    ReportAsJson(result, opened.load_ms, session.threads());
  } else {
    Report(result);
  }
  return absl::OkStatus();
}

}  // namespace

Command AddGenerateCommand(CLI::App& parent) {
  auto args = std::make_shared<GenerateArgs>();
  CLI::App* app = parent.add_subcommand(
      "generate", "Continues a prompt, with a model that generates tokens or text");
  AddModelArgs(*app, args->model);
  AddSessionArgs(*app, args->model);
  SamplingOptions& sampling = args->generator.sampling;
  app->add_option("--prompt", args->prompt, "text to continue");
  app->add_option("--ids", args->ids, "token ids to continue: 464,3290");
  app->add_option("--tokenizer", args->tokenizer,
                  "SavedModel that turns text into token ids, or SAVED_MODEL:SIGNATURE");
  app->add_option("--detokenizer", args->detokenizer, "the same for token ids into text");
  app->add_option("--max-tokens", args->max_tokens, "how many tokens at most (64)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app->add_option("--stop", args->stop, "token ids that end the text: 50256");
  app->add_option("--temperature", sampling.temperature, "0: always the likeliest token (0)");
  app->add_option("--top-k", sampling.top_k, "only the k likeliest tokens; 0: all (0)");
  app->add_option("--top-p", sampling.top_p,
                  "only the likeliest tokens that together reach this probability (1)");
  app->add_option("--seed", sampling.seed, "of the random numbers (0)");
  app->add_option("--inputs", args->inputs,
                  ".npz with further inputs, such as the first value of a cache");
  app->add_option("--tokens-input", args->generator.tokens, "input that takes the token ids");
  app->add_option("--position-input", args->generator.position, "input that takes the position");
  app->add_option("--logits-output", args->generator.logits, "output with the logits");
  app->add_flag("--json", args->json, "one line of JSON instead of text");
  app->footer(
      "MODEL's signature is one step of a decoder (token ids in, logits out), which remembers\n"
      "earlier tokens in variables or in outputs named like an input; or it generates by itself\n"
      "(token ids or text in and out): then the sampling options have no effect.");
  return {app, [args] { return Generate(*args); }};
}

}  // namespace tenon
