// TF_Status and TF_Buffer.
#include <cstdlib>
#include <cstring>

#include "runtime/devices/abi/abi.h"

extern "C" {

TF_Status* TF_NewStatus(void) { return new TSL_Status; }
void TF_DeleteStatus(TF_Status* s) { delete s; }

void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg) {
  s->payloads.clear();
  tenon::Set(s, code, code == TF_OK || msg == nullptr ? "" : msg);
}

void TF_SetPayload(TF_Status* s, const char* key, const char* value) { s->payloads[key] = value; }

void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor, void* capture) {
  for (const auto& [key, value] : s->payloads) visitor(key.c_str(), value.c_str(), capture);
}

void TF_SetStatusFromIOError(TF_Status* s, int error_code, const char* context) {
  tenon::Set(s, TF_UNKNOWN, std::string(context) + ": " + std::strerror(error_code));
}

TF_Code TF_GetCode(const TF_Status* s) { return s->code; }
const char* TF_Message(const TF_Status* s) { return s->message.c_str(); }

TF_Buffer* TF_NewBuffer(void) { return new TF_Buffer{nullptr, 0, nullptr}; }

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len) {
  void* copy = std::malloc(proto_len == 0 ? 1 : proto_len);
  if (copy == nullptr) return nullptr;
  if (proto_len > 0) std::memcpy(copy, proto, proto_len);
  return new TF_Buffer{copy, proto_len, [](void* data, size_t) { std::free(data); }};
}

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->data_deallocator != nullptr) {
    buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
  }
  delete buffer;
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) { return *buffer; }

}  // extern "C"
