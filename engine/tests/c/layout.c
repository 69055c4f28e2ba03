/* Holds the declarations of src/ffi/sys.rs to the headers: values and sizes as Rust has them (layout_values.h, made by the
 * test), and the type of every function. A difference is a compile error. */
#include "module.h"
#include "layout_values.h"
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <stddef.h>

#define CONSTANT(name) _Static_assert((name) == RUST_##name, #name);
#define SIZE(type) _Static_assert(sizeof(type) == RUST_SIZE_##type, #type);
#define OFFSET(type, field) _Static_assert(offsetof(type, field) == RUST_OFFSET_##field, #field);
#define FUNCTION(name, result, ...) static result (*const check_##name)(__VA_ARGS__) __attribute__((unused)) = name;

/* Where OpenSSL 3 added const. */
#if OPENSSL_VERSION_MAJOR + 0 >= 3
#define CONST3 const
#else
#define CONST3
#endif

CONSTANT(V_ASN1_UNDEF)
CONSTANT(OSSL_DYNAMIC_VERSION)
CONSTANT(OSSL_DYNAMIC_OLDEST)
CONSTANT(ENGINE_CMD_BASE)
CONSTANT(ENGINE_CMD_FLAG_NUMERIC)
CONSTANT(ENGINE_CMD_FLAG_STRING)
CONSTANT(ENGINE_CMD_FLAG_NO_INPUT)
CONSTANT(EVP_PKEY_CTRL_PEER_KEY)
CONSTANT(ASN1_PKEY_CTRL_SET1_TLS_ENCPT)
CONSTANT(ASN1_PKEY_CTRL_GET1_TLS_ENCPT)

SIZE(ENGINE_CMD_DEFN)
OFFSET(ENGINE_CMD_DEFN, cmd_name)
OFFSET(ENGINE_CMD_DEFN, cmd_desc)
OFFSET(ENGINE_CMD_DEFN, cmd_flags)
SIZE(dynamic_MEM_fns)
SIZE(dynamic_fns)
OFFSET(dynamic_fns, mem_fns)
SIZE(ERR_STRING_DATA)

typedef int engine_fn(ENGINE *);
typedef int engine_ctrl_fn(ENGINE *, int, long, void *, void (*)(void));
typedef int pkey_meths_fn(ENGINE *, EVP_PKEY_METHOD **, const int **, int);
typedef int pkey_asn1_meths_fn(ENGINE *, EVP_PKEY_ASN1_METHOD **, const int **, int);
typedef int ctx_fn(EVP_PKEY_CTX *);
typedef int ctx_copy_fn(EVP_PKEY_CTX *, CONST3 EVP_PKEY_CTX *);
typedef int keygen_fn(EVP_PKEY_CTX *, EVP_PKEY *);
typedef int crypt_fn(EVP_PKEY_CTX *, unsigned char *, size_t *, const unsigned char *, size_t);
typedef int derive_fn(EVP_PKEY_CTX *, unsigned char *, size_t *);
typedef int ctx_ctrl_fn(EVP_PKEY_CTX *, int, int, void *);
typedef int ctx_ctrl_str_fn(EVP_PKEY_CTX *, const char *, const char *);
typedef int pub_decode_fn(EVP_PKEY *, CONST3 X509_PUBKEY *);
typedef int pub_encode_fn(X509_PUBKEY *, const EVP_PKEY *);
typedef int compare_fn(const EVP_PKEY *, const EVP_PKEY *);
typedef int print_fn(BIO *, const EVP_PKEY *, int, ASN1_PCTX *);
typedef int number_fn(const EVP_PKEY *);
typedef int priv_decode_fn(EVP_PKEY *, const PKCS8_PRIV_KEY_INFO *);
typedef int priv_encode_fn(PKCS8_PRIV_KEY_INFO *, const EVP_PKEY *);
typedef int param_decode_fn(EVP_PKEY *, const unsigned char **, int);
typedef int param_encode_fn(const EVP_PKEY *, unsigned char **);
typedef int param_copy_fn(EVP_PKEY *, const EVP_PKEY *);
typedef void free_fn(EVP_PKEY *);
typedef int pkey_ctrl_fn(EVP_PKEY *, int, long, void *);
typedef int set_raw_fn(EVP_PKEY *, const unsigned char *, size_t);
typedef int get_raw_fn(const EVP_PKEY *, unsigned char *, size_t *);

FUNCTION(ASN1_buf_print, int, BIO *, const unsigned char *, size_t, int)
FUNCTION(BIO_indent, int, BIO *, int, int)
FUNCTION(CRYPTO_clear_free, void, void *, size_t, const char *, int)

