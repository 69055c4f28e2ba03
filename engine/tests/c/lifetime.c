/* The life of the ENGINE in one process: bound, refused, destroyed, bound again. */
#include "module.h"

/* The name of our library number, or NULL when no texts are loaded. */
static const char *library_name(unsigned long code) {
    return ERR_lib_error_string(code);
}

/* An error code of ours, made by misuse. */
static unsigned long a_code_of_ours(void) {
    EVP_PKEY *key = keygen(SCHEMES);
    unsigned char secret[SECRET];
    CHECK(try_derive(key, secret) <= 0);
    unsigned long code = ERR_peek_error();
    ERR_clear_error();
    EVP_PKEY_free(key);
    return code;
}

static void commands(ENGINE *e) {
    char answer[200];
    tell(e, "VERSION", answer, sizeof answer);
    CHECK(answer[0] >= '0' && answer[0] <= '9' && strchr(answer, '.') != NULL);
    CHECK(ENGINE_ctrl_cmd_string(e, "BACKEND", "portable", 0) == 1);
    tell(e, "BACKEND_IN_USE", answer, sizeof answer);
    CHECK(strcmp(answer, "portable") == 0);
    CHECK(ENGINE_ctrl_cmd_string(e, "BACKEND", "auto", 0) == 1);
    CHECK(ENGINE_ctrl_cmd_string(e, "VERSION", NULL, 0) == 1); /* prints a line */
    QUIET();

    /* Bad values are refused, and the settings stay. */
    static const char *const sizes[] = {"0", "-1", "1025", "4294967297"};
    CHECK(ENGINE_ctrl_cmd_string(e, "BATCH_SIZE", "4", 0) == 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(ENGINE_ctrl_cmd_string(e, "BATCH_SIZE", sizes[i], 0) == 0);
        const char *data = NULL;
        int flags;
        ERR_peek_last_error_line_data(NULL, NULL, &data, &flags);
        CHECK(data != NULL && strstr(data, sizes[i]) != NULL); /* it names the value */
        EXPECT_ERROR("ctrl", "bad value for BATCH_SIZE");
    }
    static const char *const answers[] = {"2", "-1"};
    CHECK(ENGINE_ctrl_cmd_string(e, "BACKGROUND_REFILL", "1", 0) == 1);
    CHECK(ENGINE_ctrl_cmd_string(e, "BACKGROUND_REFILL", "0", 0) == 1);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        CHECK(ENGINE_ctrl_cmd_string(e, "BACKGROUND_REFILL", answers[i], 0) == 0);
        const char *data = NULL;
        int flags;
        ERR_peek_last_error_line_data(NULL, NULL, &data, &flags);
        CHECK(data != NULL && strstr(data, answers[i]) != NULL && strstr(data, "give 0 or 1") != NULL);
        EXPECT_ERROR("ctrl", "bad value for BACKGROUND_REFILL");
    }
    CHECK(ENGINE_ctrl_cmd_string(e, "BACKEND", "abacus", 0) == 0);
    EXPECT_ERROR("ctrl", "bad value for BACKEND");
    CHECK(ENGINE_ctrl_cmd_string(e, "NO_SUCH_COMMAND", "1", 0) == 0);
    ERR_clear_error();
    int number = ENGINE_ctrl(e, ENGINE_CTRL_GET_CMD_FROM_NAME, 0, "VERSION", NULL);
    CHECK(ENGINE_ctrl(e, number, 2, answer, NULL) <= 0);
    EXPECT_ERROR("ctrl", "buffer too small");
    CHECK(ENGINE_ctrl(e, ENGINE_ctrl(e, ENGINE_CTRL_GET_CMD_FROM_NAME, 0, "BACKEND", NULL), 0, NULL, NULL) <= 0);
    EXPECT_ERROR("ctrl", "NULL");
    /* What is for tests only is not in a shipped library. */
    CHECK(ENGINE_ctrl(e, ENGINE_CTRL_GET_CMD_FROM_NAME, 0, "INJECT_PANIC", NULL) <= 0);
    ERR_clear_error();

    /* The stock: nothing before the first request, then a batch less one. */
    EACH_SCHEME(s) {
        CHECK(level(e, s) == 0);
        EVP_PKEY_free(keygen(s));
        CHECK(level(e, s) == 3);
    }
    QUIET();
}

