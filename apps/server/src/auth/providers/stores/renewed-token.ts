import pLimit from "p-limit";

const renewBeforeMs = 30_000;

/** An access token that expires. Concurrent callers share one sign-in. */
export class RenewedToken {
  readonly #signIn: (signal: AbortSignal) => Promise<{ readonly token: string; readonly seconds: number }>;
  readonly #now: () => number;
  readonly #oneAtATime = pLimit(1);
  #token: string | undefined;
  #untilMs = 0;

  constructor(
    signIn: (signal: AbortSignal) => Promise<{ readonly token: string; readonly seconds: number }>,
    now: () => number,
  ) {
    this.#signIn = signIn;
    this.#now = now;
  }

  get(signal: AbortSignal): Promise<string> {
    return this.#oneAtATime(async () => {
      if (this.#token !== undefined && this.#untilMs > this.#now()) return this.#token;
      const { seconds, token } = await this.#signIn(signal);
      this.#token = token;
      this.#untilMs = this.#now() + Math.max(seconds * 1000 - renewBeforeMs, 1000);
      return token;
    });
  }

  /** Call when the store refuses the token. */
  forget(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }
}
