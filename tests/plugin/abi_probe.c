/* Kernels of the APU (apu/) that ask for everything there is to ask, and write each answer of
 * TensorFlow's C interface into the file that PROBE_LOG names, line by line. Built as a plug-in
 * with the rest of apu/; TensorFlow and Tenon must give the same lines (abi_probe.txt).
 *
 * DefaultAttrs, an op of TensorFlow's own tests, has an attribute of each kind. IdentityN's output
 * i is input i, by another way for each i: see Compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef APU_WITH_TENSORFLOW_HEADERS
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/tf_tensor.h"
#else
#include "tenon/device_plugin.h"
#endif

enum { kMost = 8, kBytes = 64 };

/* Attributes of DefaultAttrs, and one that it has not. */
static const char* const kAttrs[] = {
    "string_val",     "string_list_val", "int_val",       "int_list_val",    "float_val",
    "float_list_val", "bool_val",        "bool_list_val", "type_val",        "type_list_val",
    "shape_val",      "shape_list_val",  "tensor_val",    "tensor_list_val", "no_such_attribute"};

static FILE* log_file = NULL;

static void Open(void) {
  const char* path = getenv("PROBE_LOG");
  log_file = path == NULL ? NULL : fopen(path, "a");
}
static void Close(void) {
  if (log_file != NULL) fclose(log_file);
  log_file = NULL;
}
#define LOG(...) \
  if (log_file != NULL) fprintf(log_file, __VA_ARGS__)

/* The code, and the status is as new: TensorFlow looks at what stands in it. */
static int Take(TF_Status* s) {
  const int code = (int)TF_GetCode(s);
  TF_SetStatus(s, TF_OK, "");
  return code;
}

#define SAY(getter, ...)          \
  do {                            \
    const int code = Take(s);     \
    LOG("  " getter " %d", code); \
    if (code == TF_OK) {          \
      __VA_ARGS__;                \
    }                             \
    LOG("\n");                    \
  } while (0)

static void LogTensor(TF_Tensor* t) {
  LOG(" type %d [", (int)TF_TensorType(t));
  for (int d = 0; d < TF_NumDims(t); ++d) LOG(" %lld", (long long)TF_Dim(t, d));
  LOG(" ] elements %lld bytes %zu", (long long)TF_TensorElementCount(t), TF_TensorByteSize(t));
}
static void LogHostTensor(TF_Tensor* t) {
  LogTensor(t);
  if (TF_TensorType(t) != TF_FLOAT) return;
  for (int i = 0; i < (int)TF_TensorElementCount(t); ++i) {
    LOG(" %g", ((const float*)TF_TensorData(t))[i]);
  }
}

/* Every getter on every attribute: those of another kind must say so. */
static void Scalars(TF_OpKernelConstruction* c, const char* name, TF_Status* s) {
  int32_t i32 = -7;
  int64_t i64 = -7;
  float f = -7;
  TF_Bool b = 7;
  TF_DataType type = TF_FLOAT;
  char text[kBytes];
  TF_Tensor* tensor = NULL;
  TF_OpKernelConstruction_GetAttrInt32(c, name, &i32, s);
  SAY("int32", LOG(" %d", i32));
  TF_OpKernelConstruction_GetAttrInt64(c, name, &i64, s);
  SAY("int64", LOG(" %lld", (long long)i64));
  TF_OpKernelConstruction_GetAttrFloat(c, name, &f, s);
  SAY("float", LOG(" %g", f));
  TF_OpKernelConstruction_GetAttrBool(c, name, &b, s);
  SAY("bool", LOG(" %d", (int)b));
  TF_OpKernelConstruction_GetAttrType(c, name, &type, s);
  SAY("type", LOG(" %d", (int)type));
  memset(text, 0, sizeof text);
  TF_OpKernelConstruction_GetAttrString(c, name, text, sizeof text - 1, s);
  SAY("string", LOG(" '%s'", text));
  memset(text, 0, sizeof text);
  TF_OpKernelConstruction_GetAttrString(c, name, text, 3, s);
  SAY("start of string", LOG(" '%s'", text));
  TF_OpKernelConstruction_GetAttrTensor(c, name, &tensor, s);
  SAY("tensor", LogHostTensor(tensor); TF_DeleteTensor(tensor));
}

