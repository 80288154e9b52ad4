/* SPDX-License-Identifier: MIT
 *
 * sodium_loaded.c - libsodium, loaded when it is needed for the first time
 */
#include <dlfcn.h>
#include <pthread.h>

#include "core/diag.h"
#include "sign/sodium.h"

static umbeli_sodium loaded;
static bool usable;

static void load(void) {
    void *from = dlopen(UMBEL_SODIUM, RTLD_NOW | RTLD_LOCAL);
    bool all = from;
#define CALL(name) all = all && (*(void **)&loaded.name = dlsym(from, #name));
    UMBELI_SODIUM_CALLS(CALL)
#undef CALL
    usable = all && loaded.sodium_init() >= 0;
}

const umbeli_sodium *umbeli_sodium_get(umbel_diag *diag) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (usable) return &loaded;
    (void)umbeli_fail(diag, UMBEL_ENOTSUP,
                      UMBEL_SODIUM " cannot be loaded: install libsodium, which signs and checks");
    return NULL;
}
