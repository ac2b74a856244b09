// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check {

class JsonValue;

/// JSON as it stands in its text: one small entry a value, nothing copied. For records, of which the finisher reads tens
/// of thousands at a time. Strict as RFC 8259: UTF-8, no comments, nothing behind the document.
class JsonTree {
public:
    enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

    /// False: not JSON, or 4 GiB and more. O(bytes) in time, at most 24 bytes of memory a value, whatever the nesting.
    /// The text must outlive the tree.
    bool parse(std::string_view text);
    JsonValue root() const; ///< only after a parse() that was true

private:
    friend class JsonValue;
    struct Entry {
        std::uint32_t begin = 0, size = 0; ///< of a scalar's text; of a container, size: how many values are in it
        std::uint32_t key_begin = 0, key_size = 0;
        std::uint32_t next = 0; ///< the entry behind this value and all in it
        Kind kind = Kind::null;
        bool escaped = false, key_escaped = false; ///< there is a backslash in it
    };
    std::string_view text_;
    std::vector<Entry> entries_;
};

/// One value of a tree; not to outlive it.
class JsonValue {
public:
    bool is_object() const noexcept { return kind() == JsonTree::Kind::object; }
    bool is_array() const noexcept { return kind() == JsonTree::Kind::array; }
    bool is_string() const noexcept { return kind() == JsonTree::Kind::string; }
    bool is_number() const noexcept { return kind() == JsonTree::Kind::number; }
    bool is_boolean() const noexcept { return kind() == JsonTree::Kind::boolean; }

    /// A whole number of 0 to 2^64-1, written without sign, point and exponent; nothing for all else.
    std::optional<std::uint64_t> whole() const noexcept;
    std::optional<double> real() const noexcept; ///< any number that a double has room for
    bool boolean() const noexcept;               ///< of a boolean
    std::string text() const;                    ///< of a string, without escapes
    std::string key() const;                     ///< of a member of an object, without escapes

    std::size_t size() const noexcept { return is_object() || is_array() ? entry().size : 0; } ///< values in a container
    /// The member of an object; the last where several have the key. O(members).
    std::optional<JsonValue> find(std::string_view key) const;

    /// Iterates over a container's values in the text's order.
    class Iterator {
    public:
        using value_type = JsonValue;
        using difference_type = std::ptrdiff_t;
        using reference = JsonValue;
        using pointer = void;
        using iterator_category = std::input_iterator_tag;
        Iterator(const JsonTree *tree, std::uint32_t at) : tree_(tree), at_(at) {}
        JsonValue operator*() const { return {tree_, at_}; }
        Iterator &operator++() {
            at_ = tree_->entries_[at_].next;
            return *this;
        }
        bool operator==(const Iterator &other) const { return at_ == other.at_; }

    private:
        const JsonTree *tree_;
        std::uint32_t at_;
    };
    Iterator begin() const { return {tree_, size() == 0 ? entry().next : at_ + 1}; }
    Iterator end() const { return {tree_, entry().next}; }

    /// The same for one who asks for keys in about the order of the text: it looks from `from` on, which it moves to what it
    /// finds, and then from the first. Where several have the key, the one that comes first that way.
    std::optional<JsonValue> find(std::string_view key, Iterator &from) const;

private:
    bool has_key(std::string_view key) const;
    friend class JsonTree;
    JsonValue(const JsonTree *tree, std::uint32_t at) : tree_(tree), at_(at) {}
    const JsonTree::Entry &entry() const noexcept { return tree_->entries_[at_]; }
    JsonTree::Kind kind() const noexcept { return entry().kind; }
    std::string_view raw() const noexcept { return tree_->text_.substr(entry().begin, entry().size); }
    std::string_view raw_key() const noexcept { return tree_->text_.substr(entry().key_begin, entry().key_size); }

    const JsonTree *tree_;
    std::uint32_t at_;
};

} // namespace fabric_check
