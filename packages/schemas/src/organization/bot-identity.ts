import * as z from "zod/mini";
import { lazyObject } from "../base/schema.ts";

/** The public half of a key that signs requests, as a JSON Web Key. */
export interface BotPublicKey extends z.output<typeof BotPublicKey> {}
export const BotPublicKey = lazyObject(() => ({
  /** `OKP` */
  kty: z.string(),
  /** `Ed25519` */
  crv: z.string(),
  /** The key, as base64url. */
  x: z.string(),
}));

/** A key that signs requests of a project's sessions. */
export interface BotKey extends z.output<typeof BotKey> {}
export const BotKey = lazyObject(() => ({
  /** Thumbprint of the key (RFC 7638), the `keyid` of its signatures. */
  key_id: z.string(),
  /** For sites that do not read the directory. */
  public_key: BotPublicKey,
  /** Time of creation. */
  created_at: z.string(),
  /** When the directory drops it; `null` for the key that signs. */
  retires_at: z.nullable(z.string()),
}));

/** The keys and addresses by which sites recognize the sessions of a project. */
export interface BotIdentity extends z.output<typeof BotIdentity> {}
export const BotIdentity = lazyObject(() => ({
  /** Keys in the directory. The first one signs. */
  keys: z.array(BotKey),
  /** Origin in `Signature-Agent`, unless a session sets another; `null` if the service has no public `https:` address. */
  signature_agent: z.nullable(z.string()),
  /** Address of the directory of keys; `null` without a public address. */
  directory_url: z.nullable(z.string()),
}));
