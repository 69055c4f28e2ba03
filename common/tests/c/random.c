/* K6 through EVP: the random generator fails at its n-th call, for every n, or gives a part only; it is an error within a
 * second, nothing enters the stock, the process lives, and works again afterwards. One that blocks holds up nobody who does
 * not need what it was to make. */
#include "module.h"
#include <time.h>

static long fail_at = -1; /* the request that fails, counted from 0; negative: none */
static long requests;
static int failure; /* what the generator returns */

static int bytes(unsigned char *buf, int num) {
    if (requests++ == fail_at) {
        if (failure > 0)
            noise(buf, failure < num ? failure : num);
        return failure;
    }
    return noise(buf, num);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void key_generation(MODULE *e, const struct scheme *s) {
    CHECK(level(e, s) == 0);
    for (long n = 0;; n++) {
        requests = 0, fail_at = n;
        double start = now();
        EVP_PKEY *key = try_keygen(s);
        if (key != NULL) {
            CHECK(requests <= n && n >= 1); /* it came to an end before the n-th request */
            CHECK(level(e, s) == 2);
            EVP_PKEY_free(key);
            break;
        }
        CHECK(now() - start < 1);
        EXPECT_ERROR(IN_KEYGEN, "the random generator failed");
        CHECK(level(e, s) == 0);
    }
    fail_at = -1;
    for (int i = 0; i < 2; i++)
        EVP_PKEY_free(keygen(s));
    CHECK(level(e, s) == 0);
    QUIET();
}

static void encapsulation(const struct scheme *s, EVP_PKEY *key) {
    unsigned char ct[MAX_CT], secret[MAX_SECRET];
    for (long n = 0;; n++) {
        requests = 0, fail_at = n;
        if (try_encapsulate(s, key, ct, secret)) {
            CHECK(n >= 1);
            break;
        }
        EXPECT_ERROR(IN_ENCAPSULATION, "the random generator failed");
        fail_at = -1;
        check_nothing_waits(key);
    }
    fail_at = -1;
    QUIET();
}

/* A private key is tried out when it is read, which takes randomness: nothing is read when there is none. */
static void reading(const struct scheme *s, EVP_PKEY *key) {
    unsigned char sk[MAX_SK];
    size_t len = sizeof sk;
    CHECK(EVP_PKEY_get_raw_private_key(key, sk, &len) == 1);
    for (long n = 0;; n++) {
        requests = 0, fail_at = n;
        double start = now();
        EVP_PKEY *got = private_key(s, sk, len);
        CHECK(now() - start < 1);
        if (got != NULL) {
            CHECK(n >= 1 && same_key(got, key));
            EVP_PKEY_free(got);
            break;
        }
        EXPECT_ERROR(IN_READING, "the random generator failed");
    }
    fail_at = -1;
    QUIET();
}

/* A generator that blocks at the first request and lets the others through. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int blocks, blocked;

static int blocking_bytes(unsigned char *buf, int num) {
    pthread_mutex_lock(&mutex);
    if (blocks) {
        blocks = 0, blocked = 1;
        pthread_cond_broadcast(&changed);
        while (blocked)
            pthread_cond_wait(&changed, &mutex);
    }
    int ok = noise(buf, num);
    pthread_mutex_unlock(&mutex);
    return ok;
}

static void *generates(void *s) {
    return keygen(s);
}

/* While a refill of one set waits for randomness, the other set's stock, encapsulation, decapsulation and key shares go on. */
static void blocked_generator(MODULE *e) {
    const struct scheme *s = SCHEMES, *other = SCHEMES + 1;
    unsigned char pk[MAX_PK], ct[MAX_CT], sent[MAX_SECRET], received[MAX_SECRET];
    EVP_PKEY *key = keygen(s);
    while (level(e, s) > 0)
        EVP_PKEY_free(keygen(s));
    use_random_source(blocking_bytes);
    blocks = 1;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, generates, (void *)s) == 0);
    pthread_mutex_lock(&mutex);
    while (!blocked)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);

    alarm(20); /* who waits for the blocked thread now is ended, with a status that is no success */
    double start = now();
    share_of(s, key, pk);
    EVP_PKEY *server = peer(s, pk);
    encapsulate(s, server, ct, sent);
    decapsulate(s, key, ct, received);
    CHECK(memcmp(sent, received, s->secret) == 0);
    exchange(other);
    CHECK(now() - start < 1);
    QUIET();
    alarm(0);

    pthread_mutex_lock(&mutex);
    CHECK(blocked);
    blocked = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    void *made;
    CHECK(pthread_join(thread, &made) == 0 && made != NULL);
    CHECK(level(e, s) == 2);
    use_random_source(NULL);
    EVP_PKEY_free(made);
    EVP_PKEY_free(server);
    EVP_PKEY_free(key);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    MODULE *e = load_with(argv[1], "3");
    EACH_SCHEME(s) {
        EVP_PKEY *key = keygen(s);
        while (level(e, s) > 0)
            EVP_PKEY_free(keygen(s));
        use_random_source(bytes);
        for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
            failure = FAILURES[i];
            key_generation(e, s);
            encapsulation(s, key);
            reading(s, key);
        }
        use_random_source(NULL);
        exchange(s);
        QUIET();
        EVP_PKEY_free(key);
    }
    blocked_generator(e);
    unload(e);
    puts("random: ok");
    return 0;
}
