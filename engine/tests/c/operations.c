/* Every operation through EVP: right answers, an empty error queue after each, and the misuse table. */
#include "module.h"

#define MISUSE(call, function, reason)                                                     \
    do {                                                                                   \
        QUIET();                                                                           \
        CHECK((call) <= 0);                                                                \
        EXPECT_ERROR(function, reason);                                                    \
    } while (0)

static EVP_PKEY_CTX *context(EVP_PKEY *key, int (*init)(EVP_PKEY_CTX *)) {
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    CHECK(ctx != NULL && init(ctx) == 1);
    return ctx;
}

/* L6: the error queue is empty after load, refill, keygen, encapsulation, and good and bad decapsulation. */
static void quiet_when_right(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT], sent[SECRET], received[SECRET], again[SECRET];
    EVP_PKEY *client = keygen(s);
    QUIET();
    share_of(s, client, pk);
    EVP_PKEY *server = peer(s, pk);
    QUIET();
    encapsulate(s, server, ct, sent);
    QUIET();
    decapsulate(s, client, ct, received);
    QUIET();
    CHECK(memcmp(sent, received, SECRET) == 0);

    /* A forged ciphertext: no error, a secret that is repeatable and not the sender's. */
    ct[17] ^= 4;
    decapsulate(s, client, ct, received);
    QUIET();
    CHECK(memcmp(sent, received, SECRET) != 0);
    decapsulate(s, client, ct, again);
    QUIET();
    CHECK(memcmp(again, received, SECRET) == 0);

    /* A refill: more keys than a batch holds. */
    for (int i = 0; i < 5; i++) {
        EVP_PKEY *key = keygen(s);
        QUIET();
        CHECK(EVP_PKEY_cmp(key, client) == 0);
        QUIET();
        EVP_PKEY_free(key);
    }
    CHECK(EVP_PKEY_cmp(server, client) == 1);
    QUIET();
    EVP_PKEY_free(server);
    EVP_PKEY_free(client);
    QUIET();
}

static void properties(const struct scheme *s) {
    EVP_PKEY *key = keygen(s), *other;
    CHECK(EVP_PKEY_id(key) == nid_of(s));
    CHECK(EVP_PKEY_base_id(key) == nid_of(s));
    CHECK(EVP_PKEY_bits(key) == (int)(8 * s->pk));
    CHECK(EVP_PKEY_size(key) == (int)s->ct);
    CHECK(EVP_PKEY_security_bits(key) == (s->pk == 1158 ? 128 : 192));
    CHECK(EVP_PKEY_missing_parameters(key) == 0);
    CHECK(EVP_PKEY_cmp_parameters(key, key) == 1);
    int digest = 0;
    CHECK(EVP_PKEY_get_default_digest_nid(key, &digest) == -2);
    ERR_clear_error();

    /* A key for which only the type is set gets its parameters, of which there are none, by copying. */
    other = EVP_PKEY_new();
    CHECK(EVP_PKEY_copy_parameters(other, key) == 1);
    CHECK(EVP_PKEY_id(other) == nid_of(s));
    CHECK(EVP_PKEY_cmp(other, key) == -2);
    ERR_clear_error();
    EVP_PKEY_free(other);

    /* A context can be duplicated, and key generation may have a key as its model. */
    EVP_PKEY_CTX *ctx = context(key, EVP_PKEY_encrypt_init), *twin = EVP_PKEY_CTX_dup(ctx);
    unsigned char ct[MAX_CT];
    size_t len = s->ct;
    CHECK(twin != NULL);
    EVP_PKEY_CTX_free(ctx);
    CHECK(EVP_PKEY_encrypt(twin, ct, &len, NULL, 0) == 1);
    EVP_PKEY_CTX_free(twin);
    ctx = context(key, EVP_PKEY_keygen_init);
    other = NULL;
    CHECK(EVP_PKEY_keygen(ctx, &other) == 1);
    CHECK(EVP_PKEY_cmp(other, key) == 0);

    /* Key generation into an object that holds a key replaces it, and what waited in it. */
    CHECK(try_encrypt(s, other, ct) == 1);
    EVP_PKEY *before = EVP_PKEY_new();
    unsigned char pk[MAX_PK], secret[SECRET];
    share_of(s, other, pk);
    EVP_PKEY_free(before);
    before = peer(s, pk);
    CHECK(EVP_PKEY_keygen(ctx, &other) == 1);
    CHECK(EVP_PKEY_cmp(other, before) == 0);
    MISUSE(try_derive(other, secret), "derive", "no shared secret is waiting");
    /* So does a key share. */
    CHECK(EVP_PKEY_set1_tls_encodedpoint(other, pk, s->pk) == 1);
    CHECK(EVP_PKEY_cmp(other, before) == 1);
    MISUSE(try_decrypt(other, ct, s->ct), "decrypt", "a private key is needed");
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(before);
    EVP_PKEY_free(other);
    EVP_PKEY_free(key);
    QUIET();
}

