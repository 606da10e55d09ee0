import { selfSigned } from "../certificates/certificate.ts";
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type X509Certificate,
} from "node:crypto";
import type { TLSSocket } from "node:tls";

const hourMs = 3_600_000;
const defaultLifeMs = 24 * hourMs;
/** Clocks of two machines may differ by this much. */
const skewMs = 5 * 60_000;

/** For `tls.connect` and `tls.createServer`. */
export interface TlsCredentials {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
}

/**
 * A key that exists only in the memory of this process, with certificates of a short life. The other side knows the
 * pin of the key from a channel that it trusts, so no certificate authority is needed.
 */
export class TlsIdentity {
  /** SHA-256 of the public key, in hexadecimal. Not secret. */
  readonly pin: string;
  readonly #privateKey: KeyObject;
  readonly #name: string;
  readonly #lifeMs: number;
  #credentials: TlsCredentials | undefined;
  #renewAtMs = 0;

  /**
   * @param lifeMs - of each certificate, 24 hours by default.
   * @param seed - 32 secret bytes that determine the key; made by `node:crypto` by default.
   */
  constructor(name: string, lifeMs = defaultLifeMs, seed?: Buffer) {
    const privateKey = seed === undefined ? generateKeyPairSync("ed25519").privateKey : keyOf(seed);
    const publicKey = createPublicKey(privateKey);
    this.#privateKey = privateKey;
    this.#name = name;
    this.#lifeMs = lifeMs;
    this.pin = pinOf(publicKey);
  }

  /** Renews the certificate after half its life. */
  get credentials(): TlsCredentials {
    const nowMs = Date.now();
    if (this.#credentials === undefined || nowMs >= this.#renewAtMs) {
      this.#renewAtMs = nowMs + this.#lifeMs / 2;
      this.#credentials = {
        key: this.#privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
        cert: selfSigned({
          privateKey: this.#privateKey,
          name: this.#name,
          notBefore: new Date(nowMs - skewMs),
          notAfter: new Date(nowMs + this.#lifeMs),
        }),
      };
    }
    return this.#credentials;
  }
}

/** The start of an Ed25519 key in PKCS #8, before its 32 bytes. @see {@link https://www.rfc-editor.org/rfc/rfc8410#section-7} */
const keyHead = Buffer.from("302e020100300506032b657004220420", "hex");

function keyOf(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([keyHead, seed]), format: "der", type: "pkcs8" });
}

function pinOf(publicKey: KeyObject): string {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex");
}

/**
 * Checks the other side of a connection after its handshake, which has proved that it owns the key of its certificate.
 * Create the connection with `requestCert: true` (server) and `rejectUnauthorized: false`.
 * @returns the reason for a refusal.
 */
export function refusalOfPeer(socket: TLSSocket, pin: string): string | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return "it sent no certificate";
  if (pinOf(certificate.publicKey) !== pin) return "its certificate has another key";
  return isValid(certificate) ? undefined : "its certificate is expired or not yet valid";
}

function isValid({ validFromDate, validToDate }: X509Certificate): boolean {
  const nowMs = Date.now();
  return validFromDate.getTime() - skewMs <= nowMs && nowMs <= validToDate.getTime();
}
