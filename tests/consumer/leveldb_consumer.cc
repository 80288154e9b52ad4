// SPDX-License-Identifier: MIT
//
// leveldb_consumer.cc FOLDER - a LevelDB program in C++ with each of umbel's filter policies
#include <leveldb/db.h>
#include <umbel_leveldb.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

static bool use(const std::string &folder, const leveldb::FilterPolicy *policy, const char *name) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = policy;
    leveldb::DB *opened = nullptr;
    leveldb::Status status = leveldb::DB::Open(options, folder, &opened);
    std::unique_ptr<leveldb::DB> db(opened);
    for (int i = 0; status.ok() && i < 1000; i++) {
        status = db->Put(leveldb::WriteOptions(), "key" + std::to_string(i), "value");
    }
    if (status.ok()) db->CompactRange(nullptr, nullptr); // a table, with filters in it
    std::string value;
    for (int i = 0; status.ok() && i < 1000; i++) {
        status = db->Get(leveldb::ReadOptions(), "key" + std::to_string(i), &value);
    }
    bool found = status.ok();
    bool lied = found && !db->Get(leveldb::ReadOptions(), "absent", &value).IsNotFound();
    std::printf("%s: %s\n", policy->Name(), status.ToString().c_str());
    return found && !lied && std::strcmp(policy->Name(), name) == 0;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    std::string folder = argv[1];
    std::unique_ptr<const leveldb::FilterPolicy> builtin = umbel::leveldb_builtin(10);
    std::unique_ptr<const leveldb::FilterPolicy> split = umbel::leveldb_split_block(10);
    bool refused = !umbel::leveldb_builtin(-1) && !umbel::leveldb_split_block(0);
    bool worked = use(folder + "/builtin", builtin.get(), "leveldb.BuiltinBloomFilter2") &&
                  use(folder + "/split", split.get(), "umbel.SplitBlock");
    return refused && worked ? 0 : 1;
}
