import type { Database, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { sql, type Transaction } from "kysely";
import { createKeySecret, hashKey, maskKey } from "../../http/auth/api-key-secret.ts";
import type { Secrets } from "../../storage/secrets.ts";

const purpose = (deploymentId: string) => `key of deployment ${deploymentId}`;

/** Excludes {@link DeploymentKeys.releaseIdle} until the transaction ends: a deployment that runs again needs its key. */
export async function lockKeys(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(1936223076, 0)`.execute(transaction);
}

/** The API key of each deployment, which its programs use. It opens the deployment's project only. */
export class DeploymentKeys {
  readonly #query: Database["query"];
  readonly #secrets: Pick<Secrets, "seal" | "unseal">;

  constructor({ query }: Pick<Database, "query">, secrets: Pick<Secrets, "seal" | "unseal">) {
    this.#query = query;
    this.#secrets = secrets;
  }

  /** Returns the key's secret; creates the key at the first call. */
  async secretOf(deploymentId: string, projectId: string): Promise<string> {
    const row = await this.#query
      .selectFrom("deployment_keys")
      .innerJoin("api_keys", "api_keys.id", "key_id")
      .select("secret")
      .where("deployment_keys.deployment_id", "=", deploymentId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    const known = row && this.#secrets.unseal(row.secret, purpose(deploymentId));
    return known ?? this.#create(deploymentId, projectId);
  }

  /** Deletes the keys of stopped deployments that have neither a running invocation nor a browser of one. */
  async releaseIdle(): Promise<void> {
    await this.#query.transaction().execute(async (transaction) => {
      await lockKeys(transaction);
      await sql`
      with gone as (
        delete from deployment_keys as k
        where not exists (
            select 1 from deployments where id = k.deployment_id and status = 'running' and deleted_at is null)
          and not exists (select 1 from invocations where deployment_id = k.deployment_id and finished_at is null)
          and not exists (
            select 1 from sessions join invocations on invocations.id = sessions.invocation_id
            where invocations.deployment_id = k.deployment_id and sessions.ended_at is null)
        returning key_id)
      update api_keys set deleted_at = now() from gone where api_keys.id = gone.key_id and deleted_at is null`.execute(
        transaction,
      );
    });
  }

  async #create(deploymentId: string, projectId: string): Promise<string> {
    const secret = createKeySecret();
    return this.#query.transaction().execute(async (transaction) => {
      // Two servers that start the first program at once must use one key.
      await sql`select pg_advisory_xact_lock(hashtextextended(${purpose(deploymentId)}, 0))`.execute(transaction);
      const present = await transaction
        .selectFrom("deployment_keys")
        .select(["key_id", "secret"])
        .where("deployment_id", "=", deploymentId)
        .executeTakeFirst();
      const known = present && this.#secrets.unseal(present.secret, purpose(deploymentId));
      if (known !== undefined) return known;
      // The secret of the server has changed.
      if (present !== undefined)
        await transaction
          .updateTable("api_keys")
          .set({ deleted_at: sql<string>`now()` })
          .where("id", "=", present.key_id)
          .execute();
      const key_id = createId();
      await transaction
        .insertInto("api_keys")
        .values({
          id: key_id,
          name: `deployment ${deploymentId}`,
          key_hash: Buffer.from(hashKey(secret), "hex"),
          masked_key: maskKey(secret),
          project_id: projectId,
          deployment_id: deploymentId,
          created_by_id: deploymentId,
          created_by_email: "deployment@localhost",
          created_by_name: "Shoal",
          expires_at: null,
          lifetime_days: null,
          deleted_at: null,
        })
        .execute();
      const sealed = this.#secrets.seal(secret, purpose(deploymentId));
      await transaction
        .insertInto("deployment_keys")
        .values({ deployment_id: deploymentId, key_id, secret: sealed })
        .onConflict((conflict) => conflict.column("deployment_id").doUpdateSet({ key_id, secret: sealed }))
        .execute();
      return secret;
    });
  }
}
