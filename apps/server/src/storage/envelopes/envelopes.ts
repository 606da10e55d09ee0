import { ServiceError } from "@shoal/router";
import { randomBytes } from "node:crypto";
import pLimit from "p-limit";
import pTimeout from "p-timeout";
import { decrypt, encrypt } from "./aes-gcm.ts";
import type { KeyManagement } from "./key-management.ts";
import type { MasterKeys } from "./master-keys.ts";

/** The one place that a sealed value is valid in. A value moved to another row or column cannot be opened. */
export interface SealedPlace {
  /** Empty for a value of the whole organization. */
  readonly projectId: string;
  /** Of the row. */
  readonly id: string;
  /** Table and column, and the key where a row has several values: `credentials.totp`. */
  readonly field: string;
}

const format = 1;
const dataKeyBytes = 32;
const maxWrappedBytes = 4096;
const keyCallMs = 10_000;
const keyCallsAtOnce = 8;

interface Parts {
  readonly keyId: string;
  readonly wrapped: Uint8Array;
  readonly body: Uint8Array;
}

/** Format, length of the key id, key id, length of the wrapped key (2 bytes), wrapped key, encrypted value. */
function join({ keyId, wrapped, body }: Parts): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(wrapped.length);
  return Buffer.concat([prefixOf(keyId), length, wrapped, body]);
}

function prefixOf(keyId: string): Buffer {
  const id = Buffer.from(keyId);
  return Buffer.concat([Buffer.from([format, id.length]), id]);
}

function split(sealed: Uint8Array): Parts | undefined {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.length < 4 || bytes[0] !== format) return undefined;
  const wrappedAt = 2 + bytes.readUInt8(1) + 2;
  if (bytes.length < wrappedAt) return undefined;
  const bodyAt = wrappedAt + bytes.readUInt16BE(wrappedAt - 2);
  if (bytes.length < bodyAt) return undefined;
  return {
    keyId: bytes.subarray(2, wrappedAt - 2).toString(),
    wrapped: bytes.subarray(wrappedAt, bodyAt),
    body: bytes.subarray(bodyAt),
  };
}

const boundTo = ({ projectId, id, field }: SealedPlace) => `shoal value ${JSON.stringify([projectId, id, field])}`;

function failed(problem: string, hint: string, cause?: unknown): ServiceError {
  return new ServiceError(500, "internal_error", problem, { hint, ...(cause !== undefined && { cause }) });
}

const damaged = () =>
  failed("A stored secret cannot be decrypted: it was changed or moved in the database.", "Store the secret again.");

/** Encrypts stored secrets, each with its own data key. */
export class Envelopes {
  readonly #keys: MasterKeys;
  readonly #limit = pLimit(keyCallsAtOnce);

  constructor(keys: MasterKeys) {
    this.#keys = keys;
  }

  /** The first bytes of each value under the present master key. */
  presentPrefix(): Buffer {
    return prefixOf(this.#keys.present().id);
  }

  /** @throws {ServiceError} 500 when the key management fails. */
  async seal(text: string, place: SealedPlace): Promise<Buffer> {
    const dataKey = randomBytes(dataKeyBytes);
    const { keyId, wrapped } = await this.#wrap(dataKey);
    return join({ keyId, wrapped, body: encrypt(dataKey, Buffer.from(text), boundTo(place)) });
  }

  /** @throws {ServiceError} 500 when its master key is missing or fails, or the value belongs to another place. */
  async unseal(sealed: Uint8Array, place: SealedPlace): Promise<string> {
    const parts = split(sealed);
    if (parts === undefined) throw damaged();
    const plain = decrypt(await this.#unwrap(parts), parts.body, boundTo(place));
    if (plain === undefined) throw damaged();
    return plain.toString();
  }

  /** Wraps the data key with the present master key; leaves the encrypted value unchanged. @throws {ServiceError} 500. */
  async rewrap(sealed: Uint8Array): Promise<Buffer> {
    const parts = split(sealed);
    if (parts === undefined) throw damaged();
    return join({ ...(await this.#wrap(await this.#unwrap(parts))), body: parts.body });
  }

  async #wrap(dataKey: Uint8Array): Promise<Pick<Parts, "keyId" | "wrapped">> {
    const { id, key } = this.#keys.present();
    const wrapped = await this.#call("wrap", key, () => key.wrap(dataKey));
    if (wrapped.length === 0 || wrapped.length > maxWrappedBytes)
      throw failed(
        `The key management returned a wrapped key of ${String(wrapped.length)} bytes; the limit is ${String(maxWrappedBytes)}.`,
        "The operator can fix master_key_module.",
      );
    return { keyId: id, wrapped };
  }

  async #unwrap({ keyId, wrapped }: Parts): Promise<Uint8Array> {
    const found = this.#keys.find(keyId);
    if (found === undefined)
      throw failed(
        `A stored secret is encrypted with the master key ${keyId.slice(0, 250)}, which this server does not have.`,
        "The operator can add the old key to previous_secret_keys or previous_master_key_passphrases, or set master_key_module.",
      );
    const dataKey = await this.#call("unwrap", found.key, () => found.key.unwrap(wrapped, found.keyId));
    if (dataKey.length !== dataKeyBytes) throw damaged();
    return dataKey;
  }

  async #call(action: string, key: KeyManagement, run: () => Promise<Uint8Array>): Promise<Uint8Array> {
    try {
      const bytes = await this.#limit(() => pTimeout(run(), { milliseconds: keyCallMs }));
      if (bytes instanceof Uint8Array) return bytes;
    } catch (error) {
      throw failed(
        `The master key ${key.keyId} could not ${action} a data key.`,
        "Try again. If it persists, the operator finds the cause in the log.",
        error,
      );
    }
    throw failed(`The master key ${key.keyId} returned no bytes.`, "The operator can fix master_key_module.");
  }
}
