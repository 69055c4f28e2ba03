//! The callbacks by name, for entries of OpenSSL's error queue.

use engntru_common::codes;
pub(crate) use engntru_common::error::{Error, Reason};

codes! {
    /// The callback in which an error arose.
    pub(crate) Function:
    Init = 100, c"OSSL_provider_init";
    Teardown = 101, c"teardown";
    GetParams = 102, c"get_params";
    GetCapabilities = 103, c"get_capabilities";
    KeyNew = 110, c"keymgmt_new";
    KeyFree = 111, c"keymgmt_free";
    KeyDup = 112, c"keymgmt_dup";
    KeyHas = 114, c"keymgmt_has";
    KeyMatch = 115, c"keymgmt_match";
    KeyValidate = 116, c"keymgmt_validate";
    KeyGetParams = 117, c"keymgmt_get_params";
    KeySetParams = 118, c"keymgmt_set_params";
    KeyImport = 119, c"keymgmt_import";
    KeyExport = 120, c"keymgmt_export";
    GenInit = 121, c"keymgmt_gen_init";
    GenSetParams = 122, c"keymgmt_gen_set_params";
    Gen = 123, c"keymgmt_gen";
    GenCleanup = 124, c"keymgmt_gen_cleanup";
    KemNew = 130, c"kem_newctx";
    KemDup = 131, c"kem_dupctx";
    KemFree = 132, c"kem_freectx";
    EncapsulateInit = 133, c"kem_encapsulate_init";
    Encapsulate = 134, c"kem_encapsulate";
    DecapsulateInit = 135, c"kem_decapsulate_init";
    Decapsulate = 136, c"kem_decapsulate";
    CoderNew = 140, c"coder_newctx";
    CoderFree = 141, c"coder_freectx";
    EncoderSetParams = 142, c"encoder_set_ctx_params";
    Encode = 143, c"encoder_encode";
    Decode = 144, c"decoder_decode";
}
