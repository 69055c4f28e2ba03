# Fetches Debian packages of other releases beside the system's apt. To be sourced by bash, after lib-openssl.sh.
# shellcheck shell=bash

debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# debian_mirror: sets the caller's `mirror` to the Debian mirror that this machine uses, or to DEBIAN_MIRROR.
debian_mirror() {
    command -v apt-get >/dev/null || die "apt-get is missing: this needs Debian"
    mirror=${DEBIAN_MIRROR-$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' 'Created-By: Packages' \
        | awk '$3 == "Debian" && $2 !~ /-/ { print $1; exit }')}
    [[ -n $mirror ]] || die "no Debian mirror is configured" "set DEBIAN_MIRROR to the address of one"
}

# private_apt DIRECTORY LOG "TYPE SUITE": sets the caller's array `apt` to an apt-get that knows this suite only, keeps its
# lists and files in DIRECTORY, and verifies Debian's signatures. TYPE is deb or deb-src. What is installed on this
# machine plays no part, so that dependencies are resolved as on an empty system.
private_apt() {
    local directory=$1/${3// /-} log=$2 mirror
    debian_mirror
    [[ -f $debian_keys ]] || die "$debian_keys is missing" "run: sudo apt-get install debian-archive-keyring"
    mkdir -p "$directory/lists/partial" "$directory/cache/archives/partial"
    echo "${3% *} [signed-by=$debian_keys] $mirror ${3#* } main" >"$directory/sources.list"
    # shellcheck disable=SC2034 # the caller's
    apt=(apt-get -q -o "Dir::Etc::SourceList=$directory/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$directory/lists" -o "Dir::Cache=$directory/cache" -o Dir::State::status=/dev/null
        -o "APT::Sandbox::User=$(id -un)")
    # By itself apt goes on with old lists or none.
    "${apt[@]}" update -o APT::Update::Error-Mode=any >>"$log" 2>&1 \
        || die "apt could not fetch the package lists of ${3#* } from $mirror" \
            "is the network there, and the mirror right? Another one: DEBIAN_MIRROR=http://..." "see $log" "$(tail -n 3 "$log")"
}

# debian_file DIRECTORY LOG SUITE PACKAGE FILE SHA256: fetches a file of a source package and prints where it is.
debian_file() {
    local directory=$1 log=$2 suite=$3 package=$4 file=$5 sum=$6 apt
    intact() { echo "$sum  $directory/$file" | sha256sum --check --status 2>/dev/null; }
    if ! intact; then
        private_apt "$directory" "$log" "deb-src $suite"
        (cd "$directory" && "${apt[@]}" source --download-only --tar-only "$package") >>"$log" 2>&1 \
            || die "apt could not fetch the source package $package of $suite" "see $log" "$(tail -n 3 "$log")"
        intact || die "$directory/$file does not have the SHA-256 that is pinned for it"
    fi
    echo "$directory/$file"
}

# need_packages PACKAGE...: they must be installed; when root, they get installed, else the user is told.
need_packages() {
    local package missing=()
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then return; fi
    if ((EUID != 0)); then die "missing: ${missing[*]}" "run: sudo apt-get install ${missing[*]}"; fi
    say "installing ${missing[*]}"
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"; } \
        >&2 || die "apt-get could not install ${missing[*]}"
}
