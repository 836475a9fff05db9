#include "model/constraint.hpp"

#include <algorithm>
#include <utility>

#include "model/labels.hpp"

namespace muster {
namespace {

constexpr std::string_view kTypeKey = "type";
constexpr std::string_view kFamilyKey = "family";
constexpr std::string_view kLabelPrefix = "label.";

/// Cuts the next part off the front of the text, without the mark behind it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Steps back to the last `*` where a text does not go on as the pattern does: O(pattern x text),
/// which are both short.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Printable and none of the marks of the grammar, so that names that catalogs give to types can be
/// said.
bool is_pattern(std::string_view value) {
  constexpr std::string_view kMarks = ",|=!\"'\\";
  return !value.empty() && value.size() <= kMaxLabelBytes &&
         std::all_of(value.begin(), value.end(), [&](char c) {
           return c > ' ' && c < '\x7f' && kMarks.find(c) == std::string_view::npos;
         });
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text.substr(0, kMaxLabelBytes)) + "\"";
}

Failure<ConstraintError> malformed(std::string message) {
  return {ConstraintError::malformed, std::move(message)};
}

}  // namespace

std::string value_under(const InstanceType& type, std::string_view key) {
  if (key == kTypeKey) return type.name;
  if (key == kFamilyKey) return type.family;
  if (key.starts_with(kLabelPrefix)) key.remove_prefix(kLabelPrefix.size());
  const std::string* label = type.label(key);
  return label == nullptr ? std::string() : *label;
}

Expected<Constraint::Term, ConstraintError> Constraint::parse_term(std::string_view text) {
  constexpr const char* kForm = " has to be KEY=VALUE or KEY!=VALUE, as zone=eu-1a or type!=c7i.*";
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return malformed(quoted(text) + kForm);
  Term term;
  term.wanted = text[equals - 1] != '!';
  const std::string_view key = trimmed(text.substr(0, equals - (term.wanted ? 0 : 1)));
  std::string_view values = text.substr(equals + 1);
  term.key = key;
  if (key == kTypeKey) {
    term.subject = Subject::type;
  } else if (key == kFamilyKey) {
    term.subject = Subject::family;
  } else if (key == kZoneLabel) {
    term.subject = Subject::label;
    term.label = kZoneLabel;
  } else if (key.starts_with(kLabelPrefix) && is_label_key(key.substr(kLabelPrefix.size()))) {
    term.subject = Subject::label;
    term.label = key.substr(kLabelPrefix.size());
  } else {
    return malformed(quoted(key) + " is no key: it has to be type, family, zone or label.NAME");
  }
  do {
    const std::string_view value = trimmed(cut(values, '|'));
    const bool fine = term.subject == Subject::label ? is_label_value(value) : is_pattern(value);
    if (!fine) {
      return malformed(
          quoted(value) + " is no value for " + std::string(key) + ": it has to be " +
          (term.subject == Subject::label
               ? std::string(kLabelValueRule)
               : "a pattern of 1 to 64 visible characters without , | = ! and quotes"));
    }
    term.values.emplace_back(value);
  } while (!values.empty());
  if (text.ends_with('|'))
    return malformed(quoted(text) + " ends with |, behind which a value has to stand");
  return term;
}

Expected<Constraint, ConstraintError> Constraint::parse(std::string_view text) {
  if (text.empty()) return Constraint{};
  if (text.size() > kMaxConstraintBytes) {
    return malformed("it is " + std::to_string(text.size()) + " bytes; at most " +
                     std::to_string(kMaxConstraintBytes) + " can be given");
  }
  auto terms = std::make_shared<Terms>();
  terms->text = text;
  std::string_view left = text;
  while (!left.empty()) {
    auto term = parse_term(trimmed(cut(left, ',')));
    if (!term) return term.error();
    terms->all.push_back(std::move(term).value());
  }
  if (text.ends_with(','))
    return malformed("it ends with a comma, behind which a term has to stand");
  if (terms->all.size() > kMaxConstraintTerms) {
    return malformed("it has " + std::to_string(terms->all.size()) + " terms; at most " +
                     std::to_string(kMaxConstraintTerms) + " can be given");
  }
  std::size_t values = 0;
  for (const Term& term : terms->all) values += term.values.size();
  if (values > kMaxConstraintValues) {
    return malformed("its terms have " + std::to_string(values) + " values; at most " +
                     std::to_string(kMaxConstraintValues) + " can be given");
  }
  Constraint constraint;
  constraint.terms_ = std::move(terms);
  return constraint;
}

Constraint Constraint::of(std::string_view text) {
  if (text.empty()) return {};
  if (auto read = parse(text)) return std::move(read).value();
  Constraint constraint;
  constraint.terms_ = std::make_shared<Terms>(Terms{std::string(text), {}, true});
  return constraint;
}

bool Constraint::meets(const InstanceType& type, const Term& term) {
  const auto has = [&](std::string_view text) {
    return std::any_of(term.values.begin(), term.values.end(),
                       [&](const std::string& pattern) { return matches(pattern, text); });
  };
  switch (term.subject) {
    case Subject::type:
      return has(type.name) == term.wanted;
    case Subject::family:
      return has(type.family) == term.wanted;
    case Subject::label:
      break;
  }
  const std::string* label = type.label(term.label);
  // A type without the label has none of the values.
  const bool found = label != nullptr &&
                     std::find(term.values.begin(), term.values.end(), *label) != term.values.end();
  return found == term.wanted;
}

bool Constraint::admits(const InstanceType& type) const {
  if (terms_ == nullptr) return true;
  return !terms_->unreadable && std::all_of(terms_->all.begin(), terms_->all.end(),
                                            [&](const Term& term) { return meets(type, term); });
}

std::vector<std::string> Constraint::keys() const {
  std::vector<std::string> keys;
  if (terms_ == nullptr) return keys;
  for (const Term& term : terms_->all) {
    if (std::find(keys.begin(), keys.end(), term.key) == keys.end()) keys.push_back(term.key);
  }
  return keys;
}

const std::string& Constraint::text() const {
  static const std::string kNone;
  return terms_ == nullptr ? kNone : terms_->text;
}

}  // namespace muster
