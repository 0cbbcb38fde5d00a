// ICU's data (TENON_ICU_DATA: the file that icu_data.sh makes), under the name by which ICU's
// static library refers to it.
#include <unicode/utypes.h>

#define TENON_TEXT_OF(name) #name
#define TENON_TEXT(name) TENON_TEXT_OF(name)

asm(".section .rodata\n"
    ".balign 16\n"
    ".globl " TENON_TEXT(U_ICUDATA_ENTRY_POINT) "\n"
    ".type " TENON_TEXT(U_ICUDATA_ENTRY_POINT) ", @object\n"
    TENON_TEXT(U_ICUDATA_ENTRY_POINT) ":\n"
    ".incbin \"" TENON_ICU_DATA "\"\n"
    ".previous\n");

// Debian's archive is compiled for programs, so it cannot refer to libc's variables from a shared
// library. It reads these instead (by --wrap), in functions that nothing here calls.
extern "C" {
long __wrap___timezone = 0;
char* __wrap_tzname[2] = {};
}
