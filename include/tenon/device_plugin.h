/* The interface between a device plug-in ("PluggableDevice") and its host: the part of TensorFlow's
 * C interface that a plug-in implements and calls, declared again. Names, values
 * and layouts are TensorFlow's own, so an object compiled against these declarations loads in
 * TensorFlow, and one compiled against TensorFlow's headers loads in Tenon. (Include one or the
 * other.) A test compares them with TensorFlow's headers.
 *
 * A plug-in is a shared object that defines
 *
 *   SE_InitPlugin     its platform: devices, memory, streams   (needed)
 *   TF_InitKernel     registers kernels for the device type    (needed to run anything)
 *
 * and possibly the functions of device_plugin_tools.h. It finds the other functions here when it is
 * loaded. docs/DEVICES.md says how Tenon uses it; tests/plugin/apu is a complete plug-in.
 *
 * Each struct starts with its size, so that fields can be added at the end: whoever fills in the
 * struct sets `struct_size` to the matching …_STRUCT_SIZE. Fields called `ext` are for the plug-in.
 */
#ifndef TENON_DEVICE_PLUGIN_H_
#define TENON_DEVICE_PLUGIN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#define TF_Bool unsigned char
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ---- */
typedef enum TSL_Code {
  TSL_OK = 0,
  TSL_CANCELLED = 1,
  TSL_UNKNOWN = 2,
  TSL_INVALID_ARGUMENT = 3,
  TSL_DEADLINE_EXCEEDED = 4,
  TSL_NOT_FOUND = 5,
  TSL_ALREADY_EXISTS = 6,
  TSL_PERMISSION_DENIED = 7,
  TSL_RESOURCE_EXHAUSTED = 8,
  TSL_FAILED_PRECONDITION = 9,
  TSL_ABORTED = 10,
  TSL_OUT_OF_RANGE = 11,
  TSL_UNIMPLEMENTED = 12,
  TSL_INTERNAL = 13,
  TSL_UNAVAILABLE = 14,
  TSL_DATA_LOSS = 15,
  TSL_UNAUTHENTICATED = 16
} TSL_Code;
typedef TSL_Code TF_Code;
#define TF_OK TSL_OK
#define TF_CANCELLED TSL_CANCELLED
#define TF_UNKNOWN TSL_UNKNOWN
#define TF_INVALID_ARGUMENT TSL_INVALID_ARGUMENT
#define TF_DEADLINE_EXCEEDED TSL_DEADLINE_EXCEEDED
#define TF_NOT_FOUND TSL_NOT_FOUND
#define TF_ALREADY_EXISTS TSL_ALREADY_EXISTS
#define TF_PERMISSION_DENIED TSL_PERMISSION_DENIED
#define TF_RESOURCE_EXHAUSTED TSL_RESOURCE_EXHAUSTED
#define TF_FAILED_PRECONDITION TSL_FAILED_PRECONDITION
#define TF_ABORTED TSL_ABORTED
#define TF_OUT_OF_RANGE TSL_OUT_OF_RANGE
#define TF_UNIMPLEMENTED TSL_UNIMPLEMENTED
#define TF_INTERNAL TSL_INTERNAL
#define TF_UNAVAILABLE TSL_UNAVAILABLE
#define TF_DATA_LOSS TSL_DATA_LOSS
#define TF_UNAUTHENTICATED TSL_UNAUTHENTICATED

typedef struct TSL_Status TSL_Status;
typedef TSL_Status TF_Status;
typedef void (*TSL_PayloadVisitor)(const char* key, const char* value, void* capture);
#define TF_PayloadVisitor TSL_PayloadVisitor

TF_CAPI_EXPORT TF_Status* TF_NewStatus(void);
TF_CAPI_EXPORT void TF_DeleteStatus(TF_Status*);
TF_CAPI_EXPORT void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg);
TF_CAPI_EXPORT void TF_SetPayload(TF_Status* s, const char* key, const char* value);
TF_CAPI_EXPORT void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor, void* capture);
/* `error_code` is an errno. */
TF_CAPI_EXPORT void TF_SetStatusFromIOError(TF_Status* s, int error_code, const char* context);
TF_CAPI_EXPORT TF_Code TF_GetCode(const TF_Status* s);
TF_CAPI_EXPORT const char* TF_Message(const TF_Status* s); /* until the status changes */

/* ---- bytes ---- */
typedef struct TF_Buffer {
  const void* data;
  size_t length;
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

TF_CAPI_EXPORT TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len); /* copies */
TF_CAPI_EXPORT TF_Buffer* TF_NewBuffer(void);
TF_CAPI_EXPORT void TF_DeleteBuffer(TF_Buffer*);
TF_CAPI_EXPORT TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;