static void misuse(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT + 1] = {0}, secret[SECRET + 1], raw[MAX_SK + 1] = {0};
    size_t len;
    EVP_PKEY *key = keygen(s);
    share_of(s, key, pk);
    EVP_PKEY *public_only = peer(s, pk), *empty = EVP_PKEY_new();
    CHECK(EVP_PKEY_set_type(empty, nid_of(s)) == 1);
    EVP_PKEY_CTX *ctx;

    /* Derive before anything waits, and a second time; a secret is handed out once. */
    MISUSE(try_derive(key, secret), "derive",
           "no shared secret is waiting: call EVP_PKEY_encrypt or EVP_PKEY_decrypt first");
    encapsulate(s, key, ct, secret);
    MISUSE(try_derive(key, secret), "derive", "no shared secret is waiting");

    /* A small buffer is refused and the secret still waits; a larger one is filled to 32 bytes. */
    CHECK(try_decrypt(key, ct, s->ct) == 1);
    ctx = context(key, EVP_PKEY_derive_init);
    len = SECRET - 1;
    MISUSE(EVP_PKEY_derive(ctx, secret, &len), "derive", "buffer too small");
    CHECK(EVP_PKEY_derive(ctx, secret, NULL) <= 0); /* OpenSSL 3 sees to it itself */
    CHECK(ERR_peek_error() != 0);
    ERR_clear_error();
    len = SECRET + 1;
    secret[SECRET] = 0x77;
    CHECK(EVP_PKEY_derive(ctx, secret, &len) == 1 && len == SECRET && secret[SECRET] == 0x77);
    /* Requests that are not ours are -2. */
    CHECK(EVP_PKEY_CTX_ctrl(ctx, -1, -1, EVP_PKEY_CTRL_MD, 0, NULL) == -2);
    ERR_clear_error();
    EVP_PKEY_CTX_free(ctx);

    /* Encryption: input given, too little room, no place for the length, no key. */
    ctx = context(key, EVP_PKEY_encrypt_init);
    len = 0;
    CHECK(EVP_PKEY_encrypt(ctx, NULL, &len, NULL, 0) == 1 && len == s->ct);
    MISUSE(EVP_PKEY_encrypt(ctx, ct, &len, secret, SECRET), "encrypt", "the input must be NULL");
    MISUSE(EVP_PKEY_encrypt(ctx, ct, &len, NULL, 1), "encrypt", "the input must be NULL");
    len = s->ct - 1;
    MISUSE(EVP_PKEY_encrypt(ctx, ct, &len, NULL, 0), "encrypt", "buffer too small");
    MISUSE(EVP_PKEY_encrypt(ctx, ct, NULL, NULL, 0), "encrypt", "NULL");
    EVP_PKEY_CTX_free(ctx);
    MISUSE(try_encrypt(s, empty, ct), "encrypt", "no key");
    ctx = EVP_PKEY_CTX_new_id(nid_of(s), NULL);
    CHECK(ctx != NULL && EVP_PKEY_encrypt_init(ctx) == 1);
    MISUSE(EVP_PKEY_encrypt(ctx, ct, &len, NULL, 0), "encrypt", "no key");
    EVP_PKEY_CTX_free(ctx);

    /* Decryption: output given, wrong lengths, NULL, no private key, no key. A failure leaves nothing waiting. */
    CHECK(try_encrypt(s, key, ct) == 1);
    MISUSE(try_decrypt(key, ct, s->ct - 1), "decrypt", "wrong length");
    MISUSE(try_derive(key, secret), "derive", "no shared secret is waiting");
    MISUSE(try_decrypt(key, ct, s->ct + 1), "decrypt", "wrong length");
    MISUSE(try_decrypt(key, ct, 0), "decrypt", "wrong length");
    MISUSE(try_decrypt(key, NULL, s->ct), "decrypt", "wrong length");
    MISUSE(try_decrypt(public_only, ct, s->ct), "decrypt", "a private key is needed");
    MISUSE(try_decrypt(empty, ct, s->ct), "decrypt", "no key");
    ctx = context(key, EVP_PKEY_decrypt_init);
    len = SECRET;
    MISUSE(EVP_PKEY_decrypt(ctx, secret, &len, ct, s->ct), "decrypt", "the output must be NULL");
    MISUSE(EVP_PKEY_decrypt(ctx, NULL, NULL, ct, s->ct), "decrypt", "NULL");
    EVP_PKEY_CTX_free(ctx);

    /* Key shares of wrong lengths, of no bytes, and of no key. */
    static const int wrong[] = {0, 1, 1157, 1159, 2316, 65000};
    unsigned char *long_share = OPENSSL_zalloc(65000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        MISUSE(EVP_PKEY_set1_tls_encodedpoint(empty, long_share, wrong[i]), "key_ctrl", "wrong length");
    MISUSE(EVP_PKEY_set1_tls_encodedpoint(empty, NULL, s->pk), "key_ctrl", "wrong length");
    OPENSSL_free(long_share);
    unsigned char *share = NULL;
    QUIET();
    CHECK(EVP_PKEY_get1_tls_encodedpoint(empty, &share) == 0 && share == NULL);
    EXPECT_ERROR("key_ctrl", "no key");
    CHECK(EVP_PKEY_get1_tls_encodedpoint(key, NULL) == 0);
    EXPECT_ERROR("key_ctrl", "NULL");

    /* Raw keys: lengths both ways, and a private key whose parts do not fit each other. */
    CHECK(EVP_PKEY_new_raw_public_key(nid_of(s), NULL, pk, s->pk + 1) == NULL);
    EXPECT_ERROR("set_pub_key", "wrong length");
    len = 0;
    CHECK(EVP_PKEY_get_raw_private_key(key, NULL, &len) == 1 && len == s->sk);
    len = s->sk - 1;
    MISUSE(EVP_PKEY_get_raw_private_key(key, raw, &len), "get_priv_key", "buffer too small");
    MISUSE(EVP_PKEY_get_raw_private_key(public_only, raw, (len = sizeof raw, &len)), "get_priv_key", "private key is needed");
    len = sizeof raw;
    CHECK(EVP_PKEY_get_raw_private_key(key, raw, &len) == 1 && len == s->sk);
    EVP_PKEY *copy = EVP_PKEY_new_raw_private_key(nid_of(s), NULL, raw, s->sk);
    QUIET();
    CHECK(copy != NULL && EVP_PKEY_cmp(copy, key) == 1);
    unsigned char received[SECRET];
    encapsulate(s, key, ct, secret);
    decapsulate(s, copy, ct, received);
    CHECK(memcmp(secret, received, SECRET) == 0);
    EVP_PKEY_free(copy);
    CHECK(EVP_PKEY_new_raw_private_key(nid_of(s), NULL, raw, s->sk - 1) == NULL);
    EXPECT_ERROR("set_priv_key", "wrong length");
    raw[s->sk - 1] ^= 1; /* the hash of the public key */
    CHECK(EVP_PKEY_new_raw_private_key(nid_of(s), NULL, raw, s->sk) == NULL);
    EXPECT_ERROR("set_priv_key", "does not belong");
    raw[s->sk - 1] ^= 1;
    raw[3] ^= 1; /* a coefficient of f */
    CHECK(EVP_PKEY_new_raw_private_key(nid_of(s), NULL, raw, s->sk) == NULL);
    EXPECT_ERROR("set_priv_key", "does not belong");

    /* A peer of another type is refused by EVP itself. */
    EVP_PKEY *stranger = keygen(s == SCHEMES ? SCHEMES + 1 : SCHEMES);
    ctx = context(key, EVP_PKEY_derive_init);
    CHECK(EVP_PKEY_derive_set_peer(ctx, stranger) <= 0);
    ERR_clear_error();
    CHECK(EVP_PKEY_cmp(key, stranger) == -1);
    ERR_clear_error();
    EVP_PKEY_CTX_free(ctx);

    EVP_PKEY_free(stranger);
    EVP_PKEY_free(empty);
    EVP_PKEY_free(public_only);
    EVP_PKEY_free(key);
    QUIET();
}

/* A key made through an ENGINE that is not registered: the error says what to do. */
static void unregistered(ENGINE *e) {
    ENGINE_unregister_pkey_asn1_meths(e);
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(nid_of(SCHEMES), e);
    CHECK(ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1);
    MISUSE(EVP_PKEY_keygen(ctx, &key), "keygen", "no engine is registered for this key type");
    EVP_PKEY_CTX_free(ctx);
    CHECK(ENGINE_set_default(e, ENGINE_METHOD_PKEY_ASN1_METHS) == 1);
    EVP_PKEY_free(keygen(SCHEMES));
    QUIET();
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    ENGINE *e = load(argv[1]);
    CHECK(ENGINE_ctrl_cmd_string(e, "BATCH_SIZE", argv[2], 0) == 1);
    QUIET();
    EACH_SCHEME(s) {
        quiet_when_right(s);
        properties(s);
        misuse(s);
    }
    unregistered(e);
    unload(e);
    QUIET();
    puts("operations: ok");
    return 0;
}
