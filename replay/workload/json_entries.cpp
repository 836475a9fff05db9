#include "replay/workload/json_entries.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "config/text_file.hpp"

// A document is walked by the events of a parser, which need no stack of calls: trees are made of
// one entry at a time, and never deeper than a bound.

namespace muster::replay {
namespace {

using Json = nlohmann::json;

/// Far above what traces nest, far below what recursion over a tree would not survive.
constexpr std::size_t kMostLevels = 32;
/// Keys of an entry whose lines are known; a job of a million tasks has ten times as many.
constexpr std::size_t kMostLines = 100'000;
/// Of these there is one a person mends first.
constexpr std::size_t kMostRepeated = 100;
/// Of a key: each that is below it has it in its path.
constexpr std::size_t kMostKeyBytes = 1000;

/// The characters of a file, with the place of each.
class Characters {
 public:
  explicit Characters(const std::filesystem::path& file)
      : text_(file, kAnyTextBytes), file_(text_file_name(file)) {
    fill();
  }

  bool at_end() const { return piece_.empty(); }
  char now() const { return piece_.front(); }
  void next() {
    before_line_ = line_;
    before_column_ = column_;
    const bool ends_line = now() == '\n';
    line_ += ends_line ? 1 : 0;
    column_ = ends_line ? 1 : column_ + 1;
    piece_.remove_prefix(1);
    if (piece_.empty()) fill();
  }
  std::uint32_t line() const { return line_; }
  /// Of the character that was read last, or of the end.
  TextPlace place(bool end) const {
    if (end) return {file_, line_, column_};
    return {file_, before_line_, before_column_};
  }
  const std::string& file() const { return file_; }
  const std::optional<Failure<TextFileError>>& failure() const { return failure_; }

 private:
  void fill() {
    auto piece = text_.next();
    piece_ = piece ? piece.value() : std::string_view{};
    if (!piece) failure_ = piece.error();
  }

  TextStream text_;
  std::string file_;
  std::string_view piece_;
  std::uint32_t line_ = 1, column_ = 1, before_line_ = 1, before_column_ = 1;
  std::optional<Failure<TextFileError>> failure_;
};

/// For the parser, which wants a pair of iterators.
struct CharacterIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  Characters* at = nullptr;  ///< null: the end

  char operator*() const { return at->now(); }
  CharacterIterator& operator++() {
    at->next();
    return *this;
  }
  CharacterIterator operator++(int) {
    CharacterIterator old = *this;
    ++*this;
    return old;
  }
  bool is_end() const { return at == nullptr || at->at_end(); }
  friend bool operator==(const CharacterIterator& a, const CharacterIterator& b) {
    return a.is_end() == b.is_end();
  }
};

/// Makes a tree of each entry of the outermost object.
class EntryMaker final : public nlohmann::json_sax<Json> {
 public:
  EntryMaker(const Characters& text, const std::function<void(const JsonEntry&)>& take)
      : text_(text), take_(take) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool v) override { return put(v); }
  bool number_integer(number_integer_t v) override { return put(v); }
  bool number_unsigned(number_unsigned_t v) override { return put(v); }
  bool number_float(number_float_t v, const string_t& /*s*/) override { return put(v); }
  bool string(string_t& v) override { return put(std::move(v)); }
  bool binary(binary_t& /*v*/) override { return put(nullptr); }
  bool start_object(std::size_t /*n*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*n*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (name.size() > kMostKeyBytes) {
      return refuse(fmt::format("a key has {} bytes; it may have {}", name.size(), kMostKeyBytes));
    }
    if (levels_.empty()) {
      entry_ = {};
      entry_.key = name;
      entry_.line = text_.line();
      entry_.lines.emplace(name, text_.line());
      return true;
    }
    Level& level = levels_.back();
    level.key = name;
    const std::string here = path();
    if (entry_.lines.size() < kMostLines) entry_.lines.emplace(here, text_.line());
    const bool again = level.value->contains(name);
    if (again && entry_.repeated.size() < kMostRepeated) entry_.repeated.push_back(here);
    return true;
  }

  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    const std::string_view what = error.what();
    const std::size_t cut = what.find(": ");  // after the exception's number and its position
    const std::string_view reason = what.substr(cut == what.npos ? 0 : cut + 2);
    const bool end = reason.find("unexpected end of input") != reason.npos;
    fault_ = {WorkloadError::malformed,
              fmt::format("{}: {}", to_text(text_.place(end)), brief(reason, kMostReason))};
    return false;
  }

  const std::optional<Failure<WorkloadError>>& fault() const { return fault_; }

 private:
  /// Most bytes of the parser's message on an error, with the last token that it read.
  static constexpr std::size_t kMostReason = 400;

  /// An open object or array of the entry.
  struct Level {
    Json* value = nullptr;
    std::string key;
  };

  std::string path() const {
    std::string text = entry_.key;
    for (const Level& level : levels_) {
      if (!level.key.empty()) text += "." + level.key;
    }
    return text;
  }
  bool refuse(std::string_view message) {
    fault_ = {WorkloadError::invalid,
              fmt::format("{}:{}: {}", text_.file(), text_.line(), message)};
    return false;
  }

  /// Where a value belongs.
  Json* place(Json value) {
    if (levels_.empty()) return &(entry_.value = std::move(value));
    Level& level = levels_.back();
    if (level.value->is_object()) return &((*level.value)[level.key] = std::move(value));
    level.value->push_back(std::move(value));
    return &level.value->back();
  }
  bool put(Json value) {
    if (!begun_) return refuse("has to be an object of jobs");
    place(std::move(value));
    if (levels_.empty()) take_(entry_);
    return true;
  }
  bool open(Json value) {
    if (!std::exchange(begun_, true)) {
      return value.is_object() || refuse("has to be an object of jobs");
    }
    if (levels_.size() == kMostLevels) {
      return refuse(fmt::format("nests more deeply than {} levels", kMostLevels));
    }
    levels_.push_back({place(std::move(value)), {}});
    return true;
  }
  bool close() {
    if (levels_.empty()) return true;  // the document's own
    levels_.pop_back();
    if (levels_.empty()) take_(entry_);
    return true;
  }

  const Characters& text_;
  const std::function<void(const JsonEntry&)>& take_;
  bool begun_ = false;
  JsonEntry entry_;
  std::vector<Level> levels_;
  std::optional<Failure<WorkloadError>> fault_;
};

}  // namespace

std::optional<Failure<WorkloadError>> each_json_entry(
    const std::filesystem::path& file, const std::function<void(const JsonEntry&)>& take) {
  Characters text(file);
  EntryMaker maker(text, take);
  Json::sax_parse(CharacterIterator{&text}, CharacterIterator{}, &maker);
  // A file that cannot be read on ends early, which the parser calls a fault of the text.
  if (text.failure()) return as_workload_error(*text.failure());
  return maker.fault();
}

}  // namespace muster::replay
