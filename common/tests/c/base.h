/* What the test programs share, whichever module they test: schemes, checks that name their line, a repeatable generator.
 *
 * A program includes module.h, which engine and provider have each of their own. It includes this file and gives, besides
 * what is used of it here: SCHEMES, load, load_with, unload, level, keygen and the other one-line steps of a KEM. */
#ifndef BASE_H
#define BASE_H

#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECRET 64
#define MAX_PK 1322
#define MAX_SK 1999
#define MAX_CT 1184

struct scheme {
    const char *name, *stock; /* `stock` is the scheme from whose stock its keys come */
    size_t pk, sk, ct, secret;
    int bits;
};

#define SNTRUP761 {"sntrup761", "sntrup761", 1158, 1763, 1039, 32, 128}
#define SNTRUP857 {"sntrup857", "sntrup857", 1322, 1999, 1184, 32, 192}
#define EACH_SCHEME(s) for (const struct scheme *s = SCHEMES; s < SCHEMES + sizeof SCHEMES / sizeof *SCHEMES; s++)
/* The two that are nothing but sntrup stand first. */
#define EACH_PLAIN_SCHEME(s) for (const struct scheme *s = SCHEMES; s < SCHEMES + 2; s++)

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);        \
            ERR_print_errors_fp(stderr);                                                   \
            fflush(stderr);                                                                \
            _exit(1);                                                                      \
        }                                                                                  \
    } while (0)

/* The error queue must be empty here. */
#define QUIET() CHECK(ERR_peek_error() == 0)

/* A repeatable generator (xorshift) for tests of what the module does with randomness. */
static uint64_t noise_state = 88172645463325252u;

static int noise(unsigned char *buf, int num) {
    for (int i = 0; i < num; i++) {
        noise_state ^= noise_state << 13, noise_state ^= noise_state >> 7, noise_state ^= noise_state << 17;
        buf[i] = (unsigned char)(noise_state >> 32);
    }
    return 1;
}

/* Empties the queue and checks that an entry of this library has this reason, and this function where one is given. */
static void expect_error_of(const char *ours, const char *function, const char *reason, int line) {
    unsigned long code;
    int found = 0;
#if OPENSSL_VERSION_MAJOR + 0 >= 3
    const char *file, *func, *data;
    int at, flags;
    while ((code = ERR_get_error_all(&file, &at, &func, &data, &flags)) != 0) {
#else
    while ((code = ERR_get_error()) != 0) {
        const char *func = ERR_func_error_string(code);
#endif
        const char *library = ERR_lib_error_string(code), *text = ERR_reason_error_string(code);
        if (library != NULL && strcmp(library, ours) == 0 && text != NULL && strstr(text, reason) != NULL
            && (function == NULL || (func != NULL && strcmp(func, function) == 0)))
            found = 1;
    }
    if (!found) {
        fprintf(stderr, "line %d: no error entry of %s with function %s and reason \"%s\"\n", line, ours, function, reason);
        exit(1);
    }
}

#endif
