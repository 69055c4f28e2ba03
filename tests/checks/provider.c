/* Constant-time check of the provider: run below valgrind's memcheck by scripts/check-constant-time.
 *
 * This program gives getrandom in the C library's place, and marks all its bytes as secret; then the secrets go through the
 * EVP calls that a TLS handshake makes: key generation (which fills and drains the stock), encoded public key,
 * encapsulation, decapsulation of good and forged ciphertexts, and PKCS#8 in DER and PEM, text, and back.
 *
 * Below valgrind X25519 is x25519-dalek's, since graviola asks for instructions that valgrind does not have.
 *
 * usage: provider OPENSSL-CNF */

#include <openssl/conf.h>
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <valgrind/memcheck.h>

enum { KEYS = 5, MAX_SECRET = 64 };

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "provider.c:%d: this does not hold: %s\n", __LINE__, #condition);                          \
            ERR_print_errors_fp(stderr);                                                                               \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Uniform enough for the samplers, the same in every run (SplitMix64, one step for each byte). */
ssize_t getrandom(void *out, size_t count, unsigned flags)
{
    static unsigned long long state = 1;

    (void)flags;
    for (size_t i = 0; i < count; i++) {
        state += 0x9e3779b97f4a7c15ULL;
        unsigned long long mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
        ((unsigned char *)out)[i] = (unsigned char)(mixed >> 56);
    }
    VALGRIND_MAKE_MEM_UNDEFINED(out, count);
    return (ssize_t)count;
}

/* Every bit must be followed as a secret, but for the highest one of X25519's, which is always 0; then they are disclosed,
 * only to compare both sides. */
static void disclose_secret(unsigned char *secret, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char mask = 0;
        VALGRIND_GET_VBITS(&secret[i], &mask, 1);
        REQUIRE(mask == (length == MAX_SECRET && i == 31 ? 0x7f : 0xff));
    }
    VALGRIND_MAKE_MEM_DEFINED(secret, length);
}

static EVP_PKEY_CTX *context_of(EVP_PKEY *key)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);

    REQUIRE(ctx != NULL);
    return ctx;
}

static void decapsulate(EVP_PKEY *key, const unsigned char *ciphertext, size_t length, unsigned char *secret,
                        size_t secret_length)
{
    EVP_PKEY_CTX *ctx = context_of(key);

    REQUIRE(EVP_PKEY_decapsulate_init(ctx, NULL) == 1);
    REQUIRE(EVP_PKEY_decapsulate(ctx, secret, &secret_length, ciphertext, length) == 1);
    EVP_PKEY_CTX_free(ctx);
    disclose_secret(secret, secret_length);
}

/* The key in a format; where it can be read, back again. */
static EVP_PKEY *through(EVP_PKEY *key, const char *format, const char *structure)
{
    OSSL_ENCODER_CTX *ctx = OSSL_ENCODER_CTX_new_for_pkey(key, EVP_PKEY_KEYPAIR, format, structure, NULL);
    EVP_PKEY *again = NULL;
    unsigned char *out = NULL;
    size_t length = 0;

    REQUIRE(ctx != NULL && OSSL_ENCODER_to_data(ctx, &out, &length) == 1);
    OSSL_ENCODER_CTX_free(ctx);
    if (strcmp(format, "DER") == 0) {
        const unsigned char *at = out;
        size_t left = length;
        OSSL_DECODER_CTX *decoder =
            OSSL_DECODER_CTX_new_for_pkey(&again, "DER", structure, EVP_PKEY_get0_type_name(key), 0, NULL, NULL);

        REQUIRE(OSSL_DECODER_from_data(decoder, &at, &left) == 1 && again != NULL);
        OSSL_DECODER_CTX_free(decoder);
    }
    OPENSSL_clear_free(out, length);
    return again;
}

static void exchange(const char *name, EVP_PKEY *own)
{
    EVP_PKEY *peer = NULL, *stored;
    unsigned char *share = NULL, *ciphertext, sent[MAX_SECRET], got[MAX_SECRET];
    size_t share_length = EVP_PKEY_get1_encoded_public_key(own, &share), length = 0, secret_length = 0;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, name, NULL);

    REQUIRE(share_length > 0);
    VALGRIND_MAKE_MEM_DEFINED(share, share_length); /* disclosed: the public key is published */
    REQUIRE(EVP_PKEY_paramgen_init(ctx) == 1 && EVP_PKEY_paramgen(ctx, &peer) == 1);
    REQUIRE(EVP_PKEY_set1_encoded_public_key(peer, share, share_length) == 1);
    EVP_PKEY_CTX_free(ctx);

    ctx = context_of(peer);
    REQUIRE(EVP_PKEY_encapsulate_init(ctx, NULL) == 1);
    REQUIRE(EVP_PKEY_encapsulate(ctx, NULL, &length, NULL, &secret_length) == 1 && secret_length <= MAX_SECRET);
    ciphertext = malloc(length);
    REQUIRE(ciphertext != NULL);
    REQUIRE(EVP_PKEY_encapsulate(ctx, ciphertext, &length, sent, &secret_length) == 1);
    EVP_PKEY_CTX_free(ctx);
    VALGRIND_MAKE_MEM_DEFINED(ciphertext, length); /* disclosed: the ciphertext is published */
    disclose_secret(sent, secret_length);

    decapsulate(own, ciphertext, length, got, secret_length);
    REQUIRE(memcmp(sent, got, secret_length) == 0);
    stored = through(own, "DER", "PrivateKeyInfo");
    decapsulate(stored, ciphertext, length, got, secret_length);
    REQUIRE(memcmp(sent, got, secret_length) == 0);
    through(own, "PEM", "PrivateKeyInfo");
    through(own, "TEXT", NULL);
    ciphertext[length - 1] ^= 1;
    decapsulate(own, ciphertext, length, got, secret_length);
    REQUIRE(memcmp(sent, got, secret_length) != 0);

    EVP_PKEY_free(stored);
    EVP_PKEY_free(peer);
    OPENSSL_free(share);
    free(ciphertext);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"sntrup761", "sntrup857", "X25519sntrup761"};

    REQUIRE(argc == 2 && RUNNING_ON_VALGRIND);
    REQUIRE(OSSL_LIB_CTX_load_config(NULL, argv[1]) == 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int count = 0; count < KEYS; count++) {
            EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, names[i], NULL);
            EVP_PKEY *key = NULL;

            REQUIRE(ctx != NULL);
            REQUIRE(EVP_PKEY_keygen_init(ctx) == 1 && EVP_PKEY_keygen(ctx, &key) == 1);
            EVP_PKEY_CTX_free(ctx);
            exchange(names[i], key);
            EVP_PKEY_free(key);
        }
        printf("%s through EVP, %d keys: %u reports\n", names[i], KEYS, (unsigned)VALGRIND_COUNT_ERRORS);
    }
    return VALGRIND_COUNT_ERRORS > 0;
}
