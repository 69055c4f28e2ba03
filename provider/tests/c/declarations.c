/* The provider's declarations against the headers: numbers, structures, and the type of each function. The values of the
 * Rust side are in declarations_values.h, which the test makes. */
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/core_object.h>
#include <openssl/params.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "declarations_values.h"

#define CONSTANT(name) _Static_assert((name) == (RUST_##name), #name)
#define SIZE(type) _Static_assert(sizeof(struct type) == RUST_SIZE_##type, #type)
#define OFFSET(type, field) _Static_assert(offsetof(struct type, field) == RUST_OFFSET_##field, #field)
#define NAME(macro, text) CHECK_NAME(strcmp(macro, text))
/* OpenSSL's own declaration of a function with this number, against the type as Rust has it. */
#define FUNCTION(name, result, ...) \
    _Static_assert(__builtin_types_compatible_p(OSSL_FUNC_##name##_fn, result(__VA_ARGS__)), #name)

CONSTANT(OSSL_PARAM_INTEGER);
CONSTANT(OSSL_PARAM_UNSIGNED_INTEGER);
CONSTANT(OSSL_PARAM_UTF8_STRING);
CONSTANT(OSSL_PARAM_OCTET_STRING);
CONSTANT(OSSL_PARAM_UTF8_PTR);
CONSTANT(OSSL_OBJECT_PKEY);
CONSTANT(OSSL_FUNC_CORE_GET_PARAMS);
CONSTANT(OSSL_FUNC_CORE_NEW_ERROR);
CONSTANT(OSSL_FUNC_CORE_SET_ERROR_DEBUG);
CONSTANT(OSSL_FUNC_CORE_VSET_ERROR);
CONSTANT(OSSL_FUNC_CORE_OBJ_CREATE);
CONSTANT(OSSL_FUNC_BIO_READ_EX);
CONSTANT(OSSL_FUNC_BIO_WRITE_EX);
CONSTANT(OSSL_FUNC_PROVIDER_TEARDOWN);
CONSTANT(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS);
CONSTANT(OSSL_FUNC_PROVIDER_GET_PARAMS);
CONSTANT(OSSL_FUNC_PROVIDER_QUERY_OPERATION);
CONSTANT(OSSL_FUNC_PROVIDER_GET_REASON_STRINGS);
CONSTANT(OSSL_FUNC_PROVIDER_GET_CAPABILITIES);
CONSTANT(OSSL_OP_KEYMGMT);
CONSTANT(OSSL_OP_KEM);
CONSTANT(OSSL_OP_ENCODER);
CONSTANT(OSSL_OP_DECODER);
CONSTANT(OSSL_KEYMGMT_SELECT_PRIVATE_KEY);
CONSTANT(OSSL_KEYMGMT_SELECT_PUBLIC_KEY);
CONSTANT(OSSL_KEYMGMT_SELECT_KEYPAIR);
CONSTANT(OSSL_KEYMGMT_SELECT_ALL_PARAMETERS);
CONSTANT(OSSL_FUNC_KEYMGMT_NEW);
CONSTANT(OSSL_FUNC_KEYMGMT_GEN_INIT);
CONSTANT(OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS);
CONSTANT(OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS);
CONSTANT(OSSL_FUNC_KEYMGMT_GEN);
CONSTANT(OSSL_FUNC_KEYMGMT_GEN_CLEANUP);
CONSTANT(OSSL_FUNC_KEYMGMT_LOAD);
CONSTANT(OSSL_FUNC_KEYMGMT_FREE);
CONSTANT(OSSL_FUNC_KEYMGMT_GET_PARAMS);
CONSTANT(OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS);
CONSTANT(OSSL_FUNC_KEYMGMT_SET_PARAMS);
CONSTANT(OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS);
CONSTANT(OSSL_FUNC_KEYMGMT_HAS);
CONSTANT(OSSL_FUNC_KEYMGMT_VALIDATE);
CONSTANT(OSSL_FUNC_KEYMGMT_MATCH);
CONSTANT(OSSL_FUNC_KEYMGMT_IMPORT);
CONSTANT(OSSL_FUNC_KEYMGMT_IMPORT_TYPES);
CONSTANT(OSSL_FUNC_KEYMGMT_EXPORT);
CONSTANT(OSSL_FUNC_KEYMGMT_EXPORT_TYPES);
CONSTANT(OSSL_FUNC_KEYMGMT_DUP);
CONSTANT(OSSL_FUNC_KEM_NEWCTX);
CONSTANT(OSSL_FUNC_KEM_ENCAPSULATE_INIT);
CONSTANT(OSSL_FUNC_KEM_ENCAPSULATE);
CONSTANT(OSSL_FUNC_KEM_DECAPSULATE_INIT);
CONSTANT(OSSL_FUNC_KEM_DECAPSULATE);
CONSTANT(OSSL_FUNC_KEM_FREECTX);
CONSTANT(OSSL_FUNC_KEM_DUPCTX);
CONSTANT(OSSL_FUNC_ENCODER_NEWCTX);
CONSTANT(OSSL_FUNC_ENCODER_FREECTX);
CONSTANT(OSSL_FUNC_ENCODER_SET_CTX_PARAMS);
CONSTANT(OSSL_FUNC_ENCODER_SETTABLE_CTX_PARAMS);
CONSTANT(OSSL_FUNC_ENCODER_DOES_SELECTION);
CONSTANT(OSSL_FUNC_ENCODER_ENCODE);
CONSTANT(OSSL_FUNC_DECODER_NEWCTX);
CONSTANT(OSSL_FUNC_DECODER_FREECTX);
CONSTANT(OSSL_FUNC_DECODER_DOES_SELECTION);
CONSTANT(OSSL_FUNC_DECODER_DECODE);

SIZE(ossl_dispatch_st);
SIZE(ossl_item_st);
SIZE(ossl_algorithm_st);
SIZE(ossl_param_st);
OFFSET(ossl_dispatch_st, function);
OFFSET(ossl_item_st, ptr);
OFFSET(ossl_algorithm_st, property_definition);
OFFSET(ossl_algorithm_st, implementation);
OFFSET(ossl_algorithm_st, algorithm_description);
OFFSET(ossl_param_st, data_type);
OFFSET(ossl_param_st, data);
OFFSET(ossl_param_st, data_size);
OFFSET(ossl_param_st, return_size);

_Static_assert(OSSL_PARAM_UNMODIFIED == (size_t)-1, "OSSL_PARAM_UNMODIFIED");
_Static_assert(__builtin_types_compatible_p(OSSL_CALLBACK, int(const OSSL_PARAM *, void *)), "OSSL_CALLBACK");
_Static_assert(__builtin_types_compatible_p(OSSL_PASSPHRASE_CALLBACK, int(char *, size_t, size_t *, const OSSL_PARAM *, void *)),
               "OSSL_PASSPHRASE_CALLBACK");
_Static_assert(__builtin_types_compatible_p(OSSL_provider_init_fn, int(const OSSL_CORE_HANDLE *, const OSSL_DISPATCH *,
                                                                      const OSSL_DISPATCH **, void **)),
               "OSSL_provider_init");

FUNCTION(core_get_params, int, const OSSL_CORE_HANDLE *, OSSL_PARAM *);
FUNCTION(core_new_error, void, const OSSL_CORE_HANDLE *);
FUNCTION(core_set_error_debug, void, const OSSL_CORE_HANDLE *, const char *, int, const char *);
FUNCTION(core_vset_error, void, const OSSL_CORE_HANDLE *, uint32_t, const char *, va_list);
FUNCTION(core_obj_create, int, const OSSL_CORE_HANDLE *, const char *, const char *, const char *);
FUNCTION(BIO_read_ex, int, OSSL_CORE_BIO *, void *, size_t, size_t *);
FUNCTION(BIO_write_ex, int, OSSL_CORE_BIO *, const void *, size_t, size_t *);
FUNCTION(provider_teardown, void, void *);
FUNCTION(provider_gettable_params, const OSSL_PARAM *, void *);
FUNCTION(provider_get_params, int, void *, OSSL_PARAM *);
FUNCTION(provider_query_operation, const OSSL_ALGORITHM *, void *, int, int *);
FUNCTION(provider_get_reason_strings, const OSSL_ITEM *, void *);
FUNCTION(provider_get_capabilities, int, void *, const char *, OSSL_CALLBACK *, void *);
FUNCTION(keymgmt_new, void *, void *);
FUNCTION(keymgmt_gen_init, void *, void *, int, const OSSL_PARAM *);
FUNCTION(keymgmt_gen_set_params, int, void *, const OSSL_PARAM *);
FUNCTION(keymgmt_gen_settable_params, const OSSL_PARAM *, void *, void *);
FUNCTION(keymgmt_gen, void *, void *, OSSL_CALLBACK *, void *);
FUNCTION(keymgmt_gen_cleanup, void, void *);
FUNCTION(keymgmt_load, void *, const void *, size_t);
FUNCTION(keymgmt_free, void, void *);
FUNCTION(keymgmt_get_params, int, void *, OSSL_PARAM *);
FUNCTION(keymgmt_gettable_params, const OSSL_PARAM *, void *);
FUNCTION(keymgmt_set_params, int, void *, const OSSL_PARAM *);
FUNCTION(keymgmt_settable_params, const OSSL_PARAM *, void *);
FUNCTION(keymgmt_has, int, const void *, int);
FUNCTION(keymgmt_validate, int, const void *, int, int);
FUNCTION(keymgmt_match, int, const void *, const void *, int);
FUNCTION(keymgmt_import, int, void *, int, const OSSL_PARAM *);
FUNCTION(keymgmt_import_types, const OSSL_PARAM *, int);
FUNCTION(keymgmt_export, int, void *, int, OSSL_CALLBACK *, void *);
FUNCTION(keymgmt_export_types, const OSSL_PARAM *, int);
FUNCTION(keymgmt_dup, void *, const void *, int);
FUNCTION(kem_newctx, void *, void *);
FUNCTION(kem_encapsulate_init, int, void *, void *, const OSSL_PARAM *);
FUNCTION(kem_encapsulate, int, void *, unsigned char *, size_t *, unsigned char *, size_t *);
FUNCTION(kem_decapsulate_init, int, void *, void *, const OSSL_PARAM *);
FUNCTION(kem_decapsulate, int, void *, unsigned char *, size_t *, const unsigned char *, size_t);
FUNCTION(kem_freectx, void, void *);
FUNCTION(kem_dupctx, void *, void *);
FUNCTION(encoder_newctx, void *, void *);
FUNCTION(encoder_freectx, void, void *);
FUNCTION(encoder_set_ctx_params, int, void *, const OSSL_PARAM *);
FUNCTION(encoder_settable_ctx_params, const OSSL_PARAM *, void *);
FUNCTION(encoder_does_selection, int, void *, int);
FUNCTION(encoder_encode, int, void *, OSSL_CORE_BIO *, const void *, const OSSL_PARAM *, int, OSSL_PASSPHRASE_CALLBACK *, void *);
FUNCTION(decoder_newctx, void *, void *);
FUNCTION(decoder_freectx, void, void *);
FUNCTION(decoder_does_selection, int, void *, int);
FUNCTION(decoder_decode, int, void *, OSSL_CORE_BIO *, int, OSSL_CALLBACK *, void *, OSSL_PASSPHRASE_CALLBACK *, void *);

#define CHECK_NAME(differs)                                                                \
    if ((differs) != 0) {                                                                  \
        fprintf(stderr, "line %d: the name differs\n", __LINE__);                          \
        return 1;                                                                          \
    }

int main(void) {
    NAME(OSSL_PROV_PARAM_NAME, "name");
    NAME(OSSL_PROV_PARAM_VERSION, "version");
    NAME(OSSL_PROV_PARAM_STATUS, "status");
    NAME(OSSL_PKEY_PARAM_BITS, "bits");
    NAME(OSSL_PKEY_PARAM_SECURITY_BITS, "security-bits");
    NAME(OSSL_PKEY_PARAM_MAX_SIZE, "max-size");
    NAME(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, "encoded-pub-key");
    NAME(OSSL_PKEY_PARAM_GROUP_NAME, "group");
    NAME(OSSL_PKEY_PARAM_PUB_KEY, "pub");
    NAME(OSSL_PKEY_PARAM_PRIV_KEY, "priv");
    NAME(OSSL_ENCODER_PARAM_CIPHER, "cipher");
    NAME(OSSL_OBJECT_PARAM_TYPE, "type");
    NAME(OSSL_OBJECT_PARAM_DATA_TYPE, "data-type");
    NAME(OSSL_OBJECT_PARAM_REFERENCE, "reference");
    NAME(OSSL_CAPABILITY_TLS_GROUP_NAME, "tls-group-name");
    NAME(OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL, "tls-group-name-internal");
    NAME(OSSL_CAPABILITY_TLS_GROUP_ALG, "tls-group-alg");
    NAME(OSSL_CAPABILITY_TLS_GROUP_ID, "tls-group-id");
    NAME(OSSL_CAPABILITY_TLS_GROUP_SECURITY_BITS, "tls-group-sec-bits");
    NAME(OSSL_CAPABILITY_TLS_GROUP_IS_KEM, "tls-group-is-kem");
    NAME(OSSL_CAPABILITY_TLS_GROUP_MIN_TLS, "tls-min-tls");
    NAME(OSSL_CAPABILITY_TLS_GROUP_MAX_TLS, "tls-max-tls");
    NAME(OSSL_CAPABILITY_TLS_GROUP_MIN_DTLS, "tls-min-dtls");
    NAME(OSSL_CAPABILITY_TLS_GROUP_MAX_DTLS, "tls-max-dtls");
    puts("declarations: ok");
    return 0;
}
