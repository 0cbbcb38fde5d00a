/* Eager execution: one op at a time. Part of tenon.h, which includes it. */
#include "tenon.h" /* outside of the guard: tenon.h includes this file */

#ifndef TENON_EAGER_H_
#define TENON_EAGER_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Usage:
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
TENON_API tenon_status* tenon_attrs_set_shapes(tenon_attrs* attrs, const char* name,
                                               const int64_t* const* dims, const int* ranks,
                                               size_t count);

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

#endif /* TENON_EAGER_H_ */
