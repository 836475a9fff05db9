#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "model/expected.hpp"

// How learnt objects are written down: lines of words, doubles in the shortest form that reads back
// to the same bits, and around it all an envelope that shows damage.

namespace muster {

/// The greatest number that what is learnt may hold; beyond what any sum of demands comes to.
inline constexpr double kGreatestLearnt = 1e18;
/// The least time or progress that anything is learnt from: less than anybody can measure, and far
/// enough from zero for quotients and logarithms. Writers and readers go by the same two bounds.
inline constexpr double kLeastLearnt = 1e-12;

/// Error of learning, or of reading a model back.
enum class LearnError : std::uint8_t {
  damaged,         ///< the text is not what was written
  other_version,   ///< written by a Muster that writes it differently
  other_threshold  ///< tells short from long by another threshold
};

/// Writes lines: a name, then words.
class ModelWriter {
 public:
  /// Begins a line. `name` has no spaces.
  ModelWriter& line(std::string_view name);
  /// An infinite number is written as kGreatestLearnt, and NaN as 0. The writer keeps to the bounds
  /// that its reader has.
  ModelWriter& number(double value);
  ModelWriter& whole(std::uint64_t value);
  /// All that was written; every line has its end.
  std::string text() &&;

 private:
  std::string text_;
};

/// Reads what a ModelWriter wrote. After the first mistake everything read is the least value that
/// was allowed, so that callers check ok() once, at the end of each loop at the latest.
class ModelReader {
 public:
  explicit ModelReader(std::string_view text) : rest_(text) {}

  /// Turns to the next line, which has to have that name; the one before has to be read up.
  bool line(std::string_view name);
  /// A finite number in [low, high].
  double number(double low, double high);
  std::uint64_t whole(std::uint64_t low, std::uint64_t high);
  /// Whether the whole text was read, without a mistake.
  bool finish();

  /// Makes the present line the first mistake, unless there was one before.
  void refuse(const std::string& why) { fail(why); }

  bool ok() const { return error_.empty(); }
  /// "line 7: ..."; empty while all is well.
  const std::string& error() const { return error_; }

 private:
  std::string_view word();
  void fail(const std::string& what);

  std::string_view rest_;     ///< after the present line
  std::string_view line_;     ///< the rest of it
  std::uint64_t number_ = 1;  ///< of the line; the first one is the envelope's
  std::string error_;
};

/// The text with what it is before it and its checksum behind it.
std::string seal_model(std::string_view kind, unsigned version, std::string_view text);

/// The sealed text, as a part of `sealed`. Errors: damaged, other_version.
Expected<std::string_view, LearnError> open_model(std::string_view kind, unsigned version,
                                                  std::string_view sealed);

/// Output of write() of `model`, sealed.
template <class Model>
std::string sealed_text(std::string_view kind, unsigned version, const Model& model) {
  ModelWriter out;
  model.write(out);
  return seal_model(kind, version, std::move(out).text());
}

/// Result of `read`, a function of a ModelReader, for a sealed text. Errors: damaged (naming the
/// line), other_version.
template <class Read>
auto parse_sealed(std::string_view kind, unsigned version, std::string_view sealed,
                  const Read& read)
    -> Expected<decltype(read(std::declval<ModelReader&>())), LearnError> {
  const auto text = open_model(kind, version, sealed);
  if (!text) return text.error();
  ModelReader in(text.value());
  auto model = read(in);
  if (!in.finish()) return Failure<LearnError>{LearnError::damaged, in.error()};
  return model;
}

}  // namespace muster
