import { ServiceError } from "@shoal/router";

interface Remembered {
  readonly fingerprint: string;
  readonly answer: Promise<unknown>;
}

/** Statuses that say nothing lasting about the request: its repetition is tried anew. */
const passing = new Set([401, 408, 425, 429]);

/** What of a call tells one request from another. */
interface RepeatableCall {
  readonly operationId: string;
  /** Whose keys they are: the API key's id, or the session's. */
  readonly scope: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Gives the first answer again to calls with the same `Idempotency-Key`. */
export class IdempotencyMemory {
  readonly #remembered = new Map<string, Remembered>();

  /** @throws {ServiceError} 422 `idempotency_conflict` for a key of another request, 400 for one that is no key. */
  async answer(key: string | undefined, call: RepeatableCall, handle: () => unknown): Promise<unknown> {
    if (key === undefined) return handle();
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw new ServiceError(400, "bad_request", "headers.idempotency-key: expected 1 to 255 printable ASCII characters, a UUID for instance.");
    const { scope, ...request } = call;
    const name = `${scope}\0${key}`;
    const fingerprint = JSON.stringify(request);
    const earlier = this.#remembered.get(name);
    if (earlier !== undefined) {
      if (earlier.fingerprint !== fingerprint) throw new ServiceError(422, "idempotency_conflict", `Idempotency-Key ${JSON.stringify(key)} was used for another request already. Use a new key for each new request.`);
      return earlier.answer;
    }
    const answer = (async () => handle())();
    this.#remembered.set(name, { fingerprint, answer });
    try {
      return await answer;
    } catch (error) {
      const lasting = ServiceError.isInstance(error) && error.status < 500 && !passing.has(error.status) && error.retryAfterSeconds === undefined;
      if (!lasting) this.#remembered.delete(name);
      throw error;
    }
  }
}
