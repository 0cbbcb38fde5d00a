// Shows a program a CPU with AVX2 and nothing newer: preloaded, it makes the kernel trap the CPUID
// instruction and answers with the bits of AVX-512, AVX10, AVX-VNNI and AMX cleared. Whoever asks
// the processor itself, as oneDNN, XNNPACK, MLAS and Eigen do, then takes the kernels for AVX2.
// Linux on x86-64 with `cpuid_fault` in /proc/cpuinfo; elsewhere it does nothing. Linked with -z
// initfirst, so that it runs before every other constructor.
#include <asm/prctl.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace {

struct sigaction next_action;  // What the program wants to happen at SIGSEGV.

void SetTrap(bool on) { syscall(SYS_arch_prctl, ARCH_SET_CPUID, on ? 0 : 1); }

constexpr uint32_t Bits() { return 0; }
template <typename... More>
constexpr uint32_t Bits(int bit, More... more) {
  return uint32_t{1} << bit | Bits(more...);
}

struct Registers {
  uint32_t eax, ebx, ecx, edx;
};

Registers Cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r{};
  SetTrap(false);
  asm volatile("cpuid"
               : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
               : "a"(leaf), "c"(subleaf));
  SetTrap(true);
  if (leaf == 7 && subleaf == 0) {
    r.ebx &= ~Bits(16, 17, 21, 26, 27, 28, 30, 31);  // F, DQ, IFMA, PF, ER, CD, BW, VL
    r.ecx &= ~Bits(1, 6, 11, 12, 14);                // VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ
    r.edx &= ~Bits(2, 3, 8, 22, 23, 24, 25);  // 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX
  } else if (leaf == 7 && subleaf == 1) {
    r.eax &= ~Bits(4, 5, 21, 23);  // AVX-VNNI, BF16, AMX-FP16, AVX-IFMA
    // AVX-VNNI-INT8, AVX-NE-CONVERT, AMX-COMPLEX, AVX-VNNI-INT16, AVX10
    r.edx &= ~Bits(4, 5, 8, 10, 19);
  } else if (leaf == 0xd && subleaf == 0) {
    r.eax &= ~Bits(5, 6, 7, 17, 18);                          // The state of AVX-512 and of tiles.
  } else if (leaf == 0x1d || leaf == 0x1e || leaf == 0x24) {  // Tiles, AVX10.
    r = {};
  }
  return r;
}

void OnSegv(int signal, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  constexpr uint8_t kCpuid[] = {0x0f, 0xa2};
  if (info->si_code == SI_KERNEL &&
      std::memcmp(reinterpret_cast<void*>(registers[REG_RIP]), kCpuid, 2) == 0) {
    const Registers r =
        Cpuid(static_cast<uint32_t>(registers[REG_RAX]), static_cast<uint32_t>(registers[REG_RCX]));
    registers[REG_RAX] = r.eax;
    registers[REG_RBX] = r.ebx;
    registers[REG_RCX] = r.ecx;
    registers[REG_RDX] = r.edx;
    registers[REG_RIP] += sizeof(kCpuid);
    return;
  }
  if ((next_action.sa_flags & SA_SIGINFO) != 0) {
    next_action.sa_sigaction(signal, info, context);
  } else if (next_action.sa_handler != SIG_DFL && next_action.sa_handler != SIG_IGN) {
    next_action.sa_handler(signal);
  } else {
    ::signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
  }
}

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

Sigaction Real() {
  static const auto real = reinterpret_cast<Sigaction>(dlsym(RTLD_NEXT, "sigaction"));
  return real;
}

__attribute__((constructor)) void Mask() {
  struct sigaction action {};
  action.sa_sigaction = OnSegv;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  Real()(SIGSEGV, &action, nullptr);
  SetTrap(true);
}

}  // namespace

// A program's own handler of SIGSEGV (Python's faulthandler, Abseil's) comes after ours.
extern "C" int sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  if (signal != SIGSEGV) return Real()(signal, action, old);
  if (old != nullptr) *old = next_action;
  if (action != nullptr) next_action = *action;
  return 0;
}
