import { isLasting, keyOfAnotherRequest } from "@shoal/router";

interface Remembered {
  readonly fingerprint: string;
  readonly answer: Promise<unknown>;
}

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

  /** @throws {ServiceError} 422 `idempotency_conflict` for a key of another request. */
  async answer(key: string | undefined, call: RepeatableCall, handle: () => unknown): Promise<unknown> {
    if (key === undefined) return handle();
    const { scope, ...request } = call;
    const name = `${scope}\0${key}`;
    const fingerprint = JSON.stringify(request);
    const earlier = this.#remembered.get(name);
    if (earlier !== undefined) {
      if (earlier.fingerprint !== fingerprint) throw keyOfAnotherRequest(key);
      return earlier.answer;
    }
    const answer = (async () => handle())();
    this.#remembered.set(name, { fingerprint, answer });
    try {
      return await answer;
    } catch (error) {
      if (!isLasting(error)) this.#remembered.delete(name);
      throw error;
    }
  }
}
