import { instanceControl } from "@shoal/instance";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callInstance, InstanceRefusal, type Requestable } from "./call-instance.ts";

let body: object;
let server: Server;
let instance: Requestable;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(409, { "content-type": "application/json" }).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  instance = {
    async request({ method, path }) {
      const outgoing = httpRequest({ host: "127.0.0.1", port, method, path, agent: false }).end();
      const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
      return answer;
    },
  };
});
afterAll(() => {
  server.close();
});

async function refusal(answer: object): Promise<unknown> {
  body = answer;
  const call = callInstance(instance, instanceControl.reloadPolicies, { body: { revision: "0" } });
  return await call.catch((error: unknown) => error);
}

it("reports field, limit and hint of a refusal as data, without repeating them in the problem", async () => {
  const error = await refusal({
    code: "conflict",
    message: "body.viewport: this session is being recorded. Stop the recording first.",
    field: "body.viewport",
    limit: "1920 × 1080",
    hint: "Stop the recording first.",
  });
  expect(error).toBeInstanceOf(InstanceRefusal);
  expect(error).toMatchObject({
    status: 409,
    code: "conflict",
    field: "body.viewport",
    limit: "1920 × 1080",
    hint: "Stop the recording first.",
    problem: "this session is being recorded.",
    message: "this session is being recorded. Stop the recording first.",
  });
});

it("bounds the texts of a hostile instance", async () => {
  const long = "x".repeat(10_000);
  const error = await refusal({
    code: "conflict",
    message: `${long}: ${long} ${long}`,
    field: long,
    limit: long,
    hint: long,
  });
  const { field, hint, limit, message } = error as Record<string, string>;
  for (const text of [field, hint, limit, message]) expect(text?.length).toBeLessThanOrEqual(2_000);
});
