import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ForgingInstances, forgingInstances } from "../../testing/forging-instances.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let instances: ForgingInstances;
let server: TestServer;
beforeAll(async () => {
  instances = await forgingInstances();
  server = await startTestServer({ dialects: ["browserbase"] }, { aroundPlacement: instances.around });
});
afterAll(async () => {
  await server.close();
  instances.close();
});

it("lists logs up to a limit of bytes, because a session chooses the size of its events", async () => {
  const events = 60;
  const written = Promise.withResolvers<undefined>();
  instances.forge("GET /_instance/telemetry", (response) => {
    void (async () => {
      const text = "x".repeat(2 ** 19);
      for (let seq = 1; seq <= events; seq += 1) {
        const event = { ts: Date.now() * 1000, type: "console_log", category: "console", data: { text } };
        const line = JSON.stringify({ seq, event: { ...event, source: { kind: "cdp" } } });
        if (!response.write(`${line}\n`)) await once(response, "drain");
      }
      response.end();
      written.resolve(undefined);
    })();
  });
  const ask = (method: string, path: string, body?: object) =>
    server.request(method, `/browserbase/v1/sessions${path}`, {
      key: null,
      headers: { "x-bb-api-key": server.key },
      ...(body && { body }),
    });
  const { id } = (await ask("POST", "", { browserSettings: { logSession: true } })).body as { id: string };
  await written.promise;
  await expect
    .poll(async () => (await server.request("GET", `/browsers/${id}/telemetry/events?order=desc&limit=1`)).body)
    .toMatchObject([{ seq: events }]);
  const { body, status } = await ask("GET", `/${id}/logs`);
  const logs = body as unknown[];
  expect(status).toBe(200);
  expect(logs).not.toEqual([]);
  expect(logs.length).toBeLessThanOrEqual(16);
});
