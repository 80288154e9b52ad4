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

void *build(const uint64_t *keys, size_t n, double bits_per_key) {
    auto f = new filter{std::unique_ptr<const leveldb::FilterPolicy>(
                            leveldb::NewBloomFilterPolicy(static_cast<int>(bits_per_key))),
                        {}};
    std::vector<leveldb::Slice> slices;
    slices.reserve(n);
    for (size_t i = 0; i < n; i++) slices.emplace_back(reinterpret_cast<const char *>(&keys[i]), 8);
    f->policy->CreateFilter(slices.data(), static_cast<int>(n), &f->bytes);
    return f;
}

size_t count(void *p, const uint64_t *keys, size_t n) {
    const filter *f = static_cast<const filter *>(p);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        leveldb::Slice key(reinterpret_cast<const char *>(&keys[i]), 8);
        found += f->policy->KeyMayMatch(key, f->bytes);
    }
    return found;
}

void end(void *p) {
    delete static_cast<filter *>(p);
}

} // namespace

extern "C" const peer peer_leveldb = {"LevelDB", build, count, end, nullptr, nullptr};
