/* SPDX-License-Identifier: MIT
 *
 * file_stream.h - the bytes of a filter, or others, written to a descriptor or a file
 */
#ifndef UMBELI_FILE_STREAM_H
#define UMBELI_FILE_STREAM_H

#include "format/codec.h"
#include "umbel.h"

/* sparse: the file is new and regular, so zeros may be skipped. */
umbel_err umbeli_file_stream(const umbel_filter *f, const umbeli_codec *codec, int fd, bool sparse,
                             umbel_diag *diag);

/* Bytes instead of a filter. */
umbel_err umbeli_file_put(const void *bytes, size_t len, int fd, umbel_diag *diag);

#endif
