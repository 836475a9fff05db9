// The book of tokens. Requests look a token up by its digest; changes are made under a lock on the
// file, as the APIs of one machine share it, to what the file says at that moment.

#include "serve/api/token_book.hpp"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/check.hpp"
#include "model/hexadecimal.hpp"

namespace muster::api {
namespace {

constexpr std::string_view kScheme = "bearer ";
constexpr std::string_view kPlainName = "api-token";
/// A line of a record has a few hundred bytes, and two thousand at most.
constexpr std::size_t kMaxNamedFileBytes = 4 * 1024 * 1024;

std::string plain_name(std::size_t place) {
  return place == 0 ? std::string(kPlainName) : fmt::format("{}-{}", kPlainName, place + 1);
}

/// 192 random bits: not to be guessed, and never equal by chance.
std::string random_secret() {
  std::array<unsigned char, 24> bytes{};
  MUSTER_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1,
               "the system gives no random bytes");
  return "muster_" + hexadecimal(bytes);
}

using Failed = Failure<TokenError>;

/// Digests of what a request wants: with the number of another one it is a mistake.
TokenDigest asks_of(const NewToken& wanted, const std::string& user) {
  return digest_of(
      fmt::format("create\n{}\n{}\n{}", name_of(wanted.role), user, wanted.lifetime_s.value_or(0)));
}

TokenDigest asks_of_rotation(std::int64_t overlap_s) {
  return digest_of(fmt::format("rotate\n{}", overlap_s));
}

/// The request among those that have given the token a secret; null: it comes for the first time.
SecretRequest* known_request(TokenRecord& record, const RequestMark& mark) {
  const auto found = std::ranges::find_if(record.requests, [&](const SecretRequest& each) {
    return !mark.number.empty() && each.mark.number == mark.number;
  });
  return found == record.requests.end() ? nullptr : &*found;
}

void remember(TokenRecord& record, const RequestMark& mark, const TokenDigest& asks) {
  if (mark.number.empty()) return;
  if (record.requests.size() >= kMaxSecretRequests) record.requests.erase(record.requests.begin());
  record.requests.push_back({mark, asks, record.digest});
}

Failure<TokenError> no_use(const TokenRecord& record) {
  return {TokenError::refused, fmt::format("the token '{}' {}: make a new one", record.name,
                                           record.revoked_s ? "is revoked" : "has expired")};
}

/// A new secret in place of the one that the request was given before, whose answer was lost.
Expected<IssuedToken, TokenError> repeated(TokenRecord& record, SecretRequest& request,
                                           const RequestMark& mark, const TokenDigest& asks) {
  const auto refused = [&](const std::string& why) {
    return Failed{TokenError::refused, fmt::format("the request '{}' about the token '{}' {}",
                                                   mark.number, record.name, why)};
  };
  if (request.asks != asks) return refused("was another one: send a number of its own with each");
  if (request.secret != record.digest) {
    return refused("has been followed by another one that gave it a new secret: rotate it");
  }
  if (mark.sent != 0 && mark.sent <= request.mark.sent) {
    return refused("has been sent again since, and that sending was carried out");
  }
  IssuedToken issued;
  issued.secret = random_secret();
  record.digest = request.secret = digest_of(issued.secret);
  request.mark.sent = mark.sent;
  issued.record = record;
  return issued;
}

/// Has the present secret, and those that still count from before, count as long as a rotation
/// leaves them; false: more than may be kept would still count.
bool keep_earlier(TokenRecord& record, std::int64_t now_s, std::int64_t overlap_s) {
  std::vector<EarlierToken>& all = record.earlier;
  for (EarlierToken& each : all) each.until_s = std::min(each.until_s, now_s + overlap_s);
  all.push_back({record.digest, now_s + overlap_s});
  if (all.size() <= kMaxEarlierSecrets) return true;
  // Those of no use are there only to tell their holders why.
  const auto useless =
      std::ranges::find_if(all, [&](const EarlierToken& each) { return each.until_s <= now_s; });
  if (useless == all.end()) return false;
  all.erase(useless);
  return true;
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

/// A file that has become bad changes nothing: earlier tokens stay valid, so that a slip of an
/// editor locks no user out.
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
    for (const EarlierToken& each : record.earlier) owners_[each.digest] = {name, each.until_s};
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
            fmt::format("the token '{}' has a new secret, and this one is no longer valid",
                        record.name)};
  }
  return {Principal{record.name, record.role, record.user, record.expires_s}, {}};
}

/// The change starts from the file's present content: another API of this machine may have written
/// it.
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

/// One change after the other, each of the book as it is then. The file's lock and the disk are
/// waited for without the mutex that requests need.
template <class Edit>
auto TokenBook::change(const std::string& name, Edit edit)
    -> decltype(edit(std::declval<Draft&>())) {
  const std::lock_guard turn(changing_);
  const FileLock file(files_.named);
  Draft draft;
  {
    const std::lock_guard memory(mutex_);
    if (auto fault = catch_up(file)) return *std::move(fault);
    draft = {named_, is_plain(name)};
  }
  auto done = edit(draft);
  if (!done) return done;
  if (auto fault = save(std::move(draft.named))) return *std::move(fault);
  return done;
}

/// Memory follows the disk: no token is valid that a crash could take back.
std::optional<Failure<TokenError>> TokenBook::save(Records named) {
  std::optional<std::string> fault;
  if (!files_.named.empty()) {
    std::vector<TokenRecord> records;
    for (const auto& [name, record] : named) records.push_back(record);
    fault = replace_private(files_.named, to_lines(records));
  }
  const std::lock_guard memory(mutex_);
  if (fault) {
    // It is read again: the new one may be there, and only not certain to stay.
    named_stamp_ = {};
    return Failed{TokenError::storage, *fault};
  }
  named_ = std::move(named);
  if (!files_.named.empty()) named_stamp_ = stamp_of(files_.named);
  index();
  return std::nullopt;
}

