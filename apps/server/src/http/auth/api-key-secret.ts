import { hash, randomBytes } from "node:crypto";

const prefix = "sk_shoal_";
const pattern = /^sk_shoal_[A-Za-z0-9_-]{43}$/;

/** Returns a new API key. Secret scanners recognise its prefix. */
export function createKeySecret(): string {
  return prefix + randomBytes(32).toString("base64url");
}

/** Whether a text has the form of an API key. */
export function isKeySecret(text: string): boolean {
  return pattern.test(text);
}

/** Returns the SHA-256 that is stored. A key has 256 random bits, so salt or a slow hash would add nothing. */
export function hashKey(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** Returns the beginning and the end of a key, which lists show. */
export function maskKey(secret: string): string {
  return `${secret.slice(0, prefix.length + 4)}...${secret.slice(-4)}`;
}
