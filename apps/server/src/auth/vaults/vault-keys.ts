import { encryptionKeyMismatch, invalid, vaultNotFound } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { VaultEncryptionKey } from "@shoal/schemas";
import { compactDecrypt } from "jose/jwe/compact/decrypt";
import { importJWK } from "jose/key/import";
import { exportJWK } from "jose/key/export";
import { generateKeyPair } from "jose/key/generate/keypair";
import { decodeProtectedHeader } from "jose/decode/protected_header";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";

export interface VaultRef {
  readonly id: string;
  readonly project_id: string;
}

const [alg, enc] = ["ECDH-ES", "A256GCM"] as const;
const placeOf = ({ id, project_id }: VaultRef) => ({ projectId: project_id, id, field: "vaults.private_key" });

/** The key pairs to which pages encrypt values. */
export class VaultKeys {
  readonly #query: Database["query"];
  readonly #envelopes: Envelopes;

  constructor({ database, envelopes }: { readonly database: Pick<Database, "query">; readonly envelopes: Envelopes }) {
    this.#query = database.query;
    this.#envelopes = envelopes;
  }

  /** The first call creates the key. */
  async publicKey(vault: VaultRef): Promise<VaultEncryptionKey> {
    const { kid, x, y } = (await this.#find(vault)).public_key ?? (await this.#create(vault));
    return { kid, alg, enc, jwk: { kty: "EC", crv: "P-256", x, y } };
  }

  /**
   * Returns a function that decrypts the values of one request. It unseals the private key once.
   * Its `field` is the path of the value in the request; it throws 400, without the value.
   */
  decrypter(vault: VaultRef): (encrypted: string, field: string) => Promise<string> {
    const find = () => this.#find(vault);
    let found: ReturnType<typeof find> | undefined;
    let opened: ReturnType<typeof importJWK> | undefined;
    return async (encrypted, field) => {
      const { private_key: sealed, public_key: known } = await (found ??= find());
      if (kidIn(encrypted) !== known?.kid || sealed === null) throw ServiceError.of(encryptionKeyMismatch(field));
      const key = await (opened ??= this.#open(vault, sealed));
      return decrypted(encrypted, key, field);
    };
  }

  async #open(vault: VaultRef, sealed: Uint8Array) {
    const jwk = JSON.parse(await this.#envelopes.unseal(sealed, placeOf(vault))) as Parameters<typeof importJWK>[0];
    return importJWK(jwk, alg);
  }

  async #find({ id }: VaultRef) {
    const row = await this.#query
      .selectFrom("vaults")
      .select(["public_key", "private_key"])
      .where("id", "=", id)
      .executeTakeFirst();
    if (row === undefined) throw ServiceError.of(vaultNotFound(id));
    return row;
  }

  async #create(vault: VaultRef): Promise<Record<"kid" | "x" | "y", string>> {
    const { privateKey } = await generateKeyPair(alg, { crv: "P-256", extractable: true });
    const jwk = await exportJWK(privateKey);
    const { x = "", y = "" } = jwk;
    await this.#query
      .updateTable("vaults")
      .set({
        public_key: JSON.stringify({ kid: createId(), x, y }),
        private_key: await this.#envelopes.seal(JSON.stringify(jwk), placeOf(vault)),
      })
      .where("id", "=", vault.id)
      // The first of several concurrent ones counts.
      .where("private_key", "is", null)
      .execute();
    const { public_key } = await this.#find(vault);
    if (public_key === null) throw new Error(`The key of vault ${vault.id} was not stored.`);
    return public_key;
  }
}

/** @throws {ServiceError} 400, without the value. */
async function decrypted(
  encrypted: string,
  key: Awaited<ReturnType<typeof importJWK>>,
  field: string,
): Promise<string> {
  try {
    const { plaintext } = await compactDecrypt(encrypted, key, {
      keyManagementAlgorithms: [alg],
      contentEncryptionAlgorithms: [enc],
      // Compressed values could become large.
      maxDecompressedLength: 0,
    });
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plaintext);
  } catch (error) {
    throw ServiceError.of(
      invalid(field, "cannot be decrypted", {
        hint: `Send a compact JWE with alg ${alg} and enc ${enc}, without compression, of a UTF-8 text.`,
      }),
      { cause: error },
    );
  }
}

function kidIn(encrypted: string): string | undefined {
  try {
    return decodeProtectedHeader(encrypted).kid;
  } catch {
    return undefined;
  }
}
