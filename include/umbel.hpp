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
 *   if (loaded) loaded->add("bob");
 *
 * A thin layer, header only: get() gives the handle for everything that is not here.  Nothing
 * throws unless you ask for it: result::value(), and the constructor from capacity and rate, throw
 * umbel::error where exceptions are enabled and call std::abort where they are not.  Keys are
 * anything that converts to std::string_view.  The rules of umbel.h hold.
 */
#ifndef UMBEL_HPP
#define UMBEL_HPP

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "umbel_foreign.h"

namespace umbel {

/* What a call came to: the error, and what the library says about it. */
class [[nodiscard]] status {
  public:
    status() = default;
    status(umbel_err err, const umbel_diag &diag) : err_(err), diag_(diag) {}

    explicit operator bool() const noexcept { return err_ == UMBEL_OK; }
    umbel_err code() const noexcept { return err_; }
    const umbel_diag &diag() const noexcept { return diag_; }
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
    const status &why() const noexcept { return why_; }

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

    explicit operator bool() const noexcept { return value_.has_value(); }
    const status &why() const noexcept { return why_; }
    T &operator*() noexcept { return *value_; }
    T *operator->() noexcept { return &*value_; }
    T &value() & {
        if (!value_) fail(why_);
        return *value_;
    }
    T &&value() && {
        if (!value_) fail(why_);
        return std::move(*value_);
    }

  private:
    std::optional<T> value_;
    status why_;
};

inline umbel_key key(std::string_view k) noexcept { return {k.data(), k.size()}; }

/* Owns a umbel_filter; moves, but copies only through copy(). */
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
        return make(umbel_file_load, path.c_str(), as, opts);
    }
    /* Maps the file: immediate at any size, and read-only. */
    static result<filter> open(const std::string &path, const umbel_foreign *as = nullptr,
                               const umbel_opts *opts = nullptr) {
        return make(umbel_file_open, path.c_str(), as, opts);
    }
    static result<filter> decode(std::string_view bytes, const umbel_foreign *as = nullptr,
                                 const umbel_opts *opts = nullptr) {
        return make(umbel_decode, bytes.data(), bytes.size(), as, opts);
    }
    result<filter> copy() const { return make(umbel_copy, get()); }

    umbel_filter *get() const noexcept { return handle_.get(); }
    umbel_filter *release() noexcept { return handle_.release(); }

    /* True in `*was_new` (optional): the key was certainly absent. */
    status add(std::string_view k, bool *was_new = nullptr) {
        return call(umbel_add, k.data(), k.size(), was_new);
    }
    status add(const std::vector<std::string_view> &keys) {
        std::vector<umbel_key> raw = raw_keys(keys);
        return call(umbel_add_many, raw.data(), raw.size(), nullptr, nullptr);
    }
    bool contains(std::string_view k) const noexcept {
        return umbel_contains(get(), k.data(), k.size());
    }
    std::vector<std::uint8_t> contains(const std::vector<std::string_view> &keys) const {
        std::vector<umbel_key> raw = raw_keys(keys);
        std::vector<std::uint8_t> hit(keys.size());
        umbel_contains_many(get(), raw.data(), raw.size(), hit.data());
        return hit;
    }
    status remove(std::string_view k) { return call(umbel_remove, k.data(), k.size()); }
    status clear() { return call(umbel_clear); }
    status merge(const filter &from) { return call(umbel_merge, from.get()); }
    status intersect(const filter &with) { return call(umbel_intersect, with.get()); }

    status save(const std::string &path, umbel_format format = UMBEL_FMT_ANY) const {
        return call(umbel_file_save, format, path.c_str());
    }
    result<std::string> encode(umbel_format format = UMBEL_FMT_ANY) const {
        std::string bytes(static_cast<std::size_t>(umbel_encoded_size(get(), format)), '\0');
        status done = call(umbel_encode, format, bytes.data(), bytes.size());
        if (!done) return done;
        return bytes;
    }
    umbel_info info() const noexcept {
        umbel_info about;
        umbel_describe(get(), &about);
        return about;
    }
    umbel_measurement measure() const noexcept {
        umbel_measurement now;
        umbel_measure(get(), &now);
        return now;
    }

    friend bool operator==(const filter &a, const filter &b) noexcept {
        return umbel_equal(a.get(), b.get());
    }
    friend bool operator!=(const filter &a, const filter &b) noexcept { return !(a == b); }

  private:
    struct deleter {
        void operator()(umbel_filter *f) const noexcept { umbel_free(f); }
    };

    template <class F, class... Args> static result<filter> make(F f, Args... args) {
        umbel_filter *made = nullptr;
        umbel_diag diag{};
        umbel_err err = f(args..., &made, &diag);
        if (err) return status(err, diag);
        return filter(made);
    }
    template <class F, class... Args> status call(F f, Args... args) const {
        umbel_diag diag{};
        umbel_err err = f(get(), args..., &diag);
        return status(err, diag);
    }
    static std::vector<umbel_key> raw_keys(const std::vector<std::string_view> &keys) {
        std::vector<umbel_key> raw;
        raw.reserve(keys.size());
        for (std::string_view k : keys) raw.push_back(key(k));
        return raw;
    }

    std::unique_ptr<umbel_filter, deleter> handle_;
};

} // namespace umbel

#endif /* UMBEL_HPP */
