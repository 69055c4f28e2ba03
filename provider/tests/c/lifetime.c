/* The provider's life: loaded twice, in one library context and in several, ended, loaded again; settings, read-outs and
 * refusals; no key is generated where a server makes room for a client's share. */
#include "module.h"

#include <fcntl.h>

/* What a load that fails says on standard error. */
static void refused(const char *path, const char *lines, const char *said) {
    OSSL_LIB_CTX *context = OSSL_LIB_CTX_new();
    int ends[2], usual = dup(2);
    char report[400] = "";
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    OSSL_PROVIDER *provider = try_load(context, path, lines);
    CHECK(dup2(usual, 2) == 2);
    close(usual), close(ends[1]);
    CHECK(read(ends[0], report, sizeof report - 1) > 0);
    close(ends[0]);
    CHECK(provider == NULL);
    CHECK(strstr(report, "ntruprime: not loaded: ") == report);
    if (strstr(report, said) == NULL) {
        fprintf(stderr, "\"%s\" gave: %s", lines, report);
        _exit(1);
    }
    CHECK(ERR_peek_error() != 0);
    ERR_clear_error();
    OSSL_LIB_CTX_free(context);
}

struct groups {
    int count;
    unsigned id[8];
    char name[8][64];
};

static int add_group(const OSSL_PARAM params[], void *arg) {
    struct groups *groups = arg;
    char *name = groups->name[groups->count];
    unsigned *id = &groups->id[groups->count++], kem = 0;
    CHECK(OSSL_PARAM_get_uint(OSSL_PARAM_locate_const(params, "tls-group-id"), id));
    CHECK(OSSL_PARAM_get_utf8_string(OSSL_PARAM_locate_const(params, "tls-group-name"), &name, 64));
    CHECK(OSSL_PARAM_get_uint(OSSL_PARAM_locate_const(params, "tls-group-is-kem"), &kem) && kem == 1);
    int number;
    CHECK(OSSL_PARAM_get_int(OSSL_PARAM_locate_const(params, "tls-min-tls"), &number) && number == 0x0304);
    CHECK(OSSL_PARAM_get_int(OSSL_PARAM_locate_const(params, "tls-min-dtls"), &number) && number == -1);
    return 1;
}

static void check_groups(OSSL_PROVIDER *provider, const char *expected) {
    struct groups groups = {0};
    char found[300] = "";
    CHECK(OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", add_group, &groups) == 1);
    for (int i = 0; i < groups.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s=%x ", groups.name[i], groups.id[i]);
    if (strcmp(found, expected) != 0) {
        fprintf(stderr, "groups: %s, expected: %s\n", found, expected);
        _exit(1);
    }
    CHECK(OSSL_PROVIDER_get_capabilities(provider, "TLS-SIGALG", add_group, &groups) == 1);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    const char *path = argv[1];
    char text[200];

    /* Read-outs. */
    OSSL_PROVIDER *provider = load(path);
    const char *constant = NULL;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr("version", (char **)&constant, 0), OSSL_PARAM_END};
    CHECK(OSSL_PROVIDER_get_params(provider, params) == 1 && constant != NULL && strcmp(constant, "0.1.0") == 0);
    tell(provider, "stock-level", text, sizeof text);
    CHECK(strcmp(text, "sntrup761=0 sntrup857=0") == 0);
    check_groups(provider, "sntrup761=feb1 sntrup857=feb2 X25519sntrup761=feb3 ");
    CHECK(OSSL_PROVIDER_self_test(provider) == 1);
    QUIET();

    /* A server's room for a share takes no key from the stock, and a client's key does. */
    unsigned char pk[MAX_PK], ct[MAX_CT], secret[MAX_SECRET];
    EACH_SCHEME(s) {
        EVP_PKEY *client = keygen(s);
        int before = level(provider, s);
        share_of(s, client, pk);
        EVP_PKEY *server = peer(s, pk);
        encapsulate(s, server, ct, secret);
        CHECK(level(provider, s) == before);
        EVP_PKEY_free(server);
        EVP_PKEY_free(client);
    }

    /* A second library context shares the stock; the first one ends, and the second goes on. */
    CHECK(level(provider, SCHEMES) == 30 && level(provider, SCHEMES + 1) == 31);
    OSSL_LIB_CTX *first = libctx;
    libctx = NULL;
    OSSL_PROVIDER *second = load(path);
    CHECK(level(second, SCHEMES) == 30);
    exchange(SCHEMES);
    CHECK(level(provider, SCHEMES) == 29);
    CHECK(OSSL_PROVIDER_unload(provider) == 1);
    OSSL_LIB_CTX_free(first);
    CHECK(level(second, SCHEMES) == 29);
    EACH_SCHEME(s)
        exchange(s);
    /* Twice in one context, under two names. */
    char lines[600];
    snprintf(lines, sizeof lines, "%s", path);
    OSSL_PROVIDER *twin = OSSL_PROVIDER_load(libctx, path);
    CHECK(twin != NULL);
    EACH_SCHEME(s)
        exchange(s);
    CHECK(OSSL_PROVIDER_unload(twin) == 1);
    EACH_SCHEME(s)
        exchange(s);
    /* The last one ends: the stock is empty and the settings are as at first. */
    unload(second);

    provider = load_lines(path, "BATCH_SIZE = 5\nBACKGROUND_REFILL = off\nBACKEND = portable\nTLS_GROUP_ID_SNTRUP761 = 0x0233\n"
                                "TLS_GROUP_ID_SNTRUP857 = none\nTLS_GROUP_ID_X25519SNTRUP761 = 12211");
    CHECK(level(provider, SCHEMES) == 0);
    exchange(SCHEMES);
    CHECK(level(provider, SCHEMES) == 4);
    tell(provider, "backend-in-use", text, sizeof text);
    CHECK(strcmp(text, "portable") == 0);
    check_groups(provider, "sntrup761=233 X25519sntrup761=2fb3 ");
    exchange(SCHEMES + 1); /* left out of TLS alone */
    unload(provider);

    provider = load(path);
    exchange(SCHEMES);
    CHECK(level(provider, SCHEMES) == 31);
    check_backend(provider);
    unload(provider);

    /* What is wrong in openssl.cnf is said, and the next load works. */
    refused(path, "BATCH_SIZE = 5000", "BATCH_SIZE = 5000: give 1 to 1024");
    refused(path, "BATCH_SIZE = 0", "BATCH_SIZE = 0: give 1 to 1024");
    refused(path, "BATCH_SIZE = many", "BATCH_SIZE = many: this is no number");
    refused(path, "BACKGROUND_REFILL = 1", "BACKGROUND_REFILL = 1: give on or off");
    refused(path, "BACKGROUND_REFILL = On", "BACKGROUND_REFILL = On: give on or off");
    refused(path, "BACKEND = abacus", "BACKEND = abacus: this processor has auto, ");
    refused(path, "TLS_GROUP_ID_SNTRUP761 = 0x1FFFF", "TLS_GROUP_ID_SNTRUP761 = 0x1FFFF: give a number");
    refused(path, "TLS_GROUP_ID_SNTRUP761 = 29", "belongs to a group of OpenSSL");
    refused(path, "TLS_GROUP_ID_SNTRUP857 = 4588", "belongs to a group of OpenSSL");
    refused(path, "TLS_GROUP_ID_SNTRUP857 = 0xFEB1", "sntrup761 and sntrup857 have the same number 0xfeb1");
    provider = load(path);
    exchange(SCHEMES);
    unload(provider);
    QUIET();
    puts("lifetime: ok");
    return 0;
}
