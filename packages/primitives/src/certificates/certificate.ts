import { AsnConvert } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  Extensions,
  type Extension,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import { createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";

const ed25519 = "1.3.101.112";
const ecdsaWithSha256 = "1.2.840.10045.4.3.2";
const commonName = "2.5.4.3";
const serialBytes = 15;
/** RFC 5280, upper bound of a common name. */
const maxNameCharacters = 64;

export interface CertificateOptions {
  /** Of the issuer: Ed25519 or P-256. */
  readonly privateKey: KeyObject;
  readonly name: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Returns a self-signed certificate as PEM. Node creates keys and reads certificates, but cannot make them. */
export function selfSigned(options: CertificateOptions, extensions: readonly Extension[] = []): string {
  return certificate(options, {
    subject: options.name,
    publicKey: createPublicKey(options.privateKey),
    extensions,
  });
}

/** Returns a certificate as PEM. `name` is the issuer's. */
export function certificate(
  { privateKey, name, notBefore, notAfter }: CertificateOptions,
  {
    subject,
    publicKey,
    extensions,
  }: { readonly subject: string; readonly publicKey: KeyObject; readonly extensions: readonly Extension[] },
): string {
  const isEdwards = privateKey.asymmetricKeyType === "ed25519";
  const algorithm = new AlgorithmIdentifier({ algorithm: isEdwards ? ed25519 : ecdsaWithSha256 });
  const content = new TBSCertificate({
    version: Version.v3,
    // The first byte keeps the number positive.
    serialNumber: Uint8Array.from([1, ...randomBytes(serialBytes)]).buffer,
    signature: algorithm,
    issuer: nameOf(name),
    subject: nameOf(subject),
    validity: new Validity({ notBefore, notAfter }),
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ type: "spki", format: "der" }), SubjectPublicKeyInfo),
    ...(extensions.length > 0 && { extensions: new Extensions([...extensions]) }),
  });
  const signature = sign(isEdwards ? null : "sha256", Buffer.from(AsnConvert.serialize(content)), privateKey);
  const signed = new Certificate({
    tbsCertificate: content,
    signatureAlgorithm: algorithm,
    signatureValue: Uint8Array.from(signature).buffer,
  });
  return new X509Certificate(Buffer.from(AsnConvert.serialize(signed))).toString();
}

function nameOf(text: string): Name {
  const value = new AttributeValue({ utf8String: text.slice(0, maxNameCharacters) });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonName, value })])]);
}
