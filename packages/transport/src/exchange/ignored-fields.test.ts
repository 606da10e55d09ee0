import { getProfile } from "@shoal/contract";
import { afterEach, expect, it, vi } from "vitest";
import { createTransport, type TransportLogger } from "../index.ts";
import { profile, reply, serve } from "../node/testing/misbehaving-server.ts";

afterEach(() => vi.restoreAllMocks());

const params = { id_or_name: "p1" };
const fields = "body.timeoutSeconds (did you mean timeout_seconds?)";

async function written(logger: TransportLogger | undefined, calls: number): Promise<unknown[][]> {
  const lines: unknown[][] = [];
  vi.spyOn(console, "warn").mockImplementation((...line) => lines.push(line));
  await using server = await serve((_request, response) => {
    reply(response, 200, profile, { "x-shoal-ignored-fields": fields });
  });
  const transport = createTransport({ baseUrl: server.baseUrl, apiKey: "sk_test", logger });
  for (let call = 0; call < calls; call += 1) await transport.call(getProfile, { params });
  return lines;
}

it("writes fields that the service ignored to the console once, and only without a logger", async () => {
  const logged: unknown[][] = [];
  const logger = { debug: () => undefined, warn: (...line: unknown[]) => logged.push(line) };
  expect(await written(logger, 1)).toEqual([]);
  expect(logged).toEqual([[{ operation: "profiles.get", ignored_fields: fields }, "shoal ignored unknown fields"]]);
  expect(await written(undefined, 2)).toEqual([[`shoal: profiles.get ignored unknown fields: ${fields}`]]);
});
