import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import { jwtVerify } from "jose/jwt/verify";
import { LRUCache } from "lru-cache";

/** What the service signs and seals with keys derived from its one secret. */
export interface Secrets {
  /**
   * The token in a session's addresses, the same at each call. It is valid as long as the session runs and the key exists.
   *
   * @param keyId - the API key that the token is handed out to.
   */
  signSession(sessionId: string, keyId: string): string;
  /** Reads a token; `undefined` when this service did not sign it. Does not check whether its key still exists. */
  verifySession(token: string): Promise<SessionToken | undefined>;
  /** Signs a text (HMAC-SHA-256, base64url). @param use - keeps signatures of one kind from being taken for those of another. */
  sign(use: string, text: string): string;
  /** Whether a signature is that of {@link sign}. */
  hasSigned(use: string, text: string, signature: string): boolean;
  /** Encrypts a text (AES-256-GCM). @param purpose - must be the same to read it again. */
  seal(text: string, purpose: string): Buffer;
  /** The text again; `undefined` when it was sealed with another secret or purpose, or changed. */
  unseal(sealed: Uint8Array, purpose: string): string | undefined;
  /** The key of one stored stream, 32 bytes. @param purpose - as in `seal`. */
  keyOfStream(salt: Uint8Array, purpose: string): Uint8Array;
}

/** What a token of {@link Secrets.signSession} says. */
export interface SessionToken {
  readonly sessionId: string;
  readonly keyId: string;
}

const audience = "shoal:session";

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const tokenHeader = base64url({ alg: "HS256" });

export function createSecrets(serverSecret: string): Secrets {
  const derive = (use: string) => new Uint8Array(hkdfSync("sha256", serverSecret, "shoal", use, 32));
  const signingKey = derive("session tokens");
  const sealingKey = derive("stored answers");
  const streamKey = derive("stored streams");
  // As objects: of bytes, node:crypto would make the object again for each signature, which takes six times as long as to sign.
  const tokenKey = createSecretKey(signingKey);
  const keys = new Map<string, KeyObject>();
  function sign(use: string, text: string): string {
    const key = keys.get(use) ?? createSecretKey(derive(`signatures: ${use}`));
    keys.set(use, key);
    return createHmac("sha256", key).update(text).digest("base64url");
  }
  /** Tokens by session and key: lists show a hundred of them at a time, again and again. */
  const tokens = new LRUCache<string, string>({ max: 10_000 });
  return {
    sign,
    hasSigned(use, text, signature) {
      const [expected, given] = [Buffer.from(sign(use, text)), Buffer.from(signature)];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    // By hand rather than by a library: lists sign hundreds at once, and Web Crypto takes thirty times as long.
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
    seal(text, purpose) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", sealingKey, nonce, { authTagLength: 16 }).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    unseal(sealed, purpose) {
      try {
        const decipher = createDecipheriv("aes-256-gcm", sealingKey, sealed.subarray(0, 12), { authTagLength: 16 })
          .setAAD(Buffer.from(purpose))
          .setAuthTag(sealed.subarray(12, 28));
        return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
    keyOfStream: (salt, purpose) => new Uint8Array(hkdfSync("sha256", streamKey, salt, purpose, 32)),
  };
}
