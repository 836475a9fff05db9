// The book of tokens. Requests look a token up by its digest; changes are made under a lock on the
// file, as the APIs of one machine share it, to what the file says at that moment.

#include "tools/serve/api/token_book.hpp"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/check.hpp"

namespace muster::api {
namespace {

constexpr std::string_view kScheme = "bearer ";
constexpr std::string_view kPlainName = "api-token";
/// A line of a record has a few hundred bytes.
constexpr std::size_t kMaxNamedFileBytes = 2 * 1024 * 1024;

std::string plain_name(std::size_t place) {
  return place == 0 ? std::string(kPlainName) : fmt::format("{}-{}", kPlainName, place + 1);
}

/// 192 random bits: nobody guesses it, and no two are the same.
std::string random_secret() {
  std::array<unsigned char, 24> bytes{};
  MUSTER_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1,
               "the system gives no random bytes");
  std::string text = "muster_";
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool is_bearer(std::string_view authorization) {
  const std::string_view scheme = authorization.substr(0, kScheme.size());
  // Names of schemes do not depend on case.
  return std::ranges::equal(scheme, kScheme, [](char left, char right) {
    return (left >= 'A' && left <= 'Z' ? left - 'A' + 'a' : left) == right;
  });
}

}  // namespace

TokenBook::TokenBook(Files files, Clock clock, Note note)
    : files_(std::move(files)), clock_(std::move(clock)), note_(std::move(note)) {}

std::shared_ptr<TokenBook> TokenBook::in_memory(const std::vector<std::string>& plain,
                                                Clock clock) {
  auto book = std::unique_ptr<TokenBook>(new TokenBook({}, std::move(clock), {}));
  book->put_plain(plain);
  book->index();
  return std::shared_ptr<TokenBook>(std::move(book));
}

Expected<std::shared_ptr<TokenBook>, ServerError> TokenBook::open(const Files& files,
                                                                  const Clock& clock,
                                                                  const Note& note) {
  auto book = std::unique_ptr<TokenBook>(new TokenBook(files, clock, note));
  book->plain_stamp_ = stamp_of(book->files_.plain);
  book->named_stamp_ = stamp_of(book->files_.named);
  if (auto fault = book->read_plain()) return *std::move(fault);
  if (auto fault = book->read_named()) return *std::move(fault);
  book->index();
  return std::shared_ptr<TokenBook>(std::move(book));
}

void TokenBook::put_plain(const std::vector<std::string>& tokens) {
  plain_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    TokenRecord record;
    record.name = plain_name(i);
    record.role = Role::admin;
    record.digest = digest_of(tokens[i]);
    plain_[record.name] = std::move(record);
  }
}

std::optional<Failure<ServerError>> TokenBook::read_plain() {
  auto tokens = load_tokens(files_.plain);
  if (!tokens) return tokens.error();
  put_plain(tokens.value());
  return std::nullopt;
}

std::optional<Failure<ServerError>> TokenBook::read_named() {
  const auto text = read_private(files_.named, kMaxNamedFileBytes);
  if (!text && text.error().code == FileError::missing) {
    named_.clear();
    return std::nullopt;
  }
  if (!text) return Failure<ServerError>{ServerError::bad_token_file, text.error().message};
  auto records = records_from(files_.named, text.value());
  if (!records) return records.error();
  named_.clear();
  for (TokenRecord& record : records.value()) {
    std::string name = record.name;
    named_[std::move(name)] = std::move(record);
  }
  return std::nullopt;
}

/// A file that has become bad changes nothing: those who were let in still are, and a slip of an
/// editor locks nobody out.
void TokenBook::refresh() {
  if (files_.plain.empty()) return;
  bool changed = false;
  const auto look = [&](const std::filesystem::path& file, FileStamp& known, auto read) {
    const FileStamp present = stamp_of(file);
    if (present == known) return;
    // Kept before it is read: a fault is told once, and what is written meanwhile is seen next.
    known = present;
    changed = true;
    const std::optional<Failure<ServerError>> fault = (this->*read)();
    if (fault && note_) note_("tokens: " + fault->message + "; those from before still count");
  };
  look(files_.plain, plain_stamp_, &TokenBook::read_plain);
  look(files_.named, named_stamp_, &TokenBook::read_named);
  if (changed) index();
}

