/* K6 through EVP: the random generator fails at its n-th call, for every n; it is an error within a second, nothing enters
 * the stock, the process lives, and works again afterwards. */
#include "module.h"
#include <time.h>

static long fail_at = -1; /* the request that fails, counted from 0; negative: none */
static long requests;
static int failure; /* 0 or -1, what the generator returns */

static int bytes(unsigned char *buf, int num) {
    if (requests++ == fail_at)
        return failure;
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

int main(int argc, char **argv) {
    CHECK(argc == 2);
    MODULE *e = load_with(argv[1], "3");
    EACH_SCHEME(s) {
        EVP_PKEY *key = keygen(s);
        while (level(e, s) > 0)
            EVP_PKEY_free(keygen(s));
        use_random_source(bytes);
        for (failure = 0; failure >= -1; failure--) {
            key_generation(e, s);
            encapsulation(s, key);
        }
        use_random_source(NULL);
        exchange(s);
        QUIET();
        EVP_PKEY_free(key);
    }
    unload(e);
    puts("random: ok");
    return 0;
}
