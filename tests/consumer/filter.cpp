// SPDX-License-Identifier: MIT
//
// filter.cpp - everything that umbel.hpp has, used once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <list>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
// clang 14 does not compile the views of libstdc++ 12.
#if __cplusplus >= 202002L && (!defined(__clang__) || __clang_major__ >= 16)
#define HAVE_VIEWS
#include <ranges>
#include <span>
#endif

#include <umbel.hpp>

#undef NDEBUG
#include <cassert>

static_assert(!std::is_copy_constructible_v<umbel::filter>, "a filter is copied by copy() only");
static_assert(std::is_nothrow_move_constructible_v<umbel::filter>, "and moves for free");

static void keys() {
    umbel::filter seen(1000, 0.01);
    bool was_new = false;
    assert(seen.add("ada", &was_new) && was_new);
    assert(seen.add(std::string("bob"), &was_new) && was_new);
    assert(seen.add("ada", &was_new) && !was_new);
    assert(seen.contains("ada") && !seen.contains("eve"));
    assert(seen.add({"carol", "dave", std::string_view("with\0nul", 8)}));
    std::vector<std::uint8_t> hit = seen.contains({"carol", "mallory", std::string_view("with\0nul", 8)});
    assert(hit.size() == 3 && hit[0] && !hit[1] && hit[2]);
    assert(seen.info().capacity == 1000 && std::lround(seen.measure().keys) == 5);

    umbel::filter moved = std::move(seen);
    assert(!seen.get() && moved.contains("bob"));
    assert(moved.clear() && !moved.contains("bob"));
}

/* Batches of whatever people hold their keys in. */
static void batches() {
    umbel::filter seen(1000, 0.001);
    std::vector<std::string> strings{"ada", "bob"};
    std::vector<const char *> literals{"carol", "dave"};
    std::set<std::string, std::less<>> tree{"eve"};
    std::list<std::string_view> views{"frank"};
    const char *array[] = {"grace", "heidi"};
    std::vector<std::uint8_t> was_new;
    assert(seen.add(strings, &was_new) && was_new == std::vector<std::uint8_t>({1, 1}));
    assert(seen.add({"bob", "ivan"}, &was_new) && was_new == std::vector<std::uint8_t>({0, 1}));
    assert(seen.add(literals) && seen.add(tree) && seen.add(views) && seen.add(array));
    for (const char *name : {"ada", "carol", "eve", "frank", "heidi"}) assert(seen.contains(name));
    assert(seen.contains(strings) == std::vector<std::uint8_t>({1, 1}));
    assert(seen.contains(std::vector<std::string>{"mallory"})[0] == 0);
#ifdef HAVE_VIEWS
    auto made = strings | std::views::transform([](const std::string &s) { return "made-" + s; });
    assert(seen.add(made) && seen.contains("made-ada") && seen.contains("made-bob"));
    auto chosen = strings | std::views::filter([](const std::string &s) { return s != "bob"; });
    assert(seen.contains(chosen) == std::vector<std::uint8_t>({1}));
    auto split = std::views::split(std::string_view("ada,nobody,bob"), ',');
    assert(seen.contains(split) == std::vector<std::uint8_t>({1, 0, 1}));
    std::istringstream words("ada nobody bob");
    assert(seen.contains(std::views::istream<std::string>(words)) == std::vector<std::uint8_t>({1, 0, 1}));
    std::array<std::uint8_t, 3> there{};
    assert(seen.contains(split, std::span(there)) == 3 && there == (std::array<std::uint8_t, 3>{1, 0, 1}));
#endif
    assert(seen.takes_hashes() && seen.contains_hash(seen.hash("ada")));
    std::vector<std::uint64_t> hashes{seen.hash("judy"), seen.hash("ada")};
    assert(seen.contains_hashes(hashes) == std::vector<std::uint8_t>({0, 1}));
    assert(seen.add_hashes(hashes, &was_new) && was_new == std::vector<std::uint8_t>({1, 0}));
    assert(seen.contains("judy"));
}

/* A stream of keys that are all at one place, more of them than a chunk has, into room for fewer. */
struct numbered {
    struct iterator {
        using iterator_category = std::input_iterator_tag;
        using value_type = std::string;
        using difference_type = std::ptrdiff_t;
        using pointer = const std::string *;
        using reference = const std::string &;
        numbered *from;
        reference operator*() const {
            return from->now;
        }
        iterator &operator++() {
            from->now = "key " + std::to_string(--from->left);
            return *this;
        }
        void operator++(int) {
            ++*this;
        }
        bool operator!=(const iterator &) const {
            return from->left > 0;
        }
        bool operator==(const iterator &end) const {
            return !(*this != end);
        }
    };
    std::size_t left;
    std::string now = "key " + std::to_string(left);
    iterator begin() {
        return {this};
    }
    iterator end() {
        return {this};
    }
};

