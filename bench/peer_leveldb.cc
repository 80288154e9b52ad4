/* SPDX-License-Identifier: MIT */
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <memory>
#include <string>
#include <vector>

#include "bench.h"

namespace {

struct filter {
    std::unique_ptr<const leveldb::FilterPolicy> policy;
    std::string bytes;
};

leveldb::Slice slice_of(const umbel_key &key) {
    return {static_cast<const char *>(key.data), key.len};
}

void *build(const umbel_key *keys, size_t n, double bits_per_key) {
    auto f = new filter{std::unique_ptr<const leveldb::FilterPolicy>(
                            leveldb::NewBloomFilterPolicy(static_cast<int>(bits_per_key))),
                        {}};
    std::vector<leveldb::Slice> slices;
    slices.reserve(n);
    for (size_t i = 0; i < n; i++) slices.push_back(slice_of(keys[i]));
    f->policy->CreateFilter(slices.data(), static_cast<int>(n), &f->bytes);
    return f;
}

size_t count(void *p, const umbel_key *keys, size_t n) {
    const filter *f = static_cast<const filter *>(p);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        found += f->policy->KeyMayMatch(slice_of(keys[i]), f->bytes);
    }
    return found;
}

void end(void *p) {
    delete static_cast<filter *>(p);
}

} // namespace

extern "C" const peer peer_leveldb = {"LevelDB", build, count, nullptr, end, nullptr, nullptr};
