import type { Answer } from "@shoal/contract/logins";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Credentials } from "../credentials/credentials.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import type { ConnectionStore } from "../connections/connection-store.ts";

type SavedConnection = Pick<
  ConnectionRow,
  "credential_id" | "credential_provider" | "domain" | "id" | "profile_name" | "project_id" | "save_credentials"
>;

/** The values that a person entered during a login, without one-time codes and links. */
export class EnteredValues {
  readonly #values = new Map<string, string>();

  add(answer: Answer): void {
    if (!("values" in answer)) return;
    for (const [name, value] of Object.entries(answer.values))
      if (!/^(otp|link)(_\d+)?$/.test(name) && value !== "") this.#values.set(name, value);
  }

  /** Merges them into the connection's credential, or creates one. Credentials of providers stay as they are. */
  async save(
    {
      connections,
      credentials,
    }: {
      readonly connections: Pick<ConnectionStore, "update">;
      readonly credentials: Pick<Credentials, "create" | "update">;
    },
    connection: SavedConnection,
  ): Promise<void> {
    const values = this.#lasting();
    const { credential_id, credential_provider, domain, id, project_id, save_credentials } = connection;
    if (!save_credentials || credential_provider !== null || Object.keys(values).length === 0) return;
    if (credential_id !== null) {
      await credentials.update(project_id, credential_id, { values });
      return;
    }
    const name = nameOf(connection);
    const create = (unique: string) => credentials.create(project_id, { name: unique, domain, values });
    const created = await create(name).catch((error: unknown) => {
      if (!ServiceError.isInstance(error) || error.status !== 409) throw error;
      return create(`${name}-${createId().slice(0, 6)}`);
    });
    await connections.update(id, { credential_id: created.id });
  }

  /** A changed password replaces the old one. */
  #lasting(): Record<string, string> {
    const { new_password: changed, ...values } = Object.fromEntries(
      [...this.#values].filter(([name]) => !/^new_password_\d+$/.test(name)),
    );
    return changed === undefined ? values : { ...values, password: changed };
  }
}

function nameOf({ domain, profile_name }: Pick<SavedConnection, "domain" | "profile_name">): string {
  return [...`${profile_name ?? "profile"}-${domain}`].slice(0, 120).join("");
}
