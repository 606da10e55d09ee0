import type { Shoal } from "@shoal/client";

/** A service that the suite runs against. */
export interface OpenService {
  /** A client with a key of the whole organisation. */
  readonly shoal: Shoal;
  readonly apiKey: string;
  /** Where requests without the client go; nothing need listen there when `fetch` answers. */
  readonly baseUrl: string;
  readonly fetch: (input: string, init?: RequestInit) => Promise<Response>;
  /** The same with another key, or in another project. */
  clientWith(options: { readonly apiKey?: string; readonly project?: string }): Shoal;
  /** Whether permissions of files bind the session's programs: they do not bind root. */
  readonly enforcesPermissions: boolean;
  close(): Promise<void>;
}

/** A service while tests run; read its fields inside tests only. */
export interface ServiceUnderTest extends Omit<OpenService, "close"> {
  /** A text that no other test uses. */
  unique(prefix: string): string;
  /** Sends a request as it is, with the organisation's key unless the headers have another; a body that is no text goes as JSON. */
  send(method: string, path: string, given?: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }): Promise<Answer>;
}

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** JSON where it is JSON, `undefined` where there is none, else the text. */
  readonly body: unknown;
}

/** What of an error body a table compares. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
}

/** Status and code of an answer that is an error. */
export function errorIn({ body, status }: Answer): ErrorAnswer {
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
  return { status, code: String(code) };
}
