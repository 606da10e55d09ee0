import type { Page } from "@shoal/contract";
import {
  containsNul,
  credentialNameTaken,
  credentialNotFound,
  invalidDomain,
  maxCredentialValues,
  noTotpSecret,
  tooManyValues,
} from "@shoal/contract/refusals";
import { containsFolded, type Database, type Tables } from "@shoal/database";
import { createId, siteDomain } from "@shoal/primitives";
import { type Totp, totpCode } from "@shoal/primitives/totp";
import { ServiceError } from "@shoal/router";
import type { CreateCredential, Credential, ListCredentials, TotpCode, UpdateCredential } from "@shoal/schemas";
import { type Kysely, sql } from "kysely";
import type * as z from "zod/mini";
import { emptyPage, isStorable, newestFirst, toPage } from "../../http/paging.ts";
import type { Envelopes } from "../../storage/envelopes/envelopes.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { containing } from "../../storage/like.ts";
import { type CredentialRef, requireTotp, type SealedValue, SecretValues, type TotpFields } from "./secret-values.ts";

/** A credential with its secrets, for a login. */
export interface OpenedCredential {
  readonly id: string;
  readonly domain: string;
  /** Further sites. */
  readonly sites: readonly string[];
  readonly sso_provider: string | null;
  readonly values: Readonly<Record<string, string>>;
  readonly totp: Totp | undefined;
}