FUNCTION(ENGINE_get_static_state, void *, void)
FUNCTION(ENGINE_set_id, int, ENGINE *, const char *)
FUNCTION(ENGINE_set_name, int, ENGINE *, const char *)
FUNCTION(ENGINE_set_init_function, int, ENGINE *, engine_fn *)
FUNCTION(ENGINE_set_finish_function, int, ENGINE *, engine_fn *)
FUNCTION(ENGINE_set_destroy_function, int, ENGINE *, engine_fn *)
FUNCTION(ENGINE_set_ctrl_function, int, ENGINE *, engine_ctrl_fn *)
FUNCTION(ENGINE_set_cmd_defns, int, ENGINE *, const ENGINE_CMD_DEFN *)
FUNCTION(ENGINE_set_pkey_meths, int, ENGINE *, pkey_meths_fn *)
FUNCTION(ENGINE_set_pkey_asn1_meths, int, ENGINE *, pkey_asn1_meths_fn *)

FUNCTION(ERR_add_error_data, void, int, ...)
FUNCTION(ERR_unload_strings, int, int, ERR_STRING_DATA *)

FUNCTION(EVP_PKEY_get0, void *, const EVP_PKEY *)
FUNCTION(EVP_PKEY_get0_asn1, const EVP_PKEY_ASN1_METHOD *, const EVP_PKEY *)
FUNCTION(EVP_PKEY_CTX_get0_pkey, EVP_PKEY *, EVP_PKEY_CTX *)
FUNCTION(EVP_PKEY_meth_new, EVP_PKEY_METHOD *, int, int)
FUNCTION(EVP_PKEY_meth_free, void, EVP_PKEY_METHOD *)
FUNCTION(EVP_PKEY_meth_set_copy, void, EVP_PKEY_METHOD *, ctx_copy_fn *)
FUNCTION(EVP_PKEY_meth_set_keygen, void, EVP_PKEY_METHOD *, ctx_fn *, keygen_fn *)
FUNCTION(EVP_PKEY_meth_set_encrypt, void, EVP_PKEY_METHOD *, ctx_fn *, crypt_fn *)
FUNCTION(EVP_PKEY_meth_set_decrypt, void, EVP_PKEY_METHOD *, ctx_fn *, crypt_fn *)
FUNCTION(EVP_PKEY_meth_set_derive, void, EVP_PKEY_METHOD *, ctx_fn *, derive_fn *)
FUNCTION(EVP_PKEY_meth_set_ctrl, void, EVP_PKEY_METHOD *, ctx_ctrl_fn *, ctx_ctrl_str_fn *)
FUNCTION(EVP_PKEY_asn1_new, EVP_PKEY_ASN1_METHOD *, int, int, const char *, const char *)
FUNCTION(EVP_PKEY_asn1_free, void, EVP_PKEY_ASN1_METHOD *)
FUNCTION(EVP_PKEY_asn1_set_public, void, EVP_PKEY_ASN1_METHOD *, pub_decode_fn *, pub_encode_fn *, compare_fn *,
         print_fn *, number_fn *, number_fn *)
FUNCTION(EVP_PKEY_asn1_set_private, void, EVP_PKEY_ASN1_METHOD *, priv_decode_fn *, priv_encode_fn *, print_fn *)
FUNCTION(EVP_PKEY_asn1_set_param, void, EVP_PKEY_ASN1_METHOD *, param_decode_fn *, param_encode_fn *, number_fn *,
         param_copy_fn *, compare_fn *, print_fn *)
FUNCTION(EVP_PKEY_asn1_set_free, void, EVP_PKEY_ASN1_METHOD *, free_fn *)
FUNCTION(EVP_PKEY_asn1_set_ctrl, void, EVP_PKEY_ASN1_METHOD *, pkey_ctrl_fn *)
FUNCTION(EVP_PKEY_asn1_set_security_bits, void, EVP_PKEY_ASN1_METHOD *, number_fn *)
FUNCTION(EVP_PKEY_asn1_set_set_priv_key, void, EVP_PKEY_ASN1_METHOD *, set_raw_fn *)
FUNCTION(EVP_PKEY_asn1_set_set_pub_key, void, EVP_PKEY_ASN1_METHOD *, set_raw_fn *)
FUNCTION(EVP_PKEY_asn1_set_get_priv_key, void, EVP_PKEY_ASN1_METHOD *, get_raw_fn *)
FUNCTION(EVP_PKEY_asn1_set_get_pub_key, void, EVP_PKEY_ASN1_METHOD *, get_raw_fn *)

FUNCTION(X509_PUBKEY_set0_param, int, X509_PUBKEY *, ASN1_OBJECT *, int, void *, unsigned char *, int)
FUNCTION(X509_PUBKEY_get0_param, int, ASN1_OBJECT **, const unsigned char **, int *, X509_ALGOR **,
         CONST3 X509_PUBKEY *)
FUNCTION(PKCS8_pkey_set0, int, PKCS8_PRIV_KEY_INFO *, ASN1_OBJECT *, int, int, void *, unsigned char *, int)
FUNCTION(PKCS8_pkey_get0, int, const ASN1_OBJECT **, const unsigned char **, int *, const X509_ALGOR **,
         const PKCS8_PRIV_KEY_INFO *)

int main(void) {
    return 0;
}
