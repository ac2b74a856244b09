// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/json_keys.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <functional>

namespace fabric_check::textfiles {

namespace {

constexpr std::size_t most = 64; // they are told one by one

/// Each object keeps its keys, each with a digest of its value.
class KeyReader final : public nlohmann::json_sax<nlohmann::json> {
public:
    bool null() override { return value(1); }
    bool boolean(bool value_) override { return value(value_ ? 2 : 3); }
    bool number_integer(number_integer_t number) override { return value(mixed(4, std::hash<number_integer_t>{}(number))); }
    bool number_unsigned(number_unsigned_t number) override {
        return value(mixed(5, std::hash<number_unsigned_t>{}(number)));
    }
    bool number_float(number_float_t /*number*/, const string_t &text) override {
        return value(mixed(6, std::hash<std::string>{}(text)));
    }
    bool string(string_t &text) override { return value(mixed(7, std::hash<std::string>{}(text))); }
    bool binary(binary_t & /*bytes*/) override { return value(8); }
    bool start_object(std::size_t /*size*/) override {
        open_.push_back({true, {}, 9, 0});
        return true;
    }
    bool key(string_t &name) override {
        open_.back().keys.push_back({name, 0});
        return true;
    }
    bool end_object() override {
        compare();
        Open &object = open_.back();
        std::size_t digest = object.digest;
        for (const Key &key : object.keys) {
            digest = mixed(mixed(digest, std::hash<std::string>{}(key.name)), key.digest);
        }
        open_.pop_back();
        return value(digest);
    }
    bool start_array(std::size_t /*size*/) override {
        open_.push_back({false, {}, 10, 0});
        return true;
    }
    bool end_array() override {
        const std::size_t digest = open_.back().digest;
        open_.pop_back();
        return value(digest);
    }
    bool parse_error(std::size_t /*position*/, const std::string & /*token*/,
                     const nlohmann::detail::exception & /*error*/) override {
        found.clear();
        return false;
    }

    std::vector<RepeatedKey> found;

private:
    struct Key {
        std::string name;
        std::size_t digest;
    };
    struct Open {
        bool object;
        std::vector<Key> keys;
        std::size_t digest;
        std::size_t index; ///< of an array: values so far
    };

    static std::size_t mixed(std::size_t seed, std::size_t value) noexcept {
        return (seed ^ (value + 0x9e3779b97f4a7c15U)) * 0xff51afd7ed558ccdU;
    }

    bool value(std::size_t digest) {
        if (open_.empty()) {
            return true;
        }
        Open &in = open_.back();
        if (in.object) {
            in.keys.back().digest = digest;
        } else {
            in.digest = mixed(in.digest, digest);
            ++in.index;
        }
        return true;
    }

    void compare() {
        std::vector<Key> &keys = open_.back().keys;
        const auto less = [](const Key &a, const Key &b) { return a.name < b.name; };
        if (!std::is_sorted(keys.begin(), keys.end(), less)) {
            std::sort(keys.begin(), keys.end(), less);
        }
        for (std::size_t at = 1; at < keys.size(); ++at) {
            if (keys[at - 1].name == keys[at].name && keys[at - 1].digest != keys[at].digest && found.size() < most) {
                found.push_back(here(keys[at].name));
            }
        }
    }

    RepeatedKey here(const std::string &name) const {
        RepeatedKey repeated;
        for (std::size_t depth = 0; depth + 1 < open_.size(); ++depth) {
            repeated.path.push_back(open_[depth].object ? open_[depth].keys.back().name : std::to_string(open_[depth].index));
        }
        repeated.path.push_back(name);
        return repeated;
    }

    std::vector<Open> open_;
};

} // namespace

std::string RepeatedKey::text() const {
    std::string text;
    for (const std::string &part : path) {
        const bool index = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
        text += index ? fmt::format("[{}]", part) : fmt::format("{}{}", text.empty() ? "" : ".", printable(part));
    }
    return text;
}

std::vector<RepeatedKey> repeated_keys(std::string_view text) {
    KeyReader reader;
    nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
    return std::move(reader.found);
}

} // namespace fabric_check::textfiles
