#pragma once

#include <caf/all.hpp>
#include <cstddef>
#include <utility>

namespace muster {

/// One element of a message. An atom is held as its value.
template <class Element>
struct MessageElement {
  using Held = Element;
  static bool fits(const caf::type_erased_tuple& /*content*/, std::size_t /*at*/) { return true; }
};
template <caf::atom_value Value>
struct MessageElement<caf::atom_constant<Value>> {
  using Held = caf::atom_value;
  static bool fits(const caf::type_erased_tuple& content, std::size_t at) {
    return content.get_as<caf::atom_value>(at) == Value;
  }
};

/// Whether a message has these elements: `is_message<hold_atom, JobId, bool>(content)`.
template <class... Elements>
bool is_message(const caf::type_erased_tuple& content) {
  if (!content.match_elements<typename MessageElement<Elements>::Held...>()) return false;
  std::size_t at = 0;
  return (MessageElement<Elements>::fits(content, at++) && ...);
}

/// Whether a message is one of an interface's: `IsOf<MasterOrders>::is(content)`.
template <class Interface>
struct IsOf;
template <class... Signatures>
struct IsOf<caf::typed_actor<Signatures...>> {
  static bool is(const caf::type_erased_tuple& content) {
    return (is_one(content, static_cast<Signatures*>(nullptr)) || ...);
  }

 private:
  template <class... Elements, class Answer>
  static bool is_one(const caf::type_erased_tuple& content,
                     caf::typed_mpi<caf::detail::type_list<Elements...>, Answer>* /*signature*/) {
    return is_message<Elements...>(content);
  }
};

/// An actor that hears the messages of the interface `Orders`, which its users give, before all
/// that waits in its mailbox, whichever handle they come by. The rest is heard in the order in
/// which it came: a question overtakes no report, notice or alarm that was there before it, and
/// waits for no more than those, however many come after it. Where orders are many, every third
/// message is one of the rest, so that neither keeps the other out.
///
/// Not by the priority of the one who sends: over a link between nodes CAF 0.17.6 answers no
/// request of high priority. So a request is raised when it gets to the mailbox, and what it was is
/// put back before it is handled, for its answer has to have the number that the asker waits for.
/// Where the actor ends before it has handled such a request, the asker hears nothing until its own
/// time is up.
template <class Base, class Orders>
class OrdersFirst : public Base {
 public:
  static_assert(
      caf::detail::tl_subset_of<typename Orders::signatures, typename Base::signatures>::value,
      "the actor has no such order");
  using Base::Base;

  using Base::enqueue;
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* host) override {
    const bool ended = this->getf(caf::abstract_actor::is_terminated_flag);
    if (!ended && element->mid.is_normal_message() && !element->mid.is_response() &&
        IsOf<Orders>::is(element->content())) {
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
