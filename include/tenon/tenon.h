/* Tenon's C interface: load a TensorFlow model, run it. docs/C_API.md has examples.
 *
 *   tenon_session* session = NULL;
 *   tenon_status* status = tenon_session_create("resnet50", NULL, &session);
 *   if (status != NULL) { fputs(tenon_status_message(status), stderr); tenon_status_free(status); }
 *   ...
 *   tenon_session_run(session, inputs, num_inputs, outputs, num_outputs);
 *
 * Functions that can fail return a status: NULL means success; anything else must be freed by the
 * caller. Results are written only on success. Nothing here prints, aborts or throws. Several
 * threads may run a session at once; other objects belong to one thread at a time. C++: tenon.hpp.
 *
 * Structs begin with their size, which their ..._INIT macro sets: a program that was compiled with
 * an older header works with a newer library. A newer program works with an older library as long
 * as it leaves the fields that the library does not know at zero.
 */
#ifndef TENON_TENON_H_
#define TENON_TENON_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TENON_API __attribute__((visibility("default")))
#else
#define TENON_API
#endif

/* C programs may pass any int for an enumeration: an unknown one is TENON_INVALID_ARGUMENT. */
#ifdef __cplusplus
#define TENON_ENUM_TYPE : int
extern "C" {
#else
#define TENON_ENUM_TYPE
#endif

/* "0.1.0" */
TENON_API const char* tenon_version(void);

/* ---- status ---- */
/* Same numbers as gRPC's and Abseil's. */
typedef enum tenon_code TENON_ENUM_TYPE {
  TENON_OK = 0,
  TENON_CANCELLED = 1,
  TENON_INVALID_ARGUMENT = 3,
  TENON_DEADLINE_EXCEEDED = 4,
  TENON_NOT_FOUND = 5,
  TENON_RESOURCE_EXHAUSTED = 8,
  TENON_FAILED_PRECONDITION = 9,
  TENON_UNIMPLEMENTED = 12,
  TENON_INTERNAL = 13
} tenon_code;

typedef struct tenon_status tenon_status;
TENON_API tenon_code tenon_status_code(const tenon_status* status); /* NULL: TENON_OK */
TENON_API const char* tenon_status_message(const tenon_status* status);
TENON_API void tenon_status_free(tenon_status* status);

/* ---- tensors ---- */
/* Same numbers as TensorFlow's DataType. */
typedef enum tenon_dtype TENON_ENUM_TYPE {
  TENON_FLOAT = 1,
  TENON_DOUBLE = 2,
  TENON_INT32 = 3,
  TENON_UINT8 = 4,
  TENON_INT16 = 5,
  TENON_INT8 = 6,
  TENON_STRING = 7,
  TENON_COMPLEX64 = 8,
  TENON_INT64 = 9,
  TENON_BOOL = 10,
  TENON_QINT8 = 11,
  TENON_QUINT8 = 12,
  TENON_QINT32 = 13,
  TENON_BFLOAT16 = 14,
  TENON_QINT16 = 15,
  TENON_QUINT16 = 16,
  TENON_UINT16 = 17,
  TENON_COMPLEX128 = 18,
  TENON_HALF = 19,
  TENON_UINT32 = 22,
  TENON_UINT64 = 23,
  /* A byte for each element, with the value in the low bits: */
  TENON_FLOAT8_E5M2 = 24,
  TENON_FLOAT8_E4M3FN = 25,
  TENON_INT4 = 29,
  TENON_UINT4 = 30
} tenon_dtype;

typedef struct tenon_tensor tenon_tensor;

/* A tensor with its own memory, 64-byte aligned and uninitialized (strings: empty). */
TENON_API tenon_status* tenon_tensor_create(tenon_dtype dtype, const int64_t* dims, int rank,
                                            tenon_tensor** tensor);
/* A view of the caller's row-major elements, which must stay valid and unchanged until `release`
 * (may be NULL) is called. Not for strings. `bytes` must match dtype and dims. On failure `release`
 * is not called. */
TENON_API tenon_status* tenon_tensor_view(tenon_dtype dtype, const int64_t* dims, int rank,
                                          void* data, size_t bytes, void (*release)(void* argument),
                                          void* argument, tenon_tensor** tensor);
TENON_API void tenon_tensor_free(tenon_tensor* tensor);

TENON_API tenon_dtype tenon_tensor_dtype(const tenon_tensor* tensor);
TENON_API int tenon_tensor_rank(const tenon_tensor* tensor);
TENON_API const int64_t* tenon_tensor_dims(const tenon_tensor* tensor);
TENON_API int64_t tenon_tensor_num_elements(const tenon_tensor* tensor);
/* The elements; NULL for strings. */
TENON_API void* tenon_tensor_data(tenon_tensor* tensor);
TENON_API size_t tenon_tensor_bytes(const tenon_tensor* tensor);
/* Element `index` of a string tensor. The result of get stays valid until the next set or free. */
TENON_API tenon_status* tenon_tensor_set_string(tenon_tensor* tensor, int64_t index,
                                                const char* data, size_t size);
TENON_API tenon_status* tenon_tensor_get_string(const tenon_tensor* tensor, int64_t index,
                                                const char** data, size_t* size);

/* What is known of an input or output without a run. */
typedef struct tenon_tensor_spec {
  size_t size;         /* sizeof(tenon_tensor_spec), set by the caller */
  const char* name;    /* in a SavedModel, the signature's key. A ragged tensor `x` is x/values and
                        * x/row_splits; a sparse one x/indices, x/values and x/dense_shape */
  const char* tensor;  /* in the graph: "x:0"; NULL in a session */
  tenon_dtype dtype;   /* 0: not known */
  int rank;            /* -1: not known */
  const int64_t* dims; /* -1: not known */
  int optional;        /* whether a run may omit it */
} tenon_tensor_spec;
#define TENON_TENSOR_SPEC_INIT \
  { sizeof(tenon_tensor_spec), NULL, NULL, (tenon_dtype)0, -1, NULL, 0 }

/* ---- models: what a model takes and gives, without loading its weights ---- */
typedef struct tenon_model tenon_model;

/* A SavedModel folder or a GraphDef file, binary or text. Reads the graph, but no variables. */
TENON_API tenon_status* tenon_model_open(const char* path, tenon_model** model);
/* The same from memory: a GraphDef, or the bytes of a saved_model.pb without variables and assets.
 * The bytes must stay valid until the model is freed. */
TENON_API tenon_status* tenon_model_parse(const void* data, size_t size, tenon_model** model);
TENON_API void tenon_model_free(tenon_model* model);

/* "SavedModel", "GraphDef" or "GraphDef text". */
TENON_API const char* tenon_model_format(const tenon_model* model);
/* Sorted by name. A GraphDef has one signature, with an empty name: its placeholders, and the
 * tensors that no node reads. */
TENON_API int tenon_model_num_signatures(const tenon_model* model);
/* NULL if there is no such signature. The method is often empty. */
TENON_API const char* tenon_model_signature_name(const tenon_model* model, int signature);
TENON_API const char* tenon_model_signature_method(const tenon_model* model, int signature);
/* The signature that is loaded if none is named; -1: there is none. */
TENON_API int tenon_model_default_signature(const tenon_model* model);
TENON_API int tenon_model_num_inputs(const tenon_model* model, int signature);
TENON_API int tenon_model_num_outputs(const tenon_model* model, int signature);
/* As the model states them, sorted by name. What `spec` points to lives as long as the model. */
TENON_API tenon_status* tenon_model_input(const tenon_model* model, int signature, int index,
                                          tenon_tensor_spec* spec);
TENON_API tenon_status* tenon_model_output(const tenon_model* model, int signature, int index,
                                           tenon_tensor_spec* spec);

/* ---- sessions ---- */
typedef struct tenon_session tenon_session;

typedef struct tenon_session_options {
  size_t size;           /* sizeof(tenon_session_options) */
  int threads;           /* per op; 0: from the environment, otherwise all available CPUs */
  int onednn_opts;       /* 1: rewrite, 0: do not, -1: TF_ENABLE_ONEDNN_OPTS decides */
  const char* signature; /* of a SavedModel; NULL: serving_default */
  const char* fetches;   /* "a:0,b:0" instead of the model's outputs; NULL: the model's outputs */
  const char* cache_dir; /* the disk cache; NULL: TENON_CACHE_DIR */
  const char* plugins;   /* device plug-ins or folders, "a.so:b", besides TENON_PLUGIN_PATH; NULL */
  const char* device;    /* runs the nodes that it has a kernel for: "APU:0"; NULL: the CPU */
  const char* precision; /* of contractions and the ops between them: "fp32", or "bf16" if the CPU
                          * has instructions for it; NULL: TF_SET_ONEDNN_FPMATH_MODE */
  const char* feeds;     /* "a:0,b:0": inner tensors that are inputs too. They cut the graph: what
                          * only they needed does not run. NULL: none */
  const char* tags;     /* of the SavedModel's graph, "serve,gpu"; NULL: "serve", or the only one */
  int64_t memory_limit; /* the most bytes that weights, plans and runs may take; what does not fit
                         * is TENON_RESOURCE_EXHAUSTED and names the node. 0: no limit */
} tenon_session_options;
#define TENON_SESSION_OPTIONS_INIT \
  { sizeof(tenon_session_options), 0, -1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/* A SavedModel folder or a GraphDef file. `options` may be NULL. */
TENON_API tenon_status* tenon_session_create(const char* path, const tenon_session_options* options,
                                             tenon_session** session);
/* From a model that is open, also one in memory. The session does not need it afterwards. A model
 * in memory has no disk cache. */
TENON_API tenon_status* tenon_session_create_from_model(const tenon_model* model,
                                                        const tenon_session_options* options,
                                                        tenon_session** session);
TENON_API void tenon_session_free(tenon_session* session);

TENON_API int tenon_session_num_inputs(const tenon_session* session);
TENON_API int tenon_session_num_outputs(const tenon_session* session);
/* NULL if there is no such input or output. */
TENON_API const char* tenon_session_input_name(const tenon_session* session, int index);
TENON_API const char* tenon_session_output_name(const tenon_session* session, int index);
/* 0 if not known. */
TENON_API tenon_dtype tenon_session_input_dtype(const tenon_session* session, int index);
/* -1 if not known; dims of -1 are free. `dims` may be NULL; it stays valid as long as the session.
 */
TENON_API int tenon_session_input_shape(const tenon_session* session, int index,
                                        const int64_t** dims);

TENON_API tenon_dtype tenon_session_output_dtype(const tenon_session* session, int index);
/* As the signature states it, with what follows from the shapes of the inputs. The first call
 * infers it; otherwise like tenon_session_input_shape. */
TENON_API int tenon_session_output_shape(const tenon_session* session, int index,
                                         const int64_t** dims);
/* All of this at once. What `spec` points to lives as long as the session. */
TENON_API tenon_status* tenon_session_input(const tenon_session* session, int index,
                                            tenon_tensor_spec* spec);
TENON_API tenon_status* tenon_session_output(const tenon_session* session, int index,
                                             tenon_tensor_spec* spec);

/* Inputs and outputs by position; NULL, or none at the end, omits an optional input. Outputs are
 * new tensors that the caller must free. */
TENON_API tenon_status* tenon_session_run(tenon_session* session, const tenon_tensor* const* inputs,
                                          int num_inputs, tenon_tensor** outputs, int num_outputs);

typedef struct tenon_profile tenon_profile;

/* Asks runs to stop: set by any thread, seen by every run that has it in its options. */
typedef struct tenon_cancel tenon_cancel;
TENON_API tenon_cancel* tenon_cancel_create(void); /* NULL: out of memory */
TENON_API void tenon_cancel_request(tenon_cancel* cancel);
TENON_API int tenon_cancel_requested(const tenon_cancel* cancel);
TENON_API void tenon_cancel_free(tenon_cancel* cancel); /* after the runs that have it */

/* A run ends early between two steps (in loops too), never within one. */
typedef struct tenon_run_options {
  size_t size;                /* sizeof(tenon_run_options) */
  int64_t timeout_ns;         /* TENON_DEADLINE_EXCEEDED if it takes longer; 0: no limit, negative:
                               * the time is over already */
  const tenon_cancel* cancel; /* TENON_CANCELLED once it is requested; NULL: none */
  tenon_profile* profile;     /* collects the times of steps (reports.h); NULL: none */
} tenon_run_options;
#define TENON_RUN_OPTIONS_INIT \
  { sizeof(tenon_run_options), 0, NULL, NULL }

/* The same with options (may be NULL), by name, and into the caller's memory:
 * - input_names[i] is the name of inputs[i]; NULL: by position. Of a GraphDef, placeholders that no
 *   output needs may be given too.
 * - output_names[i] says what outputs[i] gets; NULL: every output, by position.
 * - outputs[i] is NULL for a new tensor that the caller must free, or a tensor of the output's
 *   dtype and shape, whose elements are overwritten. If its memory is aligned to 64 bytes and
 *   shared with no input, steps write to it directly. If the run fails, tensors stay NULL, and the
 *   elements of the caller's are undefined. */
TENON_API tenon_status* tenon_session_run_with(tenon_session* session,
                                               const tenon_run_options* options,
                                               const char* const* input_names,
                                               const tenon_tensor* const* inputs, int num_inputs,
                                               const char* const* output_names,
                                               tenon_tensor** outputs, int num_outputs);

/* Whether one run on the rows (axis 0) of several calls' inputs gives each call its results, for
 * inputs of these dtypes and shapes but for the number of rows. Only what is known of every op
 * counts: TENON_FAILED_PRECONDITION names the node about which it is not. `input_names` may be
 * NULL.
 */
TENON_API tenon_status* tenon_session_check_rows(const tenon_session* session,
                                                 const char* const* input_names,
                                                 const tenon_tensor* const* inputs, int num_inputs);

/* Variables that the model changes, sorted by name; they keep their values between runs. (Variables
 * that it only reads are constants.) */
TENON_API int tenon_session_num_variables(const tenon_session* session);
TENON_API const char* tenon_session_variable_name(const tenon_session* session, int index);
/* A copy that the caller must free. TENON_FAILED_PRECONDITION if the variable has no value yet. */
TENON_API tenon_status* tenon_session_read_variable(const tenon_session* session, const char* name,
                                                    tenon_tensor** value);
TENON_API tenon_status* tenon_session_assign_variable(tenon_session* session, const char* name,
                                                      const tenon_tensor* value);

#ifdef __cplusplus
}
#endif

#include "eager.h"    /* beside this file */
#include "generate.h" /* likewise */
#include "quantize.h" /* likewise */
#include "reports.h"  /* likewise; before quantize.h */

#endif /* TENON_TENON_H_ */
