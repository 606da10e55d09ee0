import { describe, expect, it } from "vitest";
import * as contract from "../operations.ts";
import { errorStatusesOf } from "./error-statuses.ts";

describe("the errors of an operation", () => {
  it("include declared statuses and statuses that its kind implies, sorted", () => {
    const statuses = errorStatusesOf(contract.createBrowser);
    expect(statuses).toEqual([...new Set(statuses)].sort((a, b) => a - b));
    expect(statuses).toEqual(
      expect.arrayContaining([...contract.createBrowser.errors, 401, 404, 409, 413, 415, 422, 429, 503]),
    );
  });

  it("include a conflict for every operation inside a session", () => {
    expect(errorStatusesOf(contract.listFiles)).toEqual(expect.arrayContaining([400, 409]));
  });

  it("exclude those about keys for an operation without authentication", () => {
    expect(errorStatusesOf(contract.getHealth)).toEqual(expect.not.arrayContaining([401, 403, 422, 429]));
  });
});
