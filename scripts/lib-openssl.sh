# Shared by the scripts that build and test OpenSSL: messages, tools, source and patches. To be sourced by bash.
# shellcheck shell=bash
# Steps and errors go to stderr, so that stdout stays for results.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
started=$SECONDS

# say TEXT: one progress line with the seconds since the script started.
say() { printf '[%4d s] %s\n' $((SECONDS - started)) "$*" >&2; }

# die TEXT...: the script ends here; each further argument is one more line, saying what to do.
die() {
    printf '%s: error: %s\n' "${0##*/}" "$1" >&2
    shift
    local line
    for line in "$@"; do printf '  %s\n' "${line//$'\n'/$'\n'  }" >&2; done
    exit 1
}

# need COMMAND=PACKAGE...: each command must exist; when root, its Debian package is installed, else the user is told.
# A thing that is known to be missing and is no command may be named instead.
need() {
    local pair missing=() packages=()
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null && continue
        missing+=("${pair%%=*}")
        packages+=("${pair#*=}")
    done
    if ((${#missing[@]} == 0)); then return; fi
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        die "missing: ${missing[*]}" "run: sudo apt-get install ${packages[*]}"
    fi
    say "installing ${packages[*]}"
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${packages[@]}"; } \
        >&2 || die "apt-get could not install ${packages[*]}"
}

# need_build_tools: what configuring, compiling and testing OpenSSL takes.
need_build_tools() {
    need perl=perl make=make cc=gcc patch=patch flock=util-linux sha256sum=coreutils
    # A small Debian has perl without its standard modules.
    perl -MFindBin -MFile::Compare -MTAP::Harness -Mbigint -e1 2>/dev/null || need "perl's standard modules"=perl
    need_c_headers
}

# need_c_headers: a small Debian may have a compiler without the C library's headers, and without them nothing is linked.
need_c_headers() {
    echo '#include <stdlib.h>' | cc -E - >/dev/null 2>&1 || need "the C library's headers"=libc6-dev
}

# patches_folder SERIES: the folder with the patches for that OpenSSL, e.g. 1.1.1w.
patches_folder() {
    local folder=$root/openssl-patches/$1 known
    [[ -n $1 && -f $folder/series ]] && { echo "$folder"; return; }
    known=$(cd "$root/openssl-patches" && printf '%s ' */series)
    die "there are no patches for OpenSSL '$1'" "known: ${known//\/series/}"
}

# patch_files FOLDER: the patches in order, one path a line.
patch_files() {
    local name
    while read -r name; do
        [[ -z $name || $name == '#'* ]] && continue
        [[ -f $1/$name ]] || die "$1/series names $name, which is not there"
        echo "$1/$name"
    done <"$1/series"
}

# apply_patches FOLDER TREE LOG: every patch must fit the tree exactly, without fuzz.
apply_patches() {
    local file files
    files=$(patch_files "$1")
    for file in $files; do
        say "patching: ${file##*/}"
        patch -d "$2" -p1 --fuzz=0 --no-backup-if-mismatch <"$file" >>"$3" 2>&1 \
            || die "${file##*/} does not apply to $2" "see $3; how to refresh a patch: openssl-patches/README.md"
    done
}

# crate_source FOLDER LOG: has cargo fetch and verify the pinned crate, and prints the OpenSSL folder in it.
crate_source() {
    local manifest=$1/source/Cargo.toml found
    command -v cargo >/dev/null || die "cargo is missing" "install Rust: https://rustup.rs"
    cargo fetch --locked --manifest-path "$manifest" >>"$2" 2>&1 \
        || die "cargo could not fetch the pinned OpenSSL source" "see $2" "$(tail -n 3 "$2")"
    found=$(cargo metadata --locked --offline --format-version 1 --manifest-path "$manifest" 2>>"$2" \
        | grep -o '"manifest_path":"[^"]*/openssl-src-[^"/]*/Cargo.toml"' | cut -d'"' -f4)
    [[ -n $found && -f ${found%/*}/openssl/Configure ]] || die "cargo has no openssl-src crate with OpenSSL in it" "see $2"
    echo "${found%/*}/openssl"
}

# run_make TREE LOG WHAT TARGET...: make with all processors, its output in the log, how far it is every ten seconds.
run_make() {
    local tree=$1 log=$2 what=$3 total
    shift 3
    total=$(make -C "$tree" -n "$@" 2>/dev/null | grep -c ' -c -o ' || true)
    make -C "$tree" -j"$(nproc)" "$@" 2>&1 | tee -a "$log" | {
        local line count=0 next=$((SECONDS + 10))
        while IFS= read -r line; do
            if [[ $line == *' -c -o '* ]]; then count=$((count + 1)); fi
            if ((SECONDS >= next)); then
                if ((total > 0)); then say "$what: $count of $total files compiled"; else say "$what"; fi
                next=$((SECONDS + 10))
            fi
        done
    } || die "$what failed" "see $log; its last lines:" "$(tail -n 15 "$log")"
}
