#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/job_request.hpp"
#include "serve/api/audit_log.hpp"
#include "serve/api/backend.hpp"
#include "serve/api/desk.hpp"
#include "serve/api/exchange.hpp"
#include "serve/api/file_routes.hpp"
#include "serve/api/file_store.hpp"
#include "serve/api/gate.hpp"
#include "serve/api/host_routes.hpp"
#include "serve/api/http.hpp"
#include "serve/api/query.hpp"
#include "serve/api/request_book.hpp"
#include "serve/api/request_rights.hpp"
#include "serve/api/routes.hpp"
#include "serve/api/traffic.hpp"

namespace muster::api {

/// How much one request, and all of them together, may ask for.
struct ApiLimits {
  std::uint32_t max_waiting = 64;            ///< requests that wait for the cluster at once
  std::uint32_t of_token = 48;               ///< of these, those of one token
  std::uint32_t max_waiting_for_jobs = 128;  ///< that wait for a job to be over at once
  std::uint32_t jobs_of_token = 96;          ///< of these, those of one token
  std::uint32_t max_tasks = 100'000;         ///< tasks of all the jobs of one request
  int max_user_priority = 0;                 ///< of a job of which no admin is the sender
};

/// Parts of an Api besides the backend.
struct ApiParts {
  std::shared_ptr<AuditLog> audit{};        ///< null: nothing is written down
  std::shared_ptr<RequestBook> requests{};  ///< null: no order is known again
  ApiLimits limits{};
  /// Where tokens are changed, which may wait for another API, and where the book of requests is
  /// looked at: the one must not hold up the other, nor both the requests that need neither.
  std::shared_ptr<Desk> tokens{};
  std::shared_ptr<Desk> orders{};
  /// Machines that have joined; null: no machine can join at this node.
  std::shared_ptr<HostAdmin> hosts{};
  /// The store of users' files; null: this node has no such store.
  std::shared_ptr<FileStore> files{};
};

/// Handling of requests, by whatever server they came. Every function may be called from any
/// thread. The backend has to outlive it.
class Api : public std::enable_shared_from_this<Api> {
 public:
  Api(Backend& backend, Gate gate, ApiParts parts);

  /// The response to a request that need not be read any further (no token, nothing there, wrong
  /// method); nothing when its body is to be read. `from`: the client's address.
  std::optional<Response> refuse(const RequestHead& head, const std::string& from) const;

  /// Answers, at once or later. The caller calls expire() of what it gets when that takes too long.
  std::shared_ptr<Exchange> handle(const Request& request, const std::string& from,
                                   Respond respond);

  const std::shared_ptr<Traffic>& traffic() const { return traffic_; }

 private:
  /// A request that may be carried out; it has its own copy of everything, for whose job it is
  /// about may have to be asked first.
  struct Call {
    const Route& route;
    Pass pass;
    Query query;
    std::string body;
    std::shared_ptr<Exchange> exchange;
    RequestMark mark{};
    bool begun = false;  ///< an order that has been here before, and was not answered
  };

  void write_down(AuditEntry entry, bool refused) const;
  void watch(const Request& request, const Pass& pass, const std::string& from,
             Exchange& exchange) const;
  void dispatch(Call call);
  std::optional<Response> answer_at_once(const Call& call);
  void enter(Call call);
  void change_token(Call call);
  void recognise(Call call);
  static NumberedRequest numbered(const Call& call);
  void change_service(const Call& call);
  void go_on(Call call);
  Reply reply_to_order(const Call& call);
  void look_whether_cancelled(const Call& call, Answer refusal);
  void answer_order(const Call& call, Answer answer);
  void ask_if_own(Call call);
  void ask_backend(const Call& call);
  std::optional<int> most_priority(const Call& call) const {
    return call.pass.who.role == Role::admin ? std::nullopt
                                             : std::optional(parts_.limits.max_user_priority);
  }
  RequestRights rights_of(const Call& call) const {
    return {call.pass.who, parts_.limits.max_user_priority, *call.exchange};
  }
  void read_audit(const Call& call);
  void submit(const Call& call);
  void resubmit(const Call& call);
  void plan(const Call& call);
  static bool is_index(const Call& call);
  void exec(const Call& call);
  void read_log(const Call& call);
  void view(const Call& call);

  Backend& backend_;
  Gate gate_;
  ApiParts parts_;
  std::shared_ptr<Traffic> traffic_;
  std::string openapi_;
};

}  // namespace muster::api
