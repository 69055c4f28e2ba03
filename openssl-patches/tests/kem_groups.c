/*
 * What the patches promise, tried in one process with an engine that has the right sizes and no cryptography: both ends
 * of a handshake in memory. Here is what a peer on the wire cannot see: which keys an application is given, what is left
 * after a failure, and how libssl behaves when the engine is there, is not, or is there by half.
 */
#include <stdio.h>
#include <string.h>
#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

static int failures;

#define CHECK(what, condition) \
    do { \
        if (!(condition)) { \
            printf("FAILED %s: %s (line %d)\n", what, #condition, __LINE__); \
            failures++; \
        } \
    } while (0)

/* ---- the fake KEM: the secret is a hash of public key and ciphertext, which anybody could compute ---- */

enum { NO_FAULT, KEYGEN, ENCRYPT, DECRYPT, PEER, DERIVE };

typedef struct {
    int is_private, has_secret;
    unsigned char public_key[1322], secret[32];
} KEY;

static const int nids[] = {NID_sntrup761, NID_sntrup857};
static EVP_PKEY_METHOD *pkey_methods[2];
static EVP_PKEY_ASN1_METHOD *asn1_methods[2];
static int fault, live_keys, live_secrets;

static int is_kem(int nid) { return nid == NID_sntrup761 || nid == NID_sntrup857; }
static size_t public_len(int nid) { return nid == NID_sntrup761 ? 1158 : 1322; }
static size_t ciphertext_len(int nid) { return nid == NID_sntrup761 ? 1039 : 1184; }

static int new_key(EVP_PKEY *pkey, int nid, int is_private, const unsigned char *public_key)
{
    KEY *key = OPENSSL_zalloc(sizeof(*key));

    if (key == NULL)
        return 0;
    key->is_private = is_private;
    if (public_key != NULL)
        memcpy(key->public_key, public_key, public_len(nid));
    else if (RAND_bytes(key->public_key, public_len(nid)) <= 0)
        return 0;
    live_keys++;
    return EVP_PKEY_assign(pkey, nid, key);
}

static void set_secret(KEY *key, int has)
{
    live_secrets += has - key->has_secret;
    key->has_secret = has;
}

static void asn1_free(EVP_PKEY *pkey)
{
    KEY *key = EVP_PKEY_get0(pkey);

    if (key == NULL)
        return;
    set_secret(key, 0);
    live_keys--;
    OPENSSL_clear_free(key, sizeof(*key));
}

static int asn1_bits(const EVP_PKEY *pkey) { return 8 * public_len(EVP_PKEY_id(pkey)); }

static int asn1_ctrl(EVP_PKEY *pkey, int op, long len, void *data)
{
    KEY *key = EVP_PKEY_get0(pkey);
    int nid = EVP_PKEY_id(pkey);

    switch (op) {
    case ASN1_PKEY_CTRL_SET1_TLS_ENCPT:
        return (size_t)len == public_len(nid) && new_key(pkey, nid, 0, data);
    case ASN1_PKEY_CTRL_GET1_TLS_ENCPT:
        if (key == NULL || (*(void **)data = OPENSSL_memdup(key->public_key, public_len(nid))) == NULL)
            return 0;
        return public_len(nid);
    }
    return -2;
}

static int keygen_761(EVP_PKEY_CTX *ctx, EVP_PKEY *pkey)
{
    return fault != KEYGEN && new_key(pkey, NID_sntrup761, 1, NULL);
}

static int keygen_857(EVP_PKEY_CTX *ctx, EVP_PKEY *pkey)
{
    return fault != KEYGEN && new_key(pkey, NID_sntrup857, 1, NULL);
}

static int no_init(EVP_PKEY_CTX *ctx) { return 1; }

static void make_secret(KEY *key, int nid, const unsigned char *ciphertext)
{
    SHA256_CTX hash;

    SHA256_Init(&hash);
    SHA256_Update(&hash, key->public_key, public_len(nid));
    SHA256_Update(&hash, ciphertext, ciphertext_len(nid));
    SHA256_Final(key->secret, &hash);
    set_secret(key, 1);
}

static int encrypt(EVP_PKEY_CTX *ctx, unsigned char *out, size_t *outlen, const unsigned char *in, size_t inlen)
{
    EVP_PKEY *pkey = EVP_PKEY_CTX_get0_pkey(ctx);
    KEY *key = EVP_PKEY_get0(pkey);
    size_t len = ciphertext_len(EVP_PKEY_id(pkey));

    if (key == NULL || in != NULL || inlen != 0)
        return 0;
    if (out == NULL) {
        *outlen = len;
        return 1;
    }
    if (fault == ENCRYPT || *outlen < len || RAND_bytes(out, len) <= 0)
        return 0;
    *outlen = len;
    make_secret(key, EVP_PKEY_id(pkey), out);
    return 1;
}

static int decrypt(EVP_PKEY_CTX *ctx, unsigned char *out, size_t *outlen, const unsigned char *in, size_t inlen)
{
    EVP_PKEY *pkey = EVP_PKEY_CTX_get0_pkey(ctx);
    KEY *key = EVP_PKEY_get0(pkey);

    if (fault == DECRYPT || key == NULL || !key->is_private || out != NULL
        || inlen != ciphertext_len(EVP_PKEY_id(pkey)))
        return 0;
    make_secret(key, EVP_PKEY_id(pkey), in);
    return 1;
}

static int derive(EVP_PKEY_CTX *ctx, unsigned char *out, size_t *outlen)
{
    KEY *key = EVP_PKEY_get0(EVP_PKEY_CTX_get0_pkey(ctx));

    if (key == NULL || !key->has_secret)
        return 0;
    *outlen = sizeof(key->secret);
    if (out == NULL)
        return 1;
    if (fault == DERIVE)
        return 0;
    memcpy(out, key->secret, sizeof(key->secret));
    set_secret(key, 0);
    return 1;
}

static int ctrl(EVP_PKEY_CTX *ctx, int type, int p1, void *p2)
{
    return type == EVP_PKEY_CTRL_PEER_KEY ? fault != PEER : -2;
}

static int find_pkey_method(ENGINE *e, EVP_PKEY_METHOD **method, const int **list, int nid)
{
    if (method == NULL) {
        *list = nids;
        return 2;
    }
    *method = nid == nids[0] ? pkey_methods[0] : nid == nids[1] ? pkey_methods[1] : NULL;
    return *method != NULL;
}

static int find_asn1_method(ENGINE *e, EVP_PKEY_ASN1_METHOD **method, const int **list, int nid)
{
    if (method == NULL) {
        *list = nids;
        return 2;
    }
    *method = nid == nids[0] ? asn1_methods[0] : nid == nids[1] ? asn1_methods[1] : NULL;
    return *method != NULL;
}

static ENGINE *make_engine(void)
{
    ENGINE *e = ENGINE_new();
    int i;

    for (i = 0; i < 2; i++) {
        asn1_methods[i] = EVP_PKEY_asn1_new(nids[i], 0, OBJ_nid2sn(nids[i]), "");
        EVP_PKEY_asn1_set_free(asn1_methods[i], asn1_free);
        EVP_PKEY_asn1_set_ctrl(asn1_methods[i], asn1_ctrl);
        EVP_PKEY_asn1_set_public(asn1_methods[i], NULL, NULL, NULL, NULL, NULL, asn1_bits);
        pkey_methods[i] = EVP_PKEY_meth_new(nids[i], 0);
        EVP_PKEY_meth_set_keygen(pkey_methods[i], NULL, i == 0 ? keygen_761 : keygen_857);
        EVP_PKEY_meth_set_encrypt(pkey_methods[i], no_init, encrypt);
        EVP_PKEY_meth_set_decrypt(pkey_methods[i], no_init, decrypt);
        EVP_PKEY_meth_set_derive(pkey_methods[i], no_init, derive);
        EVP_PKEY_meth_set_ctrl(pkey_methods[i], ctrl, NULL);
    }
    if (!ENGINE_set_id(e, "fake") || !ENGINE_set_name(e, "sizes of sntrup, no cryptography")
        || !ENGINE_set_pkey_meths(e, find_pkey_method) || !ENGINE_set_pkey_asn1_meths(e, find_asn1_method)) {
        ENGINE_free(e);
        return NULL;
    }
    return e;
}

/* ---- a handshake in memory ---- */

enum { ABSENT, WHOLE, ONLY_KEYS, ONLY_OPERATIONS };

typedef struct {
    const char *name, *client, *server; /* group lists */
    int group;                          /* NID to be agreed on; 0: the handshake must fail */
    const char *error;                  /* if it fails: in the error queue of the client ("c:…") or the server ("s:…") */
    int client_max, server_max;         /* highest version; 0: TLS 1.3 */
    const char *ciphers;                /* the client's, for TLS 1.2 */
    int engine, dtls, fault, level;     /* level: the client's security level */
} CASE;

static X509 *certificate;
static EVP_PKEY *certificate_key;

static void make_certificate(void)
{
    RSA *rsa = RSA_new();
    BIGNUM *e = BN_new();

    BN_set_word(e, RSA_F4);
    RSA_generate_key_ex(rsa, 2048, e, NULL);
    BN_free(e);
    certificate_key = EVP_PKEY_new();
    EVP_PKEY_assign_RSA(certificate_key, rsa);
    certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, certificate_key);
    X509_sign(certificate, certificate_key, EVP_sha256());
}

