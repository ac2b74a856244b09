/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded before libumad2sim: gives every agent of a simulated fabric a service time, one request after the other, and
 * every MAD a round trip, whatever program sends it. Silence is made here too, as ib_umad makes it: the request comes back
 * with ETIMEDOUT after its timeout and retries. Waits by sleeping, with a timer slack of 1 us; never spins.
 *
 * MAD_SHIM_SERVICE_US  time an agent takes for one request (0)
 * MAD_SHIM_RTT_US      round trip without it (0)
 * MAD_SHIM_DEAD        file of LIDs, one a line, that never answer
 * MAD_SHIM_STATS       file that gets one line at exit: MADs, those of the busiest agent, timeouts, most outstanding
 *
 * An agent is what serves one LID; of directed routes, one path. Both classes of a LID are served by the same one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { most_pending = 4096, most_agents = 16384, mad_bytes = 256, header_bytes = 24 };
enum { sleep_worth_ns = 20000 }; /* a shorter sleep would last longer than what it waits for */

struct pending {
    int fd, agent_id, arrived, dead, length;
    uint32_t transaction;
    uint8_t class_number;
    int64_t due, timeout;
    unsigned char *umad;
};
struct agent {
    uint64_t key;
    int64_t busy_until;
    unsigned mads;
};

static unsigned char buffers[most_pending][512];
static struct pending pending[most_pending];
static struct pending *active[most_pending]; /* those in use; the rest of the array holds the free ones */
static unsigned active_count, most_active;
static struct agent agents[most_agents];
static unsigned char dead[65536];
static int64_t service_ns, round_trip_ns;
static unsigned long mads, timeouts;
static const char *stats_file;

