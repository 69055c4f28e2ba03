/* P1: fill the stock, fork 8 children, one of which forks again, and that one again; 64 keys each and the parent's: all
 * public keys and all encapsulated secrets are distinct. */
#include "module.h"
#include <fcntl.h>
#include <sys/wait.h>

#define CHILDREN 8
#define KEYS 64
#define PROCESSES (CHILDREN + 3)

struct record {
    unsigned char pk[32], secret[MAX_SECRET];
};

static int out;

static void make_keys(const struct scheme *s) {
    for (int i = 0; i < KEYS; i++) {
        struct record record = {0};
        unsigned char pk[MAX_PK], ct[MAX_CT];
        EVP_PKEY *key = keygen(s);
        share_of(s, key, pk);
        memcpy(record.pk, pk + s->pk - 32, sizeof record.pk);
        encapsulate(s, key, ct, record.secret);
        CHECK(write(out, &record, sizeof record) == sizeof record);
        EVP_PKEY_free(key);
    }
    QUIET();
}

static void wait_for(pid_t pid) {
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child finds an empty stock, makes keys, and forks `depth` generations more with a stock that holds some. */
static void child(MODULE *e, const struct scheme *s, int depth) {
    pid_t pid;
    do {
        CHECK(level(e, s) == 0);
        EVP_PKEY_free(keygen(s));
        CHECK(level(e, s) > 0);
        pid = depth > 0 ? fork() : -1;
    } while (depth-- > 0 && pid == 0);
    make_keys(s);
    if (pid > 0)
        wait_for(pid);
    _exit(0);
}

static int by_pk(const void *a, const void *b) {
    return memcmp(((const struct record *)a)->pk, ((const struct record *)b)->pk, 32);
}

static int by_secret(const void *a, const void *b) {
    return memcmp(((const struct record *)a)->secret, ((const struct record *)b)->secret, MAX_SECRET);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    MODULE *e = load(argv[1]);
    EACH_SCHEME(s) {
        out = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
        CHECK(out >= 0);
        while (level(e, s) > 0)
            EVP_PKEY_free(keygen(s));
        EVP_PKEY_free(keygen(s));
        CHECK(level(e, s) == 31);

        pid_t pids[CHILDREN];
        for (int i = 0; i < CHILDREN; i++) {
            pids[i] = fork();
            CHECK(pids[i] >= 0);
            if (pids[i] == 0)
                child(e, s, i == 0 ? 2 : 0);
        }
        CHECK(level(e, s) == 31);
        make_keys(s);
        for (int i = 0; i < CHILDREN; i++)
            wait_for(pids[i]);

        size_t count = PROCESSES * KEYS, size = count * sizeof(struct record);
        struct record *records = malloc(size + 1);
        CHECK(pread(out, records, size + 1, 0) == (ssize_t)size);
        qsort(records, count, sizeof *records, by_pk);
        for (size_t i = 1; i < count; i++)
            CHECK(by_pk(records + i - 1, records + i) != 0);
        qsort(records, count, sizeof *records, by_secret);
        for (size_t i = 1; i < count; i++)
            CHECK(by_secret(records + i - 1, records + i) != 0);
        free(records);
        close(out);
    }
    unload(e);
    puts("forks: ok");
    return 0;
}