static SSL_CTX *make_context(const CASE *c, int server)
{
    SSL_CTX *ctx = SSL_CTX_new(c->dtls ? DTLS_method() : TLS_method());
    const char *groups = server ? c->server : c->client;

    CHECK(c->name, SSL_CTX_set1_groups_list(ctx, groups));
    CHECK(c->name, SSL_CTX_set_max_proto_version(ctx, server ? c->server_max : c->client_max));
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (server) {
        CHECK(c->name, SSL_CTX_use_certificate(ctx, certificate) && SSL_CTX_use_PrivateKey(ctx, certificate_key));
        SSL_CTX_set_dh_auto(ctx, 1);
    } else {
        if (c->ciphers != NULL)
            CHECK(c->name, SSL_CTX_set_cipher_list(ctx, c->ciphers));
        if (c->level != 0)
            SSL_CTX_set_security_level(ctx, c->level);
    }
    return ctx;
}

/* Appends the thread's error queue to the text: function, reason and data. */
static void drain_errors(char *text, size_t size)
{
    const char *data;
    unsigned long e;
    int flags;

    while ((e = ERR_get_error_line_data(NULL, NULL, &data, &flags)) != 0)
        snprintf(text + strlen(text), size - strlen(text), "%s:%s:%s\n", ERR_func_error_string(e),
                 ERR_reason_error_string(e), (flags & ERR_TXT_STRING) != 0 ? data : "");
}

