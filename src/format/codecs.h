/* SPDX-License-Identifier: MIT
 *
 * codecs.h - the list of codecs
 */
#ifndef UMBELI_CODECS_H
#define UMBELI_CODECS_H

#include "format/codec.h"
#include "umbel_foreign.h"

/* All codecs in the order of the format numbers, NULL at the end. */
extern const umbeli_codec *const umbeli_codecs[];

/* NULL: no such format; also for UMBEL_FMT_ANY. */
const umbeli_codec *umbeli_codec_by_id(umbel_format id);

/* The codec that makes such a filter.  UMBEL_EINVAL: no such format, or the native one. */
umbel_err umbeli_codec_making(const umbel_foreign *foreign, const umbeli_codec **out,
                              umbel_diag *diag);

/* The codec for decoding: the one that `as` names, or else the one that recognises the bytes.
 * UMBEL_EUNKNOWN when none does. */
umbel_err umbeli_codec_reading(const umbel_foreign *as, const void *bytes, size_t len,
                               const umbeli_codec **out, umbel_diag *diag);

/* The codec for writing this filter; UMBEL_FMT_ANY: its own.  UMBEL_EMISMATCH: the format cannot
 * hold this filter. */
umbel_err umbeli_codec_writing(const umbel_filter *f, umbel_format format, const umbeli_codec **out,
                               umbel_diag *diag);

#endif
