import { hash, randomBytes } from "node:crypto";

const prefix = "sk_shoal_";
/** 32 random bytes in base64url. */
const pattern = /^sk_shoal_[A-Za-z0-9_-]{43}$/;

/** A new secret, recognisable by its prefix to secret scanners. */
export function createKeySecret(): string {
  return prefix + randomBytes(32).toString("base64url");
}

/** Whether a text can be a key at all. */
export function isKeySecret(text: string): boolean {
  return pattern.test(text);
}

/** SHA-256, the only form in which a key is stored. A key has 256 random bits, so neither salt nor a slow hash adds anything. */
export function hashKey(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** First and last characters, enough to recognise a key. */
export function maskKey(secret: string): string {
  return `${secret.slice(0, prefix.length + 4)}...${secret.slice(-4)}`;
}
