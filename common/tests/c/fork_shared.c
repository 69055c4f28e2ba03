/* Forks while other threads encapsulate to a key object: in the child nobody holds the object's locks. */
#include "module.h"

#include <signal.h>
#include <sys/wait.h>

static EVP_PKEY *shared;
static volatile int stop;

static void *encapsulator(void *unused) {
    (void)unused;
    unsigned char ct[MAX_CT];
    while (!stop)
        use_shared(SCHEMES, shared, 0, ct);
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    load(argv[1]);
    shared = keygen(SCHEMES);
    unsigned char pk[MAX_PK];
    share_of(SCHEMES, shared, pk);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, encapsulator, NULL) == 0);
    for (int round = 0; round < 50; round++) {
        usleep(1000 + 37 * round);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20); /* a child that is stuck ends by a signal */
            _exit(use_after_fork(SCHEMES, shared, pk) == 1 ? 0 : 1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    EVP_PKEY_free(shared);
    puts("fork_shared: ok");
    return 0;
}