/* ---- tensors ---- */
typedef enum TF_DataType {
  TF_FLOAT = 1,
  TF_DOUBLE = 2,
  TF_INT32 = 3,
  TF_UINT8 = 4,
  TF_INT16 = 5,
  TF_INT8 = 6,
  TF_STRING = 7,
  TF_COMPLEX64 = 8,
  TF_COMPLEX = 8,
  TF_INT64 = 9,
  TF_BOOL = 10,
  TF_QINT8 = 11,
  TF_QUINT8 = 12,
  TF_QINT32 = 13,
  TF_BFLOAT16 = 14,
  TF_QINT16 = 15,
  TF_QUINT16 = 16,
  TF_UINT16 = 17,
  TF_COMPLEX128 = 18,
  TF_HALF = 19,
  TF_RESOURCE = 20,
  TF_VARIANT = 21,
  TF_UINT32 = 22,
  TF_UINT64 = 23,
  TF_FLOAT8_E5M2 = 24,
  TF_FLOAT8_E4M3FN = 25,
  TF_FLOAT8_E4M3FNUZ = 26,
  TF_FLOAT8_E4M3B11FNUZ = 27,
  TF_FLOAT8_E5M2FNUZ = 28,
  TF_INT4 = 29,
  TF_UINT4 = 30,
  TF_INT2 = 31,
  TF_UINT2 = 32,
  TF_FLOAT4_E2M1FN = 33
} TF_DataType;

TF_CAPI_EXPORT size_t TF_DataTypeSize(TF_DataType dt); /* of an element; 0: varies */

typedef struct TF_Tensor TF_Tensor;
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host;
} TF_AllocatorAttributes;
#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

/* A tensor over the caller's memory, freed by `deallocator`. */
TF_CAPI_EXPORT TF_Tensor* TF_NewTensor(TF_DataType, const int64_t* dims, int num_dims, void* data,
                                       size_t len,
                                       void (*deallocator)(void* data, size_t len, void* arg),
                                       void* deallocator_arg);
TF_CAPI_EXPORT size_t TF_TensorDefaultAlignment();
TF_CAPI_EXPORT TF_Tensor* TF_AllocateTensor(TF_DataType, const int64_t* dims, int num_dims,
                                            size_t len); /* in the host's memory */
/* The tensor under a new handle if nobody else shares its memory; otherwise NULL. */
TF_CAPI_EXPORT TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);
TF_CAPI_EXPORT void TF_DeleteTensor(TF_Tensor*);
TF_CAPI_EXPORT TF_DataType TF_TensorType(const TF_Tensor*);
TF_CAPI_EXPORT void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);
TF_CAPI_EXPORT int TF_NumDims(const TF_Tensor*);
TF_CAPI_EXPORT int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);
TF_CAPI_EXPORT size_t TF_TensorByteSize(const TF_Tensor*);
TF_CAPI_EXPORT void* TF_TensorData(
    const TF_Tensor*); /* the device's address if it is on a device */
TF_CAPI_EXPORT int64_t TF_TensorElementCount(const TF_Tensor* tensor);
TF_CAPI_EXPORT void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to,
                                         const int64_t* new_dims, int num_new_dims,
                                         TF_Status* status);
TF_CAPI_EXPORT bool TF_TensorIsAligned(const TF_Tensor*);

/* ---- devices: SE_InitPlugin ---- */
#define SE_MAJOR 0
#define SE_MINOR 0
#define SE_PATCH 1

typedef struct SP_Stream_st* SP_Stream;
typedef struct SP_Event_st* SP_Event;
typedef struct SP_Timer_st* SP_Timer;
typedef void (*SE_StatusCallbackFn)(void* const, TF_Status* const);

typedef struct SP_TimerFns {
  size_t struct_size;
  void* ext;
  uint64_t (*nanoseconds)(SP_Timer timer);
} SP_TimerFns;
#define SP_TIMER_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_TimerFns, nanoseconds)

typedef struct SP_AllocatorStats {
  size_t struct_size;
  int64_t num_allocs;
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  int64_t largest_alloc_size;
  int8_t has_bytes_limit;
  int64_t bytes_limit;
  int64_t bytes_reserved;
  int64_t peak_bytes_reserved;
  int8_t has_bytes_reservable_limit;
  int64_t bytes_reservable_limit;
  int64_t largest_free_block_bytes;
} SP_AllocatorStats;
#define SP_ALLOCATORSTATS_STRUCT_SIZE TF_OFFSET_OF_END(SP_AllocatorStats, largest_free_block_bytes)

