/* SPDX-License-Identifier: MIT
 *
 * codecs.h - the codecs there are
 */
#ifndef UMBELI_CODECS_H
#define UMBELI_CODECS_H

#include "format/codec.h"

/* Every codec, in the order of the format numbers, NULL at the end. */
extern const umbeli_codec *const umbeli_codecs[];

/* NULL: no such format; UMBEL_FMT_ANY is none. */
const umbeli_codec *umbeli_codec_by_id(umbel_format id);

/* What decoding begins with: the checked options, and the codec to decode with, for which
 * UMBEL_FMT_ANY looks at the bytes. */
umbel_err umbeli_codec_open(umbel_format format, const void *bytes, size_t len,
                            const umbel_opts *opts, const umbeli_codec **codec,
                            umbeli_settings *memory, umbel_diag *diag);

/* The codec to write this filter with.  UMBEL_EINVAL: no such format; UMBEL_EMISMATCH: it cannot
 * hold this filter. */
umbel_err umbeli_codec_holding(const umbel_filter *f, umbel_format format, const umbeli_codec **out,
                               umbel_diag *diag);

#endif
