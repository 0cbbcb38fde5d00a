/* quantize MODEL OUTPUT: writes a version of the model with int8 weights, and prints a report with
 * each layer's error. */
#include <stdio.h>
#include <tenon/tenon.h>

static int failed(tenon_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "error %d: %s\n", tenon_status_code(status), tenon_status_message(status));
  tenon_status_free(status);
  return 1;
}

/* Called while quantization goes on. */
static void progress(void* argument, const char* stage, int64_t done, int64_t total) {
  (void)argument;
  fprintf(stderr, "\r%s: %lld of %lld ", stage, (long long)done, (long long)total);
}

int main(int argc, char** argv) {
  tenon_model* model = NULL;
  tenon_text* report = NULL;
  tenon_quantize_options options = TENON_QUANTIZE_OPTIONS_INIT;
  if (argc != 3) {
    fprintf(stderr, "usage: quantize MODEL OUTPUT\n");
    return 2;
  }
  options.weights = "int8";   /* NULL: activations too, which needs samples of the inputs */
  options.least_weights = 64; /* layers with fewer weights stay in float */
  options.progress = progress;
  if (failed(tenon_model_open(argv[1], &model))) return 1;
  if (failed(tenon_quantize(model, NULL, &options, NULL, NULL, 0, argv[2], &report))) return 1;
  fprintf(stderr, "\n");
  printf("%s\n", tenon_text_data(report)); /* JSON; quantize.h lists its members */
  tenon_text_free(report);
  tenon_model_free(model);
  return 0;
}
