/* SPDX-License-Identifier: MIT
 *
 * peer_boost.cc - Boost.Bloom's batches, over XXH3 of the key
 */
#include <boost/bloom.hpp>

#include "bench.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

struct xxh3 {
    using is_avalanching = void;
    size_t operator()(uint64_t key) const {
        return XXH3_64bits(&key, sizeof key);
    }
};

using blocked = boost::bloom::filter<uint64_t, 1, boost::bloom::fast_multiblock32<8>, 0, xxh3>;
using classic = boost::bloom::filter<uint64_t, 7, boost::bloom::block<unsigned char, 1>, 0, xxh3>;

template <typename filter> void add(void *p, const uint64_t *keys, size_t n) {
    static_cast<filter *>(p)->insert(keys, keys + n);
}

template <typename filter> void *build(const uint64_t *keys, size_t n, double bits_per_key) {
    auto f = new filter(static_cast<size_t>(static_cast<double>(n) * bits_per_key));
    add<filter>(f, keys, n);
    return f;
}

template <typename filter> size_t count(void *p, const uint64_t *keys, size_t n) {
    size_t found = 0;
    static_cast<const filter *>(p)->may_contain(keys, keys + n,
                                                [&](const uint64_t &, bool has) { found += has; });
    return found;
}

template <typename filter> void clear(void *p) {
    static_cast<filter *>(p)->clear();
}

template <typename filter> void end(void *p) {
    delete static_cast<filter *>(p);
}

} // namespace

extern "C" const peer peer_boost_blocked = {"Boost blocked", build<blocked>, count<blocked>,
                                            end<blocked>,    add<blocked>,   clear<blocked>};
extern "C" const peer peer_boost_classic = {"Boost classic", build<classic>, count<classic>,
                                            end<classic>,    add<classic>,   clear<classic>};
