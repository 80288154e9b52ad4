/* SPDX-License-Identifier: MIT
 *
 * push_send.h - a parcel becomes a key of a server, whole or not at all
 *
 * The pieces go to a key beside the real one, which takes its name at the end.  A second key beside
 * it says how far it has come, so that another run goes on there.  Both are gone after a day in
 * which nothing was sent.
 */
#ifndef CLI_PUSH_SEND_H
#define CLI_PUSH_SEND_H

#include "push_link.h"
#include "push_parcel.h"

struct cli_push {
    struct cli_link *link;
    const char *name; /* of the key */
    bool force;       /* replace a filter that is there */
    bool quiet;
    uint64_t resumed; /* out: bytes that an earlier run had sent */
};

/* Ends the program unless the key may be made: the server has the module, and nothing is there, or
 * a filter and `force`. */
void cli_push_check(const struct cli_push *push);

/* Sends what is missing. */
void cli_push_upload(struct cli_push *push, const struct cli_parcel *parcel);

/* Compares what the server has with the parcel, then gives it its name. */
void cli_push_publish(const struct cli_push *push, const struct cli_parcel *parcel);

#endif
