import { expect, it } from "vitest";
import { AuditSearch, queryOf } from "./filters.ts";

const nowMs = Date.parse("2026-03-31T12:00:00Z");

it("reads the last day, or a period that ends at a given moment", () => {
  expect(queryOf(AuditSearch.parse({}), nowMs)).toEqual({
    start: "2026-03-30T12:00:00.000Z",
    end: "2026-03-31T12:00:00.000Z",
  });
  const search = AuditSearch.parse({
    period: "month",
    until: "2026-01-31T00:00:00Z",
    method: "POST",
    service: "webhooks",
  });
  expect(queryOf(search, nowMs)).toEqual({
    start: "2026-01-01T00:00:00.000Z",
    end: "2026-01-31T00:00:00.000Z",
    method: "POST",
    service: "webhooks",
  });
});

it("ignores invalid values of an address", () => {
  expect(AuditSearch.parse({ period: "year", until: "soon", method: "BREW", strategy: 1 })).toEqual({});
});