static void Lists(TF_OpKernelConstruction* c, const char* name, int n, int bytes, TF_Status* s) {
  int32_t i32[kMost];
  int64_t i64[kMost];
  float f[kMost];
  TF_Bool b[kMost];
  TF_DataType types[kMost];
  char* texts[kMost];
  size_t lengths[kMost];
  char storage[kBytes];
  TF_Tensor* tensors[kMost];
#define EACH(...)               \
  for (int i = 0; i < n; ++i) { \
    __VA_ARGS__;                \
  }
  TF_OpKernelConstruction_GetAttrInt32List(c, name, i32, n, s);
  SAY("int32 list", EACH(LOG(" %d", i32[i])));
  TF_OpKernelConstruction_GetAttrInt64List(c, name, i64, n, s);
  SAY("int64 list", EACH(LOG(" %lld", (long long)i64[i])));
  TF_OpKernelConstruction_GetAttrFloatList(c, name, f, n, s);
  SAY("float list", EACH(LOG(" %g", f[i])));
  TF_OpKernelConstruction_GetAttrBoolList(c, name, b, n, s);
  SAY("bool list", EACH(LOG(" %d", (int)b[i])));
  TF_OpKernelConstruction_GetAttrTypeList(c, name, types, n, s);
  SAY("type list", EACH(LOG(" %d", (int)types[i])));
  TF_OpKernelConstruction_GetAttrStringList(c, name, texts, lengths, n, storage,
                                            bytes < 0 ? 0 : (size_t)bytes, s);
  SAY("string list", EACH(LOG(" '%.*s'", (int)lengths[i], texts[i])));
  TF_OpKernelConstruction_GetAttrTensorList(c, name, tensors, n, s);
  SAY("tensor list", EACH(LogHostTensor(tensors[i]); TF_DeleteTensor(tensors[i])));
  if (n < 2) return;
  n = 1; /* fewer than there are */
  TF_OpKernelConstruction_GetAttrInt64List(c, name, i64, n, s);
  SAY("one of int64 list", EACH(LOG(" %lld", (long long)i64[i])));
  TF_OpKernelConstruction_GetAttrStringList(c, name, texts, lengths, n, storage, kBytes, s);
  SAY("one of string list", EACH(LOG(" '%.*s'", (int)lengths[i], texts[i])));
  if (bytes > 1) {
    TF_OpKernelConstruction_GetAttrStringList(c, name, texts, lengths, 2, storage, 1, s);
    LOG("  no room for strings %d\n", Take(s));
  }
}

static void LogAttrs(TF_OpKernelConstruction* c, TF_Status* s) {
  for (size_t i = 0; i < sizeof kAttrs / sizeof *kAttrs; ++i) {
    int32_t n = -7, total = -7;
    LOG(" %s: has %d\n", kAttrs[i], (int)TF_OpKernelConstruction_HasAttr(c, kAttrs[i], s));
    TF_OpKernelConstruction_GetAttrSize(c, kAttrs[i], &n, &total, s);
    SAY("size", LOG(" %d %d", n, total));
    Scalars(c, kAttrs[i], s);
    if (n > kMost) n = kMost;
    Lists(c, kAttrs[i], n < 0 ? 0 : n, total, s);
  }
}

static bool Contains(TF_StringView name, const char* part) {
  char text[kBytes] = "";
  memcpy(text, name.data, name.len < kBytes ? name.len : kBytes - 1);
  return strstr(text, part) != NULL;
}

/* The kernel is whether to fail. */
static void* Create(TF_OpKernelConstruction* c) {
  TF_Status* s = TF_NewStatus();
  const TF_StringView name = TF_OpKernelConstruction_GetName(c);
  bool* fails = malloc(sizeof(bool));
  *fails = Contains(name, "fail_compute");
  if (Contains(name, "fail_create")) {
    TF_SetStatus(s, TF_FAILED_PRECONDITION, "the probe was told to fail");
    TF_OpKernelConstruction_Failure(c, s);
  }
  Open();
  LOG("create %.*s\n", (int)name.len, name.data);
  if (Contains(name, "attrs")) LogAttrs(c, s);
  Close();
  TF_DeleteStatus(s);
  return fails;
}

static void Delete(void* kernel) { free(kernel); }

static void Range(TF_OpKernelContext* c, const char* name, TF_Status* s) {
  TF_InputRange_Args args;
  memset(&args, 0, sizeof args);
  args.start = args.stop = -7;
  args.status = s;
  TF_InputRange(c, name, &args);
  LOG(" range of %s: %d", name, Take(s));
  LOG(" %d to %d", args.start, args.stop);
  LOG("\n");
}

/* Waits until TensorFlow's threads that sent the inputs have let go of them: it forwards an input's
 * memory only if nobody else holds it. */
static void WaitForSenders(void) {
  const struct timespec wait = {0, 200 * 1000 * 1000};
  nanosleep(&wait, NULL);
}

/* Output `i` in memory that may be the input's. With `held`, the kernel has a handle of the input
 * meanwhile, so it may not. */
static void Forward(TF_OpKernelContext* c, int i, bool held, TF_Status* s) {
  TF_Tensor* in = NULL;
  TF_GetInput(c, i, &in, s);
  int64_t dims[kMost];
  const int rank = TF_NumDims(in);
  for (int d = 0; d < rank; ++d) dims[d] = TF_Dim(in, d);
  const void* from = TF_TensorData(in);
  const size_t bytes = TF_TensorByteSize(in);
  if (!held) TF_DeleteTensor(in);
  int forwarded = -7;
  TF_Tensor* out = TF_ForwardInputOrAllocateOutput(c, &i, 1, i, dims, rank, &forwarded, s);
  LOG(" forward %d: %d to %d, %s memory\n", i, Take(s), forwarded,
      TF_TensorData(out) == from ? "the same" : "other");
  if (TF_TensorData(out) != from) memcpy(TF_TensorData(out), from, bytes);
  TF_DeleteTensor(out);
  if (held) TF_DeleteTensor(in);
}

