import { contract, type Endpoint } from "@shoal/contract";
import type { MultipartPart } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import type { EventStream } from "@shoal/transport";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod/mini";
import { Shoal } from "./index.ts";
import { sampleOf } from "./node/testing/sample.ts";

interface Seen {
  readonly operationId: string;
  readonly params: object;
  readonly query: object;
  readonly body: unknown;
}

const endpoints = Object.values<Endpoint>(contract);
const paramNames = ({ path }: Endpoint) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
const seen: Seen[] = [];

async function bodyOf(body: unknown): Promise<unknown> {
  if (body instanceof Readable) return Buffer.concat(await body.toArray()).toString();
  if (typeof body !== "object" || body === null || !(Symbol.asyncIterator in body)) return body;
  const names: string[] = [];
  for await (const part of body as AsyncIterable<MultipartPart>) {
    // `files[0][file]` belongs to the field `files`.
    names.push(part.name.replace(/\[.*/, ""));
    if (part.kind === "file") part.stream.resume();
  }
  return names;
}

function answerOf({ responses }: Endpoint): unknown {
  // The lowest status with a body is the result.
  const contents = Object.values(responses);
  const content = contents.find(({ kind }) => kind !== "empty");
  switch (content?.kind) {
    case "json":
      return sampleOf(content.schema);
    case "page":
      return { items: [sampleOf(content.item)], hasMore: false, nextOffset: undefined };
    case "tokenPage":
      return { items: [sampleOf(content.item)], nextPageToken: undefined };
    case "events":
      return Readable.from([{ id: "1", data: sampleOf(content.event) }]);
    case "bytes":
      return { stream: Readable.from([Buffer.from("content")]) };
    default:
      return undefined;
  }
}

const router = new HttpRouter({ context: () => undefined });
for (const endpoint of endpoints) {
  const handler = async ({ body, params, query }: { body: unknown; params: object; query: object }) => {
    seen.push({ operationId: endpoint.operationId, params, query, body: await bodyOf(body) });
    return answerOf(endpoint);
  };
  router.mount(endpoint, handler);
}
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  router.handle(request, response);
});
let shoal: Shoal;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  shoal = new Shoal({
    apiKey: "sk_secret_0123456789",
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    direct: false,
    maxRetries: 0,
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Ids, body and query, in the order of all methods. */
function argumentsFor(endpoint: Endpoint): { ids: string[]; body: unknown; query: unknown } {
  const { body, query } = endpoint;
  return {
    ids: paramNames(endpoint).map((name) => `${name} 1/ä`),
    body: body === undefined ? undefined : body.kind === "bytes" ? "content" : sampleOf(body.schema),
    query: query === undefined ? undefined : sampleOf(query as z.core.$ZodType),
  };
}

async function settle(result: unknown): Promise<unknown> {
  if (typeof result === "object" && result !== null && "next" in result)
    return (await (result as EventStream<unknown>).next()).value;
  const value: unknown = await result;
  return typeof value === "object" && value !== null && "stream" in value
    ? new Response(value.stream as ReadableStream).text()
    : value;
}

describe("every operation of the contract", () => {
  it.each(endpoints.map((endpoint) => [endpoint.operationId, endpoint] as const))(
    "%s is a method that sends the right request",
    async (operationId, endpoint) => {
      const path = operationId.split(".");
      const name = path.pop() ?? "";
      const resource = path.reduce<unknown>((at, part) => Reflect.get(at as object, part), shoal);
      const method = Reflect.get(resource as object, name) as (...given: unknown[]) => unknown;
      expect(method).toBeTypeOf("function");

      const { ids, body, query } = argumentsFor(endpoint);
      seen.length = 0;
      const result = await settle(
        method.apply(resource, [
          ...ids,
          ...(body === undefined ? [] : [body]),
          ...(query === undefined ? [] : [query]),
        ]),
      );
      expect(seen).toHaveLength(1);
      const params = Object.fromEntries(paramNames(endpoint).map((param, at) => [param, ids[at]]));
      expect(seen[0]).toMatchObject({
        operationId,
        params,
        ...(query !== undefined && { query }),
        ...(body !== undefined && endpoint.body?.kind !== "multipart" && { body }),
      });
      if (endpoint.body?.kind === "multipart")
        expect(new Set(seen[0]?.body as string[])).toEqual(new Set(Object.keys(body as object)));
      if (Object.values(endpoint.responses).every(({ kind }) => kind === "empty")) expect(result).toBeUndefined();
      else expect(result).toBeDefined();
    },
  );
});