/// Digests of revoked and expired tokens stay in it, so that their holders hear what they are.
void TokenBook::index() {
  owners_.clear();
  for (const auto& [name, record] : named_) {
    if (record.earlier) owners_[record.earlier->digest] = {name, record.earlier->until_s};
    owners_[record.digest] = {name};
  }
  for (const auto& [name, record] : plain_) owners_[record.digest] = {name};
}

Admission TokenBook::who(std::string_view authorization) {
  if (authorization.empty()) return {{}, "the header 'Authorization: Bearer TOKEN' is missing"};
  const std::string_view none = "the token is not one of this cluster's";
  if (authorization.size() <= kScheme.size() || !is_bearer(authorization)) {
    return {{}, std::string(none)};
  }
  const TokenDigest offered = digest_of(authorization.substr(kScheme.size()));
  const std::lock_guard lock(mutex_);
  refresh();
  const auto found = owners_.find(offered);
  if (found == owners_.end()) return {{}, std::string(none)};
  const Owner& owner = found->second;
  const bool plain = is_plain(owner.name);
  const TokenRecord& record = (plain ? plain_ : named_).at(owner.name);
  const std::int64_t now = clock_();
  if (record.revoked_s) return {{}, fmt::format("the token '{}' is revoked", record.name)};
  if (!record.is_valid_at(now)) return {{}, fmt::format("the token '{}' has expired", record.name)};
  if (owner.until_s && now >= *owner.until_s) {
    return {{},
            fmt::format("the token '{}' has a new secret, and the time in which this one still "
                        "counted is over",
                        record.name)};
  }
  return {Principal{record.name, record.role, record.user, record.expires_s}, {}};
}

/// What the file says now is what is changed: another API of this machine may have written it.
std::optional<Failure<TokenError>> TokenBook::catch_up(const FileLock& lock) {
  refresh();
  if (files_.named.empty()) return std::nullopt;
  if (!lock.fault().empty()) return Failure<TokenError>{TokenError::storage, lock.fault()};
  named_stamp_ = stamp_of(files_.named);
  if (const auto fault = read_named()) {
    return Failure<TokenError>{TokenError::storage, fault->message};
  }
  index();
  return std::nullopt;
}

std::optional<Failure<TokenError>> TokenBook::save() {
  if (!files_.named.empty()) {
    std::vector<TokenRecord> records;
    for (const auto& [name, record] : named_) records.push_back(record);
    const auto fault = replace_private(files_.named, to_lines(records));
    if (fault) {
      // Memory goes back to what the file says.
      named_stamp_ = {};
      if (!read_named()) index();
      return Failure<TokenError>{TokenError::storage, *fault};
    }
    named_stamp_ = stamp_of(files_.named);
  }
  index();
  return std::nullopt;
}

/// Forgets the token that has been of no use for longest, if the book is full.
void TokenBook::make_room() {
  if (named_.size() < kMaxNamedTokens) return;
  const std::int64_t now = clock_();
  const auto end_of = [](const TokenRecord& record) {
    return record.revoked_s ? *record.revoked_s : *record.expires_s;
  };
  auto oldest = named_.end();
  for (auto each = named_.begin(); each != named_.end(); ++each) {
    if (each->second.is_valid_at(now)) continue;
    if (oldest == named_.end() || end_of(each->second) < end_of(oldest->second)) oldest = each;
  }
  if (oldest != named_.end()) named_.erase(oldest);
}

