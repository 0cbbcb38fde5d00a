// Calls of the target `c_api` on generators: there is at most one, as some of them need a session
// of their own.
#include "tests/fuzz/targets/c_api.h"

namespace tenon::c_api_fuzz {

void CreateGenerator(Objects& o) {
  o.FreeGenerator();
  tenon_generator_options options = TENON_GENERATOR_OPTIONS_INIT;
  const char* const names[] = {nullptr, "x", "y", "s", "none"};
  options.tokens = o.Pick(names);
  options.logits = o.Pick(names);
  options.temperature = o.bytes.Bool() ? 1 : 0;
  Done(tenon_generator_create(o.sessions.Live(o.bytes), &options, &o.generator));
}

void Generate(Objects& o) {
  const int64_t tokens[] = {o.Dim(), o.Dim()};
  Done(tenon_generator_prompt(o.generator, tokens, o.bytes.Below(3)));
  int64_t token = 0;
  Done(tenon_generator_next(o.generator, &token));
  if (o.bytes.Bool()) Done(tenon_generator_reset(o.generator));
}

void SetGenerator(Objects& o) {
  const uint8_t how = o.bytes.Byte();
  if (how % 2 == 0) {
    const char* const names[] = {"cache", "token_ids", "position", "x", "", nullptr};
    const char* const name = o.Pick(names);
    return Done(tenon_generator_set_input(o.generator, name, o.tensors.Live(o.bytes)));
  }
  tenon_run_options limits = TENON_RUN_OPTIONS_INIT;
  limits.cancel = o.cancels.At(o.bytes);
  if ((how & 2) != 0) limits.timeout_ns = -1;
  if ((how & 4) != 0) limits.profile = o.profile;  // refused
  Done(tenon_generator_set_limits(o.generator, (how & 8) != 0 ? nullptr : &limits));
}

}  // namespace tenon::c_api_fuzz
