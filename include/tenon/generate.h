/* Generation: token after token, where the signature is one step of a decoder. Part of tenon.h,
 * which includes it. */
#include "tenon.h" /* outside of the guard: tenon.h includes this file */

#ifndef TENON_GENERATE_H_
#define TENON_GENERATE_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Usage:
 *
 *   tenon_generator* generator = NULL;
 *   tenon_generator_create(session, NULL, &generator);
 *   tenon_generator_prompt(generator, prompt, prompt_size);
 *   while (...) { int64_t token; tenon_generator_next(generator, &token); ... }
 *
 * The signature takes token ids [1, tokens] and gives logits. It remembers earlier tokens in
 * variables, or in outputs named like an input, each of which becomes that input in the next step.
 * An input for the position and an attention mask are set if there are any. The session must
 * outlive the generator; if the step changes variables, it serves one generator at a time. */
typedef struct tenon_generator tenon_generator;
typedef struct tenon_generator_options {
  size_t size;          /* sizeof(tenon_generator_options) */
  const char* tokens;   /* the input for token ids; NULL: found by dtype and name */
  const char* position; /* the input for the position; NULL: found by name, if there is one */
  const char* logits;   /* the output with the logits; NULL: "logits", or the only float output */
  double temperature;   /* 0: always the likeliest token */
  int64_t top_k;        /* only the k likeliest tokens; 0: all */
  double top_p;         /* only the likeliest tokens that reach this probability; 1: all */
  uint64_t seed;
} tenon_generator_options;
#define TENON_GENERATOR_OPTIONS_INIT \
  { sizeof(tenon_generator_options), NULL, NULL, NULL, 0, 0, 1, 0 }

TENON_API tenon_status* tenon_generator_create(tenon_session* session,
                                               const tenon_generator_options* options,
                                               tenon_generator** generator);
TENON_API void tenon_generator_free(tenon_generator* generator);
/* The first value of an input that is fed back (otherwise zeros, unknown dimensions being 1 in the
 * first place and 0 elsewhere), or the value of any other input. */
TENON_API tenon_status* tenon_generator_set_input(tenon_generator* generator, const char* name,
                                                  const tenon_tensor* value);
/* A timeout for each later prompt or next, and a way to cancel them; NULL: none. What `limits`
 * points to must live as long. `profile` must be NULL. After TENON_DEADLINE_EXCEEDED or
 * TENON_CANCELLED the call may be repeated if the model feeds its cache back; if it changes
 * variables, reset the generator. */
TENON_API tenon_status* tenon_generator_set_limits(tenon_generator* generator,
                                                   const tenon_run_options* limits);
/* Appends tokens to the sequence and computes them. */
TENON_API tenon_status* tenon_generator_prompt(tenon_generator* generator, const int64_t* tokens,
                                               size_t count);
/* Chooses the next token and appends it. TENON_FAILED_PRECONDITION before the first prompt. */
TENON_API tenon_status* tenon_generator_next(tenon_generator* generator, int64_t* token);
/* Forgets the sequence; variables get the values that they had when the generator was made. */
TENON_API tenon_status* tenon_generator_reset(tenon_generator* generator);

#ifdef __cplusplus
}
#endif

#endif /* TENON_GENERATE_H_ */
