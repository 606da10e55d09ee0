import { readFileSync } from "node:fs";

/** Files of `tools/certificates`, described in its `make.sh`. For tests only. */
type CertificateFile =
  | "authority.pem"
  | "expired.pem"
  | "foreign.pem"
  | "leaf.key"
  | "localhost.key"
  | "localhost.pem"
  | "other-authority.pem"
  | "site.pem";

/** Reads a certificate or key as PEM. */
export function readCertificate(file: CertificateFile): string {
  return readFileSync(new URL(`../../../../tools/certificates/${file}`, import.meta.url), "utf8");
}

/** A self-signed certificate for `localhost` and 127.0.0.1. */
export const certificate = readCertificate("localhost.pem");

export const certificateKey = readCertificate("localhost.key");
