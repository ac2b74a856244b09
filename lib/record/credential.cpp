// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/credential.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <munge.h>
#include <netinet/in.h>

namespace fabric_check {
namespace {

class Context {
public:
    Context() : context_(munge_ctx_create()) {}
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    ~Context() {
        if (context_ != nullptr)
            munge_ctx_destroy(context_);
    }
    munge_ctx_t get() const { return context_; }

private:
    munge_ctx_t context_;
};

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};
template <class T> using Allocated = std::unique_ptr<T, Free>;

/// munged not there, or the reason munge gives.
Error munge_error(const char *what, munge_err_t code, munge_ctx_t context, const std::string &socket) {
    const char *detail = context != nullptr ? munge_ctx_strerror(context) : nullptr;
    if (detail == nullptr)
        detail = munge_strerror(code);
    std::string message = std::string("munge ") + what + ": " + detail;
    switch (code) {
    case EMUNGE_SOCKET:
    case EMUNGE_TIMEOUT:
        message += "; is munged running";
        message += socket.empty() ? "? (systemctl start munge)" : " on " + socket + "? (systemctl start munge)";
        return {Errc::unavailable, message};
    case EMUNGE_SNAFU:
    case EMUNGE_NO_MEMORY:
        return {Errc::unavailable, message + "; see munged's log"};
    case EMUNGE_CRED_UNAUTHORIZED:
        return {Errc::denied, message + "; the record was signed for another user: set slurm.user to SlurmUser, the "
                                        "same on the nodes and on the controller"};
    default:
        return {Errc::denied, message};
    }
}

class MungeSigner final : public Signer {
public:
    explicit MungeSigner(std::string socket) : socket_(std::move(socket)) {}

    Result<std::string> sign(const std::string &payload, std::uint32_t reader_uid) override {
        Context context;
        if (auto ready = prepare(context); !ready)
            return ready.error();
        if (const auto code = munge_ctx_set(context.get(), MUNGE_OPT_UID_RESTRICTION, static_cast<uid_t>(reader_uid));
            code != EMUNGE_SUCCESS)
            return munge_error("encode", code, context.get(), socket_);
        if (payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            return Error{Errc::malformed, "munge encode: payload too long"};
        char *credential = nullptr;
        const auto code = munge_encode(&credential, context.get(), payload.data(), static_cast<int>(payload.size()));
        const Allocated<char> owner(credential);
        if (code != EMUNGE_SUCCESS)
            return munge_error("encode", code, context.get(), socket_);
        return std::string(credential);
    }

    Result<Credential> verify(const std::string &credential) override {
        Context context;
        if (auto ready = prepare(context); !ready)
            return ready.error();
        void *payload = nullptr;
        int length = 0;
        uid_t uid = 0;
        gid_t gid = 0;
        const auto code = munge_decode(credential.c_str(), context.get(), &payload, &length, &uid, &gid);
        const Allocated<void> owner(payload);
        // These three are found after the cipher and the authentication code have proved the credential genuine. The
        // third means that the signer's clock is ahead of ours.
        const bool genuine = code == EMUNGE_SUCCESS || code == EMUNGE_CRED_EXPIRED || code == EMUNGE_CRED_REPLAYED ||
                             code == EMUNGE_CRED_REWOUND;
        if (!genuine)
            return munge_error("decode", code, context.get(), socket_);

        Credential decoded;
        if (payload != nullptr && length > 0)
            decoded.payload.assign(static_cast<const char *>(payload), static_cast<std::size_t>(length));
        decoded.uid = uid;
        decoded.expired = code == EMUNGE_CRED_EXPIRED;
        decoded.replayed = code == EMUNGE_CRED_REPLAYED;
        time_t encoded_at = 0;
        if (munge_ctx_get(context.get(), MUNGE_OPT_ENCODE_TIME, &encoded_at) == EMUNGE_SUCCESS)
            decoded.encoded_at = encoded_at;
        in_addr address{};
        char text[INET_ADDRSTRLEN];
        if (munge_ctx_get(context.get(), MUNGE_OPT_ADDR4, &address) == EMUNGE_SUCCESS &&
            inet_ntop(AF_INET, &address, text, sizeof text) != nullptr)
            decoded.address = text;
        return decoded;
    }

private:
    Status prepare(const Context &context) const {
        if (context.get() == nullptr)
            return Error{Errc::unavailable, "munge: out of memory"};
        if (socket_.empty())
            return {};
        if (const auto code = munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket_.c_str()); code != EMUNGE_SUCCESS)
            return munge_error("socket", code, context.get(), socket_);
        return {};
    }

    std::string socket_;
};

} // namespace

std::unique_ptr<Signer> munge_signer(const std::string &socket) {
    return std::make_unique<MungeSigner>(socket);
}

} // namespace fabric_check
