/* What the test programs share: loading the engine, one-line KEM steps, and checks that name their line. */
#ifndef HARNESS_H
#define HARNESS_H

#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECRET 32
#define MAX_PK 1322
#define MAX_SK 1999
#define MAX_CT 1184

struct scheme {
    const char *name;
    size_t pk, sk, ct;
};

static const struct scheme SCHEMES[] = {{"sntrup761", 1158, 1763, 1039}, {"sntrup857", 1322, 1999, 1184}};
#define EACH_SCHEME(s) for (const struct scheme *s = SCHEMES; s < SCHEMES + 2; s++)

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

/* A repeatable generator (xorshift) for tests of what the engine does with randomness. */
static uint64_t noise_state = 88172645463325252u;

static int noise(unsigned char *buf, int num) {
    for (int i = 0; i < num; i++) {
        noise_state ^= noise_state << 13, noise_state ^= noise_state >> 7, noise_state ^= noise_state << 17;
        buf[i] = (unsigned char)(noise_state >> 32);
    }
    return 1;
}

static int noise_status(void) {
    return 1;
}

/* Tries to load the engine from a path; NULL if that fails, with the reasons left in the error queue. */
static ENGINE *try_load(const char *path) {
    ENGINE_load_dynamic();
    ENGINE *e = ENGINE_by_id("dynamic");
    CHECK(e != NULL);
    if (ENGINE_ctrl_cmd_string(e, "SO_PATH", path, 0) && ENGINE_ctrl_cmd_string(e, "LIST_ADD", "1", 0)
        && ENGINE_ctrl_cmd_string(e, "LOAD", NULL, 0))
        return e;
    ENGINE_free(e);
    return NULL;
}

/* Loads, initialises and registers the engine. */
static ENGINE *load(const char *path) {
    ENGINE *e = try_load(path);
    CHECK(e != NULL);
    CHECK(strcmp(ENGINE_get_id(e), "engntru") == 0);
    CHECK(ENGINE_init(e) == 1);
    CHECK(ENGINE_set_default(e, ENGINE_METHOD_PKEY_METHS | ENGINE_METHOD_PKEY_ASN1_METHS) == 1);
    QUIET();
    return e;
}

/* Gives up all that `load` took; the last reference destroys the ENGINE. */
static void unload(ENGINE *e) {
    ENGINE_unregister_pkey_meths(e);
    ENGINE_unregister_pkey_asn1_meths(e);
    CHECK(ENGINE_remove(e) == 1);
    CHECK(ENGINE_finish(e) == 1);
    CHECK(ENGINE_free(e) == 1);
}

static int nid_of(const struct scheme *s) {
    int nid = OBJ_sn2nid(s->name);
    CHECK(nid != NID_undef);
    return nid;
}

/* EVP_PKEY_keygen; NULL if it fails. */
static EVP_PKEY *try_keygen(const struct scheme *s) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(nid_of(s), NULL);
    CHECK(ctx != NULL);
    CHECK(EVP_PKEY_keygen_init(ctx) == 1);
    if (EVP_PKEY_keygen(ctx, &key) != 1)
        CHECK(key == NULL);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static EVP_PKEY *keygen(const struct scheme *s) {
    EVP_PKEY *key = try_keygen(s);
    CHECK(key != NULL);
    return key;
}

static void share_of(const struct scheme *s, EVP_PKEY *key, unsigned char *pk) {
    unsigned char *share = NULL;
    CHECK(EVP_PKEY_get1_tls_encodedpoint(key, &share) == s->pk);
    memcpy(pk, share, s->pk);
    OPENSSL_free(share);
}

/* A public-only key, made the way libssl makes it from a key share. */
static EVP_PKEY *peer(const struct scheme *s, const unsigned char *pk) {
    EVP_PKEY *key = EVP_PKEY_new();
    CHECK(key != NULL);
    CHECK(EVP_PKEY_set_type(key, nid_of(s)) == 1);
    CHECK(EVP_PKEY_set1_tls_encodedpoint(key, pk, s->pk) == 1);
    return key;
}

static int try_encrypt(const struct scheme *s, EVP_PKEY *key, unsigned char *ct) {
    size_t len = s->ct;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    CHECK(ctx != NULL && EVP_PKEY_encrypt_init(ctx) == 1);
    int ok = EVP_PKEY_encrypt(ctx, ct, &len, NULL, 0);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

static int try_decrypt(EVP_PKEY *key, const unsigned char *ct, size_t ctlen) {
    size_t len = 0;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    CHECK(ctx != NULL && EVP_PKEY_decrypt_init(ctx) == 1);
    int ok = EVP_PKEY_decrypt(ctx, NULL, &len, ct, ctlen);
    if (ok == 1)
        CHECK(len == SECRET);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

/* The steps of libssl's ssl_derive. */
static int try_derive(EVP_PKEY *key, unsigned char *secret) {
    size_t len = 0;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    CHECK(ctx != NULL && EVP_PKEY_derive_init(ctx) == 1);
    CHECK(EVP_PKEY_derive_set_peer(ctx, key) == 1);
    CHECK(EVP_PKEY_derive(ctx, NULL, &len) == 1 && len == SECRET);
    int ok = EVP_PKEY_derive(ctx, secret, &len);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

static void encapsulate(const struct scheme *s, EVP_PKEY *key, unsigned char *ct, unsigned char *secret) {
    CHECK(try_encrypt(s, key, ct) == 1);
    CHECK(try_derive(key, secret) == 1);
}

static void decapsulate(const struct scheme *s, EVP_PKEY *key, const unsigned char *ct, unsigned char *secret) {
    CHECK(try_decrypt(key, ct, s->ct) == 1);
    CHECK(try_derive(key, secret) == 1);
}

/* One whole exchange between two key objects, as client and server have them. */
static void exchange(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT], sent[SECRET], received[SECRET];
    EVP_PKEY *client = keygen(s);
    share_of(s, client, pk);
    EVP_PKEY *server = peer(s, pk);
    encapsulate(s, server, ct, sent);
    decapsulate(s, client, ct, received);
    CHECK(memcmp(sent, received, SECRET) == 0);
    EVP_PKEY_free(server);
    EVP_PKEY_free(client);
}

/* Empties the queue and checks that an entry of our library has this reason, and this function where one is given. */
static void expect_error(const char *function, const char *reason, int line) {
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
        if (library != NULL && strcmp(library, "engNTRU") == 0 && text != NULL && strstr(text, reason) != NULL
            && (function == NULL || (func != NULL && strcmp(func, function) == 0)))
            found = 1;
    }
    if (!found) {
        fprintf(stderr, "line %d: no error entry of engNTRU with function %s and reason \"%s\"\n", line, function, reason);
        exit(1);
    }
}
#define EXPECT_ERROR(function, reason) expect_error(function, reason, __LINE__)

/* The read-out of a control command. */
static void tell(ENGINE *e, const char *command, char *answer, long size) {
    int number = ENGINE_ctrl(e, ENGINE_CTRL_GET_CMD_FROM_NAME, 0, (void *)command, NULL);
    CHECK(number > 0);
    CHECK(ENGINE_ctrl(e, number, size, answer, NULL) == 1);
}

/* How many ready key pairs the engine holds of a scheme. */
static int level(ENGINE *e, const struct scheme *s) {
    char answer[200], *at;
    tell(e, "STOCK_LEVEL", answer, sizeof answer);
    at = strstr(answer, s->name);
    CHECK(at != NULL && at[strlen(s->name)] == '=');
    return atoi(at + strlen(s->name) + 1);
}

#endif
