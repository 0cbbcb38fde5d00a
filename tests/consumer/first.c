/* consumer_first MODEL: a program compiled with the tenon.h of version 0.1.0 as it was before
 * structs grew (first/tenon/tenon.h, never to be changed). It must keep running with every later
 * library: it passes its shorter options, runs an MLP of one float input [?, 16], and reads the
 * result. */
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

#ifdef TENON_RUN_OPTIONS_INIT
#error "this is not the first header"
#endif

static int Failed(tenon_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "%s\n", tenon_status_message(status));
  tenon_status_free(status);
  return 1;
}

int main(int argc, char** argv) {
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  tenon_eager_options eager_options = TENON_EAGER_OPTIONS_INIT;
  tenon_generator_options generator_options = TENON_GENERATOR_OPTIONS_INIT;
  tenon_session* session = NULL;
  tenon_eager* eager = NULL;
  tenon_generator* generator = NULL;
  tenon_tensor *input = NULL, *output = NULL, *sum = NULL;
  const tenon_tensor* both[2];
  const int64_t dims[] = {2, 16};
  int i, count = 1, good;
  if (argc != 2) return 2;
  options.threads = 1;
  options.signature = "serving_default";
  if (Failed(tenon_session_create(argv[1], &options, &session))) return 1;
  if (Failed(tenon_tensor_create(TENON_FLOAT, dims, 2, &input))) return 1;
  for (i = 0; i < 32; ++i) ((float*)tenon_tensor_data(input))[i] = 1;
  {
    const tenon_tensor* inputs[1];
    inputs[0] = input;
    if (Failed(tenon_session_run(session, inputs, 1, &output, 1))) return 1;
  }
  if (Failed(tenon_eager_create(&eager_options, &eager))) return 1;
  both[0] = both[1] = output;
  if (Failed(tenon_eager_execute(eager, "AddV2", both, 2, NULL, &sum, &count))) return 1;
  good = tenon_tensor_rank(output) == 2 && tenon_tensor_dims(output)[0] == 2 &&
         ((float*)tenon_tensor_data(sum))[0] == 2 * ((float*)tenon_tensor_data(output))[0];
  printf("%s: %g\n", tenon_session_output_name(session, 0), ((float*)tenon_tensor_data(output))[0]);
  {
    tenon_status* status = tenon_generator_create(session, &generator_options, &generator);
    good = good && status != NULL && strstr(tenon_status_message(status), "size") == NULL;
    tenon_status_free(status); /* an MLP takes no tokens */
  }
  tenon_tensor_free(sum);
  tenon_tensor_free(output);
  tenon_tensor_free(input);
  tenon_eager_free(eager);
  tenon_session_free(session);
  return good ? 0 : 1;
}
