import { AbsolutePath, lazyObject, openEnum, openUnion } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import published from "../../openapi.json" with { type: "json" };
import * as contract from "../operations.ts";
import {
  bytes,
  defineEndpoint,
  empty,
  eventStream,
  json,
  multipart,
  optionalJson,
  page,
  tokenPage,
  type Contract,
} from "../base/endpoint.ts";
import { examples } from "../examples/index.ts";
import { sharedHeaders } from "./shared-headers.ts";
import { toOpenApi } from "./openapi.ts";
import { furtherKeywords, variants } from "./variants.ts";

type Node = Record<string, unknown>;

const Shared = lazyObject(() => ({ name: z.string(), size: z.optional(z.int()) }));
const Filled = lazyObject(() => ({ limit: z._default(z.int(), 20), shared: z.optional(Shared) }));
const Shape = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("round"), radius: z.number() }),
  z.object({ kind: z.literal("square"), side: z.number() }),
]);
const Round = lazyObject(() => ({ type: z.literal("round"), radius: z.number() }));
const Angular = lazyObject(() => ({ type: z.enum(["square", "star"]) }));
const Figure = openUnion("type", { round: Round, square: Angular, star: Angular });
const Taken = lazyObject(() => ({ code: z.string(), message: z.string(), existing_id: z.string() }));
const common = { area: "Test", plane: "control", summary: "Test.", errors: [400, 409, 429] } as const;
const own = {
  make: defineEndpoint({
    ...common,
    operationId: "make",
    method: "POST",
    path: "/things",
    body: optionalJson(Filled),
    responses: { 201: json(Filled) },
  }),
  list: defineEndpoint({
    ...common,
    operationId: "list",
    method: "GET",
    path: "/things/{id}",
    params: lazyObject(() => ({ id: z.string() })),
    query: lazyObject(() => ({
      limit: z._default(z.int(), 20),
      kinds: z.optional(z.array(z.string())),
      tags: z.optional(z.record(z.string(), z.string())),
      needed: z.string(),
    })),
    responses: { 200: page(Shared) },
  }),
  follow: defineEndpoint({
    ...common,
    operationId: "follow",
    method: "GET",
    path: "/events",
    responses: { 200: eventStream(z.object({ kind: openEnum("a", "b"), at: z.iso.datetime() })) },
  }),
  upload: defineEndpoint({
    ...common,
    operationId: "upload",
    method: "PUT",
    path: "/upload",
    body: multipart(z.object({ file: z.file(), path: AbsolutePath })),
    responses: { 200: empty },
  }),
  read: defineEndpoint({
    ...common,
    operationId: "read",
    method: "GET",
    path: "/read",
    auth: "none",
    responses: { 200: bytes("video/mp4") },
  }),
  film: defineEndpoint({
    ...common,
    operationId: "film",
    method: "GET",
    path: "/film",
    responses: { 200: bytes("video/mp4", { headers: ["X-Row-Count"] }), 202: empty },
  }),
  log: defineEndpoint({
    ...common,
    operationId: "log",
    method: "GET",
    path: "/log",
    responses: { 200: tokenPage(Figure) },
  }),
  send: defineEndpoint({
    ...common,
    area: "Sending",
    operationId: "send",
    method: "POST",
    path: "/send",
    body: multipart(
      z.object({
        files: z.array(z.object({ file: z.file() })),
        meta: z.object({ a: z.string() }),
        env: z.record(z.string(), z.string()),
        name: z.string(),
      }),
    ),
    responses: { 200: json(Figure), 202: json(Shared) },
    errorBodies: { 409: Taken },
  }),
  shape: defineEndpoint({
    ...common,
    operationId: "shape",
    method: "PUT",
    path: "/shape",
    body: json(Shape),
    responses: { 200: json(z.nullable(Shared)) },
  }),
};

function document(operations: Contract, descriptions?: Parameters<typeof toOpenApi>[1]["descriptions"]) {
  return toOpenApi(operations, {
    title: "Test",
    version: "1",
    schemas: { Shared, Filled, Figure, Round, Angular },
    ...(descriptions && { descriptions }),
  });
}

/** Returns the node at a path of keys; follows `$ref`s. */
function at(root: Node, ...keys: string[]): Node {
  let node = root;
  for (const key of keys) {
    node = node[key] as Node;
    if (typeof node.$ref === "string") node = at(root, ...node.$ref.slice(2).split("/"));
  }
  return node;
}

