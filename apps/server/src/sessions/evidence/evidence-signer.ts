import type { EvidenceKey, EvidenceSignature } from "@shoal/schemas";
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import type { Secrets } from "../../storage/secrets.ts";

/** Of an Ed25519 seed in PKCS #8 (RFC 8410). */
const seedPrefix = Buffer.from("302e020100300506032b657004220420", "hex");
/** Separates these signatures from all others. */
const signedPrefix = Buffer.from("shoal evidence manifest\n");

/** Signs manifests. Each project has its own key, which every server derives from `secret_key`. */
export class EvidenceSigner {
  readonly #secrets: Pick<Secrets, "seedOf">;

  constructor(secrets: Pick<Secrets, "seedOf">) {
    this.#secrets = secrets;
  }

  key(projectId: string): EvidenceKey {
    return described(this.#privateKey(projectId));
  }

  sign(projectId: string, manifest: Uint8Array): EvidenceSignature {
    const key = this.#privateKey(projectId);
    const signature = sign(null, Buffer.concat([signedPrefix, manifest]), key).toString("base64url");
    return { ...described(key), signature };
  }

  #privateKey(projectId: string): KeyObject {
    const seed = this.#secrets.seedOf(`evidence of ${projectId}`);
    return createPrivateKey({ key: Buffer.concat([seedPrefix, seed]), format: "der", type: "pkcs8" });
  }
}

function described(key: KeyObject): EvidenceKey {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const thumbprint = createHash("sha256").update(JSON.stringify({ crv: "Ed25519", kty: "OKP", x }));
  return { key_id: thumbprint.digest("base64url"), algorithm: "Ed25519", public_key: x };
}
