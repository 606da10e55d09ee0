import type { Database } from "@shoal/database";
import type { RequestSigner } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import type { BotIdentity, WebBotAuth } from "@shoal/schemas";
import { sql } from "kysely";
import {
  directoryResponseHeaders,
  HTTP_MESSAGE_SIGNATURES_DIRECTORY,
  signatureHeaders,
  type Signer,
} from "web-bot-auth";
import { signerFromJWK } from "web-bot-auth/crypto";
import type { Envelopes, SealedPlace } from "../../storage/envelopes/envelopes.ts";
import { createSigningKey, publicKeyOf, type PublicKey } from "./signing-key.ts";

interface KeyRow {
  readonly id: string;
  readonly project_id: string;
  readonly key_id: string;
  readonly public_key: string;
  readonly private_key: Buffer;
  readonly created_at: string;
  readonly retires_at: string | null;
}

export interface Directory {
  readonly keys: readonly (PublicKey & { readonly kid: string })[];
  /** Of the response: `Signature` and `Signature-Input`. */
  readonly headers: Readonly<Record<string, string>>;
}

interface DirectoryKeys {
  readonly keys: Directory["keys"];
  readonly signers: Signer[];
}

interface BotIdentityParts {
  readonly database: Database;
  readonly envelopes: Envelopes;
  readonly publicUrl: string | undefined;
}

/** The directory contains an old key for this time; sites may keep the directory for a day. */
const overlap = "24 hours";
/** Other servers may have rotated the key. */
const keptMs = 60_000;
/** A site's clock may be late, and requests may wait for a proxy. */
const validMs = 60_000;
const directoryMs = 300_000;
const directoryKeptMs = 10_000;
const maxDirectoryKeys = 1_000;
/** Each takes about 250 bytes of the head. */
const maxDirectorySignatures = 20;
const maxKeysOfProject = 10;

/** The keys with which sessions sign requests. A private key is decrypted in this process alone. */
export class BotIdentities {
  readonly #parts: BotIdentityParts;
  readonly #agent: string | undefined;
  #read: Promise<DirectoryKeys> | undefined;
  #readMs = 0;

  constructor(parts: BotIdentityParts) {
    this.#parts = parts;
    this.#agent = parts.publicUrl?.startsWith("https://") === true ? new URL(parts.publicUrl).origin : undefined;
  }

  async get(projectId: string): Promise<BotIdentity> {
    await this.#signingRow(projectId);
    const rows = await this.#shown()
      .where("project_id", "=", projectId)
      .orderBy(sql`retires_at is not null`)
      .orderBy("created_at", "desc")
      .execute();
    const agent = this.#agent;
    return {
      keys: rows.map(({ created_at, key_id, public_key, retires_at }) => ({
        key_id,
        public_key: publicKeyOf(public_key),
        created_at: new Date(created_at).toISOString(),
        retires_at: retires_at === null ? null : new Date(retires_at).toISOString(),
      })),
      signature_agent: agent ?? null,
      directory_url: agent === undefined ? null : `${agent}${HTTP_MESSAGE_SIGNATURES_DIRECTORY}`,
    };
  }