interface CredentialRow extends CredentialRef {
  readonly name: string;
  readonly domain: string;
  readonly sites: readonly string[];
  readonly sso_provider: string | null;
  readonly totp: Buffer | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = [
  "id",
  "project_id",
  "name",
  "domain",
  "sites",
  "sso_provider",
  "totp",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof CredentialRow)[];

function toCredential(row: CredentialRow, hasValues: boolean): Credential {
  return {
    id: row.id,
    name: row.name,
    domain: row.domain,
    sites: [...row.sites],
    has_values: hasValues,
    has_totp_secret: row.totp !== null,
    sso_provider: row.sso_provider,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

const textOrNull = (text: string | null | undefined) => (text === undefined || text === "" ? null : text);

/** @throws {ServiceError} 400 */
function requireSites(sites: readonly string[]): string[] {
  return sites.map((text, index) => {
    const site = siteDomain(text);
    if (site === undefined) throw ServiceError.of(invalidDomain(`body.sites[${String(index)}]`));
    return site;
  });
}

/** The first code of a new secret, for the answer. */
function codeOf(totp: Totp | undefined): Pick<Credential, "totp_code" | "totp_code_expires_at"> {
  if (totp === undefined) return {};
  const { code, expiresAt } = totpCode(totp, new Date());
  return { totp_code: code, totp_code_expires_at: expiresAt.toISOString() };
}

interface SealedRequest {
  readonly values: readonly SealedValue[];
  /** Never stored; generates the code of the answer. */
  readonly totp: Totp | undefined;
  /** `null` removes the stored secret. */
  readonly sealedTotp?: Buffer | null;
}

export class Credentials {
  readonly #query: Database["query"];
  readonly #secrets: SecretValues;

  constructor(parts: { readonly database: Pick<Database, "query">; readonly envelopes: Envelopes }) {
    this.#query = parts.database.query;
    this.#secrets = new SecretValues(parts.envelopes);
  }

  async create(projectId: string, request: z.output<typeof CreateCredential>): Promise<Credential> {
    const domain = siteDomain(request.domain);
    if (domain === undefined) throw ServiceError.of(invalidDomain("body.domain"));
    const ref = { id: createId(), project_id: projectId };
    const { sealedTotp, totp, values } = await this.#sealed(ref, request);
    try {
      const row = await this.#query.transaction().execute(async (transaction) => {
        const inserted = await transaction
          .insertInto("credentials")
          .values({
            ...ref,
            name: request.name,
            domain,
            sites: JSON.stringify(requireSites(request.sites ?? [])),
            sso_provider: textOrNull(request.sso_provider),
            totp: sealedTotp ?? null,
          })
          .returning(columns)
          .executeTakeFirstOrThrow();
        await insertValues(transaction, ref.id, values);
        return inserted;
      });
      return { ...(await this.#withKeys(row)), ...codeOf(totp) };
    } catch (error) {
      throw isUniqueViolation(error) ? ServiceError.of(credentialNameTaken(request.name)) : error;
    }
  }

  async list(
    projectId: string,
    { query: part, domain, limit, offset }: z.output<typeof ListCredentials>,
  ): Promise<Page<Credential>> {
    if (!isStorable(part) || !isStorable(domain)) return emptyPage();
    let rows = this.#query
      .selectFrom("credentials")
      .select(columns)
      .select(sql<boolean>`exists (select 1 from credential_values where credential_id = id)`.as("has_values"))
      .where("project_id", "=", projectId);
    if (part !== undefined)
      rows = rows.where((where) =>
        where.or([
          containsFolded("name_folded", part),
          where("id", "=", part),
          where("domain", "ilike", containing(part)),
        ]),
      );
    if (domain !== undefined) rows = rows.where("domain", "=", siteDomain(domain) ?? "");
    const found = await newestFirst(rows, { limit, offset }).execute();
    return toPage(found, { limit, offset }, (row) => toCredential(row, row.has_values));
  }

  async get(projectId: string, idOrName: string): Promise<Credential> {
    return this.#withKeys(await this.#existing(projectId, idOrName));
  }

  async update(projectId: string, idOrName: string, request: z.output<typeof UpdateCredential>): Promise<Credential> {
    const ref = await this.#existing(projectId, idOrName);
    // Before the transaction: a key management service can take seconds.
    const { sealedTotp, totp, values } = await this.#sealed(ref, request);
    try {
      const row = await this.#query.transaction().execute(async (transaction) => {
        const updated = await transaction
          .updateTable("credentials")
          .set({
            ...(request.name !== undefined && { name: request.name }),
            ...(request.sites !== undefined && { sites: JSON.stringify(requireSites(request.sites)) }),
            ...(request.sso_provider !== undefined && { sso_provider: textOrNull(request.sso_provider) }),
            ...(sealedTotp !== undefined && { totp: sealedTotp }),
            updated_at: new Date(),
          })
          .where("id", "=", ref.id)
          .returning(columns)
          .executeTakeFirst();
        // The update locks the row, so concurrent changes of values follow each other.
        if (updated === undefined) throw ServiceError.of(credentialNotFound(idOrName));
        if ((request.remove_value_keys?.length ?? 0) > 0)
          await transaction
            .deleteFrom("credential_values")
            .where("credential_id", "=", ref.id)
            .where("key", "in", request.remove_value_keys ?? [])
            .execute();
        await insertValues(transaction, ref.id, values);
        // Its connections may sign in automatically now.
        await transaction
          .updateTable("auth_connections")
          .set({ next_check_at: sql<string>`clock_timestamp()` })
          .where("credential_id", "=", ref.id)
          .where("status", "=", "NEEDS_AUTH")
          .execute();
        return updated;
      });
      return { ...(await this.#withKeys(row)), ...codeOf(totp) };
    } catch (error) {
      throw request.name !== undefined && isUniqueViolation(error)
        ? ServiceError.of(credentialNameTaken(request.name))
        : error;
    }
  }

  async delete(projectId: string, idOrName: string): Promise<void> {
    const { id } = await this.#existing(projectId, idOrName);
    const { numDeletedRows } = await this.#query.deleteFrom("credentials").where("id", "=", id).executeTakeFirst();
    if (numDeletedRows === 0n) throw ServiceError.of(credentialNotFound(idOrName));
  }

  async totpCode(projectId: string, idOrName: string): Promise<TotpCode> {
    const row = await this.#existing(projectId, idOrName);
    if (row.totp === null) throw ServiceError.of(noTotpSecret(idOrName));
    const { code, expiresAt } = totpCode(await this.#secrets.openTotp(row, row.totp), new Date());
    return { code, expires_at: expiresAt.toISOString() };
  }

  /** The only way to the stored values. */
  async open(projectId: string, idOrName: string): Promise<OpenedCredential> {
    const row = await this.#existing(projectId, idOrName);
    const sealed = await this.#query
      .selectFrom("credential_values")
      .select(["key", "sealed"])
      .where("credential_id", "=", row.id)
      .execute();
    return {
      id: row.id,
      domain: row.domain,
      sites: row.sites,
      sso_provider: row.sso_provider,
      values: await this.#secrets.openAll(row, sealed),
      totp: row.totp === null ? undefined : await this.#secrets.openTotp(row, row.totp),
    };
  }

  async #sealed(
    ref: CredentialRef,
    { values = {}, ...fields }: Pick<z.output<typeof UpdateCredential>, keyof TotpFields | "values">,
  ): Promise<SealedRequest> {
    if (!Object.keys(values).every(isStorable)) throw ServiceError.of(containsNul("body.values"));
    const totp = requireTotp(fields);
    return {
      values: await this.#secrets.sealAll(ref, values),
      totp,
      ...(fields.totp_secret !== undefined && {
        sealedTotp: totp === undefined ? null : await this.#secrets.sealTotp(ref, totp),
      }),
    };
  }

  async #withKeys(row: CredentialRow): Promise<Credential> {
    const keys = await this.#query
      .selectFrom("credential_values")
      .select("key")
      .where("credential_id", "=", row.id)
      .orderBy("key")
      .execute();
    return { ...toCredential(row, keys.length > 0), value_keys: keys.map(({ key }) => key) };
  }

  /** Finds by id, then by name. @throws {ServiceError} 404. */
  async #existing(projectId: string, idOrName: string): Promise<CredentialRow> {
    const rows = isStorable(idOrName)
      ? await this.#query
          .selectFrom("credentials")
          .select(columns)
          .where("project_id", "=", projectId)
          .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
          .execute()
      : [];
    const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
    if (row === undefined) throw ServiceError.of(credentialNotFound(idOrName));
    return row;
  }
}

/** Adds or replaces values. @throws {ServiceError} 400 when there are too many then. */
async function insertValues(transaction: Kysely<Tables>, id: string, values: readonly SealedValue[]): Promise<void> {
  if (values.length === 0) return;
  await transaction
    .insertInto("credential_values")
    .values(values.map((value) => ({ ...value, credential_id: id })))
    .onConflict((conflict) => conflict.columns(["credential_id", "key"]).doUpdateSet({ sealed: sql`excluded.sealed` }))
    .execute();
  const { count } = await transaction
    .selectFrom("credential_values")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("credential_id", "=", id)
    .executeTakeFirstOrThrow();
  if (count > maxCredentialValues) throw ServiceError.of(tooManyValues(count));
}
