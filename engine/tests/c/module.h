/* The engine for the test programs: loading it, and the steps of a KEM through EVP_PKEY_encrypt, _decrypt and _derive. */
#ifndef MODULE_H
#define MODULE_H

#include "base.h"
#include <openssl/ec.h>
#include <openssl/engine.h>
#include <openssl/objects.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#define SECRET 32

static const struct scheme SCHEMES[] = {SNTRUP761, SNTRUP857};

typedef ENGINE MODULE;

/* In which callbacks errors arise. */
#define IN_KEYGEN "keygen"
#define IN_ENCAPSULATION "encrypt"
#define IN_READING "set_priv_key"
#define EXPECT_ERROR(function, reason) expect_error_of("engNTRU", function, reason, __LINE__)

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

/* A whole encapsulation, as libssl makes it. */
static int try_encapsulate(const struct scheme *s, EVP_PKEY *key, unsigned char *ct, unsigned char *secret) {
    return try_encrypt(s, key, ct) == 1 && try_derive(key, secret) == 1;
}

static int try_decapsulate(EVP_PKEY *key, const unsigned char *ct, size_t ctlen, unsigned char *secret) {
    return try_decrypt(key, ct, ctlen) == 1 && try_derive(key, secret) == 1;
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
    at = strstr(answer, s->stock);
    CHECK(at != NULL && at[strlen(s->stock)] == '=');
    return atoi(at + strlen(s->stock) + 1);
}

/* The same, with another size of batches. */
static ENGINE *load_with(const char *path, const char *batch_size) {
    ENGINE *e = load(path);
    CHECK(ENGINE_ctrl_cmd_string(e, "BATCH_SIZE", batch_size, 0) == 1);
    return e;
}

/* The same, with a thread that refills. */
static ENGINE *load_refilled(const char *path, const char *batch_size) {
    ENGINE *e = load_with(path, batch_size);
    CHECK(ENGINE_ctrl_cmd_string(e, "BACKGROUND_REFILL", "1", 0) == 1);
    return e;
}

/* What computes is the fastest implementation. */
static void check_backend(ENGINE *e) {
    char backend[40], best[40];
    tell(e, "BACKEND_IN_USE", backend, sizeof backend);
    CHECK(ENGINE_ctrl_cmd_string(e, "BACKEND", "auto", 0) == 1);
    tell(e, "BACKEND_IN_USE", best, sizeof best);
    CHECK(strcmp(backend, best) == 0);
}

/* A private key from its encoding; NULL if it is refused. */
static EVP_PKEY *private_key(const struct scheme *s, const unsigned char *raw, size_t len) {
    return EVP_PKEY_new_raw_private_key(nid_of(s), NULL, raw, len);
}

/* The n-th of many operations on a key that threads share: any secret that comes out is one that went in, and each comes out
 * once. 1 if one came out. */
static int use_shared(const struct scheme *s, EVP_PKEY *key, int n, unsigned char *ct) {
    unsigned char secret[SECRET];
    CHECK((n % 2 == 0 ? try_encrypt(s, key, ct) : try_decrypt(key, ct, s->ct)) == 1);
    if (try_derive(key, secret) == 1)
        return 1;
    EXPECT_ERROR("derive", "no shared secret is waiting");
    return 0;
}

/* After a fork, the child changes a key that threads of its parent were using. */
static int use_after_fork(const struct scheme *s, EVP_PKEY *key, const unsigned char *pk) {
    return EVP_PKEY_set1_tls_encodedpoint(key, pk, s->pk);
}

/* A failed encapsulation leaves no secret behind. */
static void check_nothing_waits(EVP_PKEY *key) {
    unsigned char secret[SECRET];
    CHECK(try_derive(key, secret) <= 0);
    EXPECT_ERROR("derive", "no shared secret is waiting");
}

static int same_key(EVP_PKEY *a, EVP_PKEY *b) {
    return EVP_PKEY_cmp(a, b) == 1;
}

/* What a broken generator returns: failed, unsupported, and the number of bytes that it gave, as some do. */
static const int FAILURES[] = {0, -1, 16};

/* Has all randomness come from `source`, which returns 1 or a failure; NULL: from where it comes usually. */
static int (*random_source)(unsigned char *, int);

static int from_source(unsigned char *buf, int num) {
    return random_source(buf, num);
}

static int source_status(void) {
    return 1;
}

static void use_random_source(int (*source)(unsigned char *, int)) {
    static RAND_METHOD method = {NULL, from_source, NULL, NULL, from_source, source_status};
    static const RAND_METHOD *usual;
    if (random_source == NULL)
        usual = RAND_get_rand_method();
    random_source = source;
    CHECK(RAND_set_rand_method(source != NULL ? &method : usual) == 1);
}

#endif
