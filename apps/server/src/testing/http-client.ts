import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";

export interface TestReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface SentRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpClient {
  send(url: string, request: SentRequest): Promise<TestReply>;
  close(): void;
}

/** Sends requests for a quarter of the processor time of `fetch`. It follows no redirects. */
export function createHttpClient(): HttpClient {
  const agent = new Agent({ keepAlive: true });
  return {
    async send(url, { body, headers, method, signal }) {
      const encoded = body instanceof FormData ? new Response(body) : undefined;
      const type = encoded?.headers.get("content-type");
      const sent = encoded === undefined ? (body as string | undefined) : Buffer.from(await encoded.arrayBuffer());
      return new Promise((resolve, reject) => {
        const request = httpRequest(url, {
          agent,
          method,
          headers: {
            accept: "*/*",
            ...(type != null && { "content-type": type }),
            // Not automatic for DELETE.
            ...(sent !== undefined && { "content-length": Buffer.byteLength(sent) }),
            ...headers,
          },
          ...(signal && { signal }),
        });
        // The service may answer, and close the connection, before it has the whole body: this error has no effect then.
        request.on("error", reject);
        request.on("response", (answer) => {
          const { headersDistinct, statusCode = 0 } = answer;
          const fields = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          );
          text(answer).then((answered) => {
            const parsed: unknown = answered === "" ? undefined : JSON.parse(answered);
            resolve({ status: statusCode, headers: new Headers(fields), body: parsed });
          }, reject);
        });
        request.end(sent);
      });
    },
    close() {
      agent.destroy();
    },
  };
}
