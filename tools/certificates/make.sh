#!/bin/sh
# Regenerates the certificates of this folder with OpenSSL 3. They are only for tests: their keys are public.
# localhost: self-signed. site, expired: signed by authority. foreign: signed by other-authority. old-authority: an expired authority.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# certificate NAME SUBJECT SIGNER FROM TO EXTENSION…: dates as YYYYMMDD; SIGNER is a name, or - for self-signed.
certificate() {
  name=$1 subject=$2 signer=$3 from=$4 to=$5
  shift 5
  printf '%s\n' "$@" >"$work/extensions"
  openssl req -new -key "$work/$name.key" -subj "/CN=$subject" -out "$work/$name.csr"
  printf '[ca]\ndefault_ca=made\n[made]\ndatabase=%s\nnew_certs_dir=%s\nrand_serial=yes\ndefault_md=sha256\npolicy=named\n[named]\ncommonName=supplied\n' "$work/index" "$work" >"$work/config"
  : >"$work/index"
  if [ "$signer" = - ]; then by="-selfsign -keyfile $work/$name.key"; else by="-cert $signer.pem -keyfile $work/$signer.key"; fi
  # shellcheck disable=SC2086
  openssl ca -batch -notext -config "$work/config" $by -in "$work/$name.csr" -startdate "${from}000000Z" -enddate "${to}000000Z" -extfile "$work/extensions" -out "$name.pem" 2>"$work/log" || { cat "$work/log"; exit 1; }
}

for name in localhost authority other-authority old-authority leaf; do key "$work/$name.key"; done
for name in site expired foreign; do cp "$work/leaf.key" "$work/$name.key"; done
cp "$work/localhost.key" "$work/leaf.key" .
certificate localhost localhost - 20200101 21261027 basicConstraints=critical,CA:TRUE subjectAltName=DNS:localhost,IP:127.0.0.1
for name in authority other-authority; do certificate "$name" "Shoal tests: $name" - 20200101 21261027 basicConstraints=critical,CA:TRUE keyUsage=critical,keyCertSign,cRLSign; done
certificate old-authority "Shoal tests: old-authority" - 20200101 20210101 basicConstraints=critical,CA:TRUE keyUsage=critical,keyCertSign,cRLSign
server="basicConstraints=CA:FALSE extendedKeyUsage=serverAuth"
# shellcheck disable=SC2086
certificate site site.test authority 20200101 21261027 $server subjectAltName=DNS:site.test,DNS:localhost,IP:127.0.0.1
# shellcheck disable=SC2086
certificate expired expired.test authority 20250101 20250601 $server subjectAltName=DNS:expired.test
# shellcheck disable=SC2086
certificate foreign foreign.test other-authority 20200101 21261027 $server subjectAltName=DNS:foreign.test,DNS:forged.test
