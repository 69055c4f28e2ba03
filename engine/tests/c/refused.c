/* L3: a library that this program cannot use is refused with a reason, and the program goes on. Prints the reasons. */
#include "module.h"

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (int i = 0; i < 2; i++) {
        CHECK(try_load(argv[1]) == NULL);
        CHECK(ERR_peek_error() != 0);
        ERR_print_errors_fp(stdout);
    }
    /* The classical algorithms still work. */
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, NULL);
    CHECK(ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1 && EVP_PKEY_keygen(ctx, &key) == 1);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
    puts("refused: ok");
    return 0;
}
