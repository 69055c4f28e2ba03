/* The background refill: no thread unless it is switched on, none that is left behind or waited for in vain.
 *
 * usage: refill MODULE life|forks|exit      the module is loaded by this program
 *        refill MODULE configured           by openssl.cnf, so that OpenSSL ends it when the process exits */
#include "module.h"
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#define CHILDREN 6
#define KEYS 40
#define EXITS 40

/* Threads of this program itself. */
static int own_threads = 1;

/* Whether there is a thread that this program did not start. */
static int thread_is_there(void) {
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    int count = 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count > own_threads;
}

/* It was joined; /proc may show it for a moment more. */
static int thread_is_gone(void) {
    for (int i = 0; i < 1000 && thread_is_there(); i++)
        usleep(1000);
    return !thread_is_there();
}

static void wait_for_level(MODULE *e, const struct scheme *s, int wanted) {
    int i = 0;
    for (; i < 60000 && level(e, s) < wanted; i++)
        usleep(1000);
    CHECK(level(e, s) >= wanted);
}

/* Takes keys from an empty stock until the thread has an order, for which a quarter of a batch must be left. */
static void first_order(const struct scheme *s, int batch) {
    for (int i = 0; i < batch - batch / 4; i++)
        EVP_PKEY_free(keygen(s));
}

/* The same from any stock. */
static void order(MODULE *e, const struct scheme *s, int batch) {
    do
        EVP_PKEY_free(keygen(s));
    while (level(e, s) > batch / 4);
}

static void life(const char *path) {
    MODULE *e = load(path);
    EACH_PLAIN_SCHEME(s) {
        for (int i = 0; i < 70; i++) {
            EVP_PKEY_free(keygen(s));
            CHECK(level(e, s) == 31 - i % 32);
        }
    }
    CHECK(!thread_is_there());
    unload(e);
    for (int round = 0; round < 3; round++) {
        e = load_refilled(path, "8");
        CHECK(!thread_is_there());
        for (int i = 0; i < 50; i++) {
            EACH_PLAIN_SCHEME(s) {
                exchange(s);
                wait_for_level(e, s, 3);
            }
        }
        CHECK(thread_is_there());
        order(e, SCHEMES, 8); /* the module ends while the thread computes */
        unload(e);
        CHECK(thread_is_gone());
        QUIET();
    }
    /* The setting ends with the module. */
    e = load(path);
    for (int i = 0; i < 32; i++)
        EVP_PKEY_free(keygen(SCHEMES));
    CHECK(level(e, SCHEMES) == 0 && !thread_is_there());
    unload(e);
}

static void wait_for(pid_t pid) {
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fprintf(stderr, "status %x (e means that it hung)\n", status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int ends[2];

static void report_keys(const struct scheme *s) {
    for (int i = 0; i < KEYS; i++) {
        unsigned char pk[MAX_PK];
        EVP_PKEY *key = keygen(s);
        share_of(s, key, pk);
        CHECK(write(ends[1], pk + s->pk - 32, 32) == 32);
        EVP_PKEY_free(key);
    }
    QUIET();
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, 32);
}

/* Forks beside the idle and beside the computing thread. Children leave by exit, which ends their module. */
static void forks(const char *path) {
    const struct scheme *s = SCHEMES;
    static unsigned char keys[(2 * CHILDREN + 2) * KEYS][32];
    CHECK(pipe(ends) == 0);
    MODULE *e = load_refilled(path, "16");
    pid_t pids[CHILDREN * 2];
    for (int i = 0; i < CHILDREN * 2; i++) {
        order(e, s, 16);
        if (i % 2 == 0)
            wait_for_level(e, s, 16);
        else
            usleep(i * 100);
        CHECK((pids[i] = fork()) >= 0);
        if (pids[i] == 0) {
            alarm(120);
            CHECK(level(e, s) == 0 && !thread_is_there());
            if (i % 3 != 0) { /* every third one exits at once */
                report_keys(s);
                if (i % 3 == 1) {
                    unload(e);
                    CHECK(thread_is_gone());
                }
            }
            exit(0);
        }
    }
    report_keys(s);
    for (int i = 0; i < CHILDREN * 2; i++)
        wait_for(pids[i]);
    close(ends[1]);
    size_t count = 0, got = 0;
    for (ssize_t n; (n = read(ends[0], keys[0] + got, sizeof keys - got)) > 0;)
        got += n;
    count = got / 32;
    CHECK(count == (CHILDREN * 2 * 2 / 3 + 1) * KEYS);
    qsort(keys, count, 32, by_bytes);
    for (size_t i = 1; i < count; i++)
        CHECK(memcmp(keys[i - 1], keys[i], 32) != 0);
    unload(e);
}

static void *exits(void *delay) {
    usleep(*(int *)delay);
    exit(0);
}

/* Runs last of all: what is registered later runs earlier. */
static void at_last(void) {
    CHECK(thread_is_gone());
}

/* Another thread than the first exits, after a time in which the refill may be anywhere. */
static void exit_while_refilling(const char *path, int batch, int delay, const char *how) {
    char text[20];
    alarm(120);
    snprintf(text, sizeof text, "%d", batch);
    CHECK(atexit(at_last) == 0);
    MODULE *e = load_refilled(path, text);
    first_order(SCHEMES, batch);
    CHECK(thread_is_there());
    pthread_t thread;
    if (strcmp(how, "unload") == 0) {
        unload(e);
        CHECK(thread_is_gone());
    }
    own_threads = 2;
    CHECK(pthread_create(&thread, NULL, exits, &delay) == 0);
    for (;;)
        pause();
}

static int exits_in_source(unsigned char *buf, int num) {
    (void)buf, (void)num;
    exit(0);
}

/* The random source exits, for which the stock's lock is held, while the thread makes a batch for that stock and needs the lock
 * to put it in. The process ends all the same, and soon. */
static void exit_under_the_lock(const char *path) {
    alarm(20);
    load_refilled(path, "256");
    first_order(SCHEMES, 256);
    CHECK(thread_is_there());
    use_random_source(exits_in_source);
    for (;;)
        EVP_PKEY_free(keygen(SCHEMES));
}

static void exits_while_refilling(const char *path) {
    for (int i = 0; i < EXITS + 4; i++) {
        pid_t pid = fork(); /* nothing was loaded so far */
        CHECK(pid >= 0);
        if (pid == 0 && i >= EXITS)
            exit_under_the_lock(path);
        if (pid == 0)
            exit_while_refilling(path, i % 2 == 0 ? 8 : 256, i / 4 * 300, i % 4 == 3 ? "unload" : "stay");
        wait_for(pid);
    }
}

static void configured(void) {
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            alarm(120);
            CHECK(atexit(at_last) == 0);
            CHECK(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) == 1);
            first_order(SCHEMES, 64);
            CHECK(thread_is_there());
            pthread_t thread;
            int delay = i * 100;
            own_threads = 2;
            CHECK(pthread_create(&thread, NULL, exits, &delay) == 0);
            for (;;)
                pause();
        }
        wait_for(pid);
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    if (strcmp(argv[2], "life") == 0)
        life(argv[1]);
    else if (strcmp(argv[2], "forks") == 0)
        forks(argv[1]);
    else if (strcmp(argv[2], "exit") == 0)
        exits_while_refilling(argv[1]);
    else
        configured();
    puts("refill: ok");
    return 0;
}
