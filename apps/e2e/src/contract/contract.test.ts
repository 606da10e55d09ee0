import { Shoal } from "@shoal/client";
import { contract, type Endpoint } from "@shoal/contract";
import { describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";

const endpoints: readonly Endpoint[] = Object.values(contract);
const table = endpoints.map((endpoint) => ({ operationId: endpoint.operationId, endpoint }));
describe("every operation", () => {
  const test = useService(() => ["--placement", "process"]);

  it.each(table)("$operationId has a client method", ({ operationId }) => {
    const method = operationId
      .split(".")
      .reduce<unknown>(
        (at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined),
        test.shoal,
      );
    expect(method).toBeTypeOf("function");
  });

  it.each(table)("$operationId is described in the service's openapi.json", async ({ endpoint }) => {
    const { paths } = (await test.shoal.service.openapi()) as {
      paths: Record<
        string,
        Record<string, { operationId: string; responses: Record<string, unknown>; summary: string }>
      >;
    };
    const described = paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    expect(described).toMatchObject({ operationId: endpoint.operationId, summary: endpoint.summary });
    expect(Object.keys(described?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(endpoint.responses)));
  });

  it.each(table)("$operationId is routed, and requires a key unless it is public", async ({ endpoint }) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "x");
    const answer = await fetch(test.service.baseUrl + path, { method: endpoint.method });
    expect([404, 405]).not.toContain(answer.status);
    expect(answer.status === 401).toBe(endpoint.auth !== "none");
    if (endpoint.auth !== "none") expect(await answer.json()).toMatchObject({ code: "unauthorized" });
    const wrong = await fetch(test.service.baseUrl + path, {
      method: endpoint.method,
      headers: { authorization: `Bearer sk_shoal_${"x".repeat(43)}` },
    });
    expect(wrong.status === 401).toBe(endpoint.auth !== "none");
  });

  it("accounts for all of openapi.json", async () => {
    const { paths } = (await new Shoal({ baseUrl: test.service.baseUrl, apiKey: "none" }).service.openapi()) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const described = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
    );
    expect(described.sort()).toEqual(table.map(({ operationId }) => operationId).sort());
  });
});
