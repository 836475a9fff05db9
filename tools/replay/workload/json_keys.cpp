#include "tools/replay/workload/json_keys.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

// Finds lines of keys, and keys that appear twice, in the text of a JSON document, by the events of
// a parser: a parsed tree knows neither.

namespace muster::replay {
namespace {

/// Walks through a text and keeps count of the lines it has passed.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  std::uint32_t* line = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    if (*at == '\n' && line != nullptr) ++*line;
    ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at == b.at;
  }
};

/// Goes through the keys of a text. Scalars need no attention.
class KeyWalker : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*v*/) override { return true; }
  bool number_integer(number_integer_t /*v*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*v*/) override { return true; }
  bool number_float(number_float_t /*v*/, const string_t& /*s*/) override { return true; }
  bool string(string_t& /*v*/) override { return true; }
  bool binary(binary_t& /*v*/) override { return true; }
  bool start_object(std::size_t /*n*/) override { return push(); }
  bool end_object() override { return pop(); }
  bool start_array(std::size_t /*n*/) override { return push(); }
  bool end_array() override { return pop(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  bool key(string_t& name) override {
    // Stays while the key's value is read: path() names the value's own keys below it.
    levels_.back().current = name;
    on_key(levels_.back().seen.insert(name).second);
    return true;
  }

 protected:
  /// Called at each key, as soon as its closing quote has been read.
  virtual void on_key(bool is_new) = 0;

  /// The dotted path of the key.
  std::string path() const {
    std::string text;
    for (const Level& level : levels_) {
      if (!text.empty() && !level.current.empty()) text += '.';
      text += level.current;
    }
    return text;
  }

 private:
  /// An open object or array.
  struct Level {
    std::set<std::string> seen;
    std::string current;
  };

  bool push() {
    levels_.emplace_back();
    return true;
  }
  bool pop() {
    levels_.pop_back();
    return true;
  }

  std::vector<Level> levels_;
};

class RepeatFinder final : public KeyWalker {
 public:
  std::vector<std::string> repeated;

 private:
  void on_key(bool is_new) override {
    if (!is_new) repeated.push_back(path());
  }
};

class LineFinder final : public KeyWalker {
 public:
  explicit LineFinder(const std::uint32_t& line) : line_(line) {}
  std::map<std::string, std::uint32_t> lines;

 private:
  void on_key(bool /*is_new*/) override { lines.emplace(path(), line_); }

  const std::uint32_t& line_;
};

}  // namespace

TextPlace place_of_byte(std::string file, std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {std::move(file), static_cast<std::uint32_t>(lines + 1),
          static_cast<std::uint32_t>(before.size() - line_start + 1)};
}

std::vector<std::string> repeated_keys(std::string_view text) {
  RepeatFinder finder;
  nlohmann::json::sax_parse(text.begin(), text.end(), &finder);
  return std::move(finder.repeated);
}

std::map<std::string, std::uint32_t> key_lines(std::string_view text) {
  std::uint32_t line = 1;
  LineFinder finder(line);
  nlohmann::json::sax_parse(CountingIterator{text.data(), &line},
                            CountingIterator{text.data() + text.size(), nullptr}, &finder);
  return std::move(finder.lines);
}

}  // namespace muster::replay
