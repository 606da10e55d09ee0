import { contract, type Endpoint } from "@shoal/contract";
import document from "@shoal/contract/openapi.json" with { type: "json" };
import type { Handler } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { sampleOf, type SampleSchema } from "./sample-values.ts";

interface EchoDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly responses: Readonly<
              Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: SampleSchema }>> }>
            >;
          }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, SampleSchema>> };
}
export const { paths, components } = document as unknown as EchoDocument;

export interface EchoedCall {
  readonly operationId: string;
  readonly params: object;
  readonly query: object;
  /** For a multipart body, the names of its parts. */
  readonly body: unknown;
}

/** Answers every operation with a sample, and records valid requests. Invalid requests get the router's 400. */
export interface EchoService {
  readonly baseUrl: string;
  readonly calls: EchoedCall[];
  /** For a list, returns one item of its page. */
  sample(operationId: string): unknown;
  close(): Promise<void>;
}

export async function startEchoService(): Promise<EchoService> {
  const calls: EchoedCall[] = [];
  const samples = new Map<string, unknown>();
  for (const methods of Object.values(paths))
    for (const { operationId, responses } of Object.values(methods)) {
      const success = Object.entries(responses).find(
        ([status, { content }]) => status.startsWith("2") && content !== undefined,
      )?.[1];
      const schema = Object.values(success?.content ?? {})[0]?.schema;
      const item = schema?.type === "array" ? schema.items : schema;
      if (item) samples.set(operationId, sampleOf(item, components.schemas, { all: true }));
    }

  // A generated sample would be a failed program.
  samples.set("browsers.process.exec", {
    exit_code: 0,
    stdout_b64: "b3V0Cg==",
    stderr_b64: "",
    duration_ms: 1,
    timed_out: false,
  });

  const router = new HttpRouter({ context: () => undefined });
  for (const endpoint of Object.values<Endpoint>(contract)) router.mount(endpoint, handlerOf(endpoint));

  function handlerOf(endpoint: Endpoint): Handler<Endpoint> {
    const [content] = Object.values(endpoint.responses).filter(({ kind }) => kind !== "empty");
    const { operationId } = endpoint;
    return async (call) => {
      const given: unknown = call.body;
      calls.push({ operationId, params: call.params, query: call.query, body: await readable(given) });
      const value = samples.get(operationId);
      switch (content?.kind) {
        case undefined:
          return undefined;
        case "json":
          return isListOf(operationId) ? [value] : value;
        case "page":
          return { items: [value], hasMore: false, nextOffset: undefined };
        case "tokenPage":
          return { items: [value], hasMore: false, nextPageToken: undefined };
        case "events":
          return Readable.from([{ id: "1", data: value }]);
        case "bytes":
          return { stream: Readable.from([Buffer.from(`bytes of ${operationId}`)]) };
        case "empty":
          return undefined;
      }
    };
  }

  const server = createServer(router.handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    calls,
    sample: (operationId) => samples.get(operationId),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function isListOf(operationId: string): boolean {
  for (const methods of Object.values(paths))
    for (const operation of Object.values(methods))
      if (operation.operationId === operationId)
        return Object.values(operation.responses).some(
          ({ content }) => Object.values(content ?? {})[0]?.schema?.type === "array",
        );
  return false;
}

/** For comparison: streams become text, parts become their names. */
async function readable(body: unknown): Promise<unknown> {
  if (body instanceof Readable) return (await body.toArray()).join("");
  if (typeof body === "object" && body !== null && Symbol.asyncIterator in body) {
    const names: string[] = [];
    for await (const part of body as AsyncIterable<{ name: string; stream?: Readable }>) {
      names.push(part.name);
      part.stream?.resume();
    }
    return names.sort();
  }
  return body;
}
