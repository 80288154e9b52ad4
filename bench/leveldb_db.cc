/* SPDX-License-Identifier: MIT
 *
 * leveldb_db.cc - what a filter gains in a real LevelDB: lookups of absent keys per second, and how
 * many data blocks were read for them, without a filter, with LevelDB's own, and with umbel's two
 *
 *   umbel-leveldb-bench [-d] [-n KEYS] [-r READS] [DIRECTORY]
 *
 * The databases are created in DIRECTORY (a new one below $TMPDIR) one after the other, 620 MB each
 * with 5 million keys, and removed.  Stored keys are even numbers, looked-up keys are odd: each
 * lies between two stored ones, so no table is ruled out by its range.  With -d keys consist of
 * digits alone: neighbours then differ in one character, which LevelDB's hash handles badly.
 */
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "umbel_leveldb.h"

namespace {

constexpr int kBitsPerKey = 10;
constexpr int kRounds = 5;
constexpr int kBatch = 1000;

std::atomic<uint64_t> file_reads{0};

/* Files that count their reads. */
class CountedFile : public leveldb::RandomAccessFile {
  public:
    explicit CountedFile(leveldb::RandomAccessFile *file) : file_(file) {}

    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice *result,
                         char *scratch) const override {
        file_reads.fetch_add(1, std::memory_order_relaxed);
        return file_->Read(offset, n, result, scratch);
    }

  private:
    std::unique_ptr<leveldb::RandomAccessFile> file_;
};

class CountingEnv : public leveldb::EnvWrapper {
  public:
    CountingEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

    leveldb::Status NewRandomAccessFile(const std::string &name,
                                        leveldb::RandomAccessFile **result) override {
        leveldb::RandomAccessFile *file = nullptr;
        leveldb::Status s = target()->NewRandomAccessFile(name, &file);
        if (s.ok()) *result = new CountedFile(file);
        return s;
    }
};

void must(const leveldb::Status &s) {
    if (s.ok()) return;
    fprintf(stderr, "umbel-leveldb-bench: %s\n", s.ToString().c_str());
    exit(2);
}

