import Kernel, { APIError } from "@onkernel/sdk";
import { describe, expect, it } from "vitest";
import { useService } from "./testing/service.ts";

/** Counts the requests that the vendor's SDK sends for one call. */
function countingFetch(): { readonly fetch: typeof globalThis.fetch; readonly sent: () => number } {
  let sent = 0;
  return {
    fetch: (input, init) => {
      sent++;
      return fetch(input, init);
    },
    sent: () => sent,
  };
}

describe("what the vendor's SDK sends", () => {
  const test = useService(() => ["--placement", "process"]);

  it("sends a call that is not implemented once", async () => {
    const counter = countingFetch();
    const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl, fetch: counter.fetch });
    const error: unknown = await kernel.apps.list().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(APIError);
    expect([(error as APIError).status, counter.sent()]).toEqual([501, 1]);
  });
});
