import { defineEndpoint, empty, json } from "@shoal/contract";
import type { Database } from "@shoal/database";
import { ServiceError, withStatus } from "@shoal/router";
import { configure, fastifyOptions, mount } from "@shoal/router/fastify";
import Fastify from "fastify";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";
import type { Access } from "../auth/access.ts";
import { createLog } from "../../log/log.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { createIdempotency } from "./idempotency.ts";
import { openTestDatabase } from "../../testing/test-database.ts";

const common = { area: "Test", plane: "control", method: "POST", summary: "Test.", errors: [409, 500] } as const;
const run = defineEndpoint({
  ...common,
  operationId: "runs.create",
  path: "/runs",
  responses: { 200: json(z.unknown()), 202: json(z.unknown()) },
});
const lease = defineEndpoint({
  ...common,
  operationId: "leases.acquire",
  path: "/leases",
  responses: { 200: json(z.unknown()), 204: empty },
});
const film = defineEndpoint({
  ...common,
  operationId: "films.make",
  path: "/films",
  responses: { 200: json(z.unknown()), 202: empty },
});
const connect = defineEndpoint({
  ...common,
  operationId: "connections.create",
  path: "/connections",
  responses: { 201: json(z.unknown()) },
});

let folder: string;
let database: Database;
const app = Fastify({ ...fastifyOptions });
let url: string;
let handled = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-statuses-"));
  ({ database } = await openTestDatabase(folder));
  const log = await createLog({ log_level: "info", log_format: "json" }, new PassThrough().resume());
  const idempotency = createIdempotency({
    database,
    secrets: createSecrets("a secret of the test"),
    retentionMs: 60_000,
    serverId: "a server",
    region: "here",
    log,
  });
  // Only the key's id is read.
  const context = () => ({ key: { id: "k1" }, projectId: "p1", baseUrl: "" }) as Access;
  configure(app);
  mount(app, run, () => withStatus(202, { run: ++handled }), { context, idempotency });
  mount(
    app,
    lease,
    () => {
      handled++;
      return undefined;
    },
    { context, idempotency },
  );
  mount(
    app,
    film,
    () => {
      handled++;
      return withStatus(202, undefined, { retryAfterSeconds: 7 });
    },
    { context, idempotency },
  );
  mount(
    app,
    connect,
    () => {
      handled++;
      throw new ServiceError(409, "conflict", "There is one.", { fields: { existing_id: "c1" } });
    },
    { context, idempotency },
  );
  url = await app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await app.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

it.each([
  ["a chosen status", "/runs", 202, null],
  ["an empty answer", "/leases", 204, null],
  ["an empty answer that is not final", "/films", 202, "7"],
  ["an error with additional fields", "/connections", 409, null],
] as const)("returns %s again, and does the work once", async (_what, path, status, retryAfter) => {
  const post = async () => {
    const answer = await fetch(url + path, { method: "POST", headers: { "idempotency-key": `once for ${path}` } });
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), text: await answer.text() };
  };
  const before = handled;
  const first = await post();
  expect(first).toMatchObject({ status, retryAfter });
  if (path === "/connections") expect(JSON.parse(first.text)).toMatchObject({ existing_id: "c1" });
  expect(await post()).toEqual(first);
  expect(handled).toBe(before + 1);
});
