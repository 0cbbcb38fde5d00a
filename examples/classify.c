/* classify MODEL: classifies one image in C, from and into the caller's own arrays. */
#include <stdio.h>
#include <tenon/tenon.h>

#include "digit.h"

/* Prints what went wrong; true if something did. */
static int failed(tenon_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "error %d: %s\n", tenon_status_code(status), tenon_status_message(status));
  tenon_status_free(status);
  return 1;
}

int main(int argc, char** argv) {
  const int64_t image_dims[] = {1, 8, 8, 1}, logits_dims[] = {1, 10};
  const char *const input_names[] = {"image"}, *const output_names[] = {"output_0"};
  tenon_session* session = NULL;
  tenon_tensor *image = NULL, *scores = NULL;
  float logits[10];
  int best = 0, i;
  if (argc != 2) {
    fprintf(stderr, "usage: classify MODEL\n");
    return 2;
  }
  if (failed(tenon_session_create(argv[1], NULL, &session))) return 1;

  /* Tensors that are views of arrays: nothing is copied. */
  if (failed(tenon_tensor_view(TENON_FLOAT, image_dims, 4, (void*)kSix, sizeof(kSix), NULL, NULL,
                               &image)) ||
      failed(tenon_tensor_view(TENON_FLOAT, logits_dims, 2, logits, sizeof(logits), NULL, NULL,
                               &scores))) {
    return 1;
  }
  {
    const tenon_tensor* const inputs[] = {image};
    if (failed(tenon_session_run_with(session, NULL, input_names, inputs, 1, output_names, &scores,
                                      1)))
      return 1;
  }
  for (i = 1; i < 10; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  printf("a %d, with logit %.1f\n", best, logits[best]);

  tenon_tensor_free(scores);
  tenon_tensor_free(image);
  tenon_session_free(session);
  return 0;
}