static int (*real_send)(int, int, void *, int, int, int);
static int (*real_recv)(int, void *, int *, int);

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(int64_t when) {
    struct timespec t = {when / 1000000000LL, when % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static int64_t from_environment(const char *name) {
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) * 1000 : 0;
}

__attribute__((constructor)) static void begin(void) {
    *(void **)&real_send = dlsym(RTLD_NEXT, "umad_send");
    *(void **)&real_recv = dlsym(RTLD_NEXT, "umad_recv");
    service_ns = from_environment("MAD_SHIM_SERVICE_US");
    round_trip_ns = from_environment("MAD_SHIM_RTT_US");
    stats_file = getenv("MAD_SHIM_STATS");
    prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
    for (unsigned i = 0; i < most_pending; ++i) {
        pending[i].umad = buffers[i];
        active[i] = &pending[i];
    }
    const char *list = getenv("MAD_SHIM_DEAD");
    FILE *file = list ? fopen(list, "r") : NULL;
    unsigned lid;
    while (file && fscanf(file, "%u", &lid) == 1)
        dead[lid & 0xffff] = 1;
    if (file)
        fclose(file);
}

__attribute__((destructor)) static void end(void) {
    unsigned busiest = 0;
    for (unsigned i = 0; i < most_agents; ++i)
        busiest = agents[i].mads > busiest ? agents[i].mads : busiest;
    FILE *file = stats_file && mads ? fopen(stats_file, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%lu %u %lu %u\n", mads, busiest, timeouts, most_active);
    fclose(file);
}

static uint32_t transaction_of(const unsigned char *mad) {
    return (uint32_t)mad[12] << 24 | (uint32_t)mad[13] << 16 | (uint32_t)mad[14] << 8 | mad[15];
}

static struct agent *agent_of(unsigned lid, const unsigned char *mad) {
    uint64_t key = lid + 1;
    if (mad[1] == 0x81) /* directed route: hop count, then the path */
        for (unsigned hop = 0; hop <= mad[7] && hop < 64; ++hop)
            key = (key ^ mad[128 + hop]) * 0x100000001b3ULL + 0x9e3779b9U;
    unsigned at = (unsigned)(key * 0x9e3779b97f4a7c15ULL >> 50) % most_agents;
    while (agents[at].key && agents[at].key != key)
        at = (at + 1) % most_agents;
    agents[at].key = key;
    return &agents[at];
}

int umad_send(int fd, int agent_id, void *umad, int length, int timeout_ms, int retries) {
    const unsigned char *mad = umad_get_mad(umad);
    if (timeout_ms <= 0 || active_count == most_pending || length > mad_bytes) /* nobody waits for an answer */
        return real_send(fd, agent_id, umad, length, timeout_ms, retries);
    const unsigned lid = ntohs(umad_get_mad_addr(umad)->lid);
    const int64_t now = now_ns();
    struct pending *one = active[active_count];
    one->dead = dead[lid];
    if (!one->dead) {
        const int sent = real_send(fd, agent_id, umad, length, timeout_ms, retries);
        if (sent != 0)
            return sent;
    }
    struct agent *agent = agent_of(lid, mad);
    const int64_t arrival = now + round_trip_ns / 2;
    const int64_t start = agent->busy_until > arrival ? agent->busy_until : arrival;
    agent->busy_until = start + service_ns;
    ++agent->mads;
    ++mads;
    one->fd = fd;
    one->agent_id = agent_id;
    one->arrived = 0;
    one->transaction = transaction_of(mad);
    one->class_number = mad[1];
    one->due = agent->busy_until + round_trip_ns - round_trip_ns / 2;
    one->timeout = now + (int64_t)timeout_ms * 1000000 * (1 + retries);
    one->length = header_bytes;
    memcpy(one->umad, umad, umad_size() + header_bytes);
    if (++active_count > most_active)
        most_active = active_count;
    return 0;
}

static int hand_over(unsigned at, void *umad, int *length, int timed_out) {
    struct pending *one = active[at];
    active[at] = active[--active_count];
    active[active_count] = one;
    const int room = *length;
    *length = one->length < room ? one->length : room;
    memcpy(umad, one->umad, umad_size() + (size_t)*length);
    if (timed_out) {
        ++timeouts;
        ((struct ib_user_mad *)umad)->status = ETIMEDOUT;
    }
    return one->agent_id;
}

/* Takes what has come so far. 1: an answer to nothing of ours, in the caller's buffer. */
static int drain(int fd, void *umad, int *length, int wait_ms, int *agent_id) {
    for (;; wait_ms = 0) {
        unsigned char buffer[512];
        int got = mad_bytes;
        memset(buffer, 0, umad_size());
        errno = 0;
        const int agent = real_recv(fd, buffer, &got, wait_ms);
        if (agent < 0)
            return 0;
        unsigned at = 0;
        const unsigned char *mad = umad_get_mad(buffer);
        while (at < active_count &&
               (active[at]->fd != fd || active[at]->arrived || active[at]->dead ||
                active[at]->transaction != transaction_of(mad) || active[at]->class_number != mad[1]))
            ++at;
        if (at < active_count) {
            active[at]->arrived = 1;
            active[at]->length = got < mad_bytes ? got : mad_bytes;
            memcpy(active[at]->umad, buffer, umad_size() + (size_t)active[at]->length);
        } else if (mad[3] < 0x80) { /* a request or a trap to this program; late answers are dropped */
            *length = got < *length ? got : *length;
            memcpy(umad, buffer, umad_size() + (size_t)*length);
            *agent_id = agent;
            return 1;
        }
    }
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms) {
    const int64_t never = INT64_MAX;
    const int64_t end = timeout_ms < 0 ? never : now_ns() + timeout_ms * 1000000LL;
    int agent_id, wait_ms = 0;
    for (int drained = 0;; drained = 1) {
        /* What is here and due is handed over without asking the simulator for more. */
        if (drained && drain(fd, umad, length, wait_ms, &agent_id))
            return agent_id;
        const int64_t now = now_ns();
        int64_t next = end, missing = never; /* when something is to be told; when an answer should have come */
        unsigned first = most_pending;
        int64_t first_at = never;
        for (unsigned i = 0; i < active_count; ++i) {
            const struct pending *one = active[i];
            if (one->fd != fd)
                continue;
            const int64_t at = one->arrived && one->due < one->timeout ? one->due : one->timeout;
            if (at < first_at) {
                first_at = at;
                first = i;
            }
            if (!one->arrived && !one->dead && one->due < missing)
                missing = one->due;
        }
        if (first_at <= now)
            return hand_over(first, umad, length, !active[first]->arrived || active[first]->due >= active[first]->timeout);
        if (!drained)
            continue;
        if (now >= end || timeout_ms == 0) {
            errno = timeout_ms == 0 ? EWOULDBLOCK : ETIMEDOUT;
            return -errno;
        }
        next = first_at < next ? first_at : next;
        wait_ms = 0;
        if (missing <= now + sleep_worth_ns || active_count == 0) {
            /* The simulator is late, or somebody else may send us something: it wakes us. */
            const int64_t left = next == never ? 1000 : (next - now) / 1000000;
            wait_ms = left < 1 ? 1 : left > 1000 ? 1000 : (int)left;
        } else {
            sleep_until(missing < next ? missing : next);
        }
    }
}
