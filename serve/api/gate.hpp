#pragma once

#include <memory>
#include <optional>

#include "serve/api/host_names.hpp"
#include "serve/api/http.hpp"
#include "serve/api/routes.hpp"
#include "serve/api/token_book.hpp"

namespace muster::api {

/// Route of a request's head, and the caller.
struct Pass {
  Match found{};
  const Route* route = nullptr;       ///< null: nothing is there
  Principal who{};                    ///< empty for a request that needs no token
  std::optional<Response> refused{};  ///< the answer instead
};

/// Lets requests in: by the name that they ask for, their token, and what its role may do. Every
/// function may be called from any thread.
class Gate {
 public:
  Gate(std::shared_ptr<TokenBook> tokens, HostNames hosts)
      : tokens_(std::move(tokens)), hosts_(std::move(hosts)) {}

  Pass look(const RequestHead& head) const;
  TokenBook& tokens() const { return *tokens_; }

 private:
  std::optional<Response> stranger(const RequestHead& head, Pass& pass) const;

  std::shared_ptr<TokenBook> tokens_;
  HostNames hosts_;
};

/// Whether the role may do so with the jobs of its own user only.
bool only_own_jobs(const Route& route, Role role);

}  // namespace muster::api
