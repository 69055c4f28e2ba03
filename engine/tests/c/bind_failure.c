/* A bind that fails half way: every allocation of libcrypto during the load fails once; each time the load is refused
 * without a crash, and the next one works in the same process. */
#include "module.h"

static long countdown = -1; /* the allocation that fails; negative: none */

static int fails(void) {
    return countdown >= 0 && countdown-- == 0;
}

static void *our_malloc(size_t size, const char *file, int line) {
    (void)file, (void)line;
    return fails() ? NULL : malloc(size);
}

static void *our_realloc(void *old, size_t size, const char *file, int line) {
    (void)file, (void)line;
    return size != 0 && fails() ? NULL : realloc(old, size);
}

static void our_free(void *old, const char *file, int line) {
    (void)file, (void)line;
    free(old);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    CHECK(CRYPTO_set_mem_functions(our_malloc, our_realloc, our_free) == 1);
    /* The first load creates the objects, which stay. */
    unload(load(argv[1]));

    int refused = 0, bound = 0;
    for (long n = 0; !bound; n++) {
        ENGINE *e = ENGINE_by_id("dynamic");
        CHECK(e != NULL && ENGINE_ctrl_cmd_string(e, "SO_PATH", argv[1], 0) == 1);
        ERR_clear_error();
        countdown = n;
        bound = ENGINE_ctrl_cmd_string(e, "LOAD", NULL, 0) == 1 && countdown >= 0;
        countdown = -1;
        if (!bound && strcmp(ENGINE_get_id(e), "dynamic") == 0)
            refused++;
        ERR_clear_error();
        ENGINE_free(e);
        unload(load(argv[1]));
        CHECK(n < 1000);
    }
    CHECK(refused >= 12); /* two schemes, two method tables each, two names in one of them, and some of the loader's */

    ENGINE *e = load(argv[1]);
    EACH_SCHEME(s)
        exchange(s);
    unload(e);
    QUIET();
    printf("bind_failure: ok, %d loads refused\n", refused);
    return 0;
}
