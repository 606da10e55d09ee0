import { type EnteredValues, nameOfEntered } from "@shoal/contract/logins";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { isAmongOrigins } from "@shoal/instance";
import { typingOrigins } from "./typing-origins.ts";
import type { Credentials } from "../credentials/credentials.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import type { ConnectionStore } from "../connections/connection-store.ts";

type SavedConnection = Pick<ConnectionRow, "credential_id" | "domain" | "id" | "profile_name" | "project_id">;

/**
 * Merges values into the connection's credential, or creates one. Credentials of providers stay as they are, and what
 * was chosen for the connection during the login holds.
 *
 * @param connection - as it was at the start of the login.
 */
export async function saveEntered(
  {
    connections,
    credentials,
  }: {
    readonly connections: Pick<ConnectionStore, "addCredential" | "find">;
    readonly credentials: Pick<Credentials, "create" | "delete" | "get" | "update">;
  },
  connection: SavedConnection,
  entered: EnteredValues,
): Promise<void> {
  const values = entered.lasting();
  if (Object.keys(values).length === 0) return;
  const { credential_id, domain, id, profile_name, project_id } = connection;
  const now = await connections.find(project_id, id);
  if (now?.save_credentials !== true || now.credential_provider !== null || now.credential_id !== credential_id) return;
  if (credential_id !== null) {
    const stored = await credentials.get(project_id, credential_id);
    const origins = typingOrigins({ sites: [stored.domain, ...(stored.sites ?? [])] });
    // Values of another site must not replace those of the credential.
    if (!["https", "http"].some((protocol) => isAmongOrigins(`${protocol}://${domain}`, origins))) return;
    await credentials.update(project_id, credential_id, { values });
    return;
  }
  const name = nameOfEntered(profile_name, domain);
  const create = (unique: string) => credentials.create(project_id, { name: unique, domain, values });
  const created = await create(name).catch((error: unknown) => {
    if (!ServiceError.isInstance(error) || error.status !== 409) throw error;
    return create(`${name}-${createId().slice(0, 6)}`);
  });
  if (!(await connections.addCredential(id, created.id))) await credentials.delete(project_id, created.id);
}
