import { Shoal } from "@shoal/client";
import { contract, type Endpoint } from "@shoal/contract";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { useService } from "./testing/service.ts";

const endpoints: readonly Endpoint[] = Object.values(contract);
const table = endpoints.map((endpoint) => ({ operationId: endpoint.operationId, endpoint }));
const shoalCommand = fileURLToPath(new URL("../../cli/dist/shoal.js", import.meta.url));

/** Commands whose words are not those of their operation. */
const commands: Readonly<Record<string, string>> = {
  "browsers.fs.setFilePermissions": "browsers fs set-permissions",
  "service.health": "health",
  "service.ready": "ready",
  "service.openapi": "openapi",
};
const commandOf = (operationId: string) => commands[operationId] ?? operationId.replaceAll(".", " ").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

describe("every operation", () => {
  const test = useService(() => ["--placement", "process"]);

  it.each(table)("$operationId has a client method", ({ operationId }) => {
    const method = operationId.split(".").reduce<unknown>((at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined), test.shoal);
    expect(method).toBeTypeOf("function");
  });

  it.each(table)("$operationId has a command", async ({ operationId }) => {
    const { stdout } = await promisify(execFile)(process.execPath, [shoalCommand, ...commandOf(operationId).split(" "), "--help"]);
    expect(stdout).toContain(`Usage: shoal ${commandOf(operationId)}`);
  }, 30_000);

  it.each(table)("$operationId is described in the service's openapi.json", async ({ endpoint }) => {
    const { paths } = (await test.shoal.service.openapi()) as { paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown>; summary: string }>> };
    const described = paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    expect(described).toMatchObject({ operationId: endpoint.operationId, summary: endpoint.summary });
    expect(Object.keys(described?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(endpoint.responses)));
  });

  it.each(table)("$operationId is routed, and asks for a key where it needs one", async ({ endpoint }) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "x");
    const answer = await fetch(test.service.baseUrl + path, { method: endpoint.method });
    expect(answer.status).toBe(endpoint.auth === "none" ? 200 : 401);
    if (endpoint.auth !== "none") expect(await answer.json()).toMatchObject({ code: "unauthorized" });
    const wrong = await fetch(test.service.baseUrl + path, { method: endpoint.method, headers: { authorization: `Bearer sk_shoal_${"x".repeat(43)}` } });
    expect(wrong.status).toBe(endpoint.auth === "none" ? 200 : 401);
  });

  it("makes up the whole of openapi.json", async () => {
    const { paths } = (await new Shoal({ baseUrl: test.service.baseUrl, apiKey: "none" }).service.openapi()) as { paths: Record<string, Record<string, { operationId?: string }>> };
    const described = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ operationId }) => operationId ?? []));
    expect(described.sort()).toEqual(table.map(({ operationId }) => operationId).sort());
  });
});