/* The group behind a key that libssl gives to applications, which must hold nothing but a public key. */
static int inspect(const char *name, EVP_PKEY *pkey)
{
    int nid = EVP_PKEY_id(pkey);
    KEY *key = is_kem(nid) ? EVP_PKEY_get0(pkey) : NULL;

    if (key != NULL)
        CHECK(name, !key->is_private && !key->has_secret);
    EVP_PKEY_free(pkey);
    return nid;
}

static void look_at_keys(const char *name, SSL *ssl, int *peer)
{
    EVP_PKEY *pkey;

    *peer = SSL_get_peer_tmp_key(ssl, &pkey) ? inspect(name, pkey) : 0;
    if (SSL_get_tmp_key(ssl, &pkey))
        CHECK(name, !is_kem(inspect(name, pkey)));
}

/* An application that looks at each turn of the handshake. */
static void on_state(const SSL *ssl, int where, int ret)
{
    int ignored;

    look_at_keys(SSL_get_app_data(ssl), (SSL *)ssl, &ignored);
}

static int step(SSL *ssl, int *done, char *errors, size_t size)
{
    int ret;

    if (*done != 0)
        return 0;
    ERR_clear_error();
    ret = SSL_do_handshake(ssl);
    if (ret == 1)
        *done = 1;
    else if (SSL_get_error(ssl, ret) != SSL_ERROR_WANT_READ) {
        *done = -1;
        drain_errors(errors, size);
    }
    return 1;
}

