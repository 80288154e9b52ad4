/* SPDX-License-Identifier: MIT
 *
 * umbel.hpp - umbel.h for C++17: filters that free themselves, string views, results
 *
 *   umbel::filter seen(1000000, 0.01);
 *   seen.add("ada");
 *   if (seen.contains("ada")) std::puts("perhaps");
 *   if (auto saved = seen.save("seen.umb"); !saved) std::puts(saved.message().c_str());
 *
 *   umbel::result<umbel::filter> loaded = umbel::filter::load("seen.umb");
 *   if (loaded) loaded->add(std::vector<std::string>{"bob", "eve"});
 *
 * A thin layer, header only: get() gives the handle for everything that is not here.  Keys are
 * anything that converts to std::string_view, and batches any range of such keys: a vector, a set,
 * a view, the words of a stream, a braced list.  A batch is read once and takes no memory but its
 * answers.  The rules of umbel.h hold.
 *
 * Errors are values: a status, or a result with a value or a status.  Three things throw
 * umbel::error, or call std::abort where exceptions are disabled: the constructor from capacity and
 * rate, result::value(), and any use of a filter that was moved from.
 */
#ifndef UMBEL_HPP
#define UMBEL_HPP

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "umbel_foreign.h"
#include "umbel_recipe.h"

namespace umbel {

/* The outcome of a call: the error, and what the library says about it. */
class status {
  public:
    status() = default;
    status(umbel_err err, const umbel_diag &diag) : err_(err), diag_(diag) {}

    explicit operator bool() const noexcept {
        return err_ == UMBEL_OK;
    }
    umbel_err code() const noexcept {
        return err_;
    }
    const umbel_diag &diag() const noexcept {
        return diag_;
    }
    std::string message() const {
        char text[256];
        return umbel_explain(err_, &diag_, text, sizeof text);
    }

  private:
    umbel_err err_ = UMBEL_OK;
    umbel_diag diag_{};
};

class error : public std::runtime_error {
  public:
    explicit error(const status &why) : std::runtime_error(why.message()), why_(why) {}
    const status &why() const noexcept {
        return why_;
    }

  private:
    status why_;
};

[[noreturn]] inline void fail(const status &why) {
#if defined(__cpp_exceptions)
    throw error(why);
#else
    (void)why;
    std::abort();
#endif
}

/* A value, or why there is none. */
template <class T> class [[nodiscard]] result {
  public:
    result(T value) : value_(std::move(value)) {}
    result(const status &why) : why_(why) {}

    explicit operator bool() const noexcept {
        return value_.has_value();
    }
    const status &why() const noexcept {
        return why_;
    }
    T &operator*() noexcept {
        return *value_;
    }
    const T &operator*() const noexcept {
        return *value_;
    }
    T *operator->() noexcept {
        return &*value_;
    }
    const T *operator->() const noexcept {
        return &*value_;
    }
    T &value() & {
        return checked(*this);
    }
    const T &value() const & {
        return checked(*this);
    }
    T &&value() && {
        return std::move(checked(*this));
    }

  private:
    template <class Self> static auto &checked(Self &self) {
        if (!self.value_) fail(self.why_);
        return *self.value_;
    }

    std::optional<T> value_;
    status why_;
};

inline umbel_key key(std::string_view k) noexcept {
    return {k.data(), k.size()};
}

namespace detail {

template <class R> using iterator = decltype(std::begin(std::declval<R &>()));
template <class R> using element = decltype(*std::declval<iterator<R> &>());

template <class T, class = void> struct is_text : std::false_type {};
template <class T>
struct is_text<T, std::void_t<decltype(std::string_view(std::data(std::declval<T &>()),
                                                        std::size(std::declval<T &>())))>>
    : std::true_type {};

/* A key as text: what converts to a view, or has characters in a row, as the parts of a split view. */
template <class T> constexpr bool is_key = std::is_convertible_v<T, std::string_view> || is_text<T>::value;
template <class T> std::string_view text(T &&k) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
        return k;
    } else {
        return {std::data(k), std::size(k)};
    }
}

/* A range of keys, and not itself a key, as std::string is. */
template <class R, class = void> struct is_batch : std::false_type {};
template <class R>
struct is_batch<R, std::void_t<element<R>>>
    : std::bool_constant<is_key<element<R>> && !std::is_convertible_v<R, std::string_view>> {};
