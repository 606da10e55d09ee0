import { AsnConvert } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import { createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";

const ed25519 = "1.3.101.112";
const commonName = "2.5.4.3";
const serialBytes = 15;

export interface CertificateOptions {
  /** An Ed25519 key. */
  readonly privateKey: KeyObject;
  readonly name: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Returns a self-signed certificate as PEM. Node creates keys and reads certificates, but cannot make them. */
export function selfSigned({ privateKey, name, notBefore, notAfter }: CertificateOptions): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: ed25519 });
  const subject = new Name([
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type: commonName, value: new AttributeValue({ utf8String: name }) }),
    ]),
  ]);
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const content = new TBSCertificate({
    version: Version.v3,
    // The first byte keeps the number positive.
    serialNumber: Uint8Array.from([1, ...randomBytes(serialBytes)]).buffer,
    signature: algorithm,
    issuer: subject,
    subject,
    validity: new Validity({ notBefore, notAfter }),
    subjectPublicKeyInfo: AsnConvert.parse(publicKey, SubjectPublicKeyInfo),
  });
  const signature = sign(null, Buffer.from(AsnConvert.serialize(content)), privateKey);
  const certificate = new Certificate({
    tbsCertificate: content,
    signatureAlgorithm: algorithm,
    signatureValue: Uint8Array.from(signature).buffer,
  });
  return new X509Certificate(Buffer.from(AsnConvert.serialize(certificate))).toString();
}
