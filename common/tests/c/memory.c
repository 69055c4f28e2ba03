/* Secrets in the memory of the process: a session's secret is nowhere but in the caller's buffer when it has been handed out,
 * and no operation leaves a copy of a key; after 1000 exchanges, finish and free, what was in stock is gone (L8).
 *
 * A repeatable random generator makes the stock's content known: the keys of a first batch are taken out and written down
 * (masked, so that the notes are not found themselves), then the generator is set back and makes the same batch again.
 * All memory that the process can write is searched for them: they must be there before, and must not be afterwards.
 *
 * To be linked with -z now: the lazy way saves vector registers on the stack, with what the last copy left in them. */
#include "module.h"
#include <fcntl.h>

#define BATCH 8
#define PIECE 32 /* bytes of f, of 1/g and of rho that are looked for */
#define PIECES 3
#define MASK 0x5a
#define PAGE 4096

static void rewind_generator(uint64_t seed) {
    noise_state = seed;
}

/* The masked notes: `pieces` of each of `noted` keys, or those of one session's secret. */
static unsigned char notes[BATCH][PIECES][PIECE];
static int noted, pieces;

static void mask(unsigned char *piece, const unsigned char *secret) {
    for (int b = 0; b < PIECE; b++)
        piece[b] = secret[b] ^ MASK;
}

/* Bytes of an encoded small polynomial. */
static size_t small_bytes(const struct scheme *s) {
    return (s->pk == 1158 ? 761 + 3 : 857 + 3) / 4;
}

static void note(const struct scheme *s, int i, const unsigned char *sk) {
    size_t small = small_bytes(s);
    size_t at[PIECES] = {0, small, 2 * small + s->pk};
    for (int p = 0; p < PIECES; p++)
        mask(notes[i][p], sk + at[p]);
    noted = i + 1, pieces = PIECES;
}

/* Whether a page can be read. A thread's stack can have a guard that /proc/self/maps does not tell of. */
static int readable(const unsigned char *page) {
    static int memory = -1;
    unsigned char byte;
    if (memory < 0)
        CHECK((memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) >= 0);
    return pread(memory, &byte, 1, (off_t)(uintptr_t)page) == 1;
}

/* How often a noted piece lies in the writable memory of this process; `held` gets the number of keys of which some does. */
static int search(int *held) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    char line[512];
    int hits = 0, seen[BATCH] = {0};
    size_t bytes = 0, all = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned char *start, *end;
        char rights[5];
        CHECK(sscanf(line, "%p-%p %4s", (void **)&start, (void **)&end, rights) == 3);
        if (rights[0] != 'r' || rights[1] != 'w')
            continue;
        for (unsigned char *run = start, *stop; run < end; run = stop + PAGE) {
            for (stop = run; stop < end && readable(stop); stop += PAGE)
                ;
            bytes += stop - run;
            for (unsigned char *p = run; p + PIECE <= stop; p++)
                for (int i = 0; i < noted; i++)
                    for (int k = 0; k < pieces; k++) {
                        int b = 0;
                        while (b < PIECE && p[b] == (notes[i][k][b] ^ MASK))
                            b++;
                        if (b == PIECE)
                            hits++, seen[i] = 1;
                    }
        }
        all += end - start;
    }
    fclose(maps);
    CHECK(bytes > all - all / 8); /* guards are small */
    *held = 0;
    for (int i = 0; i < noted; i++)
        *held += seen[i];
    return hits;
}

/* Takes a batch out of the stock, writes its keys down and frees them. */
static void note_batch(const struct scheme *s) {
    unsigned char *sk = malloc(MAX_SK);
    for (int i = 0; i < BATCH; i++) {
        EVP_PKEY *key = keygen(s);
        size_t len = MAX_SK;
        CHECK(EVP_PKEY_get_raw_private_key(key, sk, &len) == 1);
        note(s, i, sk);
        EVP_PKEY_free(key);
    }
    OPENSSL_cleanse(sk, MAX_SK);
    free(sk);
}

/* The secret in the caller's buffer is the only copy; when the caller has wiped it, there is none. */
static void check_only_copy(const struct scheme *s, unsigned char *secret) {
    int held;
    noted = 1, pieces = (int)s->secret / PIECE;
    for (int p = 0; p < pieces; p++)
        mask(notes[0][p], secret + p * PIECE);
    CHECK(search(&held) == pieces);
    OPENSSL_cleanse(secret, s->secret);
    CHECK(search(&held) == 0);
}