function forEach(node: unknown, visit: (node: Node) => void): void {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) visit(node as Node);
  for (const inner of Object.values(node)) forEach(inner, visit);
}

describe("toOpenApi", () => {
  it("refers only to existing components, and omits unused ones", () => {
    const result = toOpenApi(contract, { title: "Shoal", version: "1" });
    const refs = new Set<string>();
    forEach(result, ({ $ref }) => {
      if (typeof $ref === "string") refs.add($ref);
    });
    for (const ref of refs) expect(at(result, ...ref.slice(2).split("/"))).toBeTypeOf("object");
    const components = Object.keys(at(result, "components", "schemas"));
    expect(components.filter((name) => !refs.has(`#/components/schemas/${name}`))).toEqual([]);
    expect(JSON.stringify(result)).not.toContain("$defs");
  });

  it("returns the same text every time", () => {
    expect(JSON.stringify(document(own))).toBe(JSON.stringify(document(own)));
  });

  it("splits a component whose defaults are optional in requests and required in responses", () => {
    const result = document(own);
    expect(at(result, "paths", "/things", "post", "requestBody")).toMatchObject({
      required: false,
      content: { "application/json": { schema: { $ref: "#/components/schemas/FilledInput" } } },
    });
    expect(at(result, "components", "schemas", "FilledInput")).not.toHaveProperty("required");
    expect(at(result, "components", "schemas", "Filled")).toMatchObject({
      required: ["limit"],
      properties: { shared: { $ref: "#/components/schemas/Shared" } },
    });
    expect(Object.keys(at(result, "components", "schemas")).sort()).toEqual([
      "Angular",
      "ErrorBody",
      "ErrorDetail",
      "Figure",
      "Filled",
      "FilledInput",
      "Round",
      "Shared",
    ]);
  });

  it("leaves responses open for fields of a newer server, and omits zod's bounds of integers", () => {
    const shared = at(document(own), "components", "schemas", "Shared");
    expect(shared).toEqual({
      type: "object",
      properties: { name: { type: "string" }, size: { type: "integer" } },
      required: ["name"],
    });
  });

  it("converts a query into parameters", () => {
    expect(at(document(own), "paths", "/things/{id}", "get").parameters).toEqual([
      { name: "id", in: "path", required: true, schema: { type: "string" } },
      { name: "limit", in: "query", required: false, schema: { type: "integer", default: 20 } },
      {
        name: "kinds",
        in: "query",
        required: false,
        schema: { type: "array", items: { type: "string" } },
        style: "form",
        explode: false,
      },
      {
        name: "tags",
        in: "query",
        required: false,
        schema: { type: "object", additionalProperties: { type: "string" } },
        style: "deepObject",
        explode: true,
      },
      { name: "needed", in: "query", required: true, schema: { type: "string" } },
    ]);
  });

  it("describes the headers of pages, streams, limits and conflicts", () => {
    const result = document(own);
    expect(Object.keys(at(result, "paths", "/things/{id}", "get", "responses", "200", "headers"))).toEqual([
      "X-Request-Id",
      "X-Shoal-Ignored-Fields",
      "X-Limit",
      "X-Offset",
      "X-Has-More",
      "X-Next-Offset",
    ]);
    expect(Object.keys(at(result, "paths", "/events", "get", "responses", "200", "headers"))).toContain(
      "X-SSE-Content-Type",
    );
    expect(Object.keys(at(result, "paths", "/events", "get", "responses", "429", "headers"))).toContain("Retry-After");
    expect(Object.keys(at(result, "paths", "/events", "get", "responses", "409", "headers"))).toContain(
      "X-Should-Retry",
    );
    expect(at(result, "paths", "/events", "get").parameters).toMatchObject([
      { name: "Last-Event-ID" },
      { name: "X-Shoal-Stream" },
    ]);
    expect(at(result, "paths", "/things", "post").parameters).toMatchObject([
      { name: "Idempotency-Key", in: "header", required: false },
    ]);
  });

  it("describes a header of all authenticated operations once", () => {
    const result = toOpenApi(own, {
      title: "Test",
      version: "1",
      headers: { Tenant: { name: "X-Tenant", description: "Whose.", schema: { type: "string" } } },
    });
    expect(at(result, "components", "parameters", "Tenant")).toEqual({
      name: "X-Tenant",
      in: "header",
      required: false,
      description: "Whose.",
      schema: { type: "string" },
    });
    expect(at(result, "paths", "/log", "get").parameters).toEqual([{ $ref: "#/components/parameters/Tenant" }]);
    expect(at(result, "paths", "/read", "get")).not.toHaveProperty("parameters");
    expect(at(document(own), "components")).not.toHaveProperty("parameters");
  });

  it("describes events, uploads, bytes and unions", () => {
    const result = document(own);
    const stream = at(result, "paths", "/events", "get", "responses", "200", "content", "text/event-stream");
    expect(at(stream, "schema", "properties")).toEqual({
      kind: { type: "string", enum: ["a", "b"] },
      at: { type: "string", format: "date-time" },
    });
    expect(at(stream, "x-itemSchema", "properties", "data")).toEqual({
      type: "string",
      contentMediaType: "application/json",
      contentSchema: stream.schema,
    });
    expect(
      at(
        result,
        "paths",
        "/upload",
        "put",
        "requestBody",
        "content",
        "multipart/form-data",
        "schema",
        "properties",
        "file",
      ),
    ).toEqual({
      type: "string",
      format: "binary",
    });
    expect(at(result, "paths", "/upload", "put", "responses", "200")).not.toHaveProperty("content");
    expect(at(result, "paths", "/read", "get")).toMatchObject({
      security: [],
      responses: { 200: { content: { "video/mp4": { schema: { format: "binary" } } } } },
    });
    expect(at(result, "paths", "/shape", "put", "requestBody", "content", "application/json", "schema")).toMatchObject({
      discriminator: { propertyName: "kind" },
    });
    expect(at(result, "paths", "/shape", "put", "responses", "200", "content", "application/json", "schema")).toEqual({
      anyOf: [{ $ref: "#/components/schemas/Shared" }, { type: "null" }],
    });
  });

  it("maps discriminator values to components", () => {
    expect(at(document(own), "components", "schemas", "Figure")).toEqual({
      oneOf: [{ $ref: "#/components/schemas/Round" }, { $ref: "#/components/schemas/Angular" }],
      discriminator: {
        propertyName: "type",
        mapping: {
          round: "#/components/schemas/Round",
          square: "#/components/schemas/Angular",
          star: "#/components/schemas/Angular",
        },
      },
    });
  });

  it("includes every success status of an operation, and errors with more fields", () => {
    const result = document(own);
    const film = at(result, "paths", "/film", "get", "responses");
    expect(Object.keys(film)).toEqual(expect.arrayContaining(["200", "202", "400", "401", "409", "429", "503"]));
    expect(Object.keys(at(film, "200", "headers"))).toContain("X-Row-Count");
    expect(Object.keys(at(film, "202", "headers"))).toContain("Retry-After");
    expect(at(film, "202")).not.toHaveProperty("content");
    expect(Object.keys(at(result, "paths", "/log", "get", "responses", "200", "headers"))).toEqual([
      "X-Request-Id",
      "X-Limit",
      "X-Has-More",
      "X-Next-Page-Token",
    ]);
    const send = (...keys: string[]) => at(result, "paths", "/send", "post", "responses", ...keys);
    expect(send("202", "content", "application/json", "schema")).toMatchObject({
      properties: { size: { type: "integer" } },
    });
    expect(send("409", "content", "application/json", "schema")).toMatchObject({
      required: ["code", "message", "existing_id"],
    });
    expect(Object.keys(at(result, "paths", "/things", "post", "responses", "409", "headers"))).toContain(
      "X-Should-Retry",
    );
    expect(() =>
      document({ odd: { ...own.film, responses: { 200: bytes("video/mp4", { headers: ["X-Odd"] }) } } }),
    ).toThrow("The header X-Odd has no description");
  });

  it("describes the encoding of multipart parts", () => {
    const result = document(own);
    expect(at(result, "paths", "/send", "post", "requestBody", "content", "multipart/form-data", "encoding")).toEqual({
      files: { style: "deepObject", explode: true },
      meta: { contentType: "application/json" },
      env: { style: "deepObject", explode: true },
    });
    expect(at(result, "paths", "/upload", "put", "requestBody", "content", "multipart/form-data", "encoding")).toEqual({
      file: { contentType: "application/octet-stream" },
    });
  });

  it("accepts examples for existing components only, and orders areas by their descriptions", () => {
    const options = { title: "", version: "", schemas: { Shared, Filled, Figure, Round, Angular } };
    const result = toOpenApi(own, {
      ...options,
      examples: { Shared: [{ name: "a" }] },
      descriptions: { schemas: {}, operations: {}, areas: { Sending: "Sends.", Test: "Tests." } },
    });
    expect(at(result, "components", "schemas", "Shared").examples).toEqual([{ name: "a" }]);
    expect(result.tags).toEqual([
      { name: "Sending", description: "Sends." },
      { name: "Test", description: "Tests." },
    ]);
    expect(() => toOpenApi(own, { ...options, examples: { Nothing: [] } })).toThrow(
      "The example for Nothing has no component",
    );
  });

  it("adds descriptions to operations, parameters and fields", () => {
    const result = document(own, {
      schemas: {
        Shared: { description: "A thing.", fields: { name: { description: "Its name.", deprecated: true } } },
      },
      operations: {
        list: {
          description: "Newest first.",
          params: { fields: { id: { description: "Which." } } },
          query: { fields: { needed: { description: "Why.", deprecated: true } } },
        },
      },
    });
    expect(at(result, "components", "schemas", "Shared")).toMatchObject({
      description: "A thing.",
      properties: { name: { description: "Its name.", deprecated: true } },
    });
    const list = at(result, "paths", "/things/{id}", "get");
    expect(list).toMatchObject({ description: "Newest first." });
    expect(list.parameters).toContainEqual({
      name: "needed",
      in: "query",
      required: true,
      description: "Why.",
      deprecated: true,
      schema: { type: "string" },
    });
    expect(list.parameters).toContainEqual({
      name: "id",
      in: "path",
      required: true,
      description: "Which.",
      schema: { type: "string" },
    });
  });

  it("rejects two operations with one id or one route, and two names for one schema", () => {
    expect(() => document({ a: own.read, b: { ...own.read, path: "/b" } })).toThrow("Two operations are called read.");
    expect(() => document({ a: own.read, b: { ...own.read, operationId: "b" } })).toThrow(
      "Two operations answer GET /read.",
    );
    expect(() => toOpenApi(own, { title: "", version: "", schemas: { Shared, Same: Shared } })).toThrow(
      "Same and Shared are one schema",
    );
  });
});

