/* L9: a panic in Rust never crosses into C. Needs the engine built with the feature fault-injection: each callback is made
 * to panic once; the call fails with an error entry, the process lives, and the same call works the next time. */
#include "module.h"

static ENGINE *e;
static const struct scheme *s = SCHEMES;
static EVP_PKEY *key;
static unsigned char ct[MAX_CT], secret[SECRET], raw[MAX_SK];
static size_t raw_len;
static X509_PUBKEY *public;
static PKCS8_PRIV_KEY_INFO *private;

static int do_keygen(void) {
    EVP_PKEY *made = try_keygen(s);
    EVP_PKEY_free(made);
    return made != NULL;
}
static int do_encrypt(void) { return try_encrypt(s, key, ct); }
static int do_decrypt(void) { return try_decrypt(key, ct, s->ct); }
static int do_derive(void) {
    size_t len = sizeof secret;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    CHECK(ctx != NULL && EVP_PKEY_derive_init(ctx) == 1);
    int ok = EVP_PKEY_derive(ctx, secret, &len);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}
static int do_context_ctrl(void) {
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    CHECK(ctx != NULL && EVP_PKEY_derive_init(ctx) == 1);
    int ok = EVP_PKEY_derive_set_peer(ctx, key);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}
static int do_context_copy(void) {
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL), *twin = EVP_PKEY_CTX_dup(ctx);
    int ok = twin != NULL;
    EVP_PKEY_CTX_free(twin);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}
static int do_pub_encode(void) {
    X509_PUBKEY *out = NULL;
    int ok = X509_PUBKEY_set(&out, key);
    X509_PUBKEY_free(out);
    return ok;
}
static int do_pub_decode(void) {
    unsigned char *der = NULL;
    int len = i2d_X509_PUBKEY(public, &der);
    CHECK(len > 0);
    const unsigned char *at = der;
    EVP_PKEY *out = d2i_PUBKEY(NULL, &at, len);
    int ok = out != NULL;
    EVP_PKEY_free(out);
    OPENSSL_free(der);
    return ok;
}
static int do_priv_encode(void) {
    PKCS8_PRIV_KEY_INFO *out = EVP_PKEY2PKCS8(key);
    int ok = out != NULL;
    PKCS8_PRIV_KEY_INFO_free(out);
    return ok;
}
static int do_priv_decode(void) {
    EVP_PKEY *out = EVP_PKCS82PKEY(private);
    int ok = out != NULL;
    EVP_PKEY_free(out);
    return ok;
}
static int print(int (*printer)(BIO *, const EVP_PKEY *, int, ASN1_PCTX *)) {
    BIO *out = BIO_new(BIO_s_mem());
    int ok = printer(out, key, 0, NULL);
    BIO_free(out);
    return ok;
}
static int do_pub_print(void) { return print(EVP_PKEY_print_public); }
static int do_priv_print(void) { return print(EVP_PKEY_print_private); }
static int do_pub_cmp(void) {
    unsigned char pk[MAX_PK];
    share_of(s, key, pk);
    EVP_PKEY *other = peer(s, pk);
    int equal = EVP_PKEY_cmp(key, other);
    EVP_PKEY_free(other);
    return equal;
}
static int do_param_cmp(void) { return EVP_PKEY_cmp_parameters(key, key); }
static int do_size(void) { return EVP_PKEY_size(key) > 0; }
static int do_bits(void) { return EVP_PKEY_bits(key) > 0; }
static int do_security_bits(void) { return EVP_PKEY_security_bits(key) > 0; }
static int do_share(void) {
    unsigned char *share = NULL;
    size_t len = EVP_PKEY_get1_tls_encodedpoint(key, &share);
    OPENSSL_free(share);
    return len == s->pk;
}
static int do_set_pub(void) {
    EVP_PKEY *out = EVP_PKEY_new_raw_public_key(nid_of(s), NULL, raw, s->pk);
    int ok = out != NULL;
    EVP_PKEY_free(out);
    return ok;
}
static int do_set_priv(void) {
    EVP_PKEY *out = EVP_PKEY_new_raw_private_key(nid_of(s), NULL, raw, raw_len);
    int ok = out != NULL;
    EVP_PKEY_free(out);
    return ok;
}
static int do_get_pub(void) {
    unsigned char pk[MAX_PK];
    size_t len = sizeof pk;
    return EVP_PKEY_get_raw_public_key(key, pk, &len);
}
static int do_get_priv(void) {
    unsigned char sk[MAX_SK];
    size_t len = sizeof sk;
    return EVP_PKEY_get_raw_private_key(key, sk, &len);
}
static int do_ctrl(void) { return ENGINE_ctrl_cmd_string(e, "BATCH_SIZE", "2", 0); }
static int do_methods(void) { return ENGINE_get_pkey_meth(e, nid_of(s)) != NULL; }
static int do_encodings(void) { return ENGINE_get_pkey_asn1_meth(e, nid_of(s)) != NULL; }

