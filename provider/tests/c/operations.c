/* Every operation through EVP: right answers, an empty error queue after each, and the misuse table. */
#include "module.h"

#define MISUSE(call, function, reason)                                                     \
    do {                                                                                   \
        QUIET();                                                                           \
        CHECK((call) <= 0);                                                                \
        EXPECT_ERROR(function, reason);                                                    \
    } while (0)

/* L6: the error queue is empty after load, refill, keygen, encapsulation, and good and bad decapsulation. */
static void quiet_when_right(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT], sent[MAX_SECRET], received[MAX_SECRET], again[MAX_SECRET];
    EVP_PKEY *client = keygen(s);
    QUIET();
    share_of(s, client, pk);
    EVP_PKEY *server = peer(s, pk);
    QUIET();
    encapsulate(s, server, ct, sent);
    QUIET();
    decapsulate(s, client, ct, received);
    QUIET();
    CHECK(memcmp(sent, received, s->secret) == 0);

    /* A forged ciphertext: no error, a secret that is repeatable and not the sender's. */
    ct[s->ct - 17] ^= 4;
    decapsulate(s, client, ct, received);
    QUIET();
    CHECK(memcmp(sent + s->secret - 32, received + s->secret - 32, 32) != 0);
    decapsulate(s, client, ct, again);
    QUIET();
    CHECK(memcmp(again, received, s->secret) == 0);

    /* A refill: more keys than a batch holds. */
    for (int i = 0; i < 5; i++) {
        EVP_PKEY *key = keygen(s);
        QUIET();
        CHECK(EVP_PKEY_eq(key, client) == 0);
        QUIET();
        EVP_PKEY_free(key);
    }
    CHECK(EVP_PKEY_eq(server, client) == 1);
    QUIET();
    EVP_PKEY_free(server);
    EVP_PKEY_free(client);
    QUIET();
}

