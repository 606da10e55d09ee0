import type { Database } from "@shoal/database";
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Envelopes, SealedPlace } from "../storage/envelopes/envelopes.ts";
import { createReadCache, type ReadCache } from "../storage/read-cache.ts";

interface WebhookRef {
  readonly id: string;
  readonly project_id: string;
}

interface OpenedSecrets {
  readonly id: string;
  readonly present: Webhook;
  readonly previous: { readonly signer: Webhook; readonly expiresAtMs: number } | undefined;
}

/** A request's identity: the same in each attempt, except for the time. */
export interface SignedMessage {
  readonly eventId: string;
  readonly at: Date;
  readonly payload: string;
}

const secretBytes = 32;

export function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString("base64")}`;
}

const placeOf = ({ id, project_id }: WebhookRef, column: "secret" | "previous_secret"): SealedPlace => ({
  projectId: project_id,
  id,
  field: `webhooks.${column}`,
});

/** Seals the secrets of webhooks, and signs with them by https://www.standardwebhooks.com. */
export class SigningSecrets {
  readonly #query: Database["query"];
  readonly #envelopes: Envelopes;
  readonly #opened: ReadCache<OpenedSecrets>;

  constructor(database: Pick<Database, "query" | "isListening">, envelopes: Envelopes) {
    this.#query = database.query;
    this.#envelopes = envelopes;
    this.#opened = createReadCache({
      max: 1000,
      load: (id) => this.#load(id),
      idOf: ({ id }) => id,
      isLive: () => database.isListening(),
    });
  }

  seal(ref: WebhookRef, secret: string): Promise<Buffer> {
    return this.#envelopes.seal(secret, placeOf(ref, "secret"));
  }

  /** Seals the present secret for the column of the previous one. @throws {ServiceError} 500. */
  async sealAsPrevious(ref: WebhookRef, sealed: Buffer): Promise<Buffer> {
    const secret = await this.#envelopes.unseal(sealed, placeOf(ref, "secret"));
    return this.#envelopes.seal(secret, placeOf(ref, "previous_secret"));
  }

  /**
   * Returns the header `webhook-signature`, with a signature for each valid secret; `undefined` for a deleted webhook.
   * @throws {ServiceError} 500 when the secret cannot be decrypted.
   */
  async sign(webhookId: string, { at, eventId, payload }: SignedMessage): Promise<string | undefined> {
    const secrets = await this.#opened.get(webhookId);
    if (secrets === undefined) return undefined;
    const { present, previous } = secrets;
    const valid =
      previous !== undefined && previous.expiresAtMs > at.getTime() ? [present, previous.signer] : [present];
    return valid.map((signer) => signer.sign(eventId, at, payload)).join(" ");
  }

  /** Call when a webhook has changed on any server; `undefined` = all may have changed. */
  forget(id: string | undefined): void {
    if (id === undefined) this.#opened.forgetAll();
    else this.#opened.forget(id);
  }

  async #load(id: string): Promise<OpenedSecrets | undefined> {
    const row = await this.#query
      .selectFrom("webhooks")
      .select(["id", "project_id", "secret", "previous_secret", "previous_secret_expires_at"])
      .where("id", "=", id)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const open = async (sealed: Buffer, column: "secret" | "previous_secret") =>
      new Webhook(await this.#envelopes.unseal(sealed, placeOf(row, column)));
    const expiresAtMs = Date.parse(row.previous_secret_expires_at ?? "");
    return {
      id: row.id,
      present: await open(row.secret, "secret"),
      previous:
        row.previous_secret === null || !(expiresAtMs > Date.now())
          ? undefined
          : { signer: await open(row.previous_secret, "previous_secret"), expiresAtMs },
    };
  }
}
