/* The provider for the test programs: loading it by a configuration, and the steps of a KEM as libssl makes them. */
#ifndef MODULE_H
#define MODULE_H

#include "base.h"
#include <openssl/core_names.h>
#include <openssl/provider.h>
#include <sys/syscall.h>

static const struct scheme SCHEMES[] = {SNTRUP761, SNTRUP857, {"X25519sntrup761", "sntrup761", 1190, 1795, 1071, 64, 128}};

typedef OSSL_PROVIDER MODULE;

/* In which callbacks errors arise. */
#define IN_KEYGEN "keymgmt_gen"
#define IN_ENCAPSULATION "kem_encapsulate"
#define IN_READING "keymgmt_import"
#define EXPECT_ERROR(function, reason) expect_error_of("ntruprime", function, reason, __LINE__)

/* Loads the default provider and the one at a path into a library context, with these lines in its section; NULL if that fails. */
static OSSL_PROVIDER *try_load(OSSL_LIB_CTX *context, const char *path, const char *lines) {
    char name[] = "/tmp/ntruprime-XXXXXX";
    int file = mkstemp(name);
    CHECK(file >= 0);
    FILE *out = fdopen(file, "w");
    fprintf(out, "openssl_conf = init\n[init]\nproviders = providers\n[providers]\ndefault = usual\n"
                 "ntruprime = ntruprime\n[usual]\nactivate = 1\n[ntruprime]\nmodule = %s\nactivate = 1\n%s\n", path, lines);
    CHECK(fclose(out) == 0);
    int ok = OSSL_LIB_CTX_load_config(context, name);
    unlink(name);
    /* The configuration holds the provider to the end of the context; this is a use of our own. */
    return ok == 1 ? OSSL_PROVIDER_load(context, "ntruprime") : NULL;
}

/* The library context of all that follows: one that can be thrown away with the provider in it. */
static OSSL_LIB_CTX *libctx;

static OSSL_PROVIDER *load_lines(const char *path, const char *lines) {
    CHECK(libctx == NULL && (libctx = OSSL_LIB_CTX_new()) != NULL);
    OSSL_PROVIDER *provider = try_load(libctx, path, lines);
    CHECK(provider != NULL);
    QUIET();
    return provider;
}

static OSSL_PROVIDER *load(const char *path) {
    return load_lines(path, "");
}

/* The same, with another size of batches. */
static OSSL_PROVIDER *load_with(const char *path, const char *batch_size) {
    char line[40];
    snprintf(line, sizeof line, "BATCH_SIZE = %s", batch_size);
    return load_lines(path, line);
}

/* The same, with a thread that refills. */
static OSSL_PROVIDER *load_refilled(const char *path, const char *batch_size) {
    char lines[80];
    snprintf(lines, sizeof lines, "BATCH_SIZE = %s\nBACKGROUND_REFILL = on", batch_size);
    return load_lines(path, lines);
}

/* Gives up all that `load` took; the provider ends with the context. */
static void unload(OSSL_PROVIDER *provider) {
    CHECK(OSSL_PROVIDER_unload(provider) == 1);
    OSSL_LIB_CTX_free(libctx);
    libctx = NULL;
}

/* Answer to a question in text. */
static void tell(OSSL_PROVIDER *provider, const char *name, char *answer, size_t size) {
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(name, answer, size), OSSL_PARAM_END};
    CHECK(OSSL_PROVIDER_get_params(provider, params) == 1 && OSSL_PARAM_modified(params));
}

/* How many ready key pairs the provider holds for a scheme. */
static int level(OSSL_PROVIDER *provider, const struct scheme *s) {
    char answer[200], *at;
    tell(provider, "stock-level", answer, sizeof answer);
    at = strstr(answer, s->stock);
    CHECK(at != NULL && at[strlen(s->stock)] == '=');
    return atoi(at + strlen(s->stock) + 1);
}

/* What computes is the fastest implementation. */
static void check_backend(OSSL_PROVIDER *provider) {
    char backend[40], best[40];
    tell(provider, "backend-in-use", backend, sizeof backend);
    __builtin_cpu_init();
    snprintf(best, sizeof best, __builtin_cpu_supports("avx2") ? "avx2" : "portable");
    CHECK(strcmp(backend, best) == 0);
}

static EVP_PKEY_CTX *context_of(EVP_PKEY *key) {
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(libctx, key, NULL);
    CHECK(ctx != NULL);
    return ctx;
}

/* EVP_PKEY_keygen; NULL if it fails. */
static EVP_PKEY *try_keygen(const struct scheme *s) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(libctx, s->name, NULL);
    CHECK(ctx != NULL);
    CHECK(EVP_PKEY_keygen_init(ctx) == 1);
    CHECK(EVP_PKEY_CTX_set_group_name(ctx, s->name) == 1);
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
    CHECK(EVP_PKEY_get1_encoded_public_key(key, &share) == s->pk);
    memcpy(pk, share, s->pk);
    OPENSSL_free(share);
}