  async rotate(projectId: string): Promise<BotIdentity> {
    const { database } = this.#parts;
    await this.#signingRow(projectId);
    const created = await this.#newRow(projectId);
    await database.query.transaction().execute(async (query) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`bot keys of ${projectId}`}, 0))`.execute(query);
      await query
        .updateTable("bot_keys")
        .set({ retires_at: sql<string>`now() + ${sql.lit(overlap)}::interval` })
        .where("project_id", "=", projectId)
        .where("retires_at", "is", null)
        .execute();
      await query.insertInto("bot_keys").values(created).execute();
      await query
        .deleteFrom("bot_keys")
        .where("project_id", "=", projectId)
        .where("id", "not in", (kept) =>
          kept
            .selectFrom("bot_keys")
            .select("id")
            .where("project_id", "=", projectId)
            .where((where) => where.or([where("retires_at", "is", null), where("retires_at", ">", sql<string>`now()`)]))
            .orderBy("created_at", "desc")
            .limit(maxKeysOfProject),
        )
        .execute();
    });
    this.#read = undefined;
    return this.get(projectId);
  }

  /** @param options - of a session. */
  signerOf(
    projectId: string,
    { sign_only: hosts = [], signature_agent: agent = this.#agent }: WebBotAuth,
  ): RequestSigner {
    let signer: Promise<Signer> | undefined;
    let readMs = 0;
    const present = (): Promise<Signer> => {
      if (signer === undefined || performance.now() - readMs > keptMs) {
        readMs = performance.now();
        signer = this.#signingRow(projectId).then((row) => this.#open(row));
        signer.catch(() => (signer = undefined));
      }
      return signer;
    };
    return {
      hosts,
      async sign(origin) {
        const headers: Record<string, string> = agent === undefined ? {} : { "Signature-Agent": `"${agent}"` };
        const created = new Date();
        const expires = new Date(created.getTime() + validMs);
        const request = new Request(origin, { headers });
        const { Signature: signature, "Signature-Input": input } = await signatureHeaders(request, await present(), {
          created,
          expires,
        });
        return { ...headers, "Signature-Input": input, Signature: signature };
      },
    };
  }

  /** All keys of the service, signed with the latest ones. @param origin - of the service. */
  async directory(origin: string): Promise<Directory> {
    const { keys, signers } = await this.#directoryKeys();
    if (signers.length === 0) return { keys, headers: {} };
    const created = new Date();
    const expires = new Date(created.getTime() + directoryMs);
    const request = new Request(`${origin}${HTTP_MESSAGE_SIGNATURES_DIRECTORY}`);
    const message = { request, response: new Response() };
    const signed = await directoryResponseHeaders(message, signers, { created, expires });
    return { keys, headers: { Signature: signed.Signature, "Signature-Input": signed["Signature-Input"] } };
  }

  /** Callers need no key, so few requests read and decrypt. */
  #directoryKeys(): Promise<DirectoryKeys> {
    if (this.#read === undefined || performance.now() - this.#readMs > directoryKeptMs) {
      this.#readMs = performance.now();
      const read = this.#readDirectory();
      this.#read = read;
      read.catch(() => {
        if (this.#read === read) this.#read = undefined;
      });
    }
    return this.#read;
  }

  async #readDirectory(): Promise<DirectoryKeys> {
    const rows = await this.#shown().orderBy("created_at", "desc").orderBy("id").limit(maxDirectoryKeys).execute();
    return {
      keys: rows.map(({ key_id, public_key }) => ({ ...publicKeyOf(public_key), kid: key_id })),
      signers: await Promise.all(rows.slice(0, maxDirectorySignatures).map((row) => this.#open(row))),
    };
  }

  #shown() {
    return this.#parts.database.query
      .selectFrom("bot_keys")
      .selectAll()
      .where((where) => where.or([where("retires_at", "is", null), where("retires_at", ">", sql<string>`now()`)]));
  }

  async #signingRow(projectId: string): Promise<KeyRow> {
    const { query } = this.#parts.database;
    const find = () =>
      query
        .selectFrom("bot_keys")
        .selectAll()
        .where("project_id", "=", projectId)
        .where("retires_at", "is", null)
        .executeTakeFirst();
    const found = await find();
    if (found !== undefined) return found;
    const created = await this.#newRow(projectId);
    // Another server may do the same.
    await query
      .insertInto("bot_keys")
      .values(created)
      .onConflict((conflict) => conflict.column("project_id").where("retires_at", "is", null).doNothing())
      .execute();
    this.#read = undefined;
    const row = await find();
    if (row === undefined) throw new Error("The new signing key was deleted at once.");
    return row;
  }

  async #newRow(projectId: string) {
    const { d, keyId, publicKey } = await createSigningKey();
    const id = createId();
    return {
      id,
      project_id: projectId,
      key_id: keyId,
      public_key: publicKey.x,
      private_key: await this.#parts.envelopes.seal(d, placeOf(projectId, id)),
    };
  }

  async #open({ id, private_key, project_id, public_key }: KeyRow): Promise<Signer> {
    const d = await this.#parts.envelopes.unseal(private_key, placeOf(project_id, id));
    return signerFromJWK({ ...publicKeyOf(public_key), d });
  }
}

function placeOf(projectId: string, id: string): SealedPlace {
  return { projectId, id, field: "bot_keys.private_key" };
}
