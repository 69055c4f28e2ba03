# Shared by the scripts that build: the Rust toolchain, and the builds that they use. To be sourced by bash.
# shellcheck shell=bash

# shellcheck source=scripts/lib-openssl.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib-openssl.sh"

target=${CARGO_TARGET_DIR:-$root/target}
# A function that fails inside $(...) ends there.
shopt -s inherit_errexit

# need_rust: cargo and rustc as new as Cargo.toml asks for. A toolchain that has to be fetched goes under target/.
need_rust() {
    local wanted
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    need cc=gcc perl=perl make=make patch=patch
    need_c_headers
    # Without the authorities' certificates nothing can be fetched.
    if command -v apt-get >/dev/null && [[ ! -e /etc/ssl/certs/ca-certificates.crt ]]; then
        need "the certificates of authorities"=ca-certificates
    fi
    rust_is_new_enough "$wanted" && return
    export RUSTUP_HOME=$target/rust/rustup CARGO_HOME=$target/rust/cargo
    export PATH=$CARGO_HOME/bin:$PATH
    rust_is_new_enough "$wanted" && return
    say "Rust $wanted or newer is missing: fetching it with rustup into $target/rust"
    need curl=curl
    local installer
    installer=$(mktemp)
    if ! { curl --proto '=https' --tlsv1.2 -sSf https://static.rust-lang.org/rustup/rustup-init.sh -o "$installer" \
        && sh "$installer" -y --quiet --profile minimal --no-modify-path --default-toolchain stable >&2; }; then
        die "Rust $wanted or newer is missing, and rustup could not fetch it" "install Rust: https://rustup.rs"
    fi
    rm -f "$installer"
    rust_is_new_enough "$wanted" || die "rustup brought a Rust older than $wanted" "run: rustup update"
}

# rust_is_new_enough VERSION: whether cargo runs a rustc of at least that version here.
rust_is_new_enough() {
    local found
    command -v cargo >/dev/null && command -v rustc >/dev/null || return 1
    found=$(cd "$root" && rustc --version 2>/dev/null | cut -d' ' -f2)
    [[ -n $found && $(printf '%s\n' "$1" "${found%%-*}" | sort -V | head -n 1) == "$1" ]]
}

# patched_openssl: builds the patched OpenSSL if need be and prints its prefix.
patched_openssl() {
    local prefix
    # Debian's smallest installation has a perl without the modules that OpenSSL's Configure uses.
    perl -MFindBin -e 1 2>/dev/null || need "perl's modules"=perl
    prefix=$("$root/scripts/build-openssl" 1.1.1w | tail -n 1) || die "OpenSSL was not built" "its messages are above"
    [[ -n $prefix && -x $prefix/bin/openssl ]] || die "scripts/build-openssl gave no OpenSSL"
    echo "$prefix"
}

# asan_openssl: the same with AddressSanitizer inside: the first invalid access ends the program, with a report.
asan_openssl() {
    local prefix
    prefix=$("$root/scripts/build-openssl" 1.1.1w enable-asan -g -fno-omit-frame-pointer | tail -n 1) \
        || die "OpenSSL with AddressSanitizer was not built" "its messages are above"
    [[ -x $prefix/bin/openssl ]] || die "scripts/build-openssl gave no OpenSSL"
    echo "$prefix"
}

# build PREFIX PACKAGE... [OPTION...]: builds these packages, optimised, against the OpenSSL in PREFIX. Options, such as
# --lib or --bin NAME, go to cargo.
build() {
    local prefix=$1 options=()
    shift
    say "building $* (cargo)"
    while (($# > 0)) && [[ $1 != --* ]]; do
        options+=(-p "$1")
        shift
    done
    options+=("$@")
    OPENSSL_DIR=$prefix cargo build --release --locked --manifest-path "$root/Cargo.toml" "${options[@]}" >&2 \
        || die "cargo could not build the programs" "its messages are above"
}

# need_nightly: Rust's nightly toolchain, which alone has the sanitizers.
need_nightly() {
    command -v rustup >/dev/null || die "rustup is missing: the sanitizers need Rust's nightly toolchain" "see https://rustup.rs"
    rustup run nightly rustc --version >/dev/null 2>&1 && return
    say "fetching Rust's nightly toolchain"
    rustup toolchain install nightly --profile minimal --no-self-update >&2 \
        || die "Rust's nightly toolchain is missing, and rustup could not fetch it" "run: rustup toolchain install nightly"
}

# need_component NAME...: parts of the nightly toolchain.
need_component() {
    need_nightly
    rustup component add --toolchain nightly "$@" >&2 \
        || die "the nightly toolchain has no $*, and rustup could not fetch it" \
            "run: rustup component add --toolchain nightly $*"
}
