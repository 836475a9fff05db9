#pragma once

#include <gmock/gmock.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

/// A text as it stands in tests/golden/: a backslash and bytes that cannot be seen are written as
/// \\, \t, \r and \xNN, and so is a blank at the end of a line; line ends before and after the text
/// are written as \n. Two texts of one form are one text.
std::string golden_form(std::string_view text);

/// The text with the folders of this machine replaced: {source} is the root of the sources, {dir} a
/// temporary folder of a test.
std::string without_folders(std::string text);

/// A test, and the file below tests/golden/ that holds its texts.
struct GoldenTest {
  std::string file;  ///< "config/cluster_errors" of tests/config/cluster_errors_test.cpp
  std::string name;  ///< "ClusterErrors.WantsPorts"
};

/// The texts that tests expect, test by test in the order in which the test asks. Reads them from
/// FOLDER/FILE.txt, which it never writes. Given a folder for its output, it takes every text for
/// right and writes there what the tests said, for tests/golden/regenerate to collect.
class GoldenTexts {
 public:
  explicit GoldenTexts(std::filesystem::path folder, std::filesystem::path output = {});

  /// From now on the texts of this test are asked for, from its first on.
  void begin(GoldenTest test);
  /// The number of the next text of the test, from 0.
  std::size_t next() { return asked_++; }
  /// Why `text` is not the test's text of this number, and how to make it so; empty where it is.
  std::string fault(std::size_t number, std::string_view text);
  /// Why the test has asked for fewer texts than there are; empty where it has not.
  std::string fault_of_rest();

 private:
  using Texts = std::map<std::string, std::vector<std::string>>;

  const std::vector<std::string>& expected();
  std::string place(std::size_t number) const;
  std::string mend() const;
  void note(std::size_t number, const std::string& form) const;

  std::filesystem::path folder_;
  std::filesystem::path output_;
  std::map<std::string, Texts> files_;
  GoldenTest test_;
  std::size_t asked_ = 0;
};

/// See IsGolden().
class GoldenMatcher {
 public:
  explicit GoldenMatcher(std::vector<std::string> places) : places_(std::move(places)) {}

  bool MatchAndExplain(std::string_view text, ::testing::MatchResultListener* listener) const;
  void DescribeTo(std::ostream* out) const;
  void DescribeNegationTo(std::ostream* out) const;

 private:
  std::vector<std::string> places_;
  /// The number of the text, from the first look on: a matcher may be asked again to explain.
  std::shared_ptr<std::optional<std::size_t>> number_ =
      std::make_shared<std::optional<std::size_t>>();
};

/// Matches the next text that tests/golden/ holds for the running test; folders are replaced as
/// without_folders() does. Every such expectation of a test has a text of its own, in the order in
/// which they are looked at: not for Contains(), Each() and UnorderedElementsAre().
inline ::testing::PolymorphicMatcher<GoldenMatcher> IsGolden() {
  return ::testing::MakePolymorphicMatcher(GoldenMatcher({}));
}

/// IsGolden(), and the text names these places: "jobs.csv:3: gpu" matches "jobs.csv:3: gpu: ...".
template <class... Places>
::testing::PolymorphicMatcher<GoldenMatcher> IsGoldenAt(const Places&... places) {
  return ::testing::MakePolymorphicMatcher(GoldenMatcher({std::string(places)...}));
}

}  // namespace muster::test
