// SPDX-License-Identifier: MIT
//
// leveldb_filters.cc - CreateFilter and KeyMayMatch of the real LevelDB against the format leveldb
//
// leveldb_filters [SEED]: every case prints what it needs to be run again.
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "umbel_foreign.h"

namespace {

using Policy = std::unique_ptr<const leveldb::FilterPolicy>;

std::mt19937_64 random_bits;
unsigned long filters_compared, answers_compared;

struct Freed {
    void operator()(umbel_filter *f) const {
        umbel_free(f);
    }
};
using Filter = std::unique_ptr<umbel_filter, Freed>;

[[noreturn]] void differ(const char *what, int bits_per_key, size_t keys) {
    std::printf("not ok 1 - %s differs: %d bits a key, %zu keys\n", what, bits_per_key, keys);
    std::exit(1);
}

std::string random_key() {
    std::string key(random_bits() % 65, '\0');
    // Bytes of all values, or letters, or only high ones.
    int sort = static_cast<int>(random_bits() % 3);
    for (char &c : key) {
        uint64_t x = random_bits();
        c = static_cast<char>(sort == 0 ? x : sort == 1 ? 'a' + x % 26 : x | 0x80);
    }
    return key;
}

std::vector<std::string> random_keys() {
    static const size_t mosts[] = {1, 4, 20, 100, 1000};
    std::vector<std::string> keys(random_bits() % (mosts[random_bits() % 5] + 1));
    for (std::string &key : keys) key = random_key();
    if (keys.size() > 3) keys[1] = keys[0]; // duplicates count twice
    return keys;
}

std::string theirs(const Policy &policy, const std::vector<std::string> &keys) {
    std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
    std::string bytes;
    policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &bytes);
    return bytes;
}

std::string ours(int bits_per_key, const std::vector<std::string> &keys) {
    umbel_foreign params = {};
    params.format = UMBEL_FMT_LEVELDB;
    if (bits_per_key) {
        params.capacity = keys.size();
        params.bits_per_key = static_cast<uint32_t>(bits_per_key);
    } else {
        params.bytes = 8;
        params.hashes = 1;
    }
    umbel_filter *made = nullptr;
    if (umbel_create_foreign(&params, nullptr, &made, nullptr)) return "not made";
    Filter filter(made);
    std::vector<umbel_key> batch;
    for (const std::string &key : keys) batch.push_back({key.data(), key.size()});
    if (umbel_add_many(made, batch.data(), batch.size(), nullptr, NULL, NULL)) return "not added";
    std::string bytes(umbel_encoded_size(made, UMBEL_FMT_LEVELDB), '\0');
    if (umbel_encode(made, UMBEL_FMT_LEVELDB, &bytes[0], bytes.size(), nullptr))
        return "not written";
    return bytes;
}

// What each answers for each key, over the same bytes.
void compare_answers(const Policy &policy, const std::string &bytes, int bits_per_key,
                     const std::vector<std::string> &keys) {
    umbel_filter *seen = nullptr;
    umbel_foreign leveldb = {};
    leveldb.format = UMBEL_FMT_LEVELDB;
    if (umbel_decode(bytes.data(), bytes.size(), UMBEL_MAP, &leveldb, nullptr, &seen, nullptr)) {
        differ("the view", bits_per_key, keys.size());
    }
    Filter view(seen);
    std::vector<umbel_key> batch;
    for (const std::string &key : keys) batch.push_back({key.data(), key.size()});
    std::vector<uint8_t> hit(keys.size() + 1);
    umbel_contains_many(seen, batch.data(), batch.size(), hit.data());
    for (size_t i = 0; i < keys.size(); i++) {
        bool want = policy->KeyMayMatch(keys[i], bytes);
        bool got = umbel_contains(seen, keys[i].data(), keys[i].size());
        if (got != want || hit[i] != want) differ("an answer", bits_per_key, keys.size());
        answers_compared++;
    }
}

void one_set(int bits_per_key) {
    Policy policy(leveldb::NewBloomFilterPolicy(bits_per_key));
    std::vector<std::string> keys = random_keys();
    std::string bytes = theirs(policy, keys);
    if (ours(bits_per_key, keys) != bytes) differ("the filter", bits_per_key, keys.size());
    filters_compared++;
    std::vector<std::string> asked = keys;
    for (int i = 0; i < 100; i++) asked.push_back(random_key());
    compare_answers(policy, bytes, bits_per_key, asked);
}

// Bytes that no writer produced: any length from 0, any k.
void one_oddity() {
    Policy policy(leveldb::NewBloomFilterPolicy(10));
    std::string bytes(random_bits() % 40, '\0');
    for (char &c : bytes) c = static_cast<char>(random_bits() | random_bits());
    std::vector<std::string> asked;
    for (int i = 0; i < 20; i++) asked.push_back(random_key());
    compare_answers(policy, bytes, -1, asked);
}

} // namespace

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : std::random_device()();
    std::printf("# seed %llu\n", static_cast<unsigned long long>(seed));
    random_bits.seed(seed);
    for (int bits_per_key = 0; bits_per_key <= 200; bits_per_key++) {
        for (int i = 0; i < 20; i++) one_set(bits_per_key);
    }
    for (int i = 0; i < 5000; i++) one_oddity();
    std::printf("# %lu filters and %lu answers compared\n", filters_compared, answers_compared);
    std::printf("ok 1 - filters and answers are those of LevelDB\n1..1\n");
    return 0;
}
