/* Exchanges between the two implementations of sntrup761 in one process: libcrypto's own and the engine's.
 *
 * usage: exchange ENGINE COUNT. In COUNT exchanges libcrypto has the key pair and the engine encapsulates, in COUNT more it
 * is the other way round. Ends with status 0 and the line "2 x COUNT exchanges", or at the first thing that is wrong. */
#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
            ERR_print_errors_fp(stderr);                                                     \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

enum { PUBLIC_KEY = 1158, SECRET_KEY = 1763, CIPHERTEXT = 1039, SECRET = 32 };

static ENGINE *engine;

/* Who serves the key type from now on: the engine if one is registered, and otherwise libcrypto. */
static void serve(int by_engine) {
    if (by_engine) {
        CHECK(ENGINE_set_default(engine, ENGINE_METHOD_PKEY_METHS | ENGINE_METHOD_PKEY_ASN1_METHS));
    } else {
        ENGINE_unregister_pkey_meths(engine);
        ENGINE_unregister_pkey_asn1_meths(engine);
    }
}

static EVP_PKEY_CTX *context(EVP_PKEY *key) {
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    CHECK(ctx != NULL);
    return ctx;
}

static EVP_PKEY *generate(void) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(NID_sntrup761, NULL);
    CHECK(ctx != NULL && EVP_PKEY_keygen_init(ctx) > 0 && EVP_PKEY_keygen(ctx, &key) > 0);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static void derive(EVP_PKEY *key, unsigned char *secret) {
    size_t len = SECRET;
    EVP_PKEY_CTX *ctx = context(key);
    CHECK(EVP_PKEY_derive_init(ctx) > 0 && EVP_PKEY_derive_set_peer(ctx, key) > 0);
    CHECK(EVP_PKEY_derive(ctx, secret, &len) > 0 && len == SECRET);
    EVP_PKEY_CTX_free(ctx);
}

/* One exchange; the key pair is the engine's if `engine_has_key`, and the ciphertext is made by the other one. */
static void exchange(int engine_has_key) {
    unsigned char *share, ciphertext[CIPHERTEXT], sent[SECRET], got[SECRET];
    size_t len = CIPHERTEXT, got_len = 0;

    serve(engine_has_key);
    EVP_PKEY *key = generate();
    CHECK(EVP_PKEY_get0_engine(key) == (engine_has_key ? engine : NULL));
    CHECK(EVP_PKEY_get1_tls_encodedpoint(key, &share) == PUBLIC_KEY);

    serve(!engine_has_key);
    EVP_PKEY *peer = EVP_PKEY_new();
    CHECK(peer != NULL && EVP_PKEY_set_type(peer, NID_sntrup761));
    CHECK(EVP_PKEY_get0_engine(peer) == (engine_has_key ? NULL : engine));
    CHECK(EVP_PKEY_set1_tls_encodedpoint(peer, share, PUBLIC_KEY));
    OPENSSL_free(share);
    EVP_PKEY_CTX *ctx = context(peer);
    CHECK(EVP_PKEY_encrypt_init(ctx) > 0 && EVP_PKEY_encrypt(ctx, ciphertext, &len, NULL, 0) > 0 && len == CIPHERTEXT);
    EVP_PKEY_CTX_free(ctx);
    derive(peer, sent);

    serve(engine_has_key);
    ctx = context(key);
    CHECK(EVP_PKEY_decrypt_init(ctx) > 0 && EVP_PKEY_decrypt(ctx, NULL, &got_len, ciphertext, CIPHERTEXT) > 0);
    EVP_PKEY_CTX_free(ctx);
    derive(key, got);
    CHECK(memcmp(sent, got, SECRET) == 0);

    EVP_PKEY_free(peer);
    EVP_PKEY_free(key);
}

/* Both reject a forged ciphertext alike: the same key gives the same wrong secret in either. */
static void rejection(void) {
    unsigned char raw[SECRET_KEY], ciphertext[CIPHERTEXT], secrets[2][SECRET];
    size_t len = SECRET_KEY;
    serve(0);
    EVP_PKEY *key = generate();
    CHECK(EVP_PKEY_get_raw_private_key(key, raw, &len) && len == SECRET_KEY);
    EVP_PKEY_free(key);
    memset(ciphertext, 0x5a, sizeof(ciphertext));
    for (int by_engine = 0; by_engine < 2; by_engine++) {
        serve(by_engine);
        key = EVP_PKEY_new_raw_private_key(NID_sntrup761, NULL, raw, len);
        CHECK(key != NULL && EVP_PKEY_get0_engine(key) == (by_engine ? engine : NULL));
        EVP_PKEY_CTX *ctx = context(key);
        size_t got = 0;
        CHECK(EVP_PKEY_decrypt_init(ctx) > 0 && EVP_PKEY_decrypt(ctx, NULL, &got, ciphertext, CIPHERTEXT) > 0);
        EVP_PKEY_CTX_free(ctx);
        derive(key, secrets[by_engine]);
        EVP_PKEY_free(key);
    }
    CHECK(memcmp(secrets[0], secrets[1], SECRET) == 0);
}

/* A key of libcrypto's that meets the engine's operations is refused, not misread. */
static void stranger(void) {
    unsigned char ciphertext[CIPHERTEXT];
    size_t len = CIPHERTEXT;
    serve(0);
    EVP_PKEY *key = generate();
    serve(1);
    EVP_PKEY_CTX *ctx = context(key);
    CHECK(EVP_PKEY_encrypt_init(ctx) > 0 && EVP_PKEY_encrypt(ctx, ciphertext, &len, NULL, 0) <= 0);
    CHECK(ERR_peek_error() != 0);
    ERR_clear_error();
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    long count = strtol(argv[2], NULL, 10);
    CHECK(count > 0);
    ENGINE_load_dynamic();
    engine = ENGINE_by_id("dynamic");
    CHECK(engine != NULL && ENGINE_ctrl_cmd_string(engine, "SO_PATH", argv[1], 0));
    CHECK(ENGINE_ctrl_cmd_string(engine, "LOAD", NULL, 0) && ENGINE_init(engine));
    for (long i = 0; i < count; i++) {
        exchange(0);
        exchange(1);
    }
    rejection();
    stranger();
    serve(0);
    ENGINE_finish(engine);
    ENGINE_free(engine);
    printf("2 x %ld exchanges\n", count);
    return 0;
}
