// What ranks tell each other by active messages.
#include <array>
#include <cstring>

#include "fabric/ucx/add.hpp"
#include "fabric/ucx/network.hpp"

namespace muster::ucx {

// UCX reads a message until it has called back.
struct Network::Outgoing {
  std::array<std::byte, 48> header{};
  std::string payload;
};

void Network::on_sent(void* request, ucs_status_t /*a peer that is lost hears nothing*/,
                      void* outgoing) {
  ucp_request_free(request);
  delete static_cast<Outgoing*>(outgoing);
}

void Network::send(std::uint32_t peer, Message kind, const void* header, std::size_t header_bytes,
                   std::string_view payload) {
  const std::lock_guard guard(lock_);
  send_locked(peer, kind, header, header_bytes, payload);
}

void Network::send_locked(std::uint32_t peer, Message kind, const void* header,
                          std::size_t header_bytes, std::string_view payload) {
  ucp_ep_h to = endpoint(peer);
  if (to == nullptr) return;
  auto message = std::make_unique<Outgoing>();
  std::memcpy(message->header.data(), header, header_bytes);
  message->payload = payload;
  ucp_request_param_t how{};
  how.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = UCP_AM_SEND_FLAG_EAGER;  // the target takes it in its callback, whatever its length
  how.cb.send = on_sent;
  how.user_data = message.get();
  void* const request =
      ucp_am_send_nbx(to, static_cast<unsigned>(kind), message->header.data(), header_bytes,
                      message->payload.data(), message->payload.size(), &how);
  if (UCS_PTR_IS_PTR(request)) (void)message.release();  // on_sent has it
}

template <Message kind>
ucs_status_t Network::on_message(void* self, const void* header, std::size_t header_bytes,
                                 void* data, std::size_t bytes, const ucp_am_recv_param_t* how) {
  if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0)
    static_cast<Network*>(self)->receive(kind, header, header_bytes,
                                         static_cast<const std::byte*>(data), bytes);
  return UCS_OK;
}

void Network::listen() {
  const auto take = [&](Message kind, ucp_am_recv_callback_t callback) {
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                         UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = static_cast<unsigned>(kind);
    handler.flags = UCP_AM_FLAG_WHOLE_MSG;
    handler.cb = callback;
    handler.arg = this;
    ucp_worker_set_am_recv_handler(worker_, &handler);
  };
  take(Message::control, on_message<Message::control>);
  take(Message::add, on_message<Message::add>);
  take(Message::added, on_message<Message::added>);
  take(Message::packet, on_message<Message::packet>);
  take(Message::failure, on_message<Message::failure>);
  take(Message::shrink, on_message<Message::shrink>);
}

namespace {

// The header as it was packed; false where the message is none of ours.
template <class Header>
bool read(Header& header, const void* from, std::size_t bytes) {
  if (bytes != sizeof header) return false;
  std::memcpy(&header, from, sizeof header);
  return true;
}

}  // namespace

// Called by UCX with lock_ held; nothing here calls UCX.
void Network::receive(Message kind, const void* from, std::size_t header_bytes,
                      const std::byte* data, std::size_t bytes) {
  const auto text = [&] { return std::string(reinterpret_cast<const char*>(data), bytes); };
  switch (kind) {
    case Message::control:
      if (ControlHeader header; read(header, from, header_bytes)) {
        const std::lock_guard guard(controls_lock_);
        controls_[{header.team, header.call, header.round, header.from}] = text();
      }
      return;
    case Message::add:
      if (AddHeader header; read(header, from, header_bytes)) receive_add(header, data, bytes);
      return;
    case Message::added:
      if (AddedHeader header; read(header, from, header_bytes)) {
        const auto account = accounts_.find(header.account);
        // Release: who has seen its adds done may tell others.
        if (account != accounts_.end())
          account->second->fetch_add(header.count, std::memory_order_release);
      }
      return;
    case Message::packet:
      if (PacketHeader header; read(header, from, header_bytes))
        receive_packet(header, data, bytes);
      return;
    case Message::failure:
      if (FailureHeader header; read(header, from, header_bytes))
        failures_.emplace_back(header, text());  // it may have to be passed on
      return;
    case Message::shrink:
      if (ShrinkHeader header; read(header, from, header_bytes)) receive_shrink(header, text());
      return;
  }
}

void Network::receive_add(const AddHeader& header, const std::byte* data, std::size_t bytes) {
  if (header.from >= size()) return;
  if (header.number <= Number::brain && header.address % bytes_of(header.number) == 0 &&
      segments_->holds(header.address, bytes))
    add_numbers(reinterpret_cast<std::byte*>(header.address), data, bytes, header.number);
  ++owed_[{header.from, header.account}];  // answered once UCX's callback has returned
}

void Network::receive_packet(const PacketHeader& header, const std::byte* data, std::size_t bytes) {
  if (!segments_->holds(header.address, bytes) ||
      !segments_->holds(header.flag_address, sizeof header.flag) || header.flag_address % 4 != 0)
    return;
  std::memcpy(reinterpret_cast<std::byte*>(header.address), data, bytes);
  // Pairs with the acquire load in wait_packets.
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(header.flag_address))
      .store(header.flag, std::memory_order_release);
}

std::uint64_t Network::address_of(Target target) {
  return segments_->memory(target.place.segment).parts[target.peer].address + target.place.offset;
}

std::optional<std::string> Network::take_control(const ControlHeader& wanted) {
  const std::lock_guard guard(controls_lock_);
  const auto found = controls_.find({wanted.team, wanted.call, wanted.round, wanted.from});
  if (found == controls_.end()) return std::nullopt;
  std::string bytes = std::move(found->second);
  controls_.erase(found);
  return bytes;
}

void Network::forget_controls(std::uint64_t team) {
  const std::lock_guard guard(controls_lock_);
  std::erase_if(controls_, [&](const auto& entry) { return std::get<0>(entry.first) == team; });
}

std::uint64_t Network::open_account(std::atomic<std::uint64_t>* added) {
  const std::lock_guard guard(lock_);
  accounts_[next_account_] = added;
  return next_account_++;
}

void Network::close_account(std::uint64_t account) {
  const std::lock_guard guard(lock_);
  accounts_.erase(account);
}

}  // namespace muster::ucx
