import { hash, randomBytes } from "node:crypto";

/** Secret scanners and the log recognize the prefixes. */
const prefixes = { session: "cs_shoal_", link: "cl_shoal_" } as const;

type Kind = keyof typeof prefixes;

export function createToken(kind: Kind): string {
  return prefixes[kind] + randomBytes(32).toString("base64url");
}

/** Returns the SHA-256 that is stored; `undefined` for a malformed token. */
export function hashToken(kind: Kind, token: string): Buffer | undefined {
  const prefix = prefixes[kind];
  if (!token.startsWith(prefix) || !/^[\w-]{43}$/.test(token.slice(prefix.length))) return undefined;
  return hash("sha256", token, "buffer");
}
