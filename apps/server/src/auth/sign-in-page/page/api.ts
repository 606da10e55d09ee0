import type { AuthConnection, SubmitLogin } from "@shoal/schemas";

export type Connection = AuthConnection;

/** The service answered with an error. */
export class Refused extends Error {
  readonly status: number;
  /** The code of the first detail: why a link does not work. */
  readonly reason: string | undefined;

  constructor(status: number, message: string, reason?: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** A request that takes longer is repeated. */
const timeoutMs = 15_000;

/** The operations of this page. */
export class Api {
  readonly #address: string;
  #token: string | undefined;

  /** @param base - URL of the service. */
  constructor(base: string, connectionId: string, token: string | undefined) {
    this.#address = `${base}/auth/connections/${encodeURIComponent(connectionId)}`;
    this.#token = token;
  }

  async exchange(code: string): Promise<string> {
    const { jwt } = (await this.#call("POST", "/exchange", { code })) as { jwt: string };
    this.#token = jwt;
    return jwt;
  }

  async connection(): Promise<Connection> {
    return (await this.#call("GET", "")) as Connection;
  }

  async submit(answer: SubmitLogin): Promise<void> {
    await this.#call("POST", "/submit", answer);
  }

  async cancel(): Promise<void> {
    await this.#call("POST", "/cancel");
  }

  /** Calls `onEvent` for each part of the event stream until its end. */
  async follow(onEvent: () => void, signal: AbortSignal): Promise<void> {
    const answer = await fetch(`${this.#address}/events`, {
      headers: { ...this.#headers(), accept: "text/event-stream" },
      cache: "no-store",
      signal,
    });
    if (!answer.ok || answer.body === null) throw new Refused(answer.status, "");
    const reader = answer.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) onEvent();
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.#address + path, {
      method,
      headers: { ...this.#headers(), ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      cache: "no-store",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await answer.text();
    if (answer.ok) return text === "" ? undefined : JSON.parse(text);
    const { message, reason } = problemIn(text);
    throw new Refused(answer.status, message, reason);
  }

  #headers(): Record<string, string> {
    return this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
  }
}

function problemIn(text: string): { readonly message: string; readonly reason?: string } {
  try {
    const { details, message } = JSON.parse(text) as { details?: { code?: unknown }[]; message?: unknown };
    const reason = details?.[0]?.code;
    return {
      message: typeof message === "string" ? message : "",
      ...(typeof reason === "string" && { reason }),
    };
  } catch {
    return { message: "" };
  }
}
