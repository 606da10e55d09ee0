import { createProfile, deleteProfile, getHealth, getProfile, listProfiles, readFile, watchEvents } from "@shoal/contract";
import { describe, expect, it } from "vitest";
import { ApiError, ConnectionError, ContractError, createTransport, TimeoutError, type TransportOptions } from "./index.ts";
import { profile, reply, serve } from "./node/testing/misbehaving-server.ts";

const apiKey = "sk_secret_0123456789";
const params = { id_or_name: "p1" };
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error("did not reject");
    },
    (error: unknown) => error,
  );
const make = (baseUrl: string, options: Partial<TransportOptions> = {}) => createTransport({ baseUrl, apiKey, ...options });

describe("call", () => {
  it("sends the key, the query and the project, and gives the answer's own JSON", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, { ...profile, from_the_future: { deep: 1 } });
    });
    const transport = make(`${server.baseUrl}/base/`, { project: "team a", headers: { "x-mine": "1" } });
    const result = await transport.call(getProfile, { params: { id_or_name: "a/b ü?" } });
    expect(result).toEqual({ ...profile, from_the_future: { deep: 1 } });
    expect(server.seen[0]).toMatchObject({ method: "GET", url: "/base/profiles/a%2Fb%20%C3%BC%3F", headers: { authorization: `Bearer ${apiKey}`, "x-shoal-project": "team a", "x-mine": "1", accept: "application/json" } });
    expect(server.seen[0]?.headers).not.toHaveProperty("idempotency-key");
  });
});
