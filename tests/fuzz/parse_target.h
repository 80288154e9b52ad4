/* SPDX-License-Identifier: MIT
 *
 * parse_target.h - the parts of fuzz_parse; each takes a text and the remaining choices of the
 * input
 */
#ifndef PARSE_TARGET_H
#define PARSE_TARGET_H

#include "target.h"

/* As arguments of a command, separated by NULs. */
void parse_options(char *text, size_t len);

/* As the address of a server, and as the name of a key there. */
void parse_names(const char *text);

/* Split into lines, which are treated as `choices` says, compared with plain loops that do the
 * same. */
void parse_lines(const uint8_t *text, size_t len, const uint8_t choices[4]);

/* As values of a type, and split as ClickHouse splits text. */
void parse_typed(const uint8_t *text, size_t len, uint8_t type);
void parse_tokens(const uint8_t *text, size_t len, uint32_t ngram);

#endif
