#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/api/private_file.hpp"
#include "serve/api/token_record.hpp"

namespace muster::api {

/// Why nothing was done to a token.
enum class TokenError : std::uint8_t {
  invalid,  ///< the wanted token is not valid
  unknown,  ///< there is no token of that name
  refused,  ///< not in its present state
  storage   ///< the file could not be read or written
};

/// A token as it is wanted.
struct NewToken {
  std::string name;
  Role role = Role::read_only;
  std::string user{};                        ///< empty: one of the token's name
  std::optional<std::int64_t> lifetime_s{};  ///< nothing: for ever
};

/// A token that was made, with the only sight of its secret.
struct IssuedToken {
  TokenRecord record;
  std::string secret;
};

/// Caller of a request, or the reason of a refusal.
struct Admission {
  std::optional<Principal> who{};
  std::string why{};  ///< for people; set when the request is refused
};

/// The tokens that open the API, of which it keeps the digests only: those of the API token's file,
/// which are an admin's and are called api-token, api-token-2 and so on, and the named ones. It
/// reads a file again when it has changed. Every function may be called from any thread.
class TokenBook {
 public:
  /// Seconds since 1970.
  using Clock = std::function<std::int64_t()>;
  using Note = std::function<void(const std::string&)>;
  struct Files {
    std::filesystem::path plain;
    std::filesystem::path named;  ///< need not be there yet
  };

  static constexpr std::int64_t kUsualOverlapS = 3600;

  /// Fails when a file is not as it has to be. `note` hears of files that are not so later.
  static Expected<std::shared_ptr<TokenBook>, ServerError> open(const Files& files,
                                                                const Clock& clock,
                                                                const Note& note);
  /// Without files: with these tokens of the first kind, and named ones that go with the object.
  static std::shared_ptr<TokenBook> in_memory(const std::vector<std::string>& plain, Clock clock);

  /// Caller of an Authorization header's value, "Bearer " and a token.
  Admission who(std::string_view authorization);

  /// A repeated request, by its mark, gives a new secret in place of the one whose answer was lost.
  /// A sending that was overtaken by a later one is refused.
  Expected<IssuedToken, TokenError> create(const NewToken& wanted, const RequestMark& mark = {});
  /// The token does not open the API any more; one that is revoked already stays so.
  Expected<TokenRecord, TokenError> revoke(const std::string& name);
  /// A new secret; the one before still opens the API for that time. Those from before that which
  /// still count do so until the end that they had, or until the end of this overlap if that is
  /// earlier. Repetitions are as those of create(), and change nothing of what counts besides.
  Expected<IssuedToken, TokenError> rotate(const std::string& name, std::int64_t overlap_s,
                                           const RequestMark& mark = {});
  /// Those of the first kind first, then by name. Digests are empty.
  std::vector<TokenRecord> list();
  std::int64_t now_s() const { return clock_(); }

 private:
  using Records = std::map<std::string, TokenRecord>;
  struct Owner {
    std::string name;
    std::optional<std::int64_t> until_s{};  ///< of a secret that was rotated away
  };

  /// The book as a change finds it.
  struct Draft {
    Records named;
    bool plain = false;  ///< the name that it is about is one of the API token's file
  };

  TokenBook(Files files, Clock clock, Note note);
  std::optional<Failure<ServerError>> read_plain();
  std::optional<Failure<ServerError>> read_named();
  void put_plain(const std::vector<std::string>& tokens);
  void refresh();
  void index();
  bool is_plain(const std::string& name) const { return plain_.contains(name); }
  void make_room(Records& named) const;
  std::optional<Failure<TokenError>> catch_up(const FileLock& lock);
  template <class Edit>
  auto change(const std::string& name, Edit edit) -> decltype(edit(std::declval<Draft&>()));
  Expected<TokenRecord*, TokenError> find(Draft& draft, const std::string& name) const;
  std::optional<Failure<TokenError>> why_not_new(const Draft& draft, const std::string& name) const;
  std::optional<Failure<TokenError>> save(Records named);

  const Files files_;
  const Clock clock_;
  const Note note_;
  /// Held by whoever makes a change, also while that waits for the file's lock or the disk. It
  /// comes before the other one, which is held for looks and never for a wait: requests are let in
  /// by the book that there is.
  std::mutex changing_;
  std::mutex mutex_;
  FileStamp plain_stamp_;
  FileStamp named_stamp_;
  Records plain_;
  Records named_;
  /// By the digest of the token: a digest says nothing of its token, so neither does the time that
  /// a look at the map takes.
  std::map<TokenDigest, Owner> owners_;
};

}  // namespace muster::api