template <class R> using batch = std::enable_if_t<is_batch<R>::value, int>;

/* Whether a key stays where it is when the iterator goes on.  Those of a stream do not, nor do
 * strings that a view makes as it goes. */
template <class R> constexpr bool keys_stay() {
    using made = std::remove_cv_t<std::remove_reference_t<element<R>>>;
    constexpr bool points = std::is_reference_v<element<R>> || std::is_pointer_v<made> ||
                            std::is_trivially_copyable_v<made>;
#if defined(__cpp_lib_ranges)
    return points && std::forward_iterator<iterator<R>>;
#else
    return points && std::is_base_of_v<std::forward_iterator_tag,
                                       typename std::iterator_traits<iterator<R>>::iterator_category>;
#endif
}

/* Goes through the keys once and hands them on in chunks, which take no memory but the stack's, until
 * take(keys, n) says no. */
template <class R, class Take> void in_chunks(R &keys, Take take) {
    constexpr std::size_t most = 512;
    constexpr bool stay = keys_stay<R>();
    umbel_key chunk[most];
    std::string kept[stay ? 1 : most];
    std::size_t n = 0;
    for (auto &&k : keys) {
        if constexpr (stay) {
            chunk[n] = key(text(k));
        } else {
            kept[n] = text(k);
            chunk[n] = key(kept[n]);
        }
        if (++n == most) {
            if (!take(chunk, n)) return;
            n = 0;
        }
    }
    if (n) take(chunk, n);
}

template <class R, class = void> struct count {
    static std::size_t of(const R &) {
        return 0;
    }
};
template <class R> struct count<R, std::void_t<decltype(std::size(std::declval<R &>()))>> {
    static std::size_t of(R &keys) {
        return static_cast<std::size_t>(std::size(keys));
    }
};

/* A byte for each key of a batch, at the end of `answers`. */
inline std::uint8_t *room(std::vector<std::uint8_t> &answers, std::size_t n) {
    answers.resize(answers.size() + n);
    return answers.data() + answers.size() - n;
}

struct freed {
    void operator()(umbel_filter *f) const noexcept {
        umbel_free(f);
    }
    void operator()(umbel_builder *b) const noexcept {
        umbel_builder_free(b);
    }
};

/* The owned handle, for a call; a filter that was moved from has none. */
template <class T> T *live(const std::unique_ptr<T, freed> &handle) {
    if (!handle) {
        umbel_diag diag{};
        diag.what = "used after it was moved from";
        fail(status(UMBEL_EINVAL, diag));
    }
    return handle.get();
}

} // namespace detail

/* Owns an umbel_filter; can be moved, but is copied only by copy(). */
class filter {
  public:
    filter(std::uint64_t capacity, double fpr) {
        umbel_params params{};
        params.capacity = capacity;
        params.fpr = fpr;
        *this = std::move(create(params)).value();
    }
    explicit filter(umbel_filter *owned) noexcept : handle_(owned) {}

    static result<filter> create(const umbel_params &params, const umbel_opts *opts = nullptr) {
        return make(umbel_create, &params, opts);
    }
    static result<filter> create(const umbel_foreign &foreign, const umbel_opts *opts = nullptr) {
        return make(umbel_create_foreign, &foreign, opts);
    }
    static result<filter> load(const std::string &path, const umbel_foreign *as = nullptr,
                               const umbel_opts *opts = nullptr) {
        return make(umbel_file_open, path.c_str(), UMBEL_LOAD, as, opts);
    }
    /* Maps the file: immediate at any size, and read-only. */
    static result<filter> open(const std::string &path, const umbel_foreign *as = nullptr,
                               const umbel_opts *opts = nullptr) {
        return make(umbel_file_open, path.c_str(), UMBEL_MAP, as, opts);
    }
    static result<filter> decode(std::string_view bytes, const umbel_foreign *as = nullptr,
                                 const umbel_opts *opts = nullptr) {
        return make(umbel_decode, bytes.data(), bytes.size(), UMBEL_LOAD, as, opts);
    }
    result<filter> copy() const {
        return make(umbel_copy, live());
    }

    /* Null if it was moved from. */
    umbel_filter *get() const noexcept {
        return handle_.get();
    }
    umbel_filter *release() noexcept {
        return handle_.release();
    }

