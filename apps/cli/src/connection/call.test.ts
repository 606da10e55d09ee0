import { createTransport } from "@shoal/transport";
import { expect, it } from "vitest";
import { plainRequest } from "./call.ts";
import { endpointOf } from "./endpoint.ts";
import { builtTable, sampleCall } from "../testing/arguments.ts";

it("sends the same request as the transport for every operation", async () => {
  const to = { baseUrl: "http://shoal.test", apiKey: "sk_test_0123456789", project: "research" };
  const table = builtTable().filter(
    ({ body, result }) => body !== "bytes" && body !== "multipart" && result !== "bytes" && result !== "events",
  );
  for (const spec of table) {
    const { params, query, body } = sampleCall(spec, "f", ({ hidden, kind }) => hidden !== true && kind !== "file");
    const request = { params, query, body: spec.body === "json" ? body : undefined };
    const plain = plainRequest(spec, request, to);
    let sent: Request | undefined;
    const transport = createTransport({
      ...to,
      validate: "off",
      maxRetries: 0,
      fetch: (asked) => {
        sent = asked;
        return Promise.resolve(new Response(null, { status: 500 }));
      },
    });
    const idempotencyKey = plain.headers["idempotency-key"];
    await transport
      .call(endpointOf(spec), request, idempotencyKey === undefined ? {} : { idempotencyKey })
      .catch(() => undefined);
    expect({ method: sent?.method, url: sent?.url, body: await sent?.text() }, spec.operationId).toEqual({
      method: plain.method,
      url: plain.url,
      body: plain.body ?? "",
    });
    expect(Object.fromEntries(sent?.headers ?? []), spec.operationId).toMatchObject(plain.headers);
  }
  expect(table.length).toBeGreaterThan(100);
});
