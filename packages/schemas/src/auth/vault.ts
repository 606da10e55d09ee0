import * as z from "zod/mini";
import { pageFields, SlugName, Timestamp } from "../base/common.ts";
import { lazyObject } from "../base/schema.ts";

/** A store of login data. Answers contain no sensitive value. */
export interface Vault extends z.output<typeof Vault> {}
export const Vault = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project; cannot be changed. */
  name: z.string(),
  /** Creation time. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
}));

/** Input of `vaults.create`. */
export interface CreateVault extends z.input<typeof CreateVault> {}
export const CreateVault = lazyObject(() => ({
  /** Unique in the project, 1 to 255 letters, digits, dots, underscores and hyphens; not in the form of an id. */
  name: SlugName,
}));

/** Input of `vaults.list`. */
export interface ListVaults extends z.input<typeof ListVaults> {}
export const ListVaults = lazyObject(() => ({
  ...pageFields,
  /** Part of a name, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));

/** A public key in JWK form. */
export interface VaultPublicKey extends z.output<typeof VaultPublicKey> {}
export const VaultPublicKey = lazyObject(() => ({
  /** Always `EC`. */
  kty: z.string(),
  /** Always `P-256`. */
  crv: z.string(),
  /** The x coordinate, base64url. */
  x: z.string(),
  /** The y coordinate, base64url. */
  y: z.string(),
}));

/** The key to which a page encrypts values of sensitive fields, so that only the service reads them. */
export interface VaultEncryptionKey extends z.output<typeof VaultEncryptionKey> {}
export const VaultEncryptionKey = lazyObject(() => ({
  /** Identifies the key: the `kid` in the protected header of each value. */
  kid: z.string(),
  /** Key management of the JWE: always `ECDH-ES`. */
  alg: z.string(),
  /** Encryption of the JWE: always `A256GCM`. */
  enc: z.string(),
  /** The key. */
  jwk: VaultPublicKey,
}));
