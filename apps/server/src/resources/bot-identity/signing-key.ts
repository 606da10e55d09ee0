import { generateKeyPairSync } from "node:crypto";
import { calculateJwkThumbprint } from "jose/jwk/thumbprint";

export interface PublicKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
}

/** A new Ed25519 key. */
export async function createSigningKey(): Promise<{
  readonly keyId: string;
  readonly publicKey: PublicKey;
  readonly d: string;
}> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d = "", x = "" } = privateKey.export({ format: "jwk" });
  const publicKey = publicKeyOf(x);
  return { keyId: await calculateJwkThumbprint({ ...publicKey }), publicKey, d };
}

export function publicKeyOf(x: string): PublicKey {
  return { kty: "OKP", crv: "Ed25519", x };
}
