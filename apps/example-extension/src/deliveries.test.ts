import { ApiError, Shoal } from "@shoal/client";
import { toOpenApi } from "@shoal/contract/openapi";
import { type FakeShoal, startFakeShoal } from "@shoal/testing";
import { createTransport } from "@shoal/transport";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as endpoints from "./endpoints.ts";
import { Deliveries } from "./index.ts";
import { createDeliveryServer } from "./server.ts";

// The team's server on a real port; Shoal is the fake in this process.
let fake: FakeShoal;
let shoal: Shoal;
let app: ReturnType<typeof createDeliveryServer>;
let baseUrl = "";

beforeAll(async () => {
  fake = await startFakeShoal();
  shoal = new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl });
  app = createDeliveryServer({ shoalUrl: fake.baseUrl });
  baseUrl = await app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await app.close();
  await fake.close();
});

const deliveriesWith = (apiKey: string) => new Deliveries(createTransport({ baseUrl, apiKey }));

async function refusalOf(call: Promise<unknown>): Promise<{ status: number; code: string; message: string }> {
  const outcome: unknown = await call.then(
    () => "it succeeded",
    (reason: unknown) => reason,
  );
  if (!ApiError.isInstance(outcome)) throw new Error(`The call was not refused: ${String(outcome)}`);
  const { code, message, status } = outcome;
  return { status, code, message };
}

it("copies files out of a session, and keeps them after its end", async () => {
  const deliveries = deliveriesWith(fake.apiKey);
  const { session_id: browserId } = await shoal.browsers.create();
  for (const name of ["a.txt", "b.txt"])
    await shoal.browsers.fs.writeFile(browserId, `content of ${name}`, { path: `/home/shoal/Downloads/${name}` });
  const first = await deliveries.create({
    browser_id: browserId,
    path: "/home/shoal/Downloads/a.txt",
    note: "the invoice",
  });
  expect(first).toMatchObject({
    browser_id: browserId,
    size_bytes: 16,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    note: "the invoice",
  });
  const second = await deliveries.create({ browser_id: browserId, path: "/home/shoal/Downloads/b.txt" });
  await shoal.browsers.delete(browserId);

  const page = await deliveries.list({ browser_id: browserId, limit: 1 });
  expect([page.items, page.hasMore]).toEqual([[second], true]);
  const all: string[] = [];
  for await (const { id } of page) all.push(id);
  expect(all).toEqual([second.id, first.id]);
  expect(await deliveries.get(first.id)).toEqual(first);
  expect(await new Response((await deliveries.read(first.id)).stream).text()).toBe("content of a.txt");
});

it("passes on Shoal's refusals with their text", async () => {
  const deliveries = deliveriesWith(fake.apiKey);
  await using browser = await shoal.browsers.create();
  expect(await refusalOf(deliveries.create({ browser_id: "nosuchsession", path: "/x" }))).toMatchObject({
    status: 404,
    message: expect.stringContaining("nosuchsession") as unknown,
  });
  expect(await refusalOf(deliveries.create({ browser_id: browser.session_id, path: "/nowhere" }))).toMatchObject({
    status: 404,
    message: expect.stringContaining("/nowhere") as unknown,
  });
  expect(await refusalOf(deliveriesWith(`sk_shoal_${"x".repeat(43)}`).list())).toMatchObject({
    status: 401,
    code: "unauthorized",
  });
  expect((await fetch(`${baseUrl}/deliveries`)).status).toBe(401);
});

it("validates requests like Shoal", async () => {
  expect(await refusalOf(deliveriesWith(fake.apiKey).create({ browser_id: "a", path: "relative" }))).toMatchObject({
    status: 400,
    message: expect.stringContaining("body.path: must be absolute") as unknown,
  });
  expect(await refusalOf(deliveriesWith(fake.apiKey).get("nowhere"))).toMatchObject({ status: 404, code: "not_found" });
  const unknown = await fetch(`${baseUrl}/deliveries`, {
    method: "POST",
    headers: { authorization: `Bearer ${fake.apiKey}`, "content-type": "application/json" },
    body: '{"browser_id":"a","path":"a","colour":"red"}',
  });
  expect([unknown.status, unknown.headers.get("x-shoal-ignored-fields")]).toEqual([400, "body.colour"]);
});

it("shows each project its own deliveries", async () => {
  const { id: project } = await shoal.projects.create({ name: "other" });
  const { key } = await shoal.apiKeys.create({ name: "of another project", project_id: project });
  const other = new Shoal({ apiKey: key, baseUrl: fake.baseUrl });
  await using browser = await other.browsers.create();
  await other.browsers.fs.writeFile(browser.session_id, "x", { path: "/tmp/x" });
  const { id } = await deliveriesWith(key).create({ browser_id: browser.session_id, path: "/tmp/x" });
  expect((await deliveriesWith(key).list()).items.map((delivery) => delivery.id)).toEqual([id]);
  expect((await refusalOf(deliveriesWith(fake.apiKey).get(id))).status).toBe(404);
});

it("is described like Shoal", () => {
  const { paths } = toOpenApi(endpoints, { title: "Deliveries", version: "1.0.0" }) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  expect(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${operationId}: ${method} ${path}`),
    ),
  ).toEqual([
    "deliveries.create: post /deliveries",
    "deliveries.list: get /deliveries",
    "deliveries.get: get /deliveries/{id}",
    "deliveries.read: get /deliveries/{id}/content",
  ]);
});
