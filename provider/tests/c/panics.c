/* L9: a panic in Rust never crosses into C. Needs the provider built with the feature fault-injection: each callback is
 * made to panic once, the call fails with an error entry, the process lives, and the same call works the next time. */
#include "module.h"

#include <openssl/decoder.h>
#include <openssl/encoder.h>

static const char *path;
static const struct scheme *s = SCHEMES;
static EVP_PKEY *key;
static unsigned char ct[MAX_CT], secret[MAX_SECRET], pk[MAX_PK], raw[MAX_SK], *der;
static size_t raw_len, der_len;

/* Loads the provider once more, in a context that is thrown away: its section says which callback panics next. */
static int aim(const char *callback) {
    char line[80];
    snprintf(line, sizeof line, "INJECT_PANIC = %s", callback);
    OSSL_LIB_CTX *context = OSSL_LIB_CTX_new();
    OSSL_PROVIDER *provider = try_load(context, path, line);
    /* It is left alone: teardown could be the callback. */
    return provider != NULL;
}

static int do_new(void) {
    /* An empty object, into which the key is imported. */
    EVP_PKEY *made = EVP_PKEY_new_raw_public_key_ex(libctx, s->name, NULL, pk, s->pk);
    EVP_PKEY_free(made);
    return made != NULL;
}
static int do_private(void) {
    EVP_PKEY *made = private_key(s, raw, raw_len);
    EVP_PKEY_free(made);
    return made != NULL;
}
static int do_dup(void) {
    EVP_PKEY *made = EVP_PKEY_dup(key);
    EVP_PKEY_free(made);
    return made != NULL;
}
static int do_match(void) { return EVP_PKEY_eq(key, key); }
static int do_match_other(void) {
    EVP_PKEY *other = peer(s, pk);
    int ok = EVP_PKEY_eq(key, other);
    EVP_PKEY_free(other);
    return ok;
}
static int do_check(void) {
    EVP_PKEY_CTX *ctx = context_of(key);
    int ok = EVP_PKEY_check(ctx);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}
static int do_get(void) {
    size_t len = 0;
    return EVP_PKEY_get_octet_string_param(key, "pub", NULL, 0, &len);
}
static int do_set(void) {
    EVP_PKEY *other = empty_key(s);
    int ok = EVP_PKEY_set1_encoded_public_key(other, pk, s->pk);
    EVP_PKEY_free(other);
    return ok;
}
static int do_export(void) {
    OSSL_PARAM *params = NULL;
    int ok = EVP_PKEY_todata(key, EVP_PKEY_KEYPAIR, &params);
    OSSL_PARAM_free(params);
    return ok;
}
static int generate(int stop_after) {
    EVP_PKEY *made = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(libctx, s->name, NULL);
    int ok = EVP_PKEY_keygen_init(ctx) == 1 && (stop_after == 1 || EVP_PKEY_CTX_set_group_name(ctx, s->name) == 1)
             && (stop_after == 2 || stop_after == 1 || EVP_PKEY_keygen(ctx, &made) == 1);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(made);
    return ok;
}
static int do_gen_init(void) { return generate(1); }
static int do_gen_set(void) { return generate(2); }
static int do_gen(void) { return generate(3); }
static int do_encapsulate(void) { return try_encapsulate(s, key, ct, secret); }
static int do_decapsulate(void) { return try_decapsulate(key, ct, s->ct, secret); }
static int do_kem_dup(void) {
    EVP_PKEY_CTX *ctx = context_of(key), *twin = NULL;
    if (EVP_PKEY_decapsulate_init(ctx, NULL) == 1)
        twin = EVP_PKEY_CTX_dup(ctx);
    int ok = twin != NULL;
    EVP_PKEY_CTX_free(twin);
    EVP_PKEY_CTX_free(ctx);
    return ok;
}
static int do_encode(void) {
    OSSL_ENCODER_CTX *ctx = OSSL_ENCODER_CTX_new_for_pkey(key, EVP_PKEY_KEYPAIR, "DER", "PrivateKeyInfo", NULL);
    unsigned char *out = NULL;
    size_t len = 0;
    int ok = OSSL_ENCODER_to_data(ctx, &out, &len);
    OPENSSL_clear_free(out, len);
    OSSL_ENCODER_CTX_free(ctx);
    return ok;
}
static int do_decode(void) {
    EVP_PKEY *made = NULL;
    const unsigned char *at = der;
    size_t left = der_len;
    OSSL_DECODER_CTX *ctx = OSSL_DECODER_CTX_new_for_pkey(&made, "DER", "PrivateKeyInfo", s->name, EVP_PKEY_KEYPAIR, libctx, NULL);
    int ok = OSSL_DECODER_from_data(ctx, &at, &left) == 1 && made != NULL;
    EVP_PKEY_free(made);
    OSSL_DECODER_CTX_free(ctx);
    return ok;
}
static int do_ask(void) {
    char text[100];
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "ntruprime");
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("stock-level", text, sizeof text), OSSL_PARAM_END};
    int ok = OSSL_PROVIDER_get_params(provider, params);
    OSSL_PROVIDER_unload(provider);
    return ok;
}
static int ignore(const OSSL_PARAM params[], void *arg) {
    (void)params, (void)arg;
    return 1;
}
static int do_capabilities(void) {
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "ntruprime");
    int ok = OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", ignore, NULL);
    OSSL_PROVIDER_unload(provider);
    return ok;
}

