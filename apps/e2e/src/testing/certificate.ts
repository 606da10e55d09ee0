import { readFileSync } from "node:fs";

/** Files of `tools/certificates`, whose `make.sh` says what they are. For tests alone. */
type CertificateFile =
  "authority.pem" | "expired.pem" | "foreign.pem" | "leaf.key" | "localhost.key" | "localhost.pem" | "other-authority.pem" | "site.pem";

/** A certificate or a key, PEM. */
export function readCertificate(file: CertificateFile): string {
  return readFileSync(new URL(`../../../../tools/certificates/${file}`, import.meta.url), "utf8");
}

/** A certificate for `localhost` and 127.0.0.1, signed by itself. */
export const certificate = readCertificate("localhost.pem");

/** Its key. */
export const certificateKey = readCertificate("localhost.key");
