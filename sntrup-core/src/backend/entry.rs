//! Functions compiled for AVX2: how a kernel that has no portable twin in the same words is entered.

/// Defines a function compiled for AVX2, BMI1, BMI2 and POPCNT together with everything it inlines; its first argument
/// is the token.
///
/// The helpers that the body calls are `#[inline(always)]` and carry no target feature of their own, so that they take
/// on those of this function; without the attribute they would be compiled for the baseline, and every vector would
/// pass through memory. A kernel is a whole operation: one call, not one for every vector.
macro_rules! avx2_kernel {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident $(<$generic:ident: $bound:path>)?
        ($token:ident: Avx2 $(, $argument:ident: $type:ty)* $(,)?) $(-> $output:ty)? $body:block
    ) => {
        $(#[$attribute])*
        #[inline]
        $visibility fn $name $(<$generic: $bound>)? ($token: Avx2 $(, $argument: $type)*) $(-> $output)? {
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
            fn compiled_for_avx2 $(<$generic: $bound>)? ($token: Avx2 $(, $argument: $type)*) $(-> $output)? $body
            #[allow(unsafe_code)]
            // SAFETY: the token exists only where `Avx2::detect` found all of these features.
            unsafe {
                compiled_for_avx2 $(::<$generic>)? ($token $(, $argument)*)
            }
        }
    };
}
pub(crate) use avx2_kernel;

/// As [`avx2_kernel`], for kernels that are mostly rotations and bitwise logic: compiled a second time for AVX-512VL, on
/// the same 256-bit registers, and chosen by what the token says.
macro_rules! avx2_logic_kernel {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident
        ($token:ident: Avx2 $(, $argument:ident: $type:ty)* $(,)?) $body:block
    ) => {
        $(#[$attribute])*
        #[inline]
        $visibility fn $name($token: Avx2 $(, $argument: $type)*) {
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
            fn compiled_for_avx2($token: Avx2 $(, $argument: $type)*) $body
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512vl")]
            fn compiled_for_avx2_avx512vl($token: Avx2 $(, $argument: $type)*) $body
            #[allow(unsafe_code)]
            // SAFETY: the token exists only where `Avx2::detect` found all of these features, and says if it found
            // AVX-512VL.
            unsafe {
                if $token.has_avx512vl() {
                    compiled_for_avx2_avx512vl($token $(, $argument)*);
                } else {
                    compiled_for_avx2($token $(, $argument)*);
                }
            }
        }
    };
}
pub(crate) use avx2_logic_kernel;
