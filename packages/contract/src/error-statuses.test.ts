import { describe, expect, it } from "vitest";
import { contract } from "./contract.ts";
import { errorStatusesOf } from "./error-statuses.ts";

describe("the errors of an operation", () => {
  it("hold those that it declares and those that its kind implies, sorted", () => {
    const statuses = errorStatusesOf(contract.createBrowser);
    expect(statuses).toEqual([...new Set(statuses)].sort((a, b) => a - b));
    expect(statuses).toEqual(expect.arrayContaining([...contract.createBrowser.errors, 401, 404, 409, 413, 415, 422, 429, 503]));
  });

  it("hold a conflict for every operation inside a session", () => {
    expect(errorStatusesOf(contract.listFiles)).toEqual(expect.arrayContaining([400, 409]));
  });

  it("hold nothing about keys where none is needed", () => {
    expect(errorStatusesOf(contract.getHealth)).toEqual(expect.not.arrayContaining([401, 403, 422, 429]));
  });
});
