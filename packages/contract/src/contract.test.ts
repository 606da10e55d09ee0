import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import * as contract from "./operations.ts";
import type { Endpoint } from "./base/endpoint.ts";

const endpoints: [name: string, endpoint: Endpoint][] = Object.entries(contract);

describe("contract", () => {
  it("has a unique operationId for every operation", () => {
    const ids = endpoints.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(endpoints)(
    "stores the response of %s for retries, or says why a retry repeats the work",
    (_, { body, idempotency, method, responses }) => {
      if (method !== "POST") {
        // Other methods are idempotent without a key.
        expect(idempotency).toBeUndefined();
      } else if (typeof idempotency === "object") {
        expect(idempotency.repeats).toMatch(/^[A-Z].{8,}\.$/);
      } else {
        // A stored response must be a value, and its request must fit into memory for the fingerprint.
        for (const { kind } of Object.values(responses)) expect(["json", "empty"]).toContain(kind);
        expect([undefined, "json", "multipart"]).toContain(body?.kind);
      }
    },
  );

  it("has unique methods and paths, even if placeholders are renamed", () => {
    const routes = endpoints.map(([, { method, path }]) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it.each([
    ["auth.context.get", "GET /auth/context"],
    ["organization.entitlements.get", "GET /org/entitlements"],
    ["telemetry.destinations.create", "POST /telemetry/destinations"],
    ["telemetry.destinations.list", "GET /telemetry/destinations"],
    ["telemetry.destinations.get", "GET /telemetry/destinations/{id_or_name}"],
    ["telemetry.destinations.update", "PATCH /telemetry/destinations/{id_or_name}"],
    ["telemetry.destinations.delete", "DELETE /telemetry/destinations/{id_or_name}"],
    ["auditLogs.exportDestinations.create", "POST /audit-logs/export/destinations"],
    ["auditLogs.exportDestinations.list", "GET /audit-logs/export/destinations"],
    ["auditLogs.exportDestinations.get", "GET /audit-logs/export/destinations/{id}"],
    ["auditLogs.exportDestinations.update", "PATCH /audit-logs/export/destinations/{id}"],
    ["auditLogs.exportDestinations.delete", "DELETE /audit-logs/export/destinations/{id}"],
    ["auditLogs.exportDestinations.test", "POST /audit-logs/export/destinations/{id}/test"],
  ])("declares %s, which the wire reference does not have yet", (id, request) => {
    expect(
      endpoints.filter(([, { operationId }]) => operationId === id).map(([, { method, path }]) => `${method} ${path}`),
    ).toEqual([request]);
  });

  it.each(endpoints)(
    "declares %s according to the rules",
    (
      _name,
      { area, auth, body, errorBodies = {}, errors, method, operationId, path, plane, query, responses, summary },
    ) => {
      expect(operationId).toMatch(/^[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+$/);
      expect(area).not.toBe("");
      expect(summary).toMatch(/^[A-Z][^\n]*\.$/);
      expect(path).toMatch(/^(?:\/(?:[a-z0-9_.-]+|\{[a-z_]+\}))+$/);
      if (plane === "instance") expect(path).toMatch(/^\/browsers\/\{id\}\/./);
      expect(Object.keys(responses)).not.toHaveLength(0);
      for (const status of Object.keys(responses))
        expect(Number(status)).toSatisfy((code: number) => code >= 200 && code < 300);
      expect(errors).toEqual([...new Set(errors)].sort((a, b) => a - b));
      expect(errors).toContain(500);
      expect(errors).toEqual(expect.arrayContaining(Object.keys(errorBodies).map(Number)));
      expect(Object.values(responses).filter(({ kind }) => kind === "empty").length).toBeLessThan(2);
      for (const { kind } of Object.values(responses))
        if (kind === "tokenPage")
          expect(
            query && z.safeParse(query, { page_token: 7 }).error?.issues.map(({ path: [field] }) => field),
          ).toContain("page_token");
      if (auth !== "none") expect(errors).toContain(401);
      if (method === "GET") expect(body).toBeUndefined();
      if (body !== undefined) expect(errors).toContain(400);
    },
  );
});
