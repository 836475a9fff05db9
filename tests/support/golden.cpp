#include "tests/support/golden.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/support/places.hpp"

namespace muster::test {

namespace {

constexpr std::string_view kFirstLine = "  - ";
constexpr std::string_view kNextLine = "    ";

bool is_utf8(std::string_view text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::map<std::string, std::vector<std::string>> texts_of(const std::filesystem::path& path) {
  std::map<std::string, std::vector<std::string>> texts;
  std::vector<std::string>* of_test = nullptr;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with(kFirstLine)) {
      if (of_test != nullptr) of_test->push_back(line.substr(kFirstLine.size()));
    } else if (line.empty() || line.starts_with(kNextLine)) {
      if (of_test == nullptr || of_test->empty()) continue;
      of_test->back() += "\n" + (line.empty() ? line : line.substr(kNextLine.size()));
    } else {
      of_test = &texts[line];
    }
  }
  // An empty line after a text parts it from the next test.
  for (auto& [name, all] : texts) {
    for (std::string& text : all) text.erase(text.find_last_not_of('\n') + 1);
  }
  return texts;
}

GoldenTest golden_test(const testing::TestInfo& info) {
  std::string file = info.file();
  file.erase(0, file.rfind("tests/") + std::string_view("tests/").size());
  file = std::filesystem::path(file).replace_extension().string();
  if (file.ends_with("_test")) file.erase(file.rfind("_test"));
  return {file, std::string(info.test_suite_name()) + "." + info.name()};
}

GoldenTexts& golden_texts() {
  static GoldenTexts texts = [] {
    const char* output = std::getenv("MUSTER_GOLDEN_OUT");
    return GoldenTexts(source_dir() / "tests/golden", output == nullptr ? "" : output);
  }();
  return texts;
}

/// Tells the texts which test runs, and looks that it has asked for all of them.
class Listener : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    golden_texts().begin(golden_test(info));
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    if (!info.result()->Passed()) return;
    const std::string fault = golden_texts().fault_of_rest();
    if (!fault.empty()) ADD_FAILURE() << fault;
  }
};

[[maybe_unused]] const bool kListens = [] {
  auto listener = std::make_unique<Listener>();
  testing::UnitTest::GetInstance()->listeners().Append(listener.release());
  return true;
}();

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

/// "PLACE:" stands in the text where a line, a path or a word begins.
bool names_place(std::string_view text, const std::string& place) {
  const std::string wanted = place + ":";
  for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
    if (at == 0 || std::string_view(" /\n").find(text[at - 1]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string golden_form(std::string_view text) {
  if (text.empty()) return "\\empty";
  const bool whole = is_utf8(text);
  const auto first = std::min(text.find_first_not_of('\n'), text.size());
  const auto last = text.find_last_not_of('\n');  // npos + 1 is 0: a text of line ends alone
  std::string form;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      form += i < first || i > last ? "\\n" : "\n";
    } else if (c == '\\') {
      form += "\\\\";
    } else if (c == '\t') {
      form += "\\t";
    } else if (c == '\r') {
      form += "\\r";
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !whole) ||
               (c == ' ' && (i + 1 == text.size() || text[i + 1] == '\n'))) {
      form += fmt::format("\\x{:02x}", byte);
    } else {
      form += c;
    }
  }
  return form;
}

std::string without_folders(std::string text) {
  replace_all(text, source_dir().string(), "{source}");
  const std::string begin = (std::filesystem::temp_directory_path() / "muster-").string();
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const auto end =
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at + begin.size()), text.end(),
                     [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; });
    text.replace(text.begin() + static_cast<std::ptrdiff_t>(at), end, "{dir}");
  }
  return text;
}

GoldenTexts::GoldenTexts(std::filesystem::path folder, std::filesystem::path output)
    : folder_(std::move(folder)), output_(std::move(output)) {}

void GoldenTexts::begin(GoldenTest test) {
  test_ = std::move(test);
  asked_ = 0;
}

const std::vector<std::string>& GoldenTexts::expected() {
  auto found = files_.find(test_.file);
  if (found == files_.end()) {
    found = files_.emplace(test_.file, texts_of(folder_ / (test_.file + ".txt"))).first;
  }
  return found->second[test_.name];
}

std::string GoldenTexts::place(std::size_t number) const {
  return fmt::format("text {} of {} in tests/golden/{}.txt", number + 1, test_.name, test_.file);
}

std::string GoldenTexts::mend() const {
  return fmt::format("Where the new text is right: tests/golden/regenerate {}, and read its diff.",
                     test_.file);
}

void GoldenTexts::note(std::size_t number, const std::string& form) const {
  const nlohmann::json line = {
      {"file", test_.file}, {"test", test_.name}, {"number", number}, {"text", form}};
  std::ofstream(output_ / fmt::format("{}.jsonl", getpid()), std::ios::app) << line << "\n";
}

std::string GoldenTexts::fault(std::size_t number, std::string_view text) {
  const std::string form = golden_form(text);
  if (!output_.empty()) {
    note(number, form);
    return "";
  }
  const std::vector<std::string>& texts = expected();
  if (number >= texts.size()) {
    return fmt::format("there is no {}; the test said:\n{}\n{}", place(number), form, mend());
  }
  if (texts[number] == form) return "";
  return fmt::format("it is not {}, which is:\n{}\nThe test said:\n{}\n{}", place(number),
                     texts[number], form, mend());
}

std::string GoldenTexts::fault_of_rest() {
  if (!output_.empty() || asked_ >= expected().size()) return "";
  return fmt::format("the test asked for {} texts, and has {}: {}", asked_, expected().size(),
                     mend());
}

bool GoldenMatcher::MatchAndExplain(std::string_view text,
                                    testing::MatchResultListener* listener) const {
  if (!*number_) *number_ = golden_texts().next();
  const std::string plain = without_folders(std::string(text));
  const std::string fault = golden_texts().fault(**number_, plain);
  bool names_all = true;
  for (const std::string& place : places_) {
    if (names_place(plain, place)) continue;
    *listener << "it does not name \"" << place << "\" ";
    names_all = false;
  }
  *listener << fault;
  return fault.empty() && names_all;
}

void GoldenMatcher::DescribeTo(std::ostream* out) const {
  *out << "is the text that tests/golden/ holds";
  for (const std::string& place : places_) *out << ", and names \"" << place << "\"";
}

void GoldenMatcher::DescribeNegationTo(std::ostream* out) const {
  *out << "not: ";
  DescribeTo(out);
}

}  // namespace muster::test
