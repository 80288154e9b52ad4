/* SPDX-License-Identifier: MIT
 *
 * peer_boost.cc - Boost.Bloom, over XXH3 of the key, on the pages that umbel's filters have
 */
#include <boost/bloom.hpp>

#include <cstdlib>
#include <new>

#include "bench.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

struct xxh3 {
    using is_avalanching = void;
    size_t operator()(const umbel_key &key) const {
        return XXH3_64bits(key.data, key.len);
    }
};

template <typename T> struct on_lines {
    using value_type = T;
    on_lines() = default;
    template <typename U> on_lines(const on_lines<U> &) {}
    T *allocate(size_t n) {
        return reinterpret_cast<T *>(lines_new(n * sizeof(T)));
    }
    void deallocate(T *p, size_t) {
        std::free(p);
    }
    template <typename U> bool operator==(const on_lines<U> &) const {
        return true;
    }
    template <typename U> bool operator!=(const on_lines<U> &) const {
        return false;
    }
};

using bytes = on_lines<unsigned char>;
using blocked =
    boost::bloom::filter<umbel_key, 1, boost::bloom::fast_multiblock32<8>, 0, xxh3, bytes>;
using classic =
    boost::bloom::filter<umbel_key, 7, boost::bloom::block<unsigned char, 1>, 0, xxh3, bytes>;

template <typename filter> void add(void *p, const umbel_key *keys, size_t n) {
    static_cast<filter *>(p)->insert(keys, keys + n);
}

template <typename filter> void *build(const umbel_key *keys, size_t n, double bits_per_key) {
    auto f = new filter(static_cast<size_t>(static_cast<double>(n) * bits_per_key));
    add<filter>(f, keys, n);
    return f;
}

template <typename filter> size_t count(void *p, const umbel_key *keys, size_t n) {
    size_t found = 0;
    static_cast<const filter *>(p)->may_contain(keys, keys + n,
                                                [&](const umbel_key &, bool has) { found += has; });
    return found;
}

template <typename filter> size_t count_singly(void *p, const umbel_key *keys, size_t n) {
    const filter &f = *static_cast<const filter *>(p);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += f.may_contain(keys[i]);
    return found;
}

template <typename filter> void clear(void *p) {
    static_cast<filter *>(p)->clear();
}

template <typename filter> void end(void *p) {
    delete static_cast<filter *>(p);
}

} // namespace

extern "C" const peer peer_boost_blocked = {"Boost blocked",       build<blocked>, count<blocked>,
                                            count_singly<blocked>, end<blocked>,   add<blocked>,
                                            clear<blocked>};
extern "C" const peer peer_boost_classic = {"Boost classic",       build<classic>, count<classic>,
                                            count_singly<classic>, end<classic>,   add<classic>,
                                            clear<classic>};