typedef enum SE_EventStatus {
  SE_EVENT_UNKNOWN,
  SE_EVENT_ERROR,
  SE_EVENT_PENDING,
  SE_EVENT_COMPLETE
} SE_EventStatus;

typedef struct SP_DeviceMemoryBase {
  size_t struct_size;
  void* ext;
  void* opaque; /* the device's address */
  uint64_t size;
  uint64_t payload;
} SP_DeviceMemoryBase;
#define SP_DEVICE_MEMORY_BASE_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceMemoryBase, payload)

typedef struct SP_Device {
  size_t struct_size;
  void* ext;
  int32_t ordinal;
  void* device_handle;
  const char* hardware_name; /* this and the next two: for people; may be NULL */
  const char* device_vendor;
  const char* pci_bus_id;
} SP_Device;
#define SP_DEVICE_STRUCT_SIZE TF_OFFSET_OF_END(SP_Device, pci_bus_id)

typedef struct SE_CreateDeviceParams {
  size_t struct_size;
  void* ext;
  int32_t ordinal;
  SP_Device* device; /* to be filled */
} SE_CreateDeviceParams;
#define SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE TF_OFFSET_OF_END(SE_CreateDeviceParams, device)

/* Facts about a device; a negative value means "not known". All may be NULL. */
typedef struct SP_DeviceFns {
  size_t struct_size;
  void* ext;
  int32_t (*get_numa_node)(const SP_Device* device);
  int64_t (*get_memory_bandwidth)(const SP_Device* device); /* bytes per second */
  double (*get_gflops)(const SP_Device* device);
} SP_DeviceFns;
#define SP_DEVICE_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceFns, get_gflops)

typedef struct SE_CreateDeviceFnsParams {
  size_t struct_size;
  void* ext;
  SP_DeviceFns* device_fns; /* to be filled */
} SE_CreateDeviceFnsParams;
#define SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateDeviceFnsParams, device_fns)

typedef struct SP_StreamExecutor {
  size_t struct_size;
  void* ext;

  /* Memory. A failed allocation leaves `opaque` NULL. */
  void (*allocate)(const SP_Device* device, uint64_t size, int64_t memory_space,
                   SP_DeviceMemoryBase* mem);
  void (*deallocate)(const SP_Device* device, SP_DeviceMemoryBase* memory);
  void* (*host_memory_allocate)(const SP_Device* device, uint64_t size);
  void (*host_memory_deallocate)(const SP_Device* device, void* mem);
  void* (*unified_memory_allocate)(const SP_Device* device, uint64_t bytes);
  void (*unified_memory_deallocate)(const SP_Device* device, void* location);
  TF_Bool (*get_allocator_stats)(const SP_Device* device, SP_AllocatorStats* stats);
  TF_Bool (*device_memory_usage)(const SP_Device* device, int64_t* free, int64_t* total);

  /* Streams: work in a stream is done in order. */
  void (*create_stream)(const SP_Device* device, SP_Stream* stream, TF_Status* status);
  void (*destroy_stream)(const SP_Device* device, SP_Stream stream);
  void (*create_stream_dependency)(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                                   TF_Status* status);
  void (*get_stream_status)(const SP_Device* device, SP_Stream stream, TF_Status* status);

  /* Events: places in a stream. */
  void (*create_event)(const SP_Device* device, SP_Event* event, TF_Status* status);
  void (*destroy_event)(const SP_Device* device, SP_Event event);
  SE_EventStatus (*get_event_status)(const SP_Device* device, SP_Event event);
  void (*record_event)(const SP_Device* device, SP_Stream stream, SP_Event event,
                       TF_Status* status);
  void (*wait_for_event)(const SP_Device* const device, SP_Stream stream, SP_Event event,
                         TF_Status* const status);

  /* Timers. */
  void (*create_timer)(const SP_Device* device, SP_Timer* timer, TF_Status* status);
  void (*destroy_timer)(const SP_Device* device, SP_Timer timer);
  void (*start_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);
  void (*stop_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);

  /* Copies: first as work of a stream, then synchronous ones. "dtoh": device to host. */
  void (*memcpy_dtoh)(const SP_Device* device, SP_Stream stream, void* host_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*memcpy_htod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const void* host_src, uint64_t size, TF_Status* status);
  void (*memcpy_dtod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*sync_memcpy_dtoh)(const SP_Device* device, void* host_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*sync_memcpy_htod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const void* host_src, uint64_t size, TF_Status* status);
  void (*sync_memcpy_dtod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  /* The host waits. block_host_until_done may be NULL; then an event is used. */
  void (*block_host_for_event)(const SP_Device* device, SP_Event event, TF_Status* status);
  void (*block_host_until_done)(const SP_Device* device, SP_Stream stream, TF_Status* status);
  void (*synchronize_all_activity)(const SP_Device* device, TF_Status* status);

  void (*mem_zero)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint64_t size, TF_Status* status);
  void (*memset)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                 uint8_t pattern, uint64_t size, TF_Status* status);
  void (*memset32)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint32_t pattern, uint64_t size, TF_Status* status);
  TF_Bool (*host_callback)(const SP_Device* device, SP_Stream stream,
                           SE_StatusCallbackFn callback_fn, void* callback_arg);
} SP_StreamExecutor;
#define SP_STREAMEXECUTOR_STRUCT_SIZE TF_OFFSET_OF_END(SP_StreamExecutor, host_callback)