/// Forgets the token that has been of no use for longest, if the book is full.
void TokenBook::make_room(Records& named) const {
  if (named.size() < kMaxNamedTokens) return;
  const std::int64_t now = clock_();
  const auto end_of = [](const TokenRecord& record) {
    return record.revoked_s ? *record.revoked_s : *record.expires_s;
  };
  auto oldest = named.end();
  for (auto each = named.begin(); each != named.end(); ++each) {
    if (each->second.is_valid_at(now)) continue;
    if (oldest == named.end() || end_of(each->second) < end_of(oldest->second)) oldest = each;
  }
  if (oldest != named.end()) named.erase(oldest);
}

/// Why no token of that name can be made, as far as the names go.
std::optional<Failure<TokenError>> TokenBook::why_not_new(const Draft& draft,
                                                          const std::string& name) const {
  if (!draft.plain && name.starts_with(kPlainName)) {
    return Failed{TokenError::refused,
                  fmt::format("names that begin with '{}' are those of the API token's file: give "
                              "another name",
                              kPlainName)};
  }
  const auto known = draft.named.find(name);
  if (draft.plain || (known != draft.named.end() && known->second.is_valid_at(clock_()))) {
    return Failed{TokenError::refused,
                  fmt::format("there is a token '{}' already: give another name, or rotate it for "
                              "a new secret",
                              name)};
  }
  return std::nullopt;
}

Expected<IssuedToken, TokenError> TokenBook::create(const NewToken& wanted,
                                                    const RequestMark& mark) {
  const std::string user = wanted.user.empty() ? wanted.name : wanted.user;
  if (auto fault = token_name_fault(wanted.name); !fault.empty()) {
    return Failed{TokenError::invalid, fmt::format("name: {}; it is '{}'", fault, wanted.name)};
  }
  if (auto fault = token_user_fault(user); !fault.empty()) {
    return Failed{TokenError::invalid, "user: " + fault};
  }
  const TokenDigest asks = asks_of(wanted, user);
  const auto edit = [&](Draft& draft) -> Expected<IssuedToken, TokenError> {
    const std::int64_t now = clock_();
    const auto known = draft.named.find(wanted.name);
    std::vector<SecretRequest> requests;
    if (known != draft.named.end()) {
      TokenRecord& before = known->second;
      SecretRequest* request = known_request(before, mark);
      if (request != nullptr && !before.is_valid_at(now)) return no_use(before);
      if (request != nullptr) return repeated(before, *request, mark, asks);
      requests = before.requests;
    }
    if (auto fault = why_not_new(draft, wanted.name)) return *std::move(fault);
    if (known == draft.named.end()) make_room(draft.named);
    if (known == draft.named.end() && draft.named.size() >= kMaxNamedTokens) {
      return Failed{
          TokenError::refused,
          fmt::format("the limit of {} tokens is reached: revoke one first", draft.named.size())};
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
    // Requests about an earlier token of that name: they are not to make this one anew.
    record.requests = std::move(requests);
    remember(record, mark, asks);
    draft.named[record.name] = record;
    return issued;
  };
  return change(wanted.name, edit);
}

Expected<TokenRecord*, TokenError> TokenBook::find(Draft& draft, const std::string& name) const {
  if (draft.plain) {
    return Failed{TokenError::refused,
                  fmt::format("the token '{}' is a line of the API token's file: change it there; "
                              "the API reads it again by itself",
                              name)};
  }
  const auto found = draft.named.find(name);
  if (found != draft.named.end()) return &found->second;
  return Failed{TokenError::unknown, fmt::format("there is no token '{}'", name)};
}

Expected<TokenRecord, TokenError> TokenBook::revoke(const std::string& name) {
  return change(name, [&](Draft& draft) -> Expected<TokenRecord, TokenError> {
    auto found = find(draft, name);
    if (!found) return found.error();
    TokenRecord& record = *found.value();
    if (!record.revoked_s) record.revoked_s = clock_();
    return record;
  });
}

Expected<IssuedToken, TokenError> TokenBook::rotate(const std::string& name, std::int64_t overlap_s,
                                                    const RequestMark& mark) {
  const TokenDigest asks = asks_of_rotation(overlap_s);
  return change(name, [&](Draft& draft) -> Expected<IssuedToken, TokenError> {
    auto found = find(draft, name);
    if (!found) return found.error();
    TokenRecord& record = *found.value();
    const std::int64_t now = clock_();
    if (!record.is_valid_at(now)) return no_use(record);
    if (SecretRequest* request = known_request(record, mark)) {
      return repeated(record, *request, mark, asks);
    }
    if (!keep_earlier(record, now, overlap_s)) {
      return Failed{
          TokenError::refused,
          fmt::format("{} earlier secrets of the token '{}' are still valid, which is the limit: "
                      "wait until one ends, or rotate it with an overlap of 0, which ends them",
                      kMaxEarlierSecrets, name)};
    }
    IssuedToken issued;
    issued.secret = random_secret();
    record.digest = digest_of(issued.secret);
    remember(record, mark, asks);
    issued.record = record;
    return issued;
  });
}

std::vector<TokenRecord> TokenBook::list() {
  const std::lock_guard lock(mutex_);
  refresh();
  std::vector<TokenRecord> all;
  for (const Records* records : {&plain_, &named_}) {
    for (const auto& [name, record] : *records) {
      all.push_back(record);
      all.back().digest = {};
      all.back().requests.clear();
      for (EarlierToken& each : all.back().earlier) each.digest = {};
    }
  }
  return all;
}

}  // namespace muster::api
