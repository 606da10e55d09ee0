import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { jwtVerify } from "jose/jwt/verify";
import type { StreamKeys } from "./blobs/sealed-stream.ts";
import { recentlyUsed } from "./recently-used.ts";

export interface Secrets {
  /** Returns the same token at each call. It is valid while the session runs and the key exists. */
  signSession(sessionId: string, keyId: string): string;
  /** Does not check whether the key still exists. */
  verifySession(token: string): Promise<SessionToken | undefined>;
  /** HMAC-SHA-256, base64url. @param use - separates signatures of different kinds. */
  sign(use: string, text: string): string;
  hasSigned(use: string, text: string, signature: string): boolean;
  /** AES-256-GCM. @param purpose - required again for decryption. */
  seal(text: string, purpose: string): Buffer;
  /** Returns `undefined` when secret or purpose differ, or the text was changed. */
  unseal(sealed: Uint8Array, purpose: string): string | undefined;
  /** Also with earlier secrets, for what only the service stores. */
  unsealStored(sealed: Uint8Array, purpose: string): string | undefined;
  /** Also with earlier secrets, for what only the service stores. */
  hasSignedStored(use: string, text: string, signature: string): boolean;
  /** Derives the 32-byte keys of one stored stream: the key of a new stream, then those of earlier secrets. */
  keysOfStream(salt: Uint8Array, purpose: string): StreamKeys;
  /** Derives the 32-byte seed of a key pair. */
  seedOf(purpose: string): Uint8Array;
}

export interface SessionToken {
  readonly sessionId: string;
  readonly keyId: string;
}

const audience = "shoal:session";

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const tokenHeader = base64url({ alg: "HS256" });

function keysOf(secret: string) {
  const derive = (use: string) => new Uint8Array(hkdfSync("sha256", secret, "shoal", use, 32));
  const sealingKey = derive("stored answers");
  const streamKey = derive("stored streams");
  // As key objects: creating one for each signature takes six times as long as signing.
  const keys = new Map<string, KeyObject>();
  function sign(use: string, text: string): string {
    const key = keys.get(use) ?? createSecretKey(derive(`signatures: ${use}`));
    keys.set(use, key);
    return createHmac("sha256", key).update(text).digest("base64url");
  }
  return {
    derive,
    sign,
    hasSigned(use: string, text: string, signature: string): boolean {
      const [expected, given] = [Buffer.from(sign(use, text)), Buffer.from(signature)];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    seal(text: string, purpose: string): Buffer {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", sealingKey, nonce, { authTagLength: 16 }).setAAD(
        Buffer.from(purpose),
      );
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    unseal(sealed: Uint8Array, purpose: string): string | undefined {
      try {
        const decipher = createDecipheriv("aes-256-gcm", sealingKey, sealed.subarray(0, 12), { authTagLength: 16 })
          .setAAD(Buffer.from(purpose))
          .setAuthTag(sealed.subarray(12, 28));
        return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
    keyOfStream: (salt: Uint8Array, purpose: string) =>
      new Uint8Array(hkdfSync("sha256", streamKey, salt, purpose, 32)),
  };
}

/** @param earlier - secrets before the present one. They open stored data, and no address or token of a client. */
export function createSecrets(serverSecret: string, earlier: readonly string[] = []): Secrets {
  const present = keysOf(serverSecret);
  const before = earlier.filter((secret) => secret !== serverSecret).map(keysOf);
  const signingKey = present.derive("session tokens");
  const tokenKey = createSecretKey(signingKey);
  /** Lists contain hundreds of tokens. */
  const tokens = recentlyUsed<string>(10_000);
  return {
    sign: (...of) => present.sign(...of),
    hasSigned: (...of) => present.hasSigned(...of),
    seal: (...of) => present.seal(...of),
    unseal: (...of) => present.unseal(...of),
    unsealStored(sealed, purpose) {
      for (const keys of [present, ...before]) {
        const text = keys.unseal(sealed, purpose);
        if (text !== undefined) return text;
      }
      return undefined;
    },
    hasSignedStored: (...of) => [present, ...before].some((keys) => keys.hasSigned(...of)),
    keysOfStream: (...of) => [present.keyOfStream(...of), ...before.map((keys) => keys.keyOfStream(...of))],
    // Without a library: lists sign hundreds at once, and Web Crypto takes thirty times as long.
    signSession(sessionId, keyId) {
      const cacheKey = `${sessionId} ${keyId}`;
      const known = tokens.get(cacheKey);
      if (known !== undefined) return known;
      const signed = `${tokenHeader}.${base64url({ sub: sessionId, key: keyId, aud: audience })}`;
      const token = `${signed}.${createHmac("sha256", tokenKey).update(signed).digest("base64url")}`;
      tokens.set(cacheKey, token);
      return token;
    },
    async verifySession(token) {
      try {
        const { payload } = await jwtVerify(token, signingKey, { algorithms: ["HS256"], audience });
        const { key, sub } = payload;
        return sub === undefined || typeof key !== "string" ? undefined : { sessionId: sub, keyId: key };
      } catch {
        return undefined;
      }
    },
    seedOf: (purpose) => present.derive(`key pair: ${purpose}`),
  };
}