typedef struct SE_CreateStreamExecutorParams {
  size_t struct_size;
  void* ext;
  SP_StreamExecutor* stream_executor; /* to be filled */
} SE_CreateStreamExecutorParams;
#define SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateStreamExecutorParams, stream_executor)

typedef struct SP_Platform {
  size_t struct_size;
  void* ext;
  const char* name; /* of the platform; capital letters and underscores */
  const char* type; /* of its devices: "APU"; likewise */
  TF_Bool supports_unified_memory;
  TF_Bool use_bfc_allocator;
  TF_Bool force_memory_growth;
} SP_Platform;
#define SP_PLATFORM_STRUCT_SIZE TF_OFFSET_OF_END(SP_Platform, force_memory_growth)

typedef struct SP_PlatformFns {
  size_t struct_size;
  void* ext;
  void (*get_device_count)(const SP_Platform* platform, int* device_count, TF_Status* status);
  void (*create_device)(const SP_Platform* platform, SE_CreateDeviceParams* params,
                        TF_Status* status);
  void (*destroy_device)(const SP_Platform* platform, SP_Device* device);
  void (*create_device_fns)(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                            TF_Status* status);
  void (*destroy_device_fns)(const SP_Platform* platform, SP_DeviceFns* device_fns);
  void (*create_stream_executor)(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                 TF_Status* status);
  void (*destroy_stream_executor)(const SP_Platform* platform, SP_StreamExecutor* stream_executor);
  void (*create_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer, TF_Status* status);
  void (*destroy_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer_fns);
} SP_PlatformFns;
#define SP_PLATFORM_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_PlatformFns, destroy_timer_fns)

typedef struct SE_PlatformRegistrationParams {
  size_t struct_size;
  void* ext;
  int32_t major_version;
  int32_t minor_version;
  int32_t patch_version;
  SP_Platform* platform;        /* to be filled */
  SP_PlatformFns* platform_fns; /* likewise */
  void (*destroy_platform)(SP_Platform* platform);
  void (*destroy_platform_fns)(SP_PlatformFns* platform_fns);
} SE_PlatformRegistrationParams;
#define SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_PlatformRegistrationParams, destroy_platform_fns)

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status);

/* ---- kernels: TF_InitKernel ---- */
typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_AsyncOpKernelDoneCallback TF_AsyncOpKernelDoneCallback;

void TF_InitKernel();

TF_CAPI_EXPORT void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback*);
TF_CAPI_EXPORT TF_KernelBuilder* TF_NewKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_func)(void*, TF_OpKernelContext*), void (*delete_func)(void*));
TF_CAPI_EXPORT TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*));
/* Call it several times for one attribute to allow any of the types. */
TF_CAPI_EXPORT void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder,
                                                    const char* attr_name, TF_DataType type,
                                                    TF_Status* status);
/* This input or output is in host memory. */
TF_CAPI_EXPORT void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder,
                                                const char* arg_name);
TF_CAPI_EXPORT void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder,
                                              int32_t priority_number);
TF_CAPI_EXPORT void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder, const char* label);
/* Takes ownership of the builder. */
TF_CAPI_EXPORT void TF_RegisterKernelBuilder(const char* kernel_name, TF_KernelBuilder* builder,
                                             TF_Status* status);
TF_CAPI_EXPORT void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def,
                                                          const char* name,
                                                          TF_KernelBuilder* builder,
                                                          TF_Status* status);
TF_CAPI_EXPORT void TF_DeleteKernelBuilder(TF_KernelBuilder* builder);