/* Decapsulation computes Hash_3(rho), which decides the secret of a rejection: it leaves no copy of it. */
static void check_no_rho_hash(const struct scheme *s, EVP_PKEY *key, const unsigned char *ct, unsigned char *secret) {
    unsigned char *sk = malloc(MAX_SK), hash[64];
    size_t len = MAX_SK, small = small_bytes(s);
    int held;
    CHECK(EVP_PKEY_get_raw_private_key(key, sk, &len) == 1);
    unsigned char *rho = sk + 2 * small + s->pk;
    rho[-1] = 3; /* the prefix, in the place of the public key's last byte */
    CHECK(EVP_Digest(rho - 1, small + 1, hash, NULL, EVP_sha512(), NULL) == 1);
    OPENSSL_cleanse(sk, MAX_SK);
    free(sk);
    noted = pieces = 1;
    mask(notes[0][0], hash);
    CHECK(search(&held) == 1); /* the one here */
    OPENSSL_cleanse(hash, sizeof hash);
    decapsulate(s, key, ct, secret);
    CHECK(search(&held) == 0);
}

/* One exchange, with a look at memory after each step. */
static void session(const struct scheme *s) {
    unsigned char pk[MAX_PK], ct[MAX_CT];
    unsigned char *secret = malloc(MAX_SECRET);
    EVP_PKEY *client = keygen(s);
    share_of(s, client, pk);
    EVP_PKEY *server = peer(s, pk);
    encapsulate(s, server, ct, secret);
    check_only_copy(s, secret);
    decapsulate(s, client, ct, secret);
    check_only_copy(s, secret);
    /* A ciphertext that was changed: the secret of implicit rejection. */
    ct[0] ^= 1;
    decapsulate(s, client, ct, secret);
    check_only_copy(s, secret);
    if (s < SCHEMES + 2)
        check_no_rho_hash(s, client, ct, secret);
    EVP_PKEY_free(server);
    EVP_PKEY_free(client);
    free(secret);
}

/* Takes what the first batch of 8 is good for before it is low; then a thread makes a second one, of a known seed. */
static void use_first_batch(MODULE *e, const struct scheme *s) {
    for (int i = 0; i < 6; i++)
        EVP_PKEY_free(keygen(s));
    for (int i = 0; i < 60000 && level(e, s) < 2 + BATCH; i++)
        usleep(1000);
    CHECK(level(e, s) == 2 + BATCH);
}

/* The same for a batch that a thread makes. */
static void refilled(const char *path, const struct scheme *s) {
    uint64_t seed = 0x3243f6a8885a308du ^ s->pk;
    int held;
    MODULE *e = load_refilled(path, "8");
    use_random_source(noise);
    rewind_generator(seed);
    use_first_batch(e, s);
    note_batch(s);
    unload(e); /* while the thread makes a third */
    CHECK(search(&held) == 0);

    e = load_refilled(path, "8");
    rewind_generator(seed);
    use_first_batch(e, s);
    CHECK(search(&held) >= BATCH * PIECES && held == BATCH);
    use_random_source(NULL);
    unload(e);
    CHECK(search(&held) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    int exchanges = atoi(argv[2]), held;
    MODULE *e = load(argv[1]);
    for (int i = 0; i < exchanges; i++)
        exchange(SCHEMES + i % (sizeof SCHEMES / sizeof *SCHEMES));
    EACH_SCHEME(s)
        session(s);
    unload(e);

    EACH_PLAIN_SCHEME(s) {
        e = load_with(argv[1], "8");
        use_random_source(noise);

        uint64_t seed = 0x9e3779b97f4a7c15u ^ s->pk;
        rewind_generator(seed);
        note_batch(s);
        CHECK(level(e, s) == 0);
        /* Keys that were handed out and freed, and their batch, left nothing. */
        CHECK(search(&held) == 0);

        rewind_generator(seed);
        EVP_PKEY *key = keygen(s);
        CHECK(level(e, s) == BATCH - 1);
        CHECK(search(&held) >= BATCH * PIECES && held == BATCH);
        /* Operations with the key leave no more of it behind than the key object. */
        int hits = search(&held);
        unsigned char pk[MAX_PK], ct[MAX_CT], secret[MAX_SECRET];
        share_of(s, key, pk);
        EVP_PKEY *server = peer(s, pk);
        encapsulate(s, server, ct, secret);
        CHECK(search(&held) == hits);
        decapsulate(s, key, ct, secret);
        CHECK(search(&held) == hits);
        EVP_PKEY_free(server);
        /* One is out: a freed key is gone at once, the others stay in stock. */
        EVP_PKEY_free(key);
        search(&held);
        CHECK(held == BATCH - 1);

        use_random_source(NULL);
        unload(e);
        CHECK(search(&held) == 0);
        refilled(argv[1], s);
    }
    puts("memory: ok");
    return 0;
}
