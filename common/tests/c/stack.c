/* The deepest stack of each operation, in a thread with 64 KiB of it, as stunnel gives its threads.
 *
 * The stack is painted, the operation runs in a thread of its own, and the paint that is left is counted. What a thread that
 * does nothing uses is taken off. */
#include "module.h"
#include <sys/mman.h>

#define STACK (64 * 1024)
#define LIMIT (16 * 1024)
#define PAINT 0xa5

static const struct scheme *s;
static EVP_PKEY *key;
static unsigned char pk[MAX_PK], ct[MAX_CT], secret[MAX_SECRET], raw[MAX_SK];

static void *nothing(void *unused) { return unused; }
static void *do_keygen(void *unused) {
    EVP_PKEY_free(keygen(s));
    return unused;
}
static void *do_peer(void *unused) {
    EVP_PKEY_free(peer(s, pk));
    return unused;
}
static void *do_encapsulate(void *unused) {
    CHECK(try_encapsulate(s, key, ct, secret));
    return unused;
}
static void *do_decapsulate(void *unused) {
    CHECK(try_decapsulate(key, ct, s->ct, secret));
    return unused;
}
static void *do_load_private(void *unused) {
    EVP_PKEY *loaded = private_key(s, raw, s->sk);
    CHECK(loaded != NULL);
    EVP_PKEY_free(loaded);
    return unused;
}
static void *do_misuse(void *unused) {
    CHECK(!try_decapsulate(key, ct, 3, secret));
    ERR_clear_error();
    return unused;
}

static size_t depth(void *(*operation)(void *)) {
    unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    CHECK(stack != MAP_FAILED);
    memset(stack, PAINT, STACK);
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, operation, NULL) == 0);
    pthread_join(thread, NULL);
    size_t left = 0;
    while (left < STACK && stack[left] == PAINT)
        left++;
    CHECK(left > 0); /* it fits at all */
    munmap(stack, STACK);
    return STACK - left;
}

static void measure(const char *name, void *(*operation)(void *)) {
    size_t used = depth(operation) - depth(nothing);
    printf("%s %-24s %5zu bytes\n", s->name, name, used);
    CHECK(used < LIMIT);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    MODULE *e = load(argv[1]);
    EACH_SCHEME(each) {
        s = each;
        measure("key generation, refill", do_keygen);
        measure("key generation, stock", do_keygen);
        key = keygen(s);
        share_of(s, key, pk);
        size_t len = sizeof raw;
        CHECK(EVP_PKEY_get_raw_private_key(key, raw, &len) == 1);
        measure("key share to key", do_peer);
        measure("encapsulation", do_encapsulate);
        measure("decapsulation", do_decapsulate);
        measure("private key load", do_load_private);
        measure("an error", do_misuse);
        EVP_PKEY_free(key);
    }
    unload(e);
    puts("stack: ok");
    return 0;
}
