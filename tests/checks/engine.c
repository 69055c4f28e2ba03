/* Constant-time check of the engine: run below valgrind's memcheck by scripts/check-constant-time.
 *
 * The random source of libcrypto is replaced by one that marks all its bytes as secret; then the secrets go through the
 * EVP calls that a TLS handshake makes: key generation (which fills and drains the stock), encoded point, encrypt
 * (encapsulation), decrypt (decapsulation) of good and forged ciphertexts, derive, and PKCS#8 there and back.
 *
 * usage: engine LIBRARY BACKEND */

#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

enum { KEYS = 5, BATCH = 3, SECRET_BYTES = 32 };

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "engine.c:%d: this does not hold: %s\n", __LINE__, #condition);                            \
            ERR_print_errors_fp(stderr);                                                                               \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Uniform enough for the samplers, the same in every run (SplitMix64, one step for each byte). */
static int secret_bytes(unsigned char *out, int count)
{
    static unsigned long long state = 1;

    for (int i = 0; i < count; i++) {
        state += 0x9e3779b97f4a7c15ULL;
        unsigned long long mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
        out[i] = (unsigned char)(mixed >> 56);
    }
    VALGRIND_MAKE_MEM_UNDEFINED(out, count);
    return 1;
}

static int always(void)
{
    return 1;
}

/* The number of secret bits in a buffer. */
static int secret_bits(const unsigned char *bytes, size_t count)
{
    int bits = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned char mask = 0;
        VALGRIND_GET_VBITS(&bytes[i], &mask, 1);
        bits += __builtin_popcount(mask);
    }
    return bits;
}

/* What encrypt or decrypt has stored in the key, by derive; every bit must be followed as a secret. */
static void derive(ENGINE *engine, EVP_PKEY *key, unsigned char secret[SECRET_BYTES])
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, engine);
    size_t length = 0;

    REQUIRE(ctx != NULL);
    REQUIRE(EVP_PKEY_derive_init(ctx) == 1);
    REQUIRE(EVP_PKEY_derive_set_peer(ctx, key) == 1);
    REQUIRE(EVP_PKEY_derive(ctx, NULL, &length) == 1 && length == SECRET_BYTES);
    REQUIRE(EVP_PKEY_derive(ctx, secret, &length) == 1 && length == SECRET_BYTES);
    REQUIRE(secret_bits(secret, SECRET_BYTES) == 8 * SECRET_BYTES);
    EVP_PKEY_CTX_free(ctx);
    /* Only to compare both sides below. */
    VALGRIND_MAKE_MEM_DEFINED(secret, SECRET_BYTES);
}

static void decrypt(ENGINE *engine, EVP_PKEY *key, const unsigned char *ciphertext, size_t length,
                    unsigned char secret[SECRET_BYTES])
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, engine);
    size_t out_length = 0;

    REQUIRE(ctx != NULL);
    REQUIRE(EVP_PKEY_decrypt_init(ctx) == 1);
    REQUIRE(EVP_PKEY_decrypt(ctx, NULL, &out_length, ciphertext, length) == 1);
    EVP_PKEY_CTX_free(ctx);
    derive(engine, key, secret);
}

/* The private key as PKCS#8 and back, as a key file goes. */
static EVP_PKEY *through_pkcs8(EVP_PKEY *key)
{
    PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
    EVP_PKEY *again;

    REQUIRE(info != NULL);
    again = EVP_PKCS82PKEY(info);
    REQUIRE(again != NULL);
    PKCS8_PRIV_KEY_INFO_free(info);
    return again;
}

