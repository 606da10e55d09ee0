import Kernel from "@onkernel/sdk";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";

describe("what the vendor's SDK sends", () => {
  const test = useService(() => ["--placement", "process"]);

  it("creates browsers with fields of other versions", async () => {
    const headers: (string | null)[] = [];
    const kernel = new Kernel({
      apiKey: test.service.apiKey,
      baseURL: test.service.baseUrl,
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        headers.push(answer.headers.get("x-shoal-ignored-fields"));
        return answer;
      },
    });
    // The README of @onkernel/ai-sdk passes `browser`; older SDKs sent `persistence`.
    const body = { browser: "chromium", persistence: { id: "my-session" }, headless: true };
    const { session_id: id } = await kernel.browsers.create(body);
    const result = await kernel.browsers.process.exec(id, { command: "true", ...{ colour: "red" } });
    expect([result.exit_code, headers]).toEqual([0, ["body.browser, body.persistence", "body.colour"]]);
    await kernel.browsers.deleteByID(id);
  });

  it("makes one session of a create whose answer is lost, if the call has an idempotency key", async () => {
    let lost = 0;
    const kernel = new Kernel({
      apiKey: test.service.apiKey,
      baseURL: test.service.baseUrl,
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        if (init?.method?.toUpperCase() !== "POST" || lost > 0) return answer;
        lost++;
        await answer.arrayBuffer();
        throw new TypeError("The connection was cut behind the service.");
      },
    });
    const tags = { test: "lost-answer" };
    const made = await kernel.browsers.create({ tags }, { headers: { "Idempotency-Key": randomUUID() } });
    const sessions = (await test.shoal.browsers.list({ tags })).items.map((session) => session.session_id);
    expect([lost, sessions]).toEqual([1, [made.session_id]]);
    await kernel.browsers.deleteByID(made.session_id);
  });
});
