/* Tenon's C interface: load a TensorFlow model, run it.
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

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
TENON_API const char* tenon_version(void);

/* ---- status ---- */
typedef enum tenon_code {
  TENON_OK = 0,
  TENON_INVALID_ARGUMENT = 3,
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
typedef enum tenon_dtype {
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
  TENON_UINT64 = 23
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

/* ---- sessions ---- */
typedef struct tenon_session tenon_session;

typedef struct tenon_session_options {
  size_t size;           /* sizeof(tenon_session_options): lets the struct grow */
  int threads;           /* per op; 0: from the environment, otherwise all available CPUs */
  int onednn_opts;       /* 1: rewrite, 0: do not, -1: TF_ENABLE_ONEDNN_OPTS decides */
  const char* signature; /* of a SavedModel; NULL: serving_default */
  const char* fetches;   /* "a:0,b:0" instead of the model's outputs; NULL: the model's outputs */
  const char* cache_dir; /* the disk cache; NULL: TENON_CACHE_DIR */
  const char* plugins;   /* device plug-ins or folders, "a.so:b", besides TENON_PLUGIN_PATH; NULL */
  const char* device;    /* runs the nodes that it has a kernel for: "APU:0"; NULL: the CPU */
} tenon_session_options;
#define TENON_SESSION_OPTIONS_INIT \
  { sizeof(tenon_session_options), 0, -1, NULL, NULL, NULL, NULL, NULL }

/* A SavedModel folder or a GraphDef file. `options` may be NULL. */
TENON_API tenon_status* tenon_session_create(const char* path, const tenon_session_options* options,
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

/* Inputs and outputs by position; NULL omits an optional input. Outputs are new tensors that the
 * caller must free. */
TENON_API tenon_status* tenon_session_run(tenon_session* session, const tenon_tensor* const* inputs,
                                          int num_inputs, tenon_tensor** outputs, int num_outputs);

/* Variables that the model changes, sorted by name; they keep their values between runs. (Variables
 * that it only reads are constants.) */
TENON_API int tenon_session_num_variables(const tenon_session* session);
TENON_API const char* tenon_session_variable_name(const tenon_session* session, int index);
/* A copy that the caller must free. TENON_FAILED_PRECONDITION if the variable has no value yet. */
TENON_API tenon_status* tenon_session_read_variable(const tenon_session* session, const char* name,
                                                    tenon_tensor** value);
TENON_API tenon_status* tenon_session_assign_variable(tenon_session* session, const char* name,
                                                      const tenon_tensor* value);

/* ---- generation: token after token, where the signature is one step of a decoder ----
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
/* Appends tokens to the sequence and computes them. */
TENON_API tenon_status* tenon_generator_prompt(tenon_generator* generator, const int64_t* tokens,
                                               size_t count);
/* Chooses the next token and appends it. TENON_FAILED_PRECONDITION before the first prompt. */
TENON_API tenon_status* tenon_generator_next(tenon_generator* generator, int64_t* token);
/* Forgets the sequence; variables get the values that they had when the generator was made. */
TENON_API tenon_status* tenon_generator_reset(tenon_generator* generator);

/* ---- eager: one op at a time ----
 *
 *   tenon_attrs* attrs = tenon_attrs_create();
 *   tenon_attrs_set_bool(attrs, "transpose_b", 1);
 *   int count = 1;
 *   tenon_eager_execute(NULL, "MatMul", inputs, 2, attrs, &product, &count);
 */

/* Attributes for any number of calls. Attributes that follow from the inputs ("T", "N"), and those
 * with defaults, may be omitted. Setting an attribute again replaces its value. */
typedef struct tenon_attrs tenon_attrs;
TENON_API tenon_attrs* tenon_attrs_create(void); /* NULL: out of memory */
TENON_API void tenon_attrs_free(tenon_attrs* attrs);
TENON_API tenon_status* tenon_attrs_set_int(tenon_attrs* attrs, const char* name, int64_t value);
TENON_API tenon_status* tenon_attrs_set_float(tenon_attrs* attrs, const char* name, float value);
TENON_API tenon_status* tenon_attrs_set_bool(tenon_attrs* attrs, const char* name, int value);
TENON_API tenon_status* tenon_attrs_set_string(tenon_attrs* attrs, const char* name,
                                               const char* data, size_t size);
TENON_API tenon_status* tenon_attrs_set_type(tenon_attrs* attrs, const char* name,
                                             tenon_dtype value);
/* A rank or dimension of -1 is unknown. */
TENON_API tenon_status* tenon_attrs_set_shape(tenon_attrs* attrs, const char* name,
                                              const int64_t* dims, int rank);
TENON_API tenon_status* tenon_attrs_set_tensor(tenon_attrs* attrs, const char* name,
                                               const tenon_tensor* value);
TENON_API tenon_status* tenon_attrs_set_ints(tenon_attrs* attrs, const char* name,
                                             const int64_t* values, size_t count);
TENON_API tenon_status* tenon_attrs_set_floats(tenon_attrs* attrs, const char* name,
                                               const float* values, size_t count);
TENON_API tenon_status* tenon_attrs_set_strings(tenon_attrs* attrs, const char* name,
                                                const char* const* values, const size_t* sizes,
                                                size_t count);
TENON_API tenon_status* tenon_attrs_set_types(tenon_attrs* attrs, const char* name,
                                              const tenon_dtype* values, size_t count);

/* A context that keeps prepared kernels between calls. Any number of threads may use it at once.
 * Functions take NULL for the process's own context, which the environment configures. */
typedef struct tenon_eager tenon_eager;
typedef struct tenon_eager_options {
  size_t size;     /* sizeof(tenon_eager_options) */
  int threads;     /* as in tenon_session_options */
  int onednn_opts; /* likewise */
} tenon_eager_options;
#define TENON_EAGER_OPTIONS_INIT \
  { sizeof(tenon_eager_options), 0, -1 }

TENON_API tenon_status* tenon_eager_create(const tenon_eager_options* options, tenon_eager** eager);
/* Runs the pending calls, then frees the context. Handles stay valid. */
TENON_API void tenon_eager_free(tenon_eager* eager);

/* Runs a TensorFlow op. On input, `*num_outputs` is the capacity of `outputs`; on return, the
 * number of outputs: new tensors that the caller must free. `attrs` may be NULL. */
TENON_API tenon_status* tenon_eager_execute(tenon_eager* eager, const char* op,
                                            const tenon_tensor* const* inputs, int num_inputs,
                                            const tenon_attrs* attrs, tenon_tensor** outputs,
                                            int* num_outputs);

/* A tensor that is ready or being computed. */
typedef struct tenon_handle tenon_handle;
/* Shares the tensor's memory, which must not be written until all calls that read it are done. */
TENON_API tenon_status* tenon_handle_create(const tenon_tensor* tensor, tenon_handle** handle);
TENON_API void tenon_handle_free(tenon_handle* handle);
TENON_API int tenon_handle_ready(const tenon_handle* handle);
/* Waits. Gives a new tensor, or the first error of the calls that it depends on, which names the
 * op. */
TENON_API tenon_status* tenon_handle_read(const tenon_handle* handle, tenon_tensor** tensor);

/* Like tenon_eager_execute, but returns at once: the call runs when its inputs are ready, and
 * tenon_handle_read reports its errors. Blocks only while very many calls are pending. */
TENON_API tenon_status* tenon_eager_submit(tenon_eager* eager, const char* op,
                                           const tenon_handle* const* inputs, int num_inputs,
                                           const tenon_attrs* attrs, tenon_handle** outputs,
                                           int* num_outputs);

#ifdef __cplusplus
}
#endif

#endif /* TENON_TENON_H_ */