static void streams() {
    umbel::filter seen(10000, 1e-6);
    std::vector<std::uint8_t> was_new;
    assert(seen.add(numbered{2000}, &was_new) && was_new.size() == 2000);
    assert(std::count(was_new.begin(), was_new.end(), 1) == 2000);
    std::vector<std::uint8_t> hit = seen.contains(numbered{4000});
    assert(hit.size() == 4000 && std::count(hit.begin() + 2000, hit.end(), 1) == 2000);
    assert(std::count(hit.begin(), hit.begin() + 2000, 1) <= 3);
    std::vector<std::uint8_t> some(700, 9);
    assert(seen.contains(numbered{2000}, some) == 700 && std::count(some.begin(), some.end(), 1) == 700);
    assert(seen.contains(numbered{5}, some) == 5 && some[5] == 1);
    std::uint8_t two[2] = {9, 9};
    assert(seen.contains(std::vector<std::string>{"key 1", "nobody"}, two) == 2 && two[0] == 1 && two[1] == 0);

    const std::string bytes = seen.encode().value();
    umbel_filter *view = nullptr;
    assert(umbel_decode(bytes.data(), bytes.size(), UMBEL_MAP, nullptr, nullptr, &view, nullptr) == UMBEL_OK);
    assert(umbel::filter(view).add(numbered{2000}, &was_new).code() == UMBEL_EFROZEN && was_new.empty());
}

static void built_and_planned() {
    umbel_params params{};
    params.kind = UMBEL_KIND_TIGHT;
    params.fpr = 0.001;
    umbel::result<umbel::builder> all = umbel::builder::create(params);
    assert(all && all->add("ada") && all->add(std::vector<std::string>{"bob"}) && all->add({"eve"}));
    const umbel::result<umbel::filter> tight = all->finish();
    assert(tight && tight->contains("ada") && (*tight).contains("eve"));
    assert(tight.value().info().kind == UMBEL_KIND_TIGHT);

    const umbel::result<umbel_plan> plan = umbel::plan(1000000, 0.01);
    assert(plan && plan->bytes > 1000000 && plan->bytes < 2000000);
    assert(!umbel::plan(1000, 2));
}

static void sets() {
    umbel::filter a(100, 0.001), b(100, 0.001);
    assert(a.add({"x", "y"}) && b.add({"y", "z"}));
    umbel::filter both = a.copy().value(), common = a.copy().value();
    assert(both == a && both != b);
    assert(both.merge(b) && both.contains("x") && both.contains("z"));
    assert(common.intersect(b) && common.contains("y") && !common.contains("x"));
    umbel::filter larger(1000, 0.001);
    umbel::status refused = a.merge(larger);
    assert(!refused && refused.code() == UMBEL_EMISMATCH && !refused.message().empty());
    assert(a.recipe() == "line" && a.set_recipe("line lower") && a.recipe() == "line lower");
    assert(a.set_recipe("colour=red").code() == UMBEL_EVERSION);
    assert(a.merge(b).code() == UMBEL_EMISMATCH && b.set_recipe("field=2 lower") && a.merge(b));
    assert(!a.meta("source") && a.set_meta("source", "a.log") && a.meta("source") == "a.log");
}

static void kinds_and_bytes(const std::string &path) {
    umbel_params counting{};
    counting.kind = UMBEL_KIND_COUNTING;
    counting.capacity = 100;
    counting.fpr = 0.01;
    umbel::result<umbel::filter> counts = umbel::filter::create(counting);
    assert(counts && counts->add("twice") && counts->remove("twice") && !counts->contains("twice"));
    assert(counts->remove("never").code() == UMBEL_EABSENT);

    umbel_foreign guava{};
    guava.format = UMBEL_FMT_GUAVA;
    guava.capacity = 100;
    guava.fpr = 0.03;
    umbel::filter java = umbel::filter::create(guava).value();
    assert(java.add("ada"));
    std::string bytes = java.encode().value();
    umbel_foreign as{};
    as.format = UMBEL_FMT_GUAVA;
    umbel::result<umbel::filter> again = umbel::filter::decode(bytes, &as);
    assert(again && again->contains("ada") && *again == java);

    umbel::filter names(10, 1e-6);
    assert(names.add("ada") && names.save(path));
    assert(umbel::filter::load(path)->contains("ada"));
    umbel::result<umbel::filter> mapped = umbel::filter::open(path);
    assert(mapped && mapped->info().frozen && mapped->add("eve").code() == UMBEL_EFROZEN);
    umbel_filter *raw = names.release();
    assert(raw && umbel_contains(raw, "ada", 3));
    umbel_free(raw);
}

static void failures() {
    umbel::result<umbel::filter> none = umbel::filter::load("does/not/exist");
    assert(!none && none.why().code() == UMBEL_EIO && none.why().diag().sys != 0);
    assert(none.why().message().find("No such file") != std::string::npos);
#if defined(__cpp_exceptions)
    bool thrown = false;
    try {
        umbel::filter impossible(1000, 2.0);
    } catch (const umbel::error &e) {
        thrown = e.why().code() == UMBEL_EINVAL && std::strstr(e.what(), "fpr");
    }
    assert(thrown);
    umbel::filter here(10, 0.1), there = std::move(here);
    bool refused = false;
    try {
        (void)here.contains("ada");
    } catch (const umbel::error &e) {
        refused = std::strstr(e.what(), "moved from") != nullptr;
    }
    assert(refused && there.get());
#endif
}

int main(int argc, char **argv) {
    assert(argc == 2);
    keys();
    batches();
    streams();
    built_and_planned();
    sets();
    kinds_and_bytes(std::string(argv[1]) + "/names.umb");
    failures();
    std::puts("umbel.hpp works");
    return 0;
}
