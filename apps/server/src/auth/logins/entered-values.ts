import { type EnteredValues, nameOfEntered } from "@shoal/contract/logins";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { isAmongOrigins } from "@shoal/instance";
import { typingOrigins } from "./typing-origins.ts";
import type { Credentials } from "../credentials/credentials.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import type { ConnectionStore } from "../connections/connection-store.ts";

type SavedConnection = Pick<
  ConnectionRow,
  "credential_id" | "credential_provider" | "domain" | "id" | "profile_name" | "project_id" | "save_credentials"
>;

/** Merges values into the connection's credential, or creates one. Credentials of providers stay as they are. */
export async function saveEntered(
  {
    connections,
    credentials,
  }: {
    readonly connections: Pick<ConnectionStore, "update">;
    readonly credentials: Pick<Credentials, "create" | "get" | "update">;
  },
  connection: SavedConnection,
  entered: EnteredValues,
): Promise<void> {
  const values = entered.lasting();
  const { credential_id, credential_provider, domain, id, profile_name, project_id, save_credentials } = connection;
  if (!save_credentials || credential_provider !== null || Object.keys(values).length === 0) return;
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
  await connections.update(id, { credential_id: created.id });
}
