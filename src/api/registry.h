/* SPDX-License-Identifier: MIT
 *
 * registry.h - the codecs there are
 */
#ifndef UMBELI_REGISTRY_H
#define UMBELI_REGISTRY_H

#include "codec/codec.h"

/* Every codec, in the order of the format numbers, NULL at the end. */
extern const umbeli_codec *const umbeli_codecs[];

/* NULL: no such format; UMBEL_FMT_ANY is none. */
const umbeli_codec *umbeli_codec_by_id(umbel_format id);

/* The codec to decode these bytes with; UMBEL_FMT_ANY looks at them.  NULL with diag filled. */
const umbeli_codec *umbeli_codec_for(umbel_format format, const void *bytes, size_t len,
                                     umbel_diag *diag);

/* The codec to write this filter with.  UMBEL_EINVAL: no such format; UMBEL_EMISMATCH: it cannot
 * hold this filter. */
umbel_err umbeli_codec_holding(const umbel_filter *f, umbel_format format, const umbeli_codec **out,
                               umbel_diag *diag);

#endif
