import { Shoal } from "@shoal/client";
import { describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { runService } from "../testing/service.ts";

describe.skipIf(missingFor("process"))("the audit log", () => {
  it("contains every request answered before a SIGTERM, and is intact after it", async () => {
    const first = await runService(["--placement", "process"]);
    const { baseUrl, apiKey } = first.service;
    const start = new Date(Date.now() - 60_000).toISOString();
    // As many as possible until the service refuses requests.
    const answered: string[] = [];
    let isStopping = false;
    const shoal = new Shoal({ baseUrl, apiKey, maxRetries: 0 });
    const callers = Array.from({ length: 4 }, async () => {
      while (!isStopping) {
        const profile = await shoal.profiles.create({}).catch(() => undefined);
        if (profile === undefined) return;
        answered.push(profile.id);
      }
    });
    while (answered.length < 50) await shoal.service.health();
    await first.service.stop();
    isStopping = true;
    await Promise.all(callers);

    const second = await runService(["--placement", "process"], { dataDir: first.folder });
    try {
      const end = new Date(Date.now() + 60_000).toISOString();
      const lines = await new Response(
        second.shoal.auditLogs.download({ start, end, format: "jsonl", service: "profiles" }),
      ).text();
      const created = lines.split("\n").filter((line) => line.includes('"status":201')).length;
      expect(created).toBeGreaterThanOrEqual(answered.length);
      expect(await second.shoal.auditLogs.verify()).toMatchObject({ valid: true });
    } finally {
      await second.end();
    }
  });
});