    /* *was_new (optional) says whether the key was certainly absent.  Adding fails where a filter
     * is read-only or may not grow; one made from capacity and rate alone always takes a key. */
    status add(std::string_view k, bool *was_new = nullptr) {
        return call(umbel_add, k.data(), k.size(), was_new);
    }
    /* was_new (optional) gets a 1 or 0 for each key that was added: for all of them, unless adding
     * fails. */
    template <class R, detail::batch<R> = 0>
    status add(R &&keys, std::vector<std::uint8_t> *was_new = nullptr) {
        if (was_new) {
            was_new->clear();
            was_new->reserve(detail::count<R>::of(keys));
        }
        status outcome;
        detail::in_chunks(keys, [&](const umbel_key *chunk, std::size_t n) {
            std::size_t done = n;
            std::uint8_t *fresh = was_new ? detail::room(*was_new, n) : nullptr;
            outcome = call(umbel_add_many, chunk, n, fresh, &done);
            if (was_new) was_new->resize(was_new->size() - (n - done));
            return bool(outcome);
        });
        return outcome;
    }
    status add(std::initializer_list<std::string_view> keys,
               std::vector<std::uint8_t> *was_new = nullptr) {
        return add<std::initializer_list<std::string_view> &>(keys, was_new);
    }
    /* Whether lookups in a view or a mapped file have met damage, where they answer true. */
    [[nodiscard]] status damage() const {
        return call(umbel_damage);
    }

    bool contains(std::string_view k) const {
        return umbel_contains(live(), k.data(), k.size());
    }
    /* A 1 or 0 for each key. */
    template <class R, detail::batch<R> = 0> std::vector<std::uint8_t> contains(R &&keys) const {
        std::vector<std::uint8_t> hit;
        hit.reserve(detail::count<R>::of(keys));
        detail::in_chunks(keys, [&](const umbel_key *chunk, std::size_t n) {
            umbel_contains_many(live(), chunk, n, detail::room(hit, n));
            return true;
        });
        return hit;
    }
    std::vector<std::uint8_t> contains(std::initializer_list<std::string_view> keys) const {
        return contains<std::initializer_list<std::string_view> &>(keys);
    }
    /* The same into bytes that the caller has, a vector, an array or a span: as many answers as
     * there are keys and room for. */
    template <class R, class Bytes, detail::batch<R> = 0>
    std::size_t contains(R &&keys, Bytes &&hit) const {
        std::uint8_t *to = std::data(hit);
        std::size_t left = std::size(hit);
        detail::in_chunks(keys, [&](const umbel_key *chunk, std::size_t n) {
            n = n < left ? n : left;
            umbel_contains_many(live(), chunk, n, to);
            to += n;
            left -= n;
            return left > 0;
        });
        return std::size(hit) - left;
    }

    /* Hash once, look up often: see umbel_hash_many. */
    bool takes_hashes() const {
        umbel_info info;
        umbel_describe(live(), &info);
        return info.takes_hashes;
    }
    std::uint64_t hash(std::string_view k) const {
        const umbel_key key{k.data(), k.size()};
        std::uint64_t hash = 0; /* stays so if it takes none */
        (void)umbel_hash_many(live(), &key, 1, &hash, nullptr);
        return hash;
    }
    bool contains_hash(std::uint64_t h) const {
        return umbel_contains_hash(live(), h);
    }
    std::vector<std::uint8_t> contains_hashes(const std::vector<std::uint64_t> &hashes) const {
        std::vector<std::uint8_t> hit(hashes.size());
        umbel_contains_hashes(live(), hashes.data(), hashes.size(), hit.data());
        return hit;
    }
    status add_hashes(const std::vector<std::uint64_t> &hashes,
                      std::vector<std::uint8_t> *was_new = nullptr) {
        if (was_new) was_new->assign(hashes.size(), 0);
        return call(umbel_add_hashes, hashes.data(), hashes.size(),
                    was_new ? was_new->data() : nullptr, nullptr);
    }

    [[nodiscard]] status remove(std::string_view k) {
        return call(umbel_remove, k.data(), k.size());
    }
    [[nodiscard]] status clear() {
        return call(umbel_clear);
    }
    [[nodiscard]] status merge(const filter &from) {
        return call(umbel_merge, from.live());
    }
    [[nodiscard]] status intersect(const filter &with) {
        return call(umbel_intersect, with.live());
    }