static const struct {
    const char *callback;
    int (*call)(void);
    int fails; /* 0: a callback without a result, whose panic is only reported */
} CALLS[] = {
    {"keymgmt_new", do_new, 1},
    {"keymgmt_import", do_private, 1},
    {"keymgmt_dup", do_dup, 1},
    {"keymgmt_match", do_match_other, 1},
    {"keymgmt_validate", do_check, 1},
    {"keymgmt_get_params", do_get, 1},
    {"keymgmt_set_params", do_set, 1},
    {"keymgmt_export", do_export, 1},
    {"keymgmt_gen_init", do_gen_init, 1},
    {"keymgmt_gen_set_params", do_gen_set, 1},
    {"keymgmt_gen", do_gen, 1},
    {"keymgmt_gen_cleanup", do_gen, 0},
    {"keymgmt_free", do_new, 0},
    {"kem_newctx", do_encapsulate, 1},
    {"kem_encapsulate_init", do_encapsulate, 1},
    {"kem_encapsulate", do_encapsulate, 1},
    {"kem_decapsulate_init", do_decapsulate, 1},
    {"kem_decapsulate", do_decapsulate, 1},
    {"kem_dupctx", do_kem_dup, 1},
    {"kem_freectx", do_encapsulate, 0},
    {"encoder_encode", do_encode, 1},
    {"decoder_decode", do_decode, 1},
    {"coder_newctx", do_encode, 1},
    {"coder_freectx", do_encode, 0},
    {"get_params", do_ask, 1},
    {"get_capabilities", do_capabilities, 1},
};

int main(int argc, char **argv) {
    CHECK(argc == 2);
    path = argv[1];
    OSSL_PROVIDER *provider = load_with(path, "2");
    key = keygen(s);
    share_of(s, key, pk);
    raw_len = sizeof raw;
    CHECK(EVP_PKEY_get_raw_private_key(key, raw, &raw_len) == 1);
    OSSL_ENCODER_CTX *ctx = OSSL_ENCODER_CTX_new_for_pkey(key, EVP_PKEY_KEYPAIR, "DER", "PrivateKeyInfo", NULL);
    CHECK(OSSL_ENCODER_to_data(ctx, &der, &der_len) == 1);
    OSSL_ENCODER_CTX_free(ctx);
    encapsulate(s, key, ct, secret);
    CHECK(do_match() == 1);
    QUIET();

    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        CHECK(aim(CALLS[i].callback));
        QUIET();
        int outcome = CALLS[i].call();
        if ((outcome == 1) == CALLS[i].fails) {
            fprintf(stderr, "%s: %d\n", CALLS[i].callback, outcome);
            _exit(1);
        }
        EXPECT_ERROR(CALLS[i].callback, "a panic was stopped");
        CHECK(CALLS[i].call() == 1);
        ERR_clear_error();
    }

    /* A load that panics is refused, and the next one works. */
    CHECK(aim("OSSL_provider_init"));
    OSSL_LIB_CTX *context = OSSL_LIB_CTX_new();
    CHECK(try_load(context, path, "") == NULL);
    ERR_clear_error();
    OSSL_PROVIDER *again = try_load(context, path, "");
    CHECK(again != NULL);
    QUIET();
    /* An end that panics is reported; OpenSSL has forgotten the texts by then. */
    CHECK(aim("teardown"));
    CHECK(OSSL_PROVIDER_unload(again) == 1);
    OSSL_LIB_CTX_free(context);
    CHECK(ERR_GET_REASON(ERR_get_error()) == 118);

    exchange(s);
    EVP_PKEY_free(key);
    OPENSSL_free(der);
    unload(provider);
    puts("panics: ok");
    return 0;
}