double now() {
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

/* Lookups find everything in the page cache: CPU time is what counts. */
double cpu_time() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

bool digits_alone = false;

/* Keys are ordered as numbers; after the number come digits that its neighbours do not share. */
leveldb::Slice key_of(uint64_t number, char text[24]) {
    unsigned noise = digits_alone ? 0 : static_cast<unsigned>(mix(number) & 0xffffff);
    snprintf(text, 24, digits_alone ? "%016llu" : "%010llu%06x",
             static_cast<unsigned long long>(number), noise);
    return leveldb::Slice(text, 16);
}

/* The C API's policies derive from FilterPolicy, which its header does not show. */
const leveldb::FilterPolicy *as_cpp(leveldb_filterpolicy_t *policy) {
    return reinterpret_cast<const leveldb::FilterPolicy *>(policy);
}

struct contender {
    const char *name;
    const leveldb::FilterPolicy *policy;
};

void fill(leveldb::DB *db, uint64_t keys) {
    leveldb::WriteBatch batch;
    char text[24], value[100];
    for (uint64_t i = 0; i < keys; i++) {
        for (size_t j = 0; j < sizeof value; j += 4) {
            uint32_t noise = static_cast<uint32_t>(mix(i * 25 + j));
            memcpy(value + j, &noise, 4);
        }
        batch.Put(key_of(2 * i, text), leveldb::Slice(value, sizeof value));
        if (batch.ApproximateSize() < kBatch * 120 && i + 1 < keys) continue;
        must(db->Write(leveldb::WriteOptions(), &batch));
        batch.Clear();
    }
    db->CompactRange(nullptr, nullptr);
}

struct result {
    double per_second;
    double blocks; /* read per thousand lookups */
};

result measure(leveldb::DB *db, uint64_t keys, uint64_t reads, uint64_t odd, uint64_t seed) {
    std::string value;
    char text[24];
    uint64_t found = 0, before = file_reads.load();
    double start = cpu_time();
    for (uint64_t i = 0; i < reads; i++) {
        uint64_t number = 2 * (mix(seed + i) % (keys - 1)) + odd;
        found += db->Get(leveldb::ReadOptions(), key_of(number, text), &value).ok();
    }
    double seconds = cpu_time() - start;
    if (found != (odd ? 0 : reads)) {
        fprintf(stderr, "umbel-leveldb-bench: %llu keys found\n",
                static_cast<unsigned long long>(found));
        exit(2);
    }
    return {static_cast<double>(reads) / seconds,
            1000.0 * static_cast<double>(file_reads.load() - before) / static_cast<double>(reads)};
}

/* The best of several: other load on the machine can only slow it down. */
result best_of(leveldb::DB *db, uint64_t keys, uint64_t reads, uint64_t odd) {
    std::vector<result> results;
    for (int i = 0; i < kRounds; i++) {
        results.push_back(measure(db, keys, reads, odd, static_cast<uint64_t>(i) << 40));
    }
    return *std::max_element(results.begin(), results.end(), [](const result &a, const result &b) {
        return a.per_second < b.per_second;
    });
}

double megabytes(leveldb::Env *env, const std::string &path) {
    std::vector<std::string> files;
    uint64_t sum = 0, size;
    must(env->GetChildren(path, &files));
    for (const std::string &file : files) {
        if (file.find(".ldb") != std::string::npos &&
            env->GetFileSize(path + "/" + file, &size).ok())
            sum += size;
    }
    return static_cast<double>(sum) / 1e6;
}

struct costs {
    double build, ask; /* nanoseconds per key */
};

/* The policy alone, on filters as a database has them: one per data block. */
costs price(const leveldb::FilterPolicy *policy) {
    constexpr int kFilters = 2000, kEach = 34, kAsks = 16, kBest = 20;
    std::vector<std::string> keys, absent, filters(kFilters);
    std::vector<int> where;
    std::vector<leveldb::Slice> slices;
    char text[24];
    for (int i = 0; i < kFilters * kEach; i++) keys.push_back(key_of(2 * i, text).ToString());
    slices.assign(keys.begin(), keys.end());
    for (int i = 0; i < kFilters * kAsks; i++) {
        int number = static_cast<int>(mix(i) % (kFilters * kEach));
        absent.push_back(key_of(2 * number + 1, text).ToString());
        where.push_back(number / kEach);
    }
    costs best = {1e9, 1e9};
    uint64_t hits = 0;
    for (int round = 0; round < kBest; round++) {
        double start = cpu_time();
        for (int i = 0; i < kFilters; i++) {
            filters[i].clear();
            policy->CreateFilter(&slices[i * kEach], kEach, &filters[i]);
        }
        double built = cpu_time();
        for (int i = 0; i < kFilters * kAsks; i++) {
            hits += policy->KeyMayMatch(absent[i], filters[where[i]]);
        }
        best.build = std::min(best.build, 1e9 * (built - start) / (kFilters * kEach));
        best.ask = std::min(best.ask, 1e9 * (cpu_time() - built) / (kFilters * kAsks));
    }
    if (hits > kBest * kFilters * kAsks / 10)
        fprintf(stderr, "umbel-leveldb-bench: too many hits\n");
    return best;
}

void run(const contender &c, const std::string &path, uint64_t keys, uint64_t reads) {
    CountingEnv env;
    leveldb::Options options;
    std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(8 << 20));
    options.env = &env;
    options.create_if_missing = true;
    options.filter_policy = c.policy;
    options.compression = leveldb::kNoCompression;
    options.block_cache = cache.get();
    options.max_open_files = 5000; /* every table stays open, with its index and filters */
    options.write_buffer_size = 64 << 20;
    leveldb::DB *db = nullptr;
    must(leveldb::DB::Open(options, path, &db));
    double start = now();
    fill(db, keys);
    double seconds = now() - start;
    measure(db, keys, reads / 4 + 1, 1, UINT64_C(1) << 50); /* opens the tables */
    result absent = best_of(db, keys, reads, 1), present = best_of(db, keys, reads, 0);
    delete db;
    double size = megabytes(&env, path);
    must(leveldb::DestroyDB(path, leveldb::Options()));
    printf("%-22s %8.1f s %9.1f %12.0f %10.1f %12.0f %10.1f", c.name, seconds, size,
           absent.per_second, absent.blocks, present.per_second, present.blocks);
    if (c.policy) {
        costs alone = price(c.policy);
        printf(" %9.1f %9.1f", alone.build, alone.ask);
    }
    printf("\n");
    fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
    uint64_t keys = 5000000, reads = 1000000;
    const char *tmp = getenv("TMPDIR");
    std::string folder = std::string(tmp && *tmp ? tmp : "/tmp") + "/umbel-leveldb-bench-XXXXXX";
    int option;
    while ((option = getopt(argc, argv, "dn:r:")) != -1) {
        if (option == 'd') digits_alone = true;
        if (option == 'n') keys = strtoull(optarg, nullptr, 10);
        if (option == 'r') reads = strtoull(optarg, nullptr, 10);
        if (option == '?') return 2;
    }
    if (keys < 2 || reads < 1) {
        fprintf(stderr, "umbel-leveldb-bench: -n 2 or more, -r 1 or more\n");
        return 2;
    }
    bool own = optind >= argc;
    if (!own) folder = argv[optind];
    if (own && !mkdtemp(folder.data())) {
        perror("umbel-leveldb-bench");
        return 2;
    }
    leveldb_filterpolicy_t *builtin = umbel_leveldb_builtin(kBitsPerKey);
    leveldb_filterpolicy_t *split = umbel_leveldb_split_block(kBitsPerKey);
    std::unique_ptr<const leveldb::FilterPolicy> theirs(leveldb::NewBloomFilterPolicy(kBitsPerKey));
    const contender contenders[] = {{"no filter", nullptr},
                                    {"LevelDB's own", theirs.get()},
                                    {"umbel_leveldb_builtin", as_cpp(builtin)},
                                    {"umbel.SplitBlock", as_cpp(split)}};
    printf("%llu keys of 16 bytes, values of 100; %d bits per key; best of %d x %llu lookups, a "
           "second of processor time\n",
           static_cast<unsigned long long>(keys), kBitsPerKey, kRounds,
           static_cast<unsigned long long>(reads));
    printf("%-22s %10s %9s %12s %10s %12s %10s %9s %9s\n", "filter", "filled in", "MB", "absent/s",
           "blocks/1k", "present/s", "blocks/1k", "build ns", "ask ns");
    for (const contender &c : contenders) run(c, folder + "/db", keys, reads);
    if (own) rmdir(folder.c_str());
    leveldb_filterpolicy_destroy(builtin);
    leveldb_filterpolicy_destroy(split);
    return 0;
}
