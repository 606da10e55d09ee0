import { lazyObject, SlugName, Tags } from "@shoal/schemas";
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
} from "@shoal/contract";
import * as z from "zod/mini";

const common = { area: "Test", plane: "control", summary: "Test.", errors: [400, 500] } as const;
const id = lazyObject(() => ({ id: z.string().check(z.minLength(1), z.maxLength(255)) }));
const Viewport = lazyObject(() => ({ width: z.int().check(z.minimum(1)), height: z.int() }));

/** Covers every kind of request field. */
const Creation = lazyObject(() => ({
  name: z.optional(SlugName),
  viewport: z.optional(Viewport),
  mode: z._default(z.enum(["fast", "slow"]), "fast"),
  items: z.optional(z.array(Viewport)),
  tags: z.optional(Tags),
  target: z.optional(
    z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("page"), url: z.string() }),
      z.object({ kind: z.literal("file"), path: z.string() }),
    ]),
  ),
  either: z.optional(z.union([z.object({ a: z.object({ deep: z.string() }) }), z.object({ b: z.number() })])),
  anything: z.optional(z.record(z.string(), z.unknown())),
}));

export const fixture = {
  get: defineEndpoint({
    ...common,
    operationId: "get",
    method: "GET",
    path: "/things/{id}",
    params: id,
    responses: { 200: json(z.unknown()) },
  }),
  list: defineEndpoint({
    ...common,
    operationId: "list",
    method: "GET",
    path: "/things",
    query: lazyObject(() => ({
      limit: z._default(z.int().check(z.minimum(1), z.maximum(100)), 20),
      offset: z._default(z.int(), 0),
      deep: z.optional(z.boolean()),
      kinds: z.optional(z.array(z.enum(["a", "b", "c"]))),
      tags: z.optional(z.record(z.string(), z.string())),
      name: z.optional(z.nullable(z.string())),
    })),
    responses: { 200: page(z.unknown()) },
  }),
  create: defineEndpoint({
    ...common,
    operationId: "create",
    method: "POST",
    path: "/things",
    body: json(Creation),
    responses: { 201: json(z.unknown()) },
  }),
  createLarge: defineEndpoint({
    ...common,
    operationId: "createLarge",
    method: "POST",
    path: "/large-things",
    body: json(Creation, { limitBytes: 3000 }),
    responses: { 201: json(z.unknown()) },
  }),
  update: defineEndpoint({
    ...common,
    operationId: "update",
    method: "PATCH",
    path: "/things/{id}",
    params: id,
    body: optionalJson(Creation),
    responses: { 200: json(z.unknown()) },
  }),
  remove: defineEndpoint({
    ...common,
    operationId: "remove",
    method: "DELETE",
    path: "/things/{id}",
    params: id,
    responses: { 204: empty },
  }),
  touch: defineEndpoint({
    ...common,
    operationId: "touch",
    method: "POST",
    path: "/things/{id}/touch",
    params: id,
    responses: { 201: empty },
  }),
  read: defineEndpoint({
    ...common,
    operationId: "read",
    method: "GET",
    path: "/things/{id}/content",
    params: id,
    responses: { 200: bytes("application/octet-stream") },
  }),
  write: defineEndpoint({
    ...common,
    operationId: "write",
    method: "PUT",
    path: "/things/{id}/content",
    params: id,
    body: bytes("application/octet-stream"),
    responses: { 200: json(z.unknown()) },
  }),
  upload: defineEndpoint({
    ...common,
    operationId: "upload",
    method: "POST",
    path: "/things/{id}/upload",
    params: id,
    body: multipart(z.looseObject({ file: z.file() })),
    responses: { 200: json(z.unknown()) },
  }),
  attach: defineEndpoint({
    ...common,
    operationId: "attach",
    method: "POST",
    path: "/things/{id}/attachments",
    params: id,
    body: multipart(z.object({ files: z.array(z.object({ path: z.string(), file: z.file() })) })),
    responses: { 200: json(z.unknown()) },
  }),
  listByToken: defineEndpoint({
    ...common,
    operationId: "listByToken",
    method: "GET",
    path: "/log",
    query: lazyObject(() => ({ limit: z._default(z.int(), 2), page_token: z.optional(z.string()) })),
    responses: { 200: tokenPage(z.unknown()) },
  }),
  lease: defineEndpoint({
    ...common,
    operationId: "lease",
    method: "POST",
    path: "/leases",
    responses: { 200: json(z.unknown()), 204: empty },
  }),
  render: defineEndpoint({
    ...common,
    operationId: "render",
    method: "GET",
    path: "/things/{id}/video",
    params: id,
    responses: { 200: bytes("video/mp4", { headers: ["X-Row-Count"] }), 202: empty },
  }),
  run: defineEndpoint({
    ...common,
    operationId: "run",
    method: "POST",
    path: "/runs",
    responses: { 200: json(z.unknown()), 202: json(z.unknown()) },
  }),
  follow: defineEndpoint({
    ...common,
    operationId: "follow",
    method: "GET",
    path: "/things/{id}/events",
    params: id,
    responses: { 200: eventStream(z.unknown()) },
  }),
};

export type Fixture = typeof fixture;
