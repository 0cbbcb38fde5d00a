// The C interface over runtime/generate/generator.h.
#include <cstring>

#include "env/status.h"
#include "include/c_api_types.h"
#include "runtime/generate/generator.h"
#include "tenon/tenon.h"

struct tenon_generator {
  std::unique_ptr<tenon::Generator> generator;
  tenon_run_options limits = TENON_RUN_OPTIONS_INIT;
};

namespace {

using tenon::Guard;
using tenon::InvalidArgument;

absl::Status CreateGenerator(tenon_session* session, const tenon_generator_options* given,
                             tenon_generator** out) {
  if (session == nullptr || out == nullptr) return InvalidArgument("null argument");
  const tenon_generator_options defaults = TENON_GENERATOR_OPTIONS_INIT;
  TENON_ASSIGN_OR_RETURN(const tenon_generator_options wanted, tenon::ReadStruct(given, defaults));
  tenon::GeneratorOptions options;
  if (wanted.tokens != nullptr) options.tokens = wanted.tokens;
  if (wanted.position != nullptr) options.position = wanted.position;
  if (wanted.logits != nullptr) options.logits = wanted.logits;
  options.sampling = {.temperature = wanted.temperature,
                      .top_k = wanted.top_k,
                      .top_p = wanted.top_p,
                      .seed = wanted.seed};
  auto generator = std::make_unique<tenon_generator>();
  TENON_ASSIGN_OR_RETURN(generator->generator,
                         tenon::Generator::Create(session->session.get(), options));
  *out = generator.release();
  return absl::OkStatus();
}

// Before a call: its timeout begins.
absl::Status StartLimits(tenon_generator* generator) {
  TENON_ASSIGN_OR_RETURN(const tenon::RunOptions options,
                         tenon::ReadRunOptions(&generator->limits));
  generator->generator->set_stop(options.stop);
  return absl::OkStatus();
}

}  // namespace

tenon_status* tenon_generator_create(tenon_session* session, const tenon_generator_options* options,
                                     tenon_generator** generator) {
  return Guard([&] { return CreateGenerator(session, options, generator); });
}
void tenon_generator_free(tenon_generator* generator) { delete generator; }
tenon_status* tenon_generator_set_input(tenon_generator* generator, const char* name,
                                        const tenon_tensor* value) {
  return Guard([&]() -> absl::Status {
    if (generator == nullptr || name == nullptr || value == nullptr) {
      return InvalidArgument("null argument");
    }
    return generator->generator->SetInput(name, value->tensor);
  });
}
tenon_status* tenon_generator_set_limits(tenon_generator* generator,
                                         const tenon_run_options* limits) {
  return Guard([&]() -> absl::Status {
    if (generator == nullptr) return InvalidArgument("null argument");
    const tenon_run_options none = TENON_RUN_OPTIONS_INIT;
    TENON_ASSIGN_OR_RETURN(const tenon_run_options wanted, tenon::ReadStruct(limits, none));
    if (wanted.profile != nullptr) return InvalidArgument("a generator's runs have no profile");
    generator->limits = wanted;
    return absl::OkStatus();
  });
}
tenon_status* tenon_generator_prompt(tenon_generator* generator, const int64_t* tokens,
                                     size_t count) {
  return Guard([&]() -> absl::Status {
    if (generator == nullptr || (tokens == nullptr && count > 0)) {
      return InvalidArgument("null argument");
    }
    TENON_RETURN_IF_ERROR(StartLimits(generator));
    return generator->generator->Prompt({tokens, count});
  });
}
tenon_status* tenon_generator_next(tenon_generator* generator, int64_t* token) {
  return Guard([&]() -> absl::Status {
    if (generator == nullptr || token == nullptr) return InvalidArgument("null argument");
    TENON_RETURN_IF_ERROR(StartLimits(generator));
    TENON_ASSIGN_OR_RETURN(*token, generator->generator->Next());
    return absl::OkStatus();
  });
}
tenon_status* tenon_generator_reset(tenon_generator* generator) {
  return Guard([&]() -> absl::Status {
    if (generator == nullptr) return InvalidArgument("null argument");
    return generator->generator->Reset();
  });
}
