/* Quantization: writes a smaller version of a float model. Part of tenon.h, which includes it.
 * docs/QUANTIZE.md describes the options, which are those of `tenon quantize`. */
#include "tenon.h" /* outside of the guard: tenon.h includes this file */

#ifndef TENON_QUANTIZE_H_
#define TENON_QUANTIZE_H_

#include "reports.h" /* beside this file */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenon_quantize_options {
  size_t size;         /* sizeof(tenon_quantize_options) */
  const char* weights; /* "int8", "int4" or "bf16": only weights become smaller; NULL: weights and
                        * activations become int8, which needs samples */
  const char* keep;    /* "a,b": layers that stay in float; NULL: none by name */
  int64_t batch;       /* samples per run; 0: the model's fixed batch size, or 8 */
  /* Called now and then with a stage's name and progress; NULL. It must not throw. */
  void (*progress)(void* argument, const char* stage, int64_t done, int64_t total);
  void* argument;

  /* Weights and activations. */
  const char* method; /* how ranges are chosen: "error", "minmax", "percentile", "entropy" */
  double percentile;
  double max_error; /* layers whose relative error is larger stay in float (.3); 0: no limit */
  int equalize;     /* cross-layer equalization */
  int keep_first;   /* the first layer stays in float */
  int keep_last;
  const char* labels; /* the sample tensor with class labels: top-1 is reported; NULL */

  /* Weights alone. */
  int64_t group;      /* weights that share a scale; 0: all of a column */
  const char* scales; /* "float16", "bfloat16" or "float32" */
  int zero_points;
  int embeddings;        /* also the weights of embeddings */
  int64_t least_weights; /* layers with fewer stay in float */
} tenon_quantize_options;
#define TENON_QUANTIZE_OPTIONS_INIT                                                                \
  {                                                                                                \
    sizeof(tenon_quantize_options), NULL, NULL, 0, NULL, NULL, "error", 99.999, .3, 1, 0, 0, NULL, \
        64, "float16", 0, 1, 4096                                                                  \
  }

/* Quantizes `model` and writes it to `output`: a .pb or .pbtxt file, or a new SavedModel folder
 * (any other name). `load` says what of the model (signature, fetches, feeds, tags) and with how
 * many threads; may be NULL. `options` may be NULL. Samples are tensors with a first axis for the
 * sample, by the name of the model's input; with `weights`, they only serve the report, and there
 * may be none. `report` may be NULL:
 * {"schema": "tenon.quantization", "version": 1, "weights": null or "int8", "samples": 64,
 *  "left_out": samples that do not fill a batch,
 *  "layers": [{"name": "conv1", "op": "Conv2D", "kept": "" or why it stays in float,
 *              "error": relative error of its result, null if not measured,
 *              "weight_error": relative error of its weights, null with activations}],
 *  "outputs": [{"name": "logits", "error": 0.01, "correlation": 0.9999}],
 *  "top1_before": null, "top1_after": null, "bytes_before": null, "bytes_after": null} */
TENON_API tenon_status* tenon_quantize(const tenon_model* model, const tenon_session_options* load,
                                       const tenon_quantize_options* options,
                                       const char* const* sample_names,
                                       const tenon_tensor* const* samples, int num_samples,
                                       const char* output, tenon_text** report);

#ifdef __cplusplus
}
#endif

#endif /* TENON_QUANTIZE_H_ */