/* Lookups write their result even when they find nothing, and lists stay in place. */
static void lookups(ENGINE *e) {
    ENGINE_PKEY_METHS_PTR methods = ENGINE_get_pkey_meths(e);
    ENGINE_PKEY_ASN1_METHS_PTR encodings = ENGINE_get_pkey_asn1_meths(e);
    const int *nids = NULL, *again = NULL;
    CHECK(methods(e, NULL, &nids, 0) == 2 && encodings(e, NULL, &again, 0) == 2 && nids == again);
    CHECK(nids[0] == nid_of(SCHEMES) && nids[1] == nid_of(SCHEMES + 1));
    static const int strangers[] = {NID_undef, NID_rsaEncryption, 0x7fffffff, -1};
    for (int i = 0; i < 4; i++) {
        EVP_PKEY_METHOD *method = (EVP_PKEY_METHOD *)&i;
        EVP_PKEY_ASN1_METHOD *encoding = (EVP_PKEY_ASN1_METHOD *)&i;
        CHECK(methods(e, &method, NULL, strangers[i]) == 0 && method == NULL);
        CHECK(encodings(e, &encoding, NULL, strangers[i]) == 0 && encoding == NULL);
    }
    QUIET();
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    unsigned long code = 0;
    int nids[2] = {0, 0};
    for (int round = 0; round < 4; round++) {
        ENGINE *e = load(argv[1]);
        for (int i = 0; i < 2; i++) {
            CHECK(round == 0 || nids[i] == nid_of(SCHEMES + i)); /* numbers stay for the life of a process */
            nids[i] = nid_of(SCHEMES + i);
        }
        /* The settings of the last round are gone. */
        EVP_PKEY_free(keygen(SCHEMES));
        CHECK(level(e, SCHEMES) == 31);
        CHECK(ENGINE_ctrl_cmd_string(e, "BATCH_SIZE", "1", 0) == 1);
        for (int i = 0; i < 31; i++)
            EVP_PKEY_free(keygen(SCHEMES));
        CHECK(level(e, SCHEMES) == 0);
        commands(e);
        lookups(e);

        /* A second load in the same process is refused with a reason, and the first goes on. */
        CHECK(try_load(argv[1]) == NULL);
        CHECK(ERR_peek_error() != 0);
        ERR_clear_error();
        EACH_SCHEME(s)
            exchange(s);

        code = a_code_of_ours();
        CHECK(round == 0 || code != 0);
        CHECK(strcmp(library_name(code), "engNTRU") == 0);

        /* A key keeps the engine alive after all other references are gone, also one that was replaced in its object. */
        EVP_PKEY *last = keygen(SCHEMES);
        unsigned char pk[MAX_PK];
        share_of(SCHEMES, last, pk);
        CHECK(EVP_PKEY_set1_tls_encodedpoint(last, pk, SCHEMES->pk) == 1);
        unload(e);
        CHECK(library_name(code) != NULL);
        EVP_PKEY_free(last);
        CHECK(library_name(code) == NULL); /* destroyed: the texts are taken back */
        CHECK(EVP_PKEY_type(nids[0]) == NID_undef);
        ERR_clear_error();
    }

    /* Whatever id the loader passes, it is accepted. */
    const char *ids[] = {"engntru", argv[1], "another name"};
    for (int i = 0; i < 3; i++) {
        ENGINE_load_dynamic();
        ENGINE *e = ENGINE_by_id("dynamic");
        CHECK(e != NULL && ENGINE_ctrl_cmd_string(e, "SO_PATH", argv[1], 0) == 1);
        int ok = ENGINE_ctrl_cmd_string(e, "ID", ids[i], 0) == 1 && ENGINE_ctrl_cmd_string(e, "LOAD", NULL, 0) == 1;
        CHECK(ok && strcmp(ENGINE_get_id(e), "engntru") == 0);
        ENGINE_free(e);
        QUIET();
    }
    puts("lifetime: ok");
    return 0;
}
