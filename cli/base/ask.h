/* SPDX-License-Identifier: MIT
 *
 * ask.h - a secret that is typed on the terminal
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

/* Prompts on the terminal, whatever standard input and output are, and returns what is typed there
 * without echo: wipe and free it.  Exits with a message if there is no terminal, with the hint, or
 * nothing is typed.  The echo is restored even if a signal ends the program. */
char *cli_ask(const char *option, const char *prompt, const char *hint);

#endif
