// TF_KernelBuilder: the kernels that a plug-in registers in TF_InitKernel.
#include "runtime/devices/abi/abi.h"

#ifndef TENON_VERSION
#define TENON_VERSION ""
#endif

namespace {

thread_local tenon::KernelRegistrar* registrar = nullptr;

TF_KernelBuilder* New(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*),
                      void (*destroy)(void*)) {
  auto* builder = new TF_KernelBuilder;
  builder->op = op;
  builder->device = device;
  builder->create = create;
  builder->destroy = destroy;
  return builder;
}

}  // namespace

extern "C" {

TF_CAPI_EXPORT void tenon_device_abi_register_to(tenon::KernelRegistrar* to) { registrar = to; }
TF_CAPI_EXPORT const char* tenon_device_abi_version() { return TENON_VERSION; }

TF_KernelBuilder* TF_NewKernelBuilder(const char* op_name, const char* device_name,
                                      void* (*create_func)(TF_OpKernelConstruction*),
                                      void (*compute_func)(void*, TF_OpKernelContext*),
                                      void (*delete_func)(void*)) {
  TF_KernelBuilder* builder = New(op_name, device_name, create_func, delete_func);
  builder->compute = compute_func;
  return builder;
}

TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*)) {
  TF_KernelBuilder* builder = New(op_name, device_name, create_func, delete_func);
  builder->compute_async = compute_async_func;
  return builder;
}

void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* done) { done->Run(); }

void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* builder, const char* attr_name,
                                     TF_DataType type, TF_Status* status) {
  builder->types[attr_name].push_back(type);
  tenon::Set(status, TF_OK);
}

void TF_KernelBuilder_HostMemory(TF_KernelBuilder* builder, const char* arg_name) {
  builder->host_args.emplace_back(arg_name);
}
void TF_KernelBuilder_Priority(TF_KernelBuilder* builder, int32_t priority_number) {
  builder->priority = priority_number;
}
void TF_KernelBuilder_Label(TF_KernelBuilder* builder, const char* label) {
  builder->label = label;
}

void TF_RegisterKernelBuilder(const char*, TF_KernelBuilder* builder, TF_Status* status) {
  std::unique_ptr<TF_KernelBuilder> owned(builder);
  if (registrar == nullptr) {
    return tenon::Set(status, TF_FAILED_PRECONDITION,
                      "kernels can be registered in TF_InitKernel only");
  }
  registrar->Register(std::move(owned));
  tenon::Set(status, TF_OK);
}

void TF_RegisterKernelBuilderWithKernelDef(const char*, const char*, TF_KernelBuilder* builder,
                                           TF_Status* status) {
  TF_DeleteKernelBuilder(builder);
  tenon::Set(status, TF_UNIMPLEMENTED, "kernels are registered by TF_RegisterKernelBuilder");
}

void TF_DeleteKernelBuilder(TF_KernelBuilder* builder) { delete builder; }

}  // extern "C"
