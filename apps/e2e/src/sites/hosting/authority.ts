import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";

/** Issues certificates for any host name. Its keys exist only in memory, so nothing else can trust or misuse them. */
export class Authority {
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #contexts = new Map<string, SecureContext>();
  /** The authority's certificate as PEM, for `config.ca_bundle` of a proxy. */
  readonly certificate = pem(
    certificateOf({ subject: issuer, publicKey: this.#keys.publicKey, extensions: authorityExtensions }, this.#keys),
  );

  /** The certificate and key of a host, for TLS servers. */
  contextFor(host: string): SecureContext {
    const known = this.#contexts.get(host);
    if (known !== undefined) return known;
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const certificate = certificateOf({ subject: host, publicKey, extensions: siteExtensions(host) }, this.#keys);
    const context = createSecureContext({
      cert: pem(certificate),
      key: privateKey.export({ type: "pkcs8", format: "pem" }),
    });
    this.#contexts.set(host, context);
    return context;
  }
}

const issuer = "Shoal test sites";

interface Content {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: Buffer;
}

/** An X.509 certificate (RFC 5280, section 4.1) as DER: Node.js reads certificates, but does not create them. */
function certificateOf({ subject, publicKey, extensions }: Content, { privateKey }: { privateKey: KeyObject }): Buffer {
  const algorithm = sequence(oid("2a8648ce3d040302")); // ecdsa-with-SHA256
  const serial = randomBytes(16);
  serial[0] = 1; // Serial numbers are positive.
  const day = 86_400_000;
  const toBeSigned = sequence(
    element(0xa0, element(0x02, Buffer.of(2))), // version 3
    element(0x02, serial),
    algorithm,
    nameOf(issuer),
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + 30 * day)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, extensions),
  );
  return sequence(toBeSigned, algorithm, bitString(sign("sha256", toBeSigned, privateKey)));
}

const basicConstraints = "551d13";
const authorityExtensions = sequence(
  extension(basicConstraints, sequence(element(0x01, Buffer.of(0xff))), true),
  extension("551d0f", element(0x03, Buffer.of(1, 0x06)), true), // keyUsage: keyCertSign, cRLSign
);

function siteExtensions(host: string): Buffer {
  return sequence(
    extension(basicConstraints, sequence(), true),
    extension("551d25", sequence(oid("2b06010505070301"))), // extKeyUsage: serverAuth
    extension("551d11", sequence(element(0x82, Buffer.from(host)))), // subjectAltName
  );
}

function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), body]);
}

function sequence(...content: readonly Buffer[]): Buffer {
  return element(0x30, ...content);
}

function oid(hex: string): Buffer {
  return element(0x06, Buffer.from(hex, "hex"));
}

function bitString(content: Buffer): Buffer {
  return element(0x03, Buffer.of(0), content);
}

function nameOf(commonName: string): Buffer {
  return sequence(element(0x31, sequence(oid("550403"), element(0x0c, Buffer.from(commonName)))));
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, "").slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [element(0x01, Buffer.of(0xff))] : []), element(0x04, value));
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
