import type { Shoal } from "@shoal/client";

export interface OpenService {
  /** A client with a key of the whole organisation. */
  readonly shoal: Shoal;
  readonly apiKey: string;
  /** Base URL for requests without the client; need not be reachable if `fetch` is set. */
  readonly baseUrl: string;
  readonly fetch: (input: string, init?: RequestInit) => Promise<Response>;
  clientWith(options: { readonly apiKey?: string; readonly project?: string }): Shoal;
  /** Whether file permissions apply to the session's programs; false for root. */
  readonly enforcesPermissions: boolean;
  /** Whether a session has a box, whose programs cannot bypass a list of hosts. */
  readonly hasBoxes: boolean;
  close(): Promise<void>;
}

/** A service during tests; read its fields inside tests only. */
export interface ServiceUnderTest extends Omit<OpenService, "close"> {
  /** Returns a text that is unique among all tests. */
  unique(prefix: string): string;
  /** Uses the organisation's key unless `headers` has another; sends a body other than a string as JSON. */
  send(
    method: string,
    path: string,
    given?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, the text of another answer, or `undefined` if empty. */
  readonly body: unknown;
}

/** The compared fields of an error body. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
}

export function errorIn({ body, status }: Answer): ErrorAnswer {
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
  return { status, code: String(code) };
}
