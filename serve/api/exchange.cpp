// One request that is being answered. The backend's answer and the expiry may come at once, on two
// threads: `finished_` lets the first one respond.

#include "serve/api/exchange.hpp"

namespace muster::api {

Exchange::~Exchange() {
  // A reply that is dropped uncalled gives its place back here.
  if (entered_.exchange(false)) {
    traffic_->leave(where_, token_);
  }
  if (!finished_ && note_) note_({.status = 0});
}

bool Exchange::enter(Waiting where, const std::string& token, Places places) {
  where_ = where;
  token_ = token;
  entered_ = traffic_->enter(where, token, places);
  return entered_;
}

void Exchange::finish(Response response) {
  if (finished_.exchange(true)) {
    return;
  }
  if (entered_.exchange(false)) {
    traffic_->leave(where_, token_);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  traffic_->answered(route_, response.status, taken.count());
  if (note_) note_(response);
  // Only the first caller gets here, so that no other thread looks at the functions.
  const Respond respond = std::exchange(respond_, nullptr);
  respond(std::move(response));
}

void Exchange::expire() {
  if (finished_) {
    return;
  }
  finish(late_
             ? late_()
             : error_response(
                   503, "the site or master did not answer in time; the change may still be made"));
}

}  // namespace muster::api