    [[nodiscard]] status save(const std::string &path, umbel_format format = UMBEL_FMT_ANY) const {
        return call(umbel_file_save, format, path.c_str());
    }
    result<std::string> encode(umbel_format format = UMBEL_FMT_ANY) const {
        std::string bytes(static_cast<std::size_t>(umbel_encoded_size(live(), format)), '\0');
        status done = call(umbel_encode, format, bytes.data(), bytes.size());
        if (!done) return done;
        return bytes;
    }
    umbel_info info() const {
        umbel_info about;
        umbel_describe(live(), &about);
        return about;
    }
    umbel_measurement measure() const {
        umbel_measurement now;
        umbel_measure(live(), &now);
        return now;
    }

    // How records become keys (umbel_recipe.h), and text about the filter.
    std::string recipe() const {
        return umbel_get_recipe(live());
    }
    [[nodiscard]] status set_recipe(const std::string &text) {
        return call(umbel_set_recipe, text.c_str());
    }
    std::optional<std::string> meta(const std::string &name) const {
        const char *value = umbel_get_meta(live(), name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    }
    [[nodiscard]] status set_meta(const std::string &name, const std::string &value) {
        return call(umbel_set_meta, name.c_str(), value.c_str());
    }

    friend bool operator==(const filter &a, const filter &b) {
        return umbel_equal(a.live(), b.live());
    }
    friend bool operator!=(const filter &a, const filter &b) {
        return !(a == b);
    }

  private:
    friend class builder;

    umbel_filter *live() const {
        return detail::live(handle_);
    }
    template <class F, class... Args> static result<filter> make(F f, Args... args) {
        umbel_filter *made = nullptr;
        umbel_diag diag{};
        umbel_err err = f(args..., &made, &diag);
        if (err) return status(err, diag);
        return filter(made);
    }
    template <class F, class... Args> status call(F f, Args... args) const {
        umbel_diag diag{};
        umbel_err err = f(live(), args..., &diag);
        return status(err, diag);
    }

    std::unique_ptr<umbel_filter, detail::freed> handle_;
};

/* Builds a filter from all its keys, the only way to make a static or tight one: see
 * umbel_builder. */
class builder {
  public:
    static result<builder> create(const umbel_params &params, const umbel_opts *opts = nullptr) {
        umbel_builder *made = nullptr;
        umbel_diag diag{};
        umbel_err err = umbel_builder_new(&params, opts, &made, &diag);
        if (err) return status(err, diag);
        return builder(made);
    }
    [[nodiscard]] status add(std::string_view k) {
        umbel_key one = key(k);
        return put(&one, 1);
    }
    template <class R, detail::batch<R> = 0> [[nodiscard]] status add(R &&keys) {
        status outcome;
        detail::in_chunks(keys, [&](const umbel_key *chunk, std::size_t n) {
            outcome = put(chunk, n);
            return bool(outcome);
        });
        return outcome;
    }
    [[nodiscard]] status add(std::initializer_list<std::string_view> keys) {
        return add<std::initializer_list<std::string_view> &>(keys);
    }
    result<filter> finish() {
        return filter::make(umbel_builder_finish, detail::live(handle_));
    }

  private:
    explicit builder(umbel_builder *owned) noexcept : handle_(owned) {}
    status put(const umbel_key *keys, std::size_t n) {
        umbel_diag diag{};
        umbel_err err = umbel_builder_add(detail::live(handle_), keys, n, &diag);
        return status(err, diag);
    }

    std::unique_ptr<umbel_builder, detail::freed> handle_;
};

/* Completes a plan of which two of capacity, fpr and bytes are given: see umbel_plan.h. */
inline result<umbel_plan> solve(umbel_plan plan) {
    umbel_diag diag{};
    umbel_err err = umbel_plan_solve(&plan, &diag);
    if (err) return status(err, diag);
    return plan;
}
inline result<umbel_plan> plan(std::uint64_t capacity, double fpr,
                               umbel_kind kind = UMBEL_KIND_AUTO) {
    umbel_plan wanted{};
    wanted.kind = kind;
    wanted.capacity = capacity;
    wanted.fpr = fpr;
    return solve(wanted);
}

} // namespace umbel

#endif /* UMBEL_HPP */
