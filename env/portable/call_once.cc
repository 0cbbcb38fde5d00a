// What std::call_once of <mutex> uses of libstdc++, by the linker's --wrap
// (tools/cmake/TenonTargets.cmake). ICU's archives address libstdc++'s two thread-local variables
// as if they lay in the program's static TLS. In a process that has used them in the ordinary way
// before (importing Keras does), a library with such code cannot be loaded.
extern "C" {

__thread void* __wrap__ZSt15__once_callable;
__thread void (*__wrap__ZSt11__once_call)();

void __wrap___once_proxy();
void __wrap___once_proxy() { __wrap__ZSt11__once_call(); }

}  // extern "C"
