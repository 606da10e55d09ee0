import { X509Certificate } from "node:crypto";
import { badField } from "../bad-field.ts";

/** The wire's limit. */
const maxBundleBytes = 65_536;
const block = /-----BEGIN ([^\n-]*)-----([^-]*)-----END ([^\n-]*)-----/g;

/**
 * Checks the certificates of a proxy's authority.
 *
 * @returns them alone, as PEM; texts around them and repetitions are left away.
 * @throws {ServiceError} 400, which names the block that is wrong by its place among the others, and holds nothing of it.
 */
export function checkBundle(text: string): string {
  const bad = (problem: string) => badField("config.ca_bundle", problem);
  if (/PRIVATE KEY/i.test(text))
    throw bad(
      "holds a private key. Nothing was stored. A proxy takes only certificates; whoever has that key can answer as any site, so make a new one if this text was meant for others",
    );
  if (Buffer.byteLength(text) > maxBundleBytes)
    throw bad(`expected at most ${String(maxBundleBytes)} bytes, found ${String(Buffer.byteLength(text))}`);
  const blocks = [...text.matchAll(block)];
  if ([/-----BEGIN /g, /-----END /g].some((edge) => (text.match(edge)?.length ?? 0) !== blocks.length))
    throw bad("has a block without its beginning or its end. The text may have been cut off");
  if (blocks.length === 0) throw bad("holds no certificate. Send PEM, which begins with -----BEGIN CERTIFICATE-----");
  const found = new Map<string, X509Certificate>();
  for (const [index, [, label, content = "", endLabel]] of blocks.entries()) {
    const which = `block ${String(index + 1)} of ${String(blocks.length)}`;
    if (label !== "CERTIFICATE" || endLabel !== "CERTIFICATE")
      throw bad(`${which} is no certificate. Only blocks that begin with -----BEGIN CERTIFICATE----- are taken`);
    const certificate = readCertificate(content);
    if (certificate === undefined) throw bad(`${which} cannot be read as a certificate (X.509, base64)`);
    if (!certificate.ca)
      throw bad(
        `${which} is the certificate of a server or a person, not of an authority (basic constraint CA:TRUE). Send the one that signs what the proxy shows`,
      );
    if (certificate.validToDate.getTime() <= Date.now())
      throw bad(`${which} ended on ${certificate.validToDate.toISOString()}. Send the present one`);
    found.set(certificate.fingerprint256, certificate);
  }
  return [...found.values()].map(String).join("");
}

/** `undefined` where it is none, or more than one. */
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
