/* What others made under our names: a key of our number with their methods ("key"), their object of our name ("object"). */
#include "module.h"

/* The engine is asked to work on a key whose content it cannot know. */
static void key(ENGINE *e) {
    CHECK(ENGINE_init(e) == 1);
    int nid = OBJ_sn2nid(SCHEMES->name);
    CHECK(nid != NID_undef);
    EVP_PKEY_ASN1_METHOD *theirs = EVP_PKEY_asn1_new(nid, 0, SCHEMES->name, "another implementation");
    CHECK(theirs != NULL && EVP_PKEY_asn1_add0(theirs) == 1);
    EVP_PKEY *pkey = EVP_PKEY_new();
    static char content[16];
    CHECK(pkey != NULL && EVP_PKEY_assign(pkey, nid, content) == 1);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(pkey, e);
    CHECK(ctx != NULL && EVP_PKEY_encrypt_init(ctx) == 1);
    unsigned char ct[MAX_CT];
    size_t len = sizeof ct;
    CHECK(EVP_PKEY_encrypt(ctx, ct, &len, NULL, 0) != 1);
    EXPECT_ERROR("encrypt", "the key is of another type");
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(pkey);
    ENGINE_finish(e);
    ENGINE_free(e);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    if (strcmp(argv[2], "key") == 0) {
        ENGINE *e = try_load(argv[1]);
        CHECK(e != NULL);
        key(e);
    } else if (OBJ_sn2nid(SCHEMES->name) == NID_undef) {
        CHECK(OBJ_create("1.3.6.1.4.1.32473.1", SCHEMES->name, SCHEMES->name) != NID_undef);
        CHECK(try_load(argv[1]) == NULL);
        EXPECT_ERROR("bind_engine", "another object has this name already");
    } else {
        /* A patched libcrypto has the name already, and lets nobody else take it. */
        CHECK(OBJ_create("1.3.6.1.4.1.32473.1", SCHEMES->name, SCHEMES->name) == NID_undef);
        ERR_clear_error();
        CHECK(try_load(argv[1]) != NULL);
    }
    puts("foreign: ok");
    return 0;
}
