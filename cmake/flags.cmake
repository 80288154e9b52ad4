# SPDX-License-Identifier: MIT
# How every target of this project is compiled.

if(UMBEL_SANITIZE)
    if(NOT UMBEL_SANITIZE MATCHES "^(address|undefined|thread|address,undefined)$")
        message(FATAL_ERROR "UMBEL_SANITIZE is '${UMBEL_SANITIZE}'; "
            "it can be address, undefined, address,undefined or thread")
    endif()
    set(sanitize_flags -fsanitize=${UMBEL_SANITIZE} -fno-sanitize-recover=all)
    add_compile_options(${sanitize_flags} -fno-omit-frame-pointer -g1)
    add_link_options(${sanitize_flags})
endif()

if(UMBEL_GENERIC)
    add_compile_definitions(UMBEL_GENERIC)
endif()

# Sizes follow from doubles that are rounded after every operation: no 80-bit registers on 32-bit
# x86, no fused multiply-add.
add_compile_options(-ffp-contract=off)
include(CheckCSourceCompiles)
check_c_source_compiles("
#if !defined(__i386__)
#error
#endif
int main(void) { return 0; }" UMBEL_ON_I386)
if(UMBEL_ON_I386)
    add_compile_options(-msse2 -mfpmath=sse)
endif()

function(umbel_flags target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
    # Files beyond 2 GiB on 32-bit machines too.
    target_compile_definitions(${target} PRIVATE _FILE_OFFSET_BITS=64)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion ${umbel_more_flags}
        $<$<BOOL:${UMBEL_WERROR}>:-Werror>)
endfunction()
