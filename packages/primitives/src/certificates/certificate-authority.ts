import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  BasicConstraints,
  ExtendedKeyUsage,
  Extension,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  SubjectAlternativeName,
} from "@peculiar/asn1-x509";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { isIP } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { certificate, type CertificateOptions, selfSigned } from "./certificate.ts";

const dayMs = 86_400_000;
const lifeMs = 3650 * dayMs;
/** A wildcard of hosts has no end of names; the oldest certificate is issued again. */
const maxContexts = 200;

/** Issues certificates for any host. Its keys exist only in the memory of this process. */
export class CertificateAuthority {
  /** The certificate of the authority as PEM. Not secret. */
  readonly certificate: string;
  readonly #issuer: CertificateOptions;
  /** Of all hosts. */
  readonly #hostKeys = newKeys();
  readonly #contexts = new Map<string, SecureContext>();

  constructor(name: string) {
    const nowMs = Date.now();
    this.#issuer = {
      privateKey: newKeys().privateKey,
      name,
      notBefore: new Date(nowMs - dayMs),
      notAfter: new Date(nowMs + lifeMs),
    };
    this.certificate = selfSigned(this.#issuer, [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: true }), true),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign), true),
    ]);
  }

  /** Returns the certificate and key of a name or an address (without brackets), for TLS servers. */
  contextFor(host: string): SecureContext {
    const known = this.#contexts.get(host);
    if (known !== undefined) return known;
    const { privateKey, publicKey } = this.#hostKeys;
    const name = new GeneralName(isIP(host) === 0 ? { dNSName: host } : { iPAddress: host });
    const context = createSecureContext({
      key: privateKey.export({ type: "pkcs8", format: "pem" }),
      cert: certificate(this.#issuer, {
        subject: host,
        publicKey,
        extensions: [
          extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
          extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
          extension(id_ce_subjectAltName, new SubjectAlternativeName([name])),
        ],
      }),
    });
    const [oldest] = this.#contexts.keys();
    if (oldest !== undefined && this.#contexts.size >= maxContexts) this.#contexts.delete(oldest);
    this.#contexts.set(host, context);
    return context;
  }
}

function newKeys(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function extension(id: string, value: object, critical = false): Extension {
  return new Extension({ extnID: id, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}