static const struct {
    const char *callback;
    int (*call)(void);
} CALLS[] = {
    {"keygen", do_keygen},           {"encrypt", do_encrypt},
    {"decrypt", do_decrypt},         {"derive", do_derive},
    {"pkey_ctx_ctrl", do_context_ctrl}, {"pkey_ctx_copy", do_context_copy},
    {"pub_encode", do_pub_encode},   {"pub_decode", do_pub_decode},
    {"priv_encode", do_priv_encode}, {"priv_decode", do_priv_decode},
    {"pub_print", do_pub_print},     {"priv_print", do_priv_print},
    {"pub_cmp", do_pub_cmp},         {"param_cmp", do_param_cmp},
    {"key_size", do_size},           {"key_bits", do_bits},
    {"security_bits", do_security_bits}, {"key_ctrl", do_share},
    {"set_pub_key", do_set_pub},     {"set_priv_key", do_set_priv},
    {"get_pub_key", do_get_pub},     {"get_priv_key", do_get_priv},
    {"ctrl", do_ctrl},               {"pkey_meths", do_methods},
    {"pkey_asn1_meths", do_encodings},
};

static void aim(const char *callback) {
    CHECK(ENGINE_ctrl_cmd_string(e, "INJECT_PANIC", callback, 0) == 1);
    QUIET();
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    e = load(argv[1]);
    CHECK(ENGINE_ctrl_cmd_string(e, "BATCH_SIZE", "2", 0) == 1);
    key = keygen(s);
    raw_len = sizeof raw;
    CHECK(EVP_PKEY_get_raw_private_key(key, raw, &raw_len) == 1);
    CHECK(X509_PUBKEY_set(&public, key) == 1);
    CHECK((private = EVP_PKEY2PKCS8(key)) != NULL);
    encapsulate(s, key, ct, secret);
    QUIET();

    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        aim(CALLS[i].callback);
        CHECK(CALLS[i].call() <= 0);
        CHECK(ERR_peek_error() != 0);
        if (CALLS[i].call == do_pub_decode)
            ERR_clear_error(); /* OpenSSL tries once and drops the entries, then tries again, and is content */
        else
            EXPECT_ERROR(CALLS[i].callback, "a panic was stopped");
        CHECK(CALLS[i].call() == 1);
        if (CALLS[i].call == do_priv_decode)
            ERR_clear_error(); /* OpenSSL 3 leaves the entry of its first attempt, which is not through the engine */
        QUIET();
    }

    /* A key whose content could not be freed is lost, and that is all. */
    EVP_PKEY *lost = keygen(s);
    aim("key_free");
    EVP_PKEY_free(lost);
    EXPECT_ERROR("key_free", "a panic was stopped");

    aim("finish");
    ENGINE_unregister_pkey_meths(e);
    ENGINE_unregister_pkey_asn1_meths(e);
    EVP_PKEY_free(key);
    X509_PUBKEY_free(public);
    PKCS8_PRIV_KEY_INFO_free(private);
    ENGINE_finish(e);
    EXPECT_ERROR("finish", "a panic was stopped");
    aim("init");
    CHECK(ENGINE_init(e) == 0);
    EXPECT_ERROR("init", "a panic was stopped");

    /* A load that panics is refused, and the next one works. */
    aim("bind_engine");
    CHECK(ENGINE_remove(e) == 1);
    ENGINE_free(e);
    ENGINE_free(e); /* the reference that OpenSSL keeps when finish fails */
    QUIET();
    CHECK(try_load(argv[1]) == NULL);
    int entries = 0; /* without texts: those are loaded by the function that panicked */
    for (unsigned long code; (code = ERR_get_error()) != 0;)
        entries += ERR_GET_REASON(code) == 118;
    CHECK(entries == 1);
    e = load(argv[1]);
    exchange(s);
    unload(e);
    puts("panics: ok");
    return 0;
}
