/* Threads: the first call of all, one key object shared by many, and threads that outlive the module. */
#include "module.h"

#define FIRST 64
#define SHARERS 8

static pthread_barrier_t barrier;

/* P4: 64 threads behind a barrier make the first call of all. */
static void *first_call(void *pks) {
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++) {
        const struct scheme *s = SCHEMES + i;
        EVP_PKEY *key = keygen(s);
        unsigned char pk[MAX_PK], ct[MAX_CT], sent[MAX_SECRET], received[MAX_SECRET];
        share_of(s, key, pk);
        EVP_PKEY *server = peer(s, pk);
        encapsulate(s, server, ct, sent);
        decapsulate(s, key, ct, received);
        CHECK(memcmp(sent, received, s->secret) == 0);
        memcpy((unsigned char *)pks + i * 32, pk, 32);
        EVP_PKEY_free(server);
        EVP_PKEY_free(key);
        QUIET();
    }
    return NULL;
}

/* One EVP_PKEY for all. */
static EVP_PKEY *shared;
static int taken;

static void *sharer(void *unused) {
    (void)unused;
    const struct scheme *s = SCHEMES;
    unsigned char ct[MAX_CT];
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 50; i++) {
        __atomic_add_fetch(&taken, use_shared(s, shared, i, ct), __ATOMIC_SEQ_CST);
        QUIET();
    }
    return NULL;
}

/* L7: the thread used the module and ends after it was unloaded. */
static void *outlives(void *unused) {
    (void)unused;
    exchange(SCHEMES);
    pthread_barrier_wait(&barrier); /* all have used it */
    pthread_barrier_wait(&barrier); /* it is unloaded */
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    MODULE *e = load(argv[1]);
    pthread_t threads[FIRST];
    static unsigned char pks[FIRST][64];

    pthread_barrier_init(&barrier, NULL, FIRST);
    for (int i = 0; i < FIRST; i++)
        CHECK(pthread_create(&threads[i], NULL, first_call, pks[i]) == 0);
    for (int i = 0; i < FIRST; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < FIRST; i++)
        for (int j = 0; j < i; j++)
            CHECK(memcmp(pks[i], pks[j], 32) != 0 && memcmp(pks[i] + 32, pks[j] + 32, 32) != 0);
    /* One initialisation, two refills of 32: nothing was made twice, nothing is left. */
    EACH_PLAIN_SCHEME(s)
        CHECK(level(e, s) == 0);
    check_backend(e);
    pthread_barrier_destroy(&barrier);

    shared = keygen(SCHEMES);
    pthread_barrier_init(&barrier, NULL, SHARERS);
    for (int i = 0; i < SHARERS; i++)
        CHECK(pthread_create(&threads[i], NULL, sharer, NULL) == 0);
    for (int i = 0; i < SHARERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(taken > 0 && taken <= SHARERS * 50);
    EVP_PKEY_free(shared);
    pthread_barrier_destroy(&barrier);

    pthread_barrier_init(&barrier, NULL, SHARERS + 1);
    for (int i = 0; i < SHARERS; i++)
        CHECK(pthread_create(&threads[i], NULL, outlives, NULL) == 0);
    pthread_barrier_wait(&barrier);
    unload(e);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < SHARERS; i++)
        pthread_join(threads[i], NULL);
    puts("threads: ok");
    return 0;
}