static void exchange(ENGINE *engine, int nid, EVP_PKEY *own)
{
    EVP_PKEY *peer = EVP_PKEY_new(), *stored;
    EVP_PKEY_CTX *ctx;
    unsigned char *point = NULL, *ciphertext;
    unsigned char sent[SECRET_BYTES], got[SECRET_BYTES];
    size_t point_length = EVP_PKEY_get1_tls_encodedpoint(own, &point), length = 0;

    REQUIRE(point_length > 0);
    VALGRIND_MAKE_MEM_DEFINED(point, point_length); /* disclosed: the public key is published */
    REQUIRE(peer != NULL && EVP_PKEY_set_type(peer, nid) == 1);
    REQUIRE(EVP_PKEY_set1_tls_encodedpoint(peer, point, point_length) == 1);

    ctx = EVP_PKEY_CTX_new(peer, engine);
    REQUIRE(ctx != NULL);
    REQUIRE(EVP_PKEY_encrypt_init(ctx) == 1);
    REQUIRE(EVP_PKEY_encrypt(ctx, NULL, &length, NULL, 0) == 1 && length > SECRET_BYTES);
    ciphertext = malloc(length);
    REQUIRE(ciphertext != NULL);
    REQUIRE(EVP_PKEY_encrypt(ctx, ciphertext, &length, NULL, 0) == 1);
    VALGRIND_MAKE_MEM_DEFINED(ciphertext, length); /* disclosed: the ciphertext is published */
    EVP_PKEY_CTX_free(ctx);
    derive(engine, peer, sent);

    decrypt(engine, own, ciphertext, length, got);
    REQUIRE(memcmp(sent, got, SECRET_BYTES) == 0);
    stored = through_pkcs8(own);
    decrypt(engine, stored, ciphertext, length, got);
    REQUIRE(memcmp(sent, got, SECRET_BYTES) == 0);
    ciphertext[0] ^= 1;
    decrypt(engine, own, ciphertext, length, got);
    REQUIRE(memcmp(sent, got, SECRET_BYTES) != 0);
    memset(ciphertext, 0xff, length);
    decrypt(engine, own, ciphertext, length, got);
    REQUIRE(memcmp(sent, got, SECRET_BYTES) != 0);

    EVP_PKEY_free(stored);
    EVP_PKEY_free(peer);
    OPENSSL_free(point);
    free(ciphertext);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"sntrup761", "sntrup857"};
    static const RAND_METHOD method = {NULL, secret_bytes, NULL, NULL, secret_bytes, always};
    ENGINE *engine;

    REQUIRE(argc == 3 && RUNNING_ON_VALGRIND);
    ENGINE_load_dynamic();
    engine = ENGINE_by_id("dynamic");
    REQUIRE(engine != NULL);
    REQUIRE(ENGINE_ctrl_cmd_string(engine, "SO_PATH", argv[1], 0) == 1);
    REQUIRE(ENGINE_ctrl_cmd_string(engine, "LOAD", NULL, 0) == 1);
    REQUIRE(ENGINE_init(engine) == 1);
    REQUIRE(ENGINE_set_default(engine, ENGINE_METHOD_PKEY_METHS | ENGINE_METHOD_PKEY_ASN1_METHS) == 1);
    REQUIRE(ENGINE_ctrl_cmd(engine, "BATCH_SIZE", BATCH, NULL, NULL, 0) == 1);
    REQUIRE(ENGINE_ctrl_cmd_string(engine, "BACKEND", argv[2], 0) == 1);
    REQUIRE(RAND_set_rand_method(&method) == 1);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int nid = OBJ_sn2nid(names[i]);
        REQUIRE(nid != NID_undef);
        for (int count = 0; count < KEYS; count++) {
            EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(nid, engine);
            EVP_PKEY *key = NULL;
            REQUIRE(ctx != NULL);
            REQUIRE(EVP_PKEY_keygen_init(ctx) == 1 && EVP_PKEY_keygen(ctx, &key) == 1);
            EVP_PKEY_CTX_free(ctx);
            exchange(engine, nid, key);
            EVP_PKEY_free(key);
        }
        printf("%s %s through EVP, %d keys: %u reports\n", names[i], argv[2], KEYS, (unsigned)VALGRIND_COUNT_ERRORS);
    }
    ENGINE_finish(engine);
    ENGINE_free(engine);
    return VALGRIND_COUNT_ERRORS > 0;
}
