/* SPDX-License-Identifier: MIT */
#include "value/value_hold.h"

#include <pthread.h>

#include "api.h"

/* A list and not a count in the value: few values are ever held, and there may be a million. */
typedef struct hold {
    struct hold *next;
    bf_value *value;
    size_t times;
    bool dropped;
} hold;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hold *holds;

/* Where the list points to the hold of a value; to NULL, at its end, if there is none. */
static hold **find(const bf_value *v) {
    hold **at = &holds;
    while (*at && (*at)->value != v) at = &(*at)->next;
    return at;
}

void bf_value_hold(bf_value *v) {
    pthread_mutex_lock(&lock);
    hold **at = find(v);
    if (!*at) {
        *at = RedisModule_Calloc(1, sizeof **at);
        (*at)->value = v;
    }
    (*at)->times++;
    pthread_mutex_unlock(&lock);
}

void bf_value_let_go(bf_value *v) {
    pthread_mutex_lock(&lock);
    hold **at = find(v), *h = *at;
    bool last = --h->times == 0, dropped = h->dropped;
    if (last) {
        *at = h->next;
        RedisModule_Free(h);
    }
    pthread_mutex_unlock(&lock);
    if (last && dropped) bf_value_free(v);
}

bool bf_value_held(const bf_value *v) {
    pthread_mutex_lock(&lock);
    bool held = *find(v) != NULL;
    pthread_mutex_unlock(&lock);
    return held;
}

void bf_value_drop(bf_value *v) {
    pthread_mutex_lock(&lock);
    hold *h = *find(v);
    if (h) h->dropped = true;
    pthread_mutex_unlock(&lock);
    if (!h) bf_value_free(v);
}
