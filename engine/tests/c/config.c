/* Loads a configuration file, twice if so asked, and says what came of it: whether the engine serves both schemes, and
 * whether the classical algorithms still work. */
#include "module.h"

static void classical(int type, int rsa_bits) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(type, NULL);
    CHECK(ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1);
    if (rsa_bits)
        CHECK(EVP_PKEY_CTX_ctrl(ctx, -1, -1, EVP_PKEY_CTRL_RSA_KEYGEN_BITS, rsa_bits, NULL) == 1);
    else if (type == EVP_PKEY_EC)
        CHECK(EVP_PKEY_CTX_ctrl(ctx, -1, -1, EVP_PKEY_CTRL_EC_PARAMGEN_CURVE_NID, NID_X9_62_prime256v1, NULL) == 1);
    CHECK(EVP_PKEY_keygen(ctx, &key) == 1);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    /* What OpenSSL does itself before it loads its default file. */
    OPENSSL_load_builtin_modules();
    ENGINE_load_builtin_engines();
    ERR_clear_error();
    for (int times = atoi(argv[2]); times > 0; times--) {
        int loaded = CONF_modules_load_file(argv[1], NULL, 0);
        printf("load: %s\n", loaded > 0 ? "ok" : "failed");
        if (loaded > 0)
            QUIET();
        ERR_print_errors_fp(stdout);
        ERR_clear_error();
    }
    int served = 0;
    EACH_SCHEME(s) {
        int nid = OBJ_sn2nid(s->name);
        if (nid != NID_undef && EVP_PKEY_type(nid) == nid) {
            exchange(s);
            served++;
        }
        ERR_clear_error();
    }
    printf("schemes: %d\n", served);
    classical(EVP_PKEY_X25519, 0);
    classical(EVP_PKEY_EC, 0);
    classical(EVP_PKEY_RSA, 2048);
    QUIET();
    puts("config: ok");
    return 0;
}
