// SPDX-License-Identifier: MIT
//
// blocklist.cpp - builds a filter of listed names, saves it, maps it and looks names up
//
//   c++ -std=c++17 blocklist.cpp $(pkg-config --cflags --libs umbel) -o blocklist
//   ./blocklist names.umb bad.example worse.example -- good.example bad.example
//
// Names before "--" are listed; those after it are looked up.

#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include <umbel.hpp>

int main(int argc, char **argv) {
    std::vector<std::string_view> listed, wanted, *into = &listed;
    for (int i = 2; i < argc; i++) {
        if (std::strcmp(argv[i], "--") == 0) {
            into = &wanted;
        } else {
            into->push_back(argv[i]);
        }
    }
    if (argc < 2) {
        std::fputs("usage: blocklist FILE NAME... -- NAME...\n", stderr);
        return 2;
    }

    umbel::filter names(listed.size() + 1, 1e-6);
    if (auto added = names.add(listed); !added) {
        std::fprintf(stderr, "%s\n", added.message().c_str());
        return 2;
    }
    if (auto saved = names.save(argv[1]); !saved) {
        std::fprintf(stderr, "%s: %s\n", argv[1], saved.message().c_str());
        return 2;
    }

    umbel::result<umbel::filter> mapped = umbel::filter::open(argv[1]);
    if (!mapped) {
        std::fprintf(stderr, "%s: %s\n", argv[1], mapped.why().message().c_str());
        return 2;
    }
    std::vector<std::uint8_t> hit = mapped->contains(wanted);
    for (std::size_t i = 0; i < wanted.size(); i++) {
        std::printf("%s %.*s\n", hit[i] ? "listed" : "fine  ", static_cast<int>(wanted[i].size()),
                    wanted[i].data());
    }
    return 0;
}
