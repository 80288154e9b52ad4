/* SPDX-License-Identifier: MIT
 *
 * farewell.h - what is still to be done when the program ends early
 */
#ifndef CLI_FAREWELL_H
#define CLI_FAREWELL_H

/* From now on `last` is called before an error ends the program (in the thread where it happened)
 * and before SIGHUP, SIGINT or SIGTERM does (in one of its own; a second signal ends the program at
 * once).  It may be called by several threads, and in the middle of itself when it fails: it keeps
 * the others waiting, and returns at once to itself.  To be called before there are other threads.
 * Signals that are ignored stay ignored. */
void cli_farewell(void (*last)(void *ctx), void *ctx);

/* For complain.c: does what was asked for. */
void cli_farewell_now(void);

#endif
