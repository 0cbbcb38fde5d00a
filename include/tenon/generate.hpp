// Generation of tokens. Part of tenon.hpp, which includes it.
#ifndef TENON_GENERATE_HPP_
#define TENON_GENERATE_HPP_

#include <cstdint>
#include <memory>
#include <string>

#include "session.hpp"  // beside this file

namespace tenon {
inline namespace api {

struct GeneratorOptions {
  std::string tokens, position, logits;  // names; empty: found
  double temperature = 0;                // 0: always the likeliest token
  int64_t top_k = 0;                     // 0: all
  double top_p = 1;
  uint64_t seed = 0;
};

// Tokens one by one, from a session whose signature is one step of a decoder (tenon.h). The session
// must outlive it.
class Generator {
 public:
  explicit Generator(const Session& session, const GeneratorOptions& options = {}) {
    const auto given = [](const std::string& name) {
      return name.empty() ? nullptr : name.c_str();
    };
    const tenon_generator_options c = {sizeof(tenon_generator_options),
                                       given(options.tokens),
                                       given(options.position),
                                       given(options.logits),
                                       options.temperature,
                                       options.top_k,
                                       options.top_p,
                                       options.seed};
    tenon_generator* generator = nullptr;
    Check(tenon_generator_create(session.get(), &c, &generator));
    generator_.reset(generator);
  }
  void SetInput(const std::string& name, const Tensor& value) {
    Check(tenon_generator_set_input(generator_.get(), name.c_str(), value.get()));
  }
  // For each later call; `cancel` must live as long. No profile.
  void SetLimits(const RunOptions& limits) {
    const tenon_run_options c = limits.ToC();
    Check(tenon_generator_set_limits(generator_.get(), &c));
  }
  void Prompt(Span<const int64_t> tokens) {
    Check(tenon_generator_prompt(generator_.get(), tokens.data(), tokens.size()));
  }
  int64_t Next() {
    int64_t token = 0;
    Check(tenon_generator_next(generator_.get(), &token));
    return token;
  }
  void Reset() { Check(tenon_generator_reset(generator_.get())); }

 private:
  struct Free {
    void operator()(tenon_generator* g) const { tenon_generator_free(g); }
  };
  std::unique_ptr<tenon_generator, Free> generator_;
};

}  // namespace api
}  // namespace tenon

#endif  // TENON_GENERATE_HPP_