static int check(EVP_PKEY *key, int (*how)(EVP_PKEY_CTX *)) {
    EVP_PKEY_CTX *ctx = context_of(key);
    int ok = how(ctx);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

static void properties(const struct scheme *s) {
    EVP_PKEY *key = keygen(s), *other;
    CHECK(EVP_PKEY_is_a(key, s->name));
    CHECK(EVP_PKEY_get_bits(key) == (int)(8 * s->pk));
    CHECK(EVP_PKEY_get_size(key) == (int)s->ct);
    CHECK(EVP_PKEY_get_security_bits(key) == s->bits);
    CHECK(check(key, EVP_PKEY_check) == 1 && check(key, EVP_PKEY_public_check) == 1);
    CHECK(check(key, EVP_PKEY_pairwise_check) == 1);
    QUIET();

    /* Copies of the whole. */
    unsigned char pk[MAX_PK], ct[MAX_CT], sent[MAX_SECRET], received[MAX_SECRET];
    other = EVP_PKEY_dup(key);
    CHECK(other != NULL && EVP_PKEY_eq(other, key) == 1);
    encapsulate(s, key, ct, sent);
    decapsulate(s, other, ct, received);
    CHECK(memcmp(sent, received, s->secret) == 0);
    EVP_PKEY_free(other);

    /* A context can be duplicated in the middle of an operation. */
    EVP_PKEY_CTX *ctx = context_of(key), *twin;
    CHECK(EVP_PKEY_decapsulate_init(ctx, NULL) == 1);
    twin = EVP_PKEY_CTX_dup(ctx);
    CHECK(twin != NULL);
    EVP_PKEY_CTX_free(ctx);
    size_t len = sizeof received;
    CHECK(EVP_PKEY_decapsulate(twin, received, &len, ct, s->ct) == 1 && len == s->secret);
    CHECK(memcmp(sent, received, s->secret) == 0);
    EVP_PKEY_CTX_free(twin);

    /* Exported and imported: whole, and the public part alone. */
    for (int selection = EVP_PKEY_PUBLIC_KEY; selection != 0; selection = selection == EVP_PKEY_KEYPAIR ? 0 : EVP_PKEY_KEYPAIR) {
        OSSL_PARAM *params = NULL;
        CHECK(EVP_PKEY_todata(key, selection, &params) == 1);
        CHECK((OSSL_PARAM_locate(params, "priv") != NULL) == (selection == EVP_PKEY_KEYPAIR));
        ctx = EVP_PKEY_CTX_new_from_name(libctx, s->name, NULL);
        other = NULL;
        CHECK(EVP_PKEY_fromdata_init(ctx) == 1 && EVP_PKEY_fromdata(ctx, &other, selection, params) == 1);
        CHECK(EVP_PKEY_eq(other, key) == 1);
        if (selection == EVP_PKEY_KEYPAIR) {
            decapsulate(s, other, ct, received);
            CHECK(memcmp(sent, received, s->secret) == 0);
            /* A public key that is not the one inside the private key. */
            ((unsigned char *)OSSL_PARAM_locate(params, "pub")->data)[40] ^= 1;
            EVP_PKEY *wrong = NULL;
            CHECK(EVP_PKEY_fromdata_init(ctx) == 1);
            MISUSE(EVP_PKEY_fromdata(ctx, &wrong, selection, params), "keymgmt_import", "does not belong");
            CHECK(wrong == NULL);
        }
        EVP_PKEY_free(other);
        EVP_PKEY_CTX_free(ctx);
        OSSL_PARAM_free(params);
    }
    share_of(s, key, pk);
    other = EVP_PKEY_new_raw_public_key_ex(libctx, s->name, NULL, pk, s->pk);
    CHECK(other != NULL && EVP_PKEY_eq(other, key) == 1);
    EVP_PKEY_free(other);
    EVP_PKEY_free(key);
    QUIET();
}

static void misuse(const struct scheme *s) {
    unsigned char pk[MAX_PK + 1] = {0}, ct[MAX_CT + 1] = {0}, secret[MAX_SECRET + 1], raw[MAX_SK + 1] = {0};
    size_t len, secretlen;
    EVP_PKEY *key = keygen(s);
    share_of(s, key, pk);
    EVP_PKEY *public_only = peer(s, pk), *empty = empty_key(s);
    EVP_PKEY_CTX *ctx = context_of(key);

    /* Encapsulation: sizes asked for, too little room, larger buffers, no key. */
    CHECK(EVP_PKEY_encapsulate_init(ctx, NULL) == 1);
    len = secretlen = 0;
    CHECK(EVP_PKEY_encapsulate(ctx, NULL, &len, NULL, &secretlen) == 1 && len == s->ct && secretlen == s->secret);
    len = s->ct - 1;
    MISUSE(EVP_PKEY_encapsulate(ctx, ct, &len, secret, &secretlen), "kem_encapsulate", "buffer too small");
    len = s->ct, secretlen = s->secret - 1;
    MISUSE(EVP_PKEY_encapsulate(ctx, ct, &len, secret, &secretlen), "kem_encapsulate", "buffer too small");
    len = s->ct + 1, secretlen = s->secret + 1;
    ct[s->ct] = secret[s->secret] = 0x77;
    CHECK(EVP_PKEY_encapsulate(ctx, ct, &len, secret, &secretlen) == 1 && len == s->ct && secretlen == s->secret);
    CHECK(ct[s->ct] == 0x77 && secret[s->secret] == 0x77);
    CHECK(!try_encapsulate(s, empty, ct, secret));
    EXPECT_ERROR("kem_encapsulate_init", "no key");

    /* Decapsulation: size asked for, wrong lengths, too little room, no private key, no key. */
    CHECK(EVP_PKEY_decapsulate_init(ctx, NULL) == 1);
    len = 0;
    CHECK(EVP_PKEY_decapsulate(ctx, NULL, &len, ct, s->ct) == 1 && len == s->secret);
    static const int off[] = {-1, 1};
    for (int i = 0; i < 2; i++)
        MISUSE(EVP_PKEY_decapsulate(ctx, secret, (len = s->secret, &len), ct, s->ct + off[i]), "kem_decapsulate", "wrong length");
    MISUSE(EVP_PKEY_decapsulate(ctx, secret, (len = s->secret - 1, &len), ct, s->ct), "kem_decapsulate", "buffer too small");
    EVP_PKEY_CTX_free(ctx);
    CHECK(!try_decapsulate(public_only, ct, s->ct, secret));
    EXPECT_ERROR("kem_decapsulate_init", "a private key is needed");
    CHECK(!try_decapsulate(empty, ct, s->ct, secret));
    EXPECT_ERROR("kem_decapsulate_init", "no key");

    /* Key shares of wrong lengths, a share for an object that has one, and the share of no key. */
    static const int wrong[] = {1, 1157, 1159, 1189, 1191, 2316, 65000};
    unsigned char *long_share = OPENSSL_zalloc(65000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        MISUSE(EVP_PKEY_set1_encoded_public_key(empty, long_share, wrong[i]), "keymgmt_set_params", "wrong length");
    OPENSSL_free(long_share);
    MISUSE(EVP_PKEY_set1_encoded_public_key(public_only, pk, s->pk), "keymgmt_set_params", "not supported");
    unsigned char *share = NULL;
    QUIET();
    CHECK(EVP_PKEY_get1_encoded_public_key(empty, &share) == 0 && share == NULL);
    EXPECT_ERROR("keymgmt_get_params", "no key");
    CHECK(check(empty, EVP_PKEY_public_check) != 1);
    ERR_clear_error();

    /* Another group than the algorithm's. */
    EVP_PKEY *made = NULL;
    ctx = EVP_PKEY_CTX_new_from_name(libctx, s->name, NULL);
    CHECK(EVP_PKEY_keygen_init(ctx) == 1);
    MISUSE(EVP_PKEY_CTX_set_group_name(ctx, "X25519"), "keymgmt_gen_set_params", "of another type");
    CHECK(EVP_PKEY_keygen(ctx, &made) == 1); /* the context is none the worse for it */
    EVP_PKEY_free(made);
    EVP_PKEY_CTX_free(ctx);
    QUIET();

    /* Raw keys: lengths, and a private key whose parts do not fit each other. */
    CHECK(EVP_PKEY_new_raw_public_key_ex(libctx, s->name, NULL, pk, s->pk + 1) == NULL);
    EXPECT_ERROR("keymgmt_import", "wrong length");
    len = 0;
    CHECK(EVP_PKEY_get_raw_private_key(key, NULL, &len) == 1 && len == s->sk);
    len = sizeof raw;
    CHECK(EVP_PKEY_get_raw_private_key(public_only, raw, &len) == 0);
    ERR_clear_error();
    len = sizeof raw;
    CHECK(EVP_PKEY_get_raw_private_key(key, raw, &len) == 1 && len == s->sk);
    EVP_PKEY *copy = private_key(s, raw, s->sk);
    QUIET();
    CHECK(copy != NULL && EVP_PKEY_eq(copy, key) == 1);
    EVP_PKEY_free(copy);
    CHECK(private_key(s, raw, s->sk - 1) == NULL);
    EXPECT_ERROR("keymgmt_import", "wrong length");
    raw[s->sk - 1] ^= 1; /* the hash of the public key */
    CHECK(private_key(s, raw, s->sk) == NULL);
    EXPECT_ERROR("keymgmt_import", "does not belong");

    /* Keys of two types are not equal. */
    EVP_PKEY *stranger = keygen(s == SCHEMES ? SCHEMES + 1 : SCHEMES);
    CHECK(EVP_PKEY_eq(key, stranger) != 1);
    ERR_clear_error();
    EVP_PKEY_free(stranger);
    EVP_PKEY_free(empty);
    EVP_PKEY_free(public_only);
    EVP_PKEY_free(key);
    QUIET();
}

/* X25519 shares of small order, for which the secret would be all zeros, are refused on both sides. */
static void small_order(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT], secret[MAX_SECRET];
    EVP_PKEY *client = keygen(s);
    share_of(s, client, pk);
    EVP_PKEY *server = peer(s, pk);
    encapsulate(s, server, ct, secret);
    EVP_PKEY_free(server);
    for (int first = 0; first < 2; first++) { /* the points 0 and 1 */
        memset(pk, 0, 32), memset(ct, 0, 32);
        pk[0] = ct[0] = (unsigned char)first;
        server = peer(s, pk);
        CHECK(!try_encapsulate(s, server, ct + 0, secret));
        EXPECT_ERROR("kem_encapsulate", "small order");
        memset(ct, 0, 32);
        ct[0] = (unsigned char)first;
        CHECK(!try_decapsulate(client, ct, s->ct, secret));
        EXPECT_ERROR("kem_decapsulate", "small order");
        EVP_PKEY_free(server);
    }
    EVP_PKEY_free(client);
    QUIET();
}

/* The first 32 bytes of everything are X25519's: libcrypto's own X25519 agrees. */
static void curve_comes_first(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT], secret[MAX_SECRET], raw[MAX_SK], expected[32];
    size_t len = sizeof raw;
    EVP_PKEY *client = keygen(s);
    CHECK(EVP_PKEY_get_raw_private_key(client, raw, &len) == 1);
    share_of(s, client, pk);
    encapsulate(s, client, ct, secret);
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key_ex(libctx, "X25519", NULL, raw, 32);
    EVP_PKEY *other = EVP_PKEY_new_raw_public_key_ex(libctx, "X25519", NULL, ct, 32);
    unsigned char share[32];
    CHECK(EVP_PKEY_get_raw_public_key(own, share, (len = 32, &len)) == 1 && memcmp(share, pk, 32) == 0);
    EVP_PKEY_CTX *ctx = context_of(own);
    len = 32;
    CHECK(EVP_PKEY_derive_init(ctx) == 1 && EVP_PKEY_derive_set_peer(ctx, other) == 1);
    CHECK(EVP_PKEY_derive(ctx, expected, &len) == 1 && memcmp(expected, secret, 32) == 0);
    EVP_PKEY_CTX_free(ctx);
    /* The rest is sntrup761's. */
    EVP_PKEY *ntru = private_key(SCHEMES, raw + 32, s->sk - 32);
    unsigned char rest[MAX_SECRET];
    CHECK(ntru != NULL);
    decapsulate(SCHEMES, ntru, ct + 32, rest);
    CHECK(memcmp(rest, secret + 32, 32) == 0);
    EVP_PKEY_free(ntru);
    EVP_PKEY_free(other);
    EVP_PKEY_free(own);
    EVP_PKEY_free(client);
    QUIET();
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    OSSL_PROVIDER *provider = load_with(argv[1], argv[2]);
    EACH_SCHEME(s) {
        quiet_when_right(s);
        properties(s);
        misuse(s);
    }
    small_order(SCHEMES + 2);
    curve_comes_first(SCHEMES + 2);
    unload(provider);
    QUIET();
    puts("operations: ok");
    return 0;
}