/* Runs a case on these contexts, resuming *session if there is one, and leaves the new session there. */
static void handshake(const CASE *c, SSL_CTX *client_ctx, SSL_CTX *server_ctx, SSL_SESSION **session)
{
    char client_errors[1000] = "", server_errors[1000] = "", byte;
    int client_done = 0, server_done = 0, turns, client_peer, server_peer, resumed = session != NULL && *session != NULL;
    int peer_groups[64], count;
    SSL *client = SSL_new(client_ctx), *server = SSL_new(server_ctx);
    BIO *client_end, *server_end;

    BIO_new_bio_pair(&client_end, 1 << 17, &server_end, 1 << 17);
    SSL_set_bio(client, client_end, client_end);
    SSL_set_bio(server, server_end, server_end);
    SSL_set_app_data(client, (void *)c->name);
    SSL_set_app_data(server, (void *)c->name);
    SSL_set_info_callback(client, on_state);
    SSL_set_info_callback(server, on_state);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    if (resumed)
        SSL_set_session(client, *session);

    for (turns = 0; turns < 20; turns++) {
        fault = c->fault;
        step(client, &client_done, client_errors, sizeof(client_errors));
        step(server, &server_done, server_errors, sizeof(server_errors));
    }
    fault = NO_FAULT;
    look_at_keys(c->name, client, &client_peer);
    look_at_keys(c->name, server, &server_peer);

    if (c->group == 0) {
        const char *errors = c->error[0] == 'c' ? client_errors : server_errors;

        CHECK(c->name, client_done != 1 || server_done != 1);
        CHECK(c->name, strstr(errors, c->error + 2) != NULL);
        if (strstr(errors, c->error + 2) == NULL)
            printf("client:\n%sserver:\n%s", client_errors, server_errors);
        /* No key is left that a failed operation put a secret in, or that could still decapsulate. */
        CHECK(c->name, live_secrets == 0);
    } else {
        CHECK(c->name, client_done == 1 && server_done == 1);
        CHECK(c->name, client_peer == c->group);
        if (SSL_version(server) == TLS1_3_VERSION)
            CHECK(c->name, server_peer == c->group);
        else
            CHECK(c->name, !is_kem(client_peer));
        CHECK(c->name, SSL_get_shared_group(server, 0) == c->group);
        CHECK(c->name, SSL_session_reused(client) == resumed);
        count = SSL_get1_groups(server, NULL);
        CHECK(c->name, count > 0 && count < 64 && SSL_get1_groups(server, peer_groups) == count);
        while (c->engine != WHOLE && --count >= 0)
            CHECK(c->name, !is_kem(peer_groups[count]));

        CHECK(c->name, SSL_write(server, "x", 1) == 1 && SSL_read(client, &byte, 1) == 1 && byte == 'x');
        CHECK(c->name, SSL_write(client, "y", 1) == 1 && SSL_read(server, &byte, 1) == 1 && byte == 'y');
        if (session != NULL) {
            SSL_SESSION_free(*session);
            *session = SSL_get1_session(client);
        }
        SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        SSL_set_shutdown(server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }
    SSL_free(client);
    SSL_free(server);
    CHECK(c->name, live_keys == 0 && live_secrets == 0);
    ERR_clear_error();
}

static void set_engine(ENGINE *e, int state)
{
    ENGINE_unregister_pkey_meths(e);
    ENGINE_unregister_pkey_asn1_meths(e);
    if (state == WHOLE || state == ONLY_OPERATIONS)
        ENGINE_register_pkey_meths(e);
    if (state == WHOLE || state == ONLY_KEYS)
        ENGINE_register_pkey_asn1_meths(e);
}

#define NO_ENGINE "no usable groups:sntrup761: no engine provides it"
#define NO_TLS13 "no usable groups:sntrup761: it needs TLS 1.3"
#define TLS12 TLS1_2_VERSION

static const CASE cases[] = {
    {"sntrup761", "sntrup761", "sntrup761", NID_sntrup761, .engine = WHOLE},
    {"sntrup857", "sntrup857", "sntrup857", NID_sntrup857, .engine = WHOLE},
    {"both and more", "sntrup857:sntrup761:X25519", "X25519:sntrup761:sntrup857", NID_sntrup857, .engine = WHOLE},
    {"the client's first share wins", "X25519:sntrup761", "sntrup761:X25519", NID_X25519, .engine = WHOLE},
    {"retry to the KEM", "X25519:sntrup761", "sntrup761", NID_sntrup761, .engine = WHOLE},
    {"retry from the KEM", "sntrup761:X25519", "X25519", NID_X25519, .engine = WHOLE},
    {"retry between KEMs", "sntrup761:sntrup857", "sntrup857", NID_sntrup857, .engine = WHOLE},
    {"nothing in common", "sntrup761", "X25519", 0, "s:no suitable key share", .engine = WHOLE},

    {"no engine, KEM only", "sntrup761", "X25519", 0, "c:" NO_ENGINE},
    {"no engine, server, TLS 1.3", "X25519", "sntrup761", 0, "s:" NO_ENGINE},
    {"no engine, server, TLS 1.2", "X25519", "sntrup761", 0, "s:" NO_ENGINE, TLS12},
    {"no engine, another group", "sntrup761:X25519", "sntrup761:X25519", NID_X25519},
    {"keys but no operations", "sntrup761:X25519", "sntrup761:X25519", NID_X25519, .engine = ONLY_KEYS},
    {"operations but no keys", "sntrup761:X25519", "sntrup761:X25519", NID_X25519, .engine = ONLY_OPERATIONS},

    {"client without TLS 1.3", "sntrup761", "sntrup761:X25519", 0, "c:" NO_TLS13, TLS12, .engine = WHOLE},
    {"server without TLS 1.3", "X25519", "sntrup761", 0, "s:" NO_TLS13, 0, TLS12, .engine = WHOLE},
    {"old server", "sntrup761", "X25519", 0, "c:" NO_TLS13, 0, TLS12, .engine = WHOLE},
    {"old server, RSA", "sntrup761", "X25519", 0, "c:" NO_TLS13, 0, TLS12, "AES128-SHA", .engine = WHOLE},
    {"old server, finite field", "sntrup761", "X25519", 0, "c:" NO_TLS13, 0, TLS12, "DHE-RSA-AES128-SHA",
     .engine = WHOLE},
    {"old client, RSA", "X25519", "sntrup761", 0, "s:" NO_TLS13, TLS12, 0, "AES128-SHA", .engine = WHOLE},
    {"old client, finite field", "X25519", "sntrup761", 0, "s:" NO_TLS13, TLS12, 0, "DHE-RSA-AES128-SHA",
     .engine = WHOLE},
    {"old server, another group", "sntrup761:X25519", "sntrup761:X25519", NID_X25519, NULL, 0, TLS12, .engine = WHOLE},
    {"old client, another group", "sntrup761:X25519", "sntrup761:X25519", NID_X25519, NULL, TLS12, .engine = WHOLE},
    {"DTLS", "sntrup761", "sntrup761", 0, "c:" NO_TLS13, .engine = WHOLE, .dtls = 1},

    {"security level 3", "sntrup761", "sntrup761", NID_sntrup761, .engine = WHOLE, .level = 3},
    {"security level 4", "sntrup761", "sntrup761", 0, "c:not allowed at this security level", .engine = WHOLE, .level = 4},

    {"key generation fails", "sntrup761", "sntrup761", 0, "c:ssl_generate_pkey_group", .engine = WHOLE, .fault = KEYGEN},
    {"encapsulation fails", "sntrup761", "sntrup761", 0, "s:tls_construct_stoc_key_share", .engine = WHOLE,
     .fault = ENCRYPT},
    {"decapsulation fails", "sntrup761", "sntrup761", 0, "c:tls_parse_stoc_key_share:bad key share", .engine = WHOLE,
     .fault = DECRYPT},
    {"no peer", "sntrup761", "sntrup761", 0, "s:ssl_derive", .engine = WHOLE, .fault = PEER},
    {"derivation fails", "sntrup761", "sntrup761", 0, "s:ssl_derive", .engine = WHOLE, .fault = DERIVE},
};

static void test_resumption(void)
{
    static const CASE c = {"resumption", "X25519:sntrup761", "sntrup761", NID_sntrup761, .engine = WHOLE};
    SSL_CTX *client = make_context(&c, 0), *server = make_context(&c, 1);
    SSL_SESSION *session = NULL;

    handshake(&c, client, server, &session);
    handshake(&c, client, server, &session);
    SSL_SESSION_free(session);
    SSL_CTX_free(client);
    SSL_CTX_free(server);
}

static void test_lists(void)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    int twice[] = {NID_sntrup857, NID_X25519, NID_sntrup857};
    int once[] = {NID_sntrup857, NID_X25519, NID_sntrup761};

    CHECK("lists", SSL_CTX_set1_groups(ctx, once, 3));
    CHECK("lists", !SSL_CTX_set1_groups(ctx, twice, 3));
    CHECK("lists", !SSL_CTX_set1_groups_list(ctx, "sntrup761:X25519:sntrup761"));
    CHECK("lists", !SSL_CTX_set1_groups_list(ctx, "sntrup653"));
    /* All there are: none is one too many, and none is taken for another. */
    CHECK("lists", SSL_CTX_set1_groups_list(ctx,
        "sect163k1:sect163r1:sect163r2:sect193r1:sect193r2:sect233k1:sect233r1:sect239k1:sect283k1:sect283r1:sect409k1:"
        "sect409r1:sect571k1:sect571r1:secp160k1:secp160r1:secp160r2:secp192k1:prime192v1:secp224k1:secp224r1:secp256k1:"
        "prime256v1:secp384r1:secp521r1:brainpoolP256r1:brainpoolP384r1:brainpoolP512r1:X25519:X448:sntrup761:sntrup857"));
    SSL_CTX_free(ctx);
}

