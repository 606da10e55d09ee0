import { connectionNotFound } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { ServiceError } from "@shoal/router";
import type { VaultItemState } from "@shoal/schemas";
import { sql } from "kysely";
import { isStorable } from "../../http/paging.ts";
import type { Credentials, OpenedCredential } from "../credentials/credentials.ts";

/** Name of the field for one-time codes of a connection's credential. */
export const codeField = "totp";
/** A stored value of this name is never filled. */
export const seedName = "totp_secret";

type Reason = "connection_not_found" | "no_credential" | "external_credential";

/** The credentials that connections sign in with, as values of items. */
export class ConnectionValues {
  readonly #query: Database["query"];
  readonly #credentials: Pick<Credentials, "open">;

  constructor({ query }: Pick<Database, "query">, credentials: Pick<Credentials, "open">) {
    this.#query = query;
    this.#credentials = credentials;
  }

  /** @throws {ServiceError} 404 for an unknown connection, 409 for one without a stored credential. */
  async require(projectId: string, connectionId: string): Promise<void> {
    const found = await this.#find(projectId, connectionId);
    if (typeof found === "object") return;
    if (found === "connection_not_found") throw ServiceError.of(connectionNotFound(connectionId));
    throw new ServiceError(
      409,
      "conflict",
      found === "no_credential"
        ? "the connection has no stored credential"
        : "the credential of the connection is in a password manager",
      {
        field: "body.spec.connection_id",
        hint: "Set a credential of this service with auth.connections.update.",
      },
    );
  }

  /** @param withFields - also the names of its values. */
  async state(projectId: string, connectionId: string, withFields: boolean): Promise<VaultItemState> {
    const found = await this.#find(projectId, connectionId);
    const provider = "managed_auth";
    if (typeof found !== "object")
      return { provider, status: "unavailable", status_reason: found, ...(withFields && { fields: {} }) };
    if (!withFields) return { provider, status: "ready" };
    const opened = await this.#credentials.open(projectId, found.credentialId);
    return { provider, status: "ready", fields: fieldsOf(opened) };
  }

  /** @throws {ServiceError} 404, 409 */
  async open(projectId: string, connectionId: string): Promise<OpenedCredential> {
    await this.require(projectId, connectionId);
    const found = await this.#find(projectId, connectionId);
    return this.#credentials.open(projectId, typeof found === "object" ? found.credentialId : "");
  }

  async #find(projectId: string, connectionId: string): Promise<{ readonly credentialId: string } | Reason> {
    if (!isStorable(connectionId)) return "connection_not_found";
    const row = await this.#query
      .selectFrom("auth_connections")
      .leftJoin("credentials", "credentials.id", "auth_connections.credential_id")
      .select(["credential_id", "credential_provider", "totp"])
      .select(
        sql<boolean>`exists (select 1 from credential_values v where v.credential_id = auth_connections.credential_id)`.as(
          "has_values",
        ),
      )
      .where("auth_connections.project_id", "=", projectId)
      .where("auth_connections.id", "=", connectionId)
      .executeTakeFirst();
    if (row === undefined) return "connection_not_found";
    if (row.credential_provider !== null) return "external_credential";
    const hasValues = row.totp !== null || row.has_values;
    return row.credential_id !== null && hasValues ? { credentialId: row.credential_id } : "no_credential";
  }
}

function fieldsOf({ totp, values }: OpenedCredential): NonNullable<VaultItemState["fields"]> {
  const fields = Object.entries(values)
    .filter(([name, value]) => name !== seedName && value !== "")
    .map(([name]) => [name, { type: name === "password" || name === "email" ? name : "text" }] as const)
    .toSorted(([one], [two]) => (one < two ? -1 : 1));
  return Object.fromEntries<{ type: string }>(totp === undefined ? fields : [...fields, [codeField, { type: "totp" }]]);
}
