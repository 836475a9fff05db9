#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/error_list.hpp"
#include "config/job_request.hpp"
#include "config/numbers.hpp"
#include "config/request_text.hpp"
#include "config/request_value.hpp"
#include "model/time_text.hpp"

namespace muster::config {

/// Takes the member of a table that is at fault, "size" or "size.least_cpus", and what is wrong.
using SayFault = std::function<void(std::string_view member, const std::string& message)>;

/// Reads one table, member by member, and keeps what is wrong.
class TableReader {
 public:
  /// `path` is what names of its members begin with, for messages.
  TableReader(const RequestValue& value, std::string path, RequestService& out)
      : table_(std::get_if<RequestValue::Table>(&value.data)), path_(std::move(path)), out_(out) {
    if (table_ == nullptr) {
      fault("", fmt::format("{} has to be a table; it is {}", path_.substr(0, path_.size() - 1),
                            written(value)));
    }
  }

  bool is_table() const { return table_ != nullptr; }
  const RequestValue* find(std::string_view key) {
    known_.insert(std::string(key));
    if (table_ == nullptr) return nullptr;
    const auto found = std::ranges::find(*table_, key, &RequestMember::key);
    return found == table_->end() ? nullptr : &found->value;
  }
  template <class Number>
  void number(std::string_view key, const NumberRange& range, Number& into) {
    const RequestValue* value = find(key);
    if (value == nullptr) return;
    const auto read = value->number();
    if (read && range.contains(*read)) {
      into = static_cast<Number>(*read);
    } else {
      wrong(key, describe(range), *value);
    }
  }
  void time(std::string_view key, const NumberRange& range, Duration& into) {
    const RequestValue* value = find(key);
    if (value == nullptr) return;
    std::optional<double> seconds = value->number();
    if (const auto* text = std::get_if<std::string>(&value->data)) {
      const auto parsed = parse_duration(*text);
      if (parsed) seconds = to_seconds(*parsed);
    }
    if (seconds && range.contains(*seconds)) {
      into = from_seconds(*seconds);
    } else {
      wrong(key, describe(range) + " seconds, or a text like \"5s\"", *value);
    }
  }
  void text(std::string_view key, std::string& into) {
    const RequestValue* value = find(key);
    if (value == nullptr) return;
    const auto* text = std::get_if<std::string>(&value->data);
    if (text != nullptr && !text->empty() && is_one_line(*text)) {
      into = *text;
    } else {
      wrong(key, "a text in one line", *value);
    }
  }
  void texts(std::string_view key, std::vector<std::string>& into) {
    const RequestValue* value = find(key);
    if (value == nullptr) return;
    const auto* list = std::get_if<RequestValue::List>(&value->data);
    std::vector<std::string> words;
    for (const RequestValue& each : list == nullptr ? RequestValue::List{} : *list) {
      const auto* word = std::get_if<std::string>(&each.data);
      if (word == nullptr || !is_one_line(*word)) return wrong(key, "a list of texts", *value);
      words.push_back(*word);
    }
    if (words.empty()) return wrong(key, "a list of texts", *value);
    into = std::move(words);
  }
  void truth(std::string_view key, bool& into) {
    const RequestValue* value = find(key);
    if (value == nullptr) return;
    const auto* truth = std::get_if<bool>(&value->data);
    if (truth == nullptr) return wrong(key, "true or false", *value);
    into = *truth;
  }
  /// Behind all others: members that no other call has asked for.
  void rest() {
    if (table_ == nullptr) return;
    for (const RequestMember& member : *table_) {
      if (known_.contains(member.key)) continue;
      const std::string name = shown(member.key);
      fault(member.key, fmt::format("{}: {}", path_ + name,
                                    unknown_word("key", name, {known_.begin(), known_.end()})));
    }
  }
  /// Of the table itself where no key is named.
  void fault(std::string_view key, std::string message) {
    std::string member = path_ + std::string(key);
    if (key.empty() && !member.empty()) member.pop_back();
    out_.faults.emplace_back(std::move(member), std::move(message));
  }
  const std::string& path() const { return path_; }

 private:
  void wrong(std::string_view key, std::string_view wanted, const RequestValue& value) {
    fault(key, fmt::format("{}{} has to be {}; it is {}", path_, key, wanted, written(value)));
  }

  const RequestValue::Table* table_;
  std::string path_;
  RequestService& out_;
  std::set<std::string> known_;
};

}  // namespace muster::config
