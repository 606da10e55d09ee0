import type { Database, Tables } from "@shoal/database";
import { deployerKeyEnded } from "@shoal/contract/refusals";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { sql, type Transaction } from "kysely";
import { createKeySecret, hashKey, maskKey } from "../../http/auth/api-key-secret.ts";
import type { Envelopes, SealedPlace } from "../../storage/envelopes/envelopes.ts";

const placeOf = (deploymentId: string, projectId: string): SealedPlace => ({
  projectId,
  id: deploymentId,
  field: "deployment_keys.secret",
});

/** Excludes {@link DeploymentKeys.releaseIdle} until the transaction ends: a deployment that runs again needs its key. */
export async function lockKeys(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(1936223076, 0)`.execute(transaction);
}

/** The API key of each deployment, which its programs use. It opens the deployment's project only. */
export class DeploymentKeys {
  readonly #query: Database["query"];
  readonly #envelopes: Pick<Envelopes, "seal" | "unseal">;

  constructor({ query }: Pick<Database, "query">, envelopes: Pick<Envelopes, "seal" | "unseal">) {
    this.#query = query;
    this.#envelopes = envelopes;
  }

  /** Returns the key's secret; creates the key at the first call. @throws {ServiceError} 409 when the limited key that deployed it has ended; 500 when the master key is missing or fails. */
  async secretOf(deploymentId: string, projectId: string): Promise<string> {
    await this.#requireIssuer(deploymentId);
    const row = await this.#query
      .selectFrom("deployment_keys")
      .innerJoin("api_keys", "api_keys.id", "key_id")
      .select("secret")
      .where("deployment_keys.deployment_id", "=", deploymentId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (row === undefined) return this.#create(deploymentId, projectId);
    return this.#envelopes.unseal(row.secret, placeOf(deploymentId, projectId));
  }

  async #requireIssuer(deploymentId: string): Promise<void> {
    const ended = await this.#query
      .selectFrom("deployments")
      .leftJoin("api_keys", "api_keys.id", "deployments.issuer_key_id")
      .select("deployments.id")
      .where("deployments.id", "=", deploymentId)
      .where("deployments.issuer_key_id", "is not", null)
      .where(
        sql<boolean>`(api_keys.id is null or api_keys.deleted_at is not null or api_keys.expires_at <= clock_timestamp())`,
      )
      .executeTakeFirst();
    if (ended !== undefined) throw ServiceError.of(deployerKeyEnded(deploymentId));
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
    const place = placeOf(deploymentId, projectId);
    // The key management may be slow: no transaction waits for it.
    const sealed = await this.#envelopes.seal(secret, place);
    const present = await this.#query.transaction().execute(async (transaction) => {
      // Two servers that start the first program at once must use one key.
      await sql`select pg_advisory_xact_lock(hashtextextended(${place.field + deploymentId}, 0))`.execute(transaction);
      const found = await transaction
        .selectFrom("deployment_keys")
        .innerJoin("api_keys", "api_keys.id", "key_id")
        .select("secret")
        .where("deployment_keys.deployment_id", "=", deploymentId)
        .where("deleted_at", "is", null)
        .executeTakeFirst();
      if (found !== undefined) return found.secret;
      const key_id = await insertKey(transaction, { deploymentId, projectId, secret });
      await transaction
        .insertInto("deployment_keys")
        .values({ deployment_id: deploymentId, key_id, secret: sealed })
        .onConflict((conflict) => conflict.column("deployment_id").doUpdateSet({ key_id, secret: sealed }))
        .execute();
      return undefined;
    });
    return present === undefined ? secret : this.#envelopes.unseal(present, place);
  }
}

async function insertKey(
  transaction: Transaction<Tables>,
  {
    deploymentId,
    projectId,
    secret,
  }: { readonly deploymentId: string; readonly projectId: string; readonly secret: string },
): Promise<string> {
  const id = createId();
  const ofIssuer = (column: "deleted_at" | "expires_at") =>
    sql<string | null>`(
      select k.${sql.ref(column)} from deployments d join api_keys k on k.id = d.issuer_key_id where d.id = ${deploymentId})`;
  // A deletion of the issuer waits, and then sees this key.
  await sql`select 1 from api_keys where id = (select issuer_key_id from deployments where id = ${deploymentId}) for share`.execute(
    transaction,
  );
  await transaction
    .insertInto("api_keys")
    .values({
      id,
      name: `deployment ${deploymentId}`,
      key_hash: Buffer.from(hashKey(secret), "hex"),
      masked_key: maskKey(secret),
      project_id: projectId,
      deployment_id: deploymentId,
      created_by_id: deploymentId,
      created_by_email: "deployment@localhost",
      created_by_name: "Shoal",
      expires_at: ofIssuer("expires_at"),
      lifetime_days: null,
      deleted_at: ofIssuer("deleted_at"),
      policy: sql<string | null>`(select policy from deployments where id = ${deploymentId})`,
      issuer_key_id: sql<string | null>`(select issuer_key_id from deployments where id = ${deploymentId})`,
    })
    .execute();
  return id;
}