/* The encoder that made the table (a script) against the one for text in libcrypto, which knows big numbers. */
static void test_objects(void)
{
    static const char *const oids[] = {"2.25.324341873410083312134409510976690305945.1.761",
                                       "2.25.324341873410083312134409510976690305945.1.857"};
    char text[80];
    int i;

    for (i = 0; i < 2; i++) {
        ASN1_OBJECT *object = OBJ_txt2obj(oids[i], 1);

        CHECK(oids[i], OBJ_obj2nid(object) == nids[i]);
        CHECK(oids[i], OBJ_obj2txt(text, sizeof(text), OBJ_nid2obj(nids[i]), 1) > 0 && strcmp(text, oids[i]) == 0);
        CHECK(oids[i], strcmp(OBJ_nid2sn(nids[i]), OBJ_nid2ln(nids[i])) == 0);
        ASN1_OBJECT_free(object);
    }
}

int main(void)
{
    ENGINE *e = make_engine();
    size_t i;

    if (e == NULL || !ENGINE_add(e)) {
        printf("FAILED to make the engine\n");
        return 1;
    }
    SSL_load_error_strings();
    make_certificate();
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SSL_CTX *client, *server;

        set_engine(e, cases[i].engine);
        client = make_context(&cases[i], 0);
        server = make_context(&cases[i], 1);
        handshake(&cases[i], client, server, NULL);
        SSL_CTX_free(client);
        SSL_CTX_free(server);
    }
    set_engine(e, WHOLE);
    test_resumption();
    test_lists();
    test_objects();
    set_engine(e, ABSENT);
    X509_free(certificate);
    EVP_PKEY_free(certificate_key);
    ENGINE_remove(e);
    ENGINE_free(e);
    printf("%zu handshakes tried, %d checks failed\n", i + 2, failures);
    return failures != 0;
}