Expected<IssuedToken, TokenError> TokenBook::create(const NewToken& wanted) {
  using Failed = Failure<TokenError>;
  const std::string user = wanted.user.empty() ? wanted.name : wanted.user;
  if (auto fault = token_name_fault(wanted.name); !fault.empty()) {
    return Failed{TokenError::invalid, fmt::format("name: {}; it is '{}'", fault, wanted.name)};
  }
  if (auto fault = token_user_fault(user); !fault.empty()) {
    return Failed{TokenError::invalid, "user: " + fault};
  }
  const Change change(*this);
  if (change.fault) return *change.fault;
  const std::int64_t now = clock_();
  const auto known = named_.find(wanted.name);
  const bool in_use = known != named_.end() && known->second.is_valid_at(now);
  if (!is_plain(wanted.name) && wanted.name.starts_with(kPlainName)) {
    return Failed{TokenError::refused,
                  fmt::format("names that begin with '{}' are those of the API token's file: give "
                              "another name",
                              kPlainName)};
  }
  if (in_use || is_plain(wanted.name)) {
    return Failed{TokenError::refused,
                  fmt::format("there is a token '{}' already: give another name, or rotate it for "
                              "a new secret",
                              wanted.name)};
  }
  if (known == named_.end()) make_room();
  if (known == named_.end() && named_.size() >= kMaxNamedTokens) {
    return Failed{TokenError::refused,
                  fmt::format("there are {} tokens, which is all that there may be: revoke one",
                              named_.size())};
  }
  IssuedToken issued;
  issued.secret = random_secret();
  TokenRecord& record = issued.record;
  record.name = wanted.name;
  record.role = wanted.role;
  record.user = user;
  record.created_s = now;
  if (wanted.lifetime_s) record.expires_s = now + *wanted.lifetime_s;
  record.digest = digest_of(issued.secret);
  named_[record.name] = record;
  if (auto fault = save()) return *fault;
  return issued;
}

Expected<TokenRecord*, TokenError> TokenBook::find(const std::string& name) {
  using Failed = Failure<TokenError>;
  if (is_plain(name)) {
    return Failed{TokenError::refused,
                  fmt::format("the token '{}' is a line of the API token's file: change it there; "
                              "the API reads it again by itself",
                              name)};
  }
  const auto found = named_.find(name);
  if (found != named_.end()) return &found->second;
  return Failed{TokenError::unknown, fmt::format("there is no token '{}'", name)};
}

Expected<TokenRecord, TokenError> TokenBook::revoke(const std::string& name) {
  const Change change(*this);
  if (change.fault) return *change.fault;
  auto found = find(name);
  if (!found) return found.error();
  TokenRecord& record = *found.value();
  if (!record.revoked_s) record.revoked_s = clock_();
  TokenRecord revoked = record;
  if (auto fault = save()) return *fault;
  return revoked;
}

Expected<IssuedToken, TokenError> TokenBook::rotate(const std::string& name,
                                                    std::int64_t overlap_s) {
  const Change change(*this);
  if (change.fault) return *change.fault;
  auto found = find(name);
  if (!found) return found.error();
  TokenRecord& record = *found.value();
  const std::int64_t now = clock_();
  if (!record.is_valid_at(now)) {
    return Failure<TokenError>{TokenError::refused,
                               fmt::format("the token '{}' {}: make a new one", name,
                                           record.revoked_s ? "is revoked" : "has expired")};
  }
  IssuedToken issued;
  issued.secret = random_secret();
  // Of several rotations the last one's secret alone still counts.
  record.earlier = EarlierToken{record.digest, now + overlap_s};
  record.digest = digest_of(issued.secret);
  issued.record = record;
  if (auto fault = save()) return *fault;
  return issued;
}

std::vector<TokenRecord> TokenBook::list() {
  const std::lock_guard lock(mutex_);
  refresh();
  std::vector<TokenRecord> all;
  for (const Records* records : {&plain_, &named_}) {
    for (const auto& [name, record] : *records) {
      all.push_back(record);
      all.back().digest = {};
      if (all.back().earlier) all.back().earlier->digest = {};
    }
  }
  return all;
}

}  // namespace muster::api
