#pragma once

#include <caf/all.hpp>
#include <utility>

namespace muster {

/// Whether a message is of these types, the first of which is an atom.
template <class Atom, class... Rest>
bool begins_with(const caf::type_erased_tuple& content) {
  return content.match_elements<caf::atom_value, Rest...>() &&
         content.get_as<caf::atom_value>(0) == Atom::value;
}

/// An actor that hears what its users ask before everything else that waits in its mailbox,
/// wherever it comes from. `Derived::is_users(content)` says what that is.
///
/// Not by the priority of the one who sends: over a link between nodes CAF 0.17.6 answers no
/// request of high priority. So a request is raised when it gets to the mailbox, and what it was is
/// put back before it is handled, for its answer has to have the number that the asker waits for.
/// Where the actor ends before it has handled such a request, the asker hears nothing until its own
/// time is up.
template <class Base, class Derived>
class UsersFirst : public Base {
 public:
  using Base::Base;

  using Base::enqueue;
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* host) override {
    const bool ended = this->getf(caf::abstract_actor::is_terminated_flag);
    if (!ended && element->mid.is_normal_message() && !element->mid.is_response() &&
        Derived::is_users(element->content())) {
      element->mid = element->mid.with_high_priority();
    }
    Base::enqueue(std::move(element), host);
  }

  using Base::consume;
  caf::invoke_message_result consume(caf::mailbox_element& element) override {
    if (element.mid.is_request()) element.mid = element.mid.with_normal_priority();
    return Base::consume(element);
  }
};

}  // namespace muster
