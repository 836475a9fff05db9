#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "model/job.hpp"

namespace muster {

/// The value of the type under the key of a constraint: its name, its family or a label; empty: it
/// does not have that label, or there is no such key.
std::string value_under(const InstanceType& type, std::string_view key);

/// How long the text of a constraint may be, and how much of it there may be.
inline constexpr std::size_t kMaxConstraintBytes = 1024;
inline constexpr std::size_t kMaxConstraintTerms = 16;
/// Of all terms: a type is compared with each of them.
inline constexpr std::size_t kMaxConstraintValues = 32;

enum class ConstraintError : std::uint8_t { malformed };

/// On which instance types the tasks of a job may be: a list of terms, of which a type has to meet
/// each. Copies share their terms, which never change. Texts are like
/// `type=c7i.*,zone!=a|b,label.disk=nvme`: behind `=` stand the values of which a type has to have
/// one, behind `!=` those that it may not have. Names and families are patterns, in which `*`
/// stands for any text and `?` for one character; labels are compared as they are.
class Constraint {
 public:
  /// Every type meets it.
  Constraint() = default;
  /// The message says what is wrong, and with which term.
  static Expected<Constraint, ConstraintError> parse(std::string_view text);
  /// Parses likewise; no type meets a text that cannot be read, as others may have checked by rules
  /// of a later version.
  static Constraint of(std::string_view text);

  /// Every type meets it.
  bool is_empty() const { return terms_ == nullptr; }
  /// False: its text is of a later version, whose types are not known here.
  bool is_readable() const { return terms_ == nullptr || !terms_->unreadable; }
  bool admits(const InstanceType& type) const;
  /// The text that it was made of; empty: every type meets it.
  const std::string& text() const;
  /// The keys of its terms, each once.
  std::vector<std::string> keys() const;

  friend bool operator==(const Constraint& left, const Constraint& right) {
    return left.terms_ == right.terms_ || left.text() == right.text();
  }

 private:
  enum class Subject : std::uint8_t { type, family, label };
  struct Term {
    Subject subject = Subject::type;
    std::string key{};    ///< as texts have it
    std::string label{};  ///< the label's own, where the term asks for one
    bool wanted = true;   ///< one of the values has to be there; else they may not
    std::vector<std::string> values{};
  };
  struct Terms {
    std::string text;
    std::vector<Term> all;
    bool unreadable = false;
  };
  static Expected<Term, ConstraintError> parse_term(std::string_view text);
  static bool meets(const InstanceType& type, const Term& term);

  std::shared_ptr<const Terms> terms_;  ///< null: every type meets it
};

/// Everything of a task that decides on which instance types it may be, and what it takes there.
struct Shape {
  Demands demands;
  Constraint constraint{};

  /// The amounts that a task takes on the type; null where it may not be. If it fits is another
  /// question.
  const FamilyDemand* on(const InstanceType& type) const {
    // The demand first: it is the cheaper question.
    const FamilyDemand* demand = demands.on(type.family);
    return demand != nullptr && constraint.admits(type) ? demand : nullptr;
  }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// The shape of a task of the job.
inline Shape shape_of(const Job& job, const TaskSpec& task) {
  return {task.demands, Constraint::of(job.constraint)};
}

}  // namespace muster
