import { X509Certificate } from "node:crypto";
import { badField } from "../../http/bad-field.ts";

const maxBundleBytes = 65_536;
const block = /-----BEGIN ([^\n-]*)-----([^-]*)-----END ([^\n-]*)-----/g;

/**
 * As PEM, without surrounding text and duplicates.
 * @throws {ServiceError} 400 with the number of the invalid block, without its content.
 */
export function checkBundle(text: string): string {
  const bad = (problem: string) => badField("config.ca_bundle", problem);
  if (/PRIVATE KEY/i.test(text))
    throw bad(
      "contains a private key. Nothing was stored. Send only certificates. Anyone with this key can impersonate every site; replace the key if others may have seen it",
    );
  if (Buffer.byteLength(text) > maxBundleBytes)
    throw bad(`expected at most ${String(maxBundleBytes)} bytes, found ${String(Buffer.byteLength(text))}`);
  const blocks = [...text.matchAll(block)];
  if ([/-----BEGIN /g, /-----END /g].some((edge) => (text.match(edge)?.length ?? 0) !== blocks.length))
    throw bad("has an incomplete block. The text may have been cut off");
  if (blocks.length === 0)
    throw bad("contains no certificate. Send PEM, which begins with -----BEGIN CERTIFICATE-----");
  const found = new Map<string, X509Certificate>();
  for (const [index, [, label, content = "", endLabel]] of blocks.entries()) {
    const which = `block ${String(index + 1)} of ${String(blocks.length)}`;
    if (label !== "CERTIFICATE" || endLabel !== "CERTIFICATE")
      throw bad(`${which} is not a certificate. Every block must begin with -----BEGIN CERTIFICATE-----`);
    const certificate = readCertificate(content);
    if (certificate === undefined) throw bad(`${which} cannot be read as a certificate (X.509, base64)`);
    if (!certificate.ca)
      throw bad(
        `${which} is not a CA certificate (basic constraint CA:TRUE). Send the certificate that signs the certificates of the proxy`,
      );
    if (certificate.validToDate.getTime() <= Date.now())
      throw bad(`${which} expired on ${certificate.validToDate.toISOString()}. Send the current certificate`);
    found.set(certificate.fingerprint256, certificate);
  }
  return [...found.values()].map(String).join("");
}

/** Returns `undefined` unless the text is exactly one certificate. */
function readCertificate(base64: string): X509Certificate | undefined {
  const text = base64.replaceAll(/\s/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const der = Buffer.from(text, "base64");
  try {
    const certificate = new X509Certificate(der);
    return certificate.raw.equals(der) ? certificate : undefined;
  } catch {
    return undefined;
  }
}