/* For use while a kernel runs. The kernel must delete the tensors that these functions return. */
TF_CAPI_EXPORT SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status);
TF_CAPI_EXPORT int TF_NumInputs(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT int TF_NumOutputs(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor,
                                TF_Status* status);
typedef struct {
  size_t struct_size;
  void* priv;
  int start;
  int stop;
  TF_Status* status;
} TF_InputRange_Args;
TF_CAPI_EXPORT void TF_InputRange(TF_OpKernelContext* ctx, const char* name,
                                  TF_InputRange_Args* args);
TF_CAPI_EXPORT TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index);
TF_CAPI_EXPORT void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor,
                                 TF_Status* status);
TF_CAPI_EXPORT TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_CAPI_EXPORT void TF_GetSerializedFunctionDefLibrary(TF_OpKernelContext* ctx,
                                                       TF_Buffer* serialized_function_def_library,
                                                       TF_Status* status);
TF_CAPI_EXPORT void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx,
                                                TF_Buffer* serialized_config_proto,
                                                TF_Status* status);
TF_CAPI_EXPORT void TF_GetSerializedResourceHandleProto(TF_OpKernelContext* ctx, int i,
                                                        TF_Buffer* serialized_resource_handle_proto,
                                                        TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx,
                                                    TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);
TF_CAPI_EXPORT TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i);
TF_CAPI_EXPORT bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_CAPI_EXPORT bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status);
TF_CAPI_EXPORT int64_t TF_StepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT uint64_t TF_GetFrameId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT int64_t TF_GetIterId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT int64_t TF_GetStepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT int TF_GetDeviceId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT int TF_GetGraphDefVersion(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx, size_t index);
/* Device memory, or host memory for an output in host memory. `len` is in bytes. */
TF_CAPI_EXPORT TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index,
                                            TF_DataType dtype, const int64_t* dims, int num_dims,
                                            size_t len, TF_Status* status);
/* `forwarded_input` (may be NULL) becomes the candidate whose memory the output has, or -1. */
TF_CAPI_EXPORT TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext* context, const int* candidate_input_indices,
    int num_candidate_input_indices, int output_index, const int64_t* output_dims,
    int output_num_dims, int* forwarded_input, TF_Status* status);
TF_CAPI_EXPORT TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype,
                                          const int64_t* dims, int num_dims,
                                          TF_AllocatorAttributes* alloc_attrs, TF_Status* status);
TF_CAPI_EXPORT void TF_IncNumDeferredOps(TF_OpKernelContext* context);
TF_CAPI_EXPORT void TF_DecNumDeferredOps(TF_OpKernelContext* context);

/* For use while a kernel is created: the node's attributes. */
TF_CAPI_EXPORT TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx,
                                                             TF_Status* status);
TF_CAPI_EXPORT TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx);
TF_CAPI_EXPORT bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx,
                                                    const char* attr_name, TF_Status* status);
/* `list_size`: a list's length (otherwise -1). `total_size`: the bytes of all strings (otherwise
 * -1), a shape's rank, or the sum of the ranks of all shapes. */
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx,
                                                        const char* attr_name, int32_t* list_size,
                                                        int32_t* total_size, TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx,
                                                        const char* attr_name, TF_DataType* val,
                                                        TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx,
                                                         const char* attr_name, int32_t* val,
                                                         TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx,
                                                         const char* attr_name, int64_t* val,
                                                         TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx,
                                                         const char* attr_name, float* val,
                                                         TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx,
                                                        const char* attr_name, TF_Bool* val,
                                                        TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx,
                                                          const char* attr_name, char* val,
                                                          size_t max_length, TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx,
                                                          const char* attr_name, TF_Tensor** val,
                                                          TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx,
                                                            const char* attr_name,
                                                            TF_DataType* vals, int max_vals,
                                                            TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx,
                                                             const char* attr_name, int32_t* vals,
                                                             int max_vals, TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx,
                                                             const char* attr_name, int64_t* vals,
                                                             int max_vals, TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx,
                                                             const char* attr_name, float* vals,
                                                             int max_vals, TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx,
                                                            const char* attr_name, TF_Bool* vals,
                                                            int max_vals, TF_Status* status);
/* `values` point into `storage`, which must be large enough for all the bytes. */
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx,
                                                              const char* attr_name, char** values,
                                                              size_t* lengths, int max_values,
                                                              void* storage, size_t storage_size,
                                                              TF_Status* status);
TF_CAPI_EXPORT void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx,
                                                              const char* attr_name,
                                                              TF_Tensor** vals, int max_values,
                                                              TF_Status* status);
TF_CAPI_EXPORT TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction* ctx,
                                                                  const char* attr_name,
                                                                  TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif /* TENON_DEVICE_PLUGIN_H_ */
