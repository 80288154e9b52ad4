/* SPDX-License-Identifier: MIT
 *
 * umbel_leveldb.h - filter policies for LevelDB
 *
 *   leveldb_filterpolicy_t *policy = umbel_leveldb_builtin(10);
 *   leveldb_options_set_filter_policy(options, policy);
 *   ...                                             // open, use and close the database
 *   leveldb_filterpolicy_destroy(policy);           // only then, as with LevelDB's own
 *
 * In C++, for leveldb::Options:
 *
 *   std::unique_ptr<const leveldb::FilterPolicy> policy = umbel::leveldb_builtin(10);
 *   options.filter_policy = policy.get();           // it must outlive the database
 *
 * Link with -lumbel-leveldb (pkg-config umbel-leveldb).  Any number of threads may use a policy.
 */
#ifndef UMBEL_LEVELDB_H
#define UMBEL_LEVELDB_H

#include <leveldb/c.h>

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* leveldb.BuiltinBloomFilter2: files are byte for byte the same as with
 * leveldb_filterpolicy_create_bloom, and either policy reads them.  bits_per_key from 0; NULL when
 * it is negative. */
UMBEL_API leveldb_filterpolicy_t *umbel_leveldb_builtin(int bits_per_key);

/* umbel.SplitBlock: 64-bit hashes and one cache line per lookup.  Other policies ignore the filters
 * in files written with it, and it ignores theirs; LevelDB reads the files all the same, without
 * their filters.  A filter consists of 256-bit blocks as Parquet defines them, then the byte 1.
 * bits_per_key from 1, rounded up to whole blocks; NULL when it is less. */
UMBEL_API leveldb_filterpolicy_t *umbel_leveldb_split_block(int bits_per_key);

#ifdef __cplusplus
}

#include <leveldb/filter_policy.h>

#include <memory>

namespace umbel {

/* The policies for LevelDB's C++ interface; empty where the functions above return NULL.  LevelDB's
 * own C interface derives leveldb_filterpolicy_t from FilterPolicy, its only base, and passes it on
 * as such.  It hides that from its callers, so the cast is written here once and no program needs
 * one. */
inline std::unique_ptr<const leveldb::FilterPolicy> leveldb_policy(leveldb_filterpolicy_t *policy) {
    return std::unique_ptr<const leveldb::FilterPolicy>(
        reinterpret_cast<const leveldb::FilterPolicy *>(policy));
}

inline std::unique_ptr<const leveldb::FilterPolicy> leveldb_builtin(int bits_per_key) {
    return leveldb_policy(umbel_leveldb_builtin(bits_per_key));
}

inline std::unique_ptr<const leveldb::FilterPolicy> leveldb_split_block(int bits_per_key) {
    return leveldb_policy(umbel_leveldb_split_block(bits_per_key));
}

} // namespace umbel
#endif
#endif /* UMBEL_LEVELDB_H */