/** Rules of a schema refer to fields that it describes elsewhere. */
function withoutRules(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutRules);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key]) => !["if", "then", "else", "not", "allOf", "examples"].includes(key),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutRules(inner)]));
}

describe("openapi.json", () => {
  it("has every operation, and describes each operation, parameter and field", () => {
    const silent: string[] = [];
    const operations = Object.values(published.paths).flatMap((item) => Object.values(item) as Node[]);
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
      Object.values(contract)
        .map(({ operationId }) => operationId)
        .sort(),
    );
    for (const operation of operations) {
      if (typeof operation.description !== "string") silent.push(String(operation.operationId));
      for (const parameter of (operation.parameters ?? []) as Node[])
        if (typeof (parameter.$ref ?? parameter.description) !== "string")
          silent.push(`${String(operation.operationId)} ${String(parameter.name)}`);
    }
    for (const [name, schema] of Object.entries(published.components.schemas)) {
      forEach(withoutRules(schema), (node) => {
        for (const [field, property] of Object.entries((node.properties ?? {}) as Record<string, Node>))
          if (typeof property.description !== "string") silent.push(`${name}.${field}`);
      });
    }
    expect(silent).toEqual([]);
  });

  it("matches the contract, apart from descriptions", () => {
    const withoutProse = (value: unknown) => {
      const copy: unknown = structuredClone(value);
      forEach(copy, (node) => {
        // `description` can also be a field name; `deprecated` comes from the comments too.
        if (typeof node.description === "string") delete node.description;
        if (node.deprecated === true) delete node.deprecated;
      });
      return copy;
    };
    expect(withoutProse(published)).toEqual(
      withoutProse(
        toOpenApi(contract, {
          ...published.info,
          descriptions: {
            schemas: {},
            operations: {},
            areas: Object.fromEntries(published.tags.map(({ name, description }) => [name, description])),
          },
          headers: sharedHeaders,
          examples,
          furtherKeywords,
          variants,
          // Only the service knows which operations it does not implement; `tools/openapi.mjs --check` compares them.
          notImplemented: new Set(
            Object.values<Record<string, { operationId: string; responses: object }>>(published.paths)
              .flatMap((item) => Object.values(item))
              .flatMap(({ operationId, responses }) => ("501" in responses ? [operationId] : [])),
          ),
        }),
      ),
    );
  });
});