/* An object without a key, made the way libssl makes it for a key share. */
static EVP_PKEY *empty_key(const struct scheme *s) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(libctx, s->name, NULL);
    CHECK(ctx != NULL && EVP_PKEY_paramgen_init(ctx) == 1);
    CHECK(EVP_PKEY_CTX_set_group_name(ctx, s->name) == 1);
    CHECK(EVP_PKEY_paramgen(ctx, &key) == 1);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static EVP_PKEY *peer(const struct scheme *s, const unsigned char *pk) {
    EVP_PKEY *key = empty_key(s);
    CHECK(EVP_PKEY_set1_encoded_public_key(key, pk, s->pk) == 1);
    return key;
}

static int try_encapsulate(const struct scheme *s, EVP_PKEY *key, unsigned char *ct, unsigned char *secret) {
    size_t ctlen = s->ct, secretlen = s->secret;
    EVP_PKEY_CTX *ctx = context_of(key);
    int ok = EVP_PKEY_encapsulate_init(ctx, NULL) == 1 && EVP_PKEY_encapsulate(ctx, ct, &ctlen, secret, &secretlen) == 1;
    if (ok)
        CHECK(ctlen == s->ct && secretlen == s->secret);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

static int try_decapsulate(EVP_PKEY *key, const unsigned char *ct, size_t ctlen, unsigned char *secret) {
    size_t secretlen = MAX_SECRET;
    EVP_PKEY_CTX *ctx = context_of(key);
    int ok = EVP_PKEY_decapsulate_init(ctx, NULL) == 1 && EVP_PKEY_decapsulate(ctx, secret, &secretlen, ct, ctlen) == 1;
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

static void encapsulate(const struct scheme *s, EVP_PKEY *key, unsigned char *ct, unsigned char *secret) {
    CHECK(try_encapsulate(s, key, ct, secret));
}

static void decapsulate(const struct scheme *s, EVP_PKEY *key, const unsigned char *ct, unsigned char *secret) {
    CHECK(try_decapsulate(key, ct, s->ct, secret));
}

/* One whole exchange between two key objects, as client and server have them. */
static void exchange(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT], sent[MAX_SECRET], received[MAX_SECRET];
    EVP_PKEY *client = keygen(s);
    share_of(s, client, pk);
    EVP_PKEY *server = peer(s, pk);
    encapsulate(s, server, ct, sent);
    decapsulate(s, client, ct, received);
    CHECK(memcmp(sent, received, s->secret) == 0);
    EVP_PKEY_free(server);
    EVP_PKEY_free(client);
}

/* A private key from its encoding; NULL if it is refused. */
static EVP_PKEY *private_key(const struct scheme *s, const unsigned char *raw, size_t len) {
    return EVP_PKEY_new_raw_private_key_ex(libctx, s->name, NULL, raw, len);
}

/* The n-th of many operations on a key that threads share: each is right in itself. 1 if a secret came out. */
static int use_shared(const struct scheme *s, EVP_PKEY *key, int n, unsigned char *ct) {
    unsigned char sent[MAX_SECRET], received[MAX_SECRET];
    (void)n;
    encapsulate(s, key, ct, sent);
    decapsulate(s, key, ct, received);
    CHECK(memcmp(sent, received, s->secret) == 0);
    return 1;
}

/* After a fork, the child uses a key that threads of its parent were using. */
static int use_after_fork(const struct scheme *s, EVP_PKEY *key, const unsigned char *pk) {
    unsigned char ct[MAX_CT], share[MAX_PK];
    share_of(s, key, share);
    return memcmp(share, pk, s->pk) == 0 && use_shared(s, key, 0, ct);
}

/* A failed encapsulation leaves no secret behind: there is no place for one. */
static void check_nothing_waits(EVP_PKEY *key) {
    (void)key;
}

static int same_key(EVP_PKEY *a, EVP_PKEY *b) {
    return EVP_PKEY_eq(a, b) == 1;
}

/* What a broken getrandom returns. A number of bytes is no failure: the rest is asked for again. */
static const int FAILURES[] = {0, -1};

/* Has all randomness come from `source`, which returns 1 or a failure; NULL: from where it comes usually. The provider
 * takes it from getrandom, which this program gives in the C library's place. */
static int (*random_source)(unsigned char *, int);

ssize_t getrandom(void *buf, size_t len, unsigned flags) {
    if (random_source == NULL)
        return syscall(SYS_getrandom, buf, len, flags);
    int outcome = random_source(buf, (int)len);
    return outcome == 1 ? (ssize_t)len : outcome;
}

static void use_random_source(int (*source)(unsigned char *, int)) {
    random_source = source;
}

#endif