/* By way of a temporary tensor. */
static void Copy(TF_OpKernelContext* c, int i, TF_Status* s) {
  TF_Tensor* in = NULL;
  TF_GetInput(c, i, &in, s);
  int64_t dims[kMost];
  for (int d = 0; d < TF_NumDims(in); ++d) dims[d] = TF_Dim(in, d);
  const size_t bytes = TF_TensorByteSize(in);
  TF_AllocatorAttributes on_host;
  memset(&on_host, 0, sizeof on_host);
  on_host.struct_size = TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE;
  on_host.on_host = 1;
  TF_Tensor* temp = TF_AllocateTemp(c, TF_TensorType(in), dims, TF_NumDims(in), &on_host, s);
  LOG(" temp: %d", Take(s));
  LogTensor(temp);
  TF_Tensor* out =
      TF_AllocateOutput(c, i, TF_ExpectedOutputDataType(c, i), dims, TF_NumDims(in), bytes, s);
  LOG("\n output %d: %d", i, Take(s));
  LogTensor(out);
  LOG("\n");
  memcpy(TF_TensorData(temp), TF_TensorData(in), bytes);
  memcpy(TF_TensorData(out), TF_TensorData(temp), bytes);
  TF_Tensor* again = TF_GetMutableOutput(c, i, s);
  LOG(" output again: %d %s memory\n", Take(s),
      again != NULL && TF_TensorData(again) == TF_TensorData(out) ? "the same" : "other");
  if (again != NULL) TF_DeleteTensor(again);
  TF_DeleteTensor(temp);
  TF_DeleteTensor(out);
  TF_DeleteTensor(in);
}

static void Compute(void* kernel, TF_OpKernelContext* c) {
  TF_Status* s = TF_NewStatus();
  Open();
  const TF_StringView name = TF_GetOpKernelName(c);
  const TF_StringView device = TF_GetDeviceName(c);
  LOG("compute %.*s on %.*s\n", (int)name.len, name.data, (int)device.len, device.data);
  const int n = TF_NumInputs(c);
  LOG(" inputs %d outputs %d device %d stream %d\n", n, TF_NumOutputs(c), TF_GetDeviceId(c),
      TF_GetStream(c, s) != NULL);
  for (int i = 0; i < n; ++i) {
    TF_Tensor* in = NULL;
    TF_GetInput(c, i, &in, s);
    LOG(" input %d: %d type %d gives %d host %d %d", i, Take(s), (int)TF_InputDatatype(c, i),
        (int)TF_ExpectedOutputDataType(c, i), (int)TF_IsHostMemoryInput(c, i, s),
        (int)TF_IsHostMemoryOutput(c, i, s));
    LogTensor(in);
    LOG(" aligned %d\n", (int)TF_TensorIsAligned(in));
    TF_DeleteTensor(in);
  }
  TF_Tensor* none = NULL;
  TF_GetInput(c, n, &none, s);
  LOG(" no input %d: %d\n", n, Take(s));
  TF_GetInput(c, -1, &none, s);
  LOG(" no input -1: %d\n", Take(s));
  TF_IsHostMemoryInput(c, n, s);
  LOG(" no host input: %d\n", Take(s));
  TF_IsHostMemoryOutput(c, -1, s);
  LOG(" no host output: %d\n", Take(s));
  Range(c, "input", s);
  Range(c, "nothing", s);

  if (n > 0) WaitForSenders();
  if (n > 0) Forward(c, 0, false, s);
  if (n > 1) Forward(c, 1, true, s);
  if (n > 2) Copy(c, 2, s);
  for (int i = 3; i < n; ++i) { /* the input itself */
    TF_Tensor* in = NULL;
    TF_GetInput(c, i, &in, s);
    TF_SetOutput(c, i, in, s);
    LOG(" set output %d: %d\n", i, Take(s));
    if (i == 3) {
      TF_SetOutput(c, n, in, s);
      LOG(" no output: %d\n", Take(s));
    }
    TF_DeleteTensor(in);
  }
  if (*(bool*)kernel) {
    TF_SetStatus(s, TF_DATA_LOSS, "the probe lost something");
    TF_OpKernelContext_Failure(c, s);
  }
  Close();
  TF_DeleteStatus(s);
}

__attribute__((visibility("default"))) void TF_InitKernel(void) {
  TF_Status* s = TF_NewStatus();
  const char* const ops[] = {"IdentityN", "DefaultAttrs"};
  for (int i = 0; i < 2; ++i) {
    TF_KernelBuilder* builder = TF_NewKernelBuilder(ops[i], "APU", Create, Compute, Delete);
    TF_RegisterKernelBuilder(ops[i], builder, s);
  }
  TF_DeleteStatus(s);
}
