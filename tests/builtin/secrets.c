/* libcrypto's sntrup761 on secrets that valgrind takes for undefined: it reports each branch and each address that depends
 * on one. To be linked with libcrypto.a, since the KEM itself is not exported, and to be run under valgrind.
 *
 * usage: secrets keygen|encapsulate|decapsulate|reject */
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <valgrind/memcheck.h>

enum { SMALL = 191, PUBLIC_KEY = 1158, SECRET_KEY = 1763, CIPHERTEXT = 1039, SECRET = 32 };

/* As crypto/sntrup761.h declares them, which is not installed. */
typedef int generator(void *arg, unsigned char *out, size_t len);
int sntrup761_keypair(unsigned char *pk, unsigned char *sk, generator *rng, void *arg);
int sntrup761_encapsulate(unsigned char *ct, unsigned char *ss, const unsigned char *pk, generator *rng, void *arg);
int sntrup761_decapsulate(unsigned char *ss, const unsigned char *ct, const unsigned char *sk);

/* Random bytes, which are secret if *arg. */
static int random_bytes(void *arg, unsigned char *out, size_t len) {
    int ok = RAND_bytes(out, (int)len) == 1;
    if (*(int *)arg) VALGRIND_MAKE_MEM_UNDEFINED(out, len);
    return ok;
}

int main(int argc, char **argv) {
    static unsigned char pk[PUBLIC_KEY], sk[SECRET_KEY], ct[CIPHERTEXT], sent[SECRET], got[SECRET];
    const char *what = argc == 2 ? argv[1] : "";
    int secret = 1, open = 0;

    if (!RUNNING_ON_VALGRIND) return 2;
    if (strcmp(what, "keygen") == 0) return !sntrup761_keypair(pk, sk, random_bytes, &secret);
    if (!sntrup761_keypair(pk, sk, random_bytes, &open)) return 3;
    if (strcmp(what, "encapsulate") == 0) return !sntrup761_encapsulate(ct, sent, pk, random_bytes, &secret);
    if (!sntrup761_encapsulate(ct, sent, pk, random_bytes, &open)) return 3;
    if (strcmp(what, "reject") == 0) ct[3] ^= 1;
    else if (strcmp(what, "decapsulate") != 0) return 2;
    /* f and 1/g, then rho; the public key between them, and its hash, are no secrets. */
    VALGRIND_MAKE_MEM_UNDEFINED(sk, 2 * SMALL);
    VALGRIND_MAKE_MEM_UNDEFINED(sk + 2 * SMALL + PUBLIC_KEY, SMALL);
    int done = sntrup761_decapsulate(got, ct, sk);
    VALGRIND_MAKE_MEM_DEFINED(got, SECRET);
    return !done || (memcmp(sent, got, SECRET) == 0) != (strcmp(what, "decapsulate") == 0);
}
