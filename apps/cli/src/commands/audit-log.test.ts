import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useAnsweringService } from "../testing/answering-service.ts";

const service = useAnsweringService();
const { folder, run } = service;

describe("the audit log", () => {
  it("is verified, and a failed verification sets the exit status", async () => {
    const head = `2:${"a".repeat(64)}`;
    service.answers["auditLogs.verify"] = () => ({ valid: true, entries: 2, head });
    expect(await run("audit-logs", "verify", "--known-head", head, "--query", "head")).toEqual({
      status: 0,
      stdout: `${head}\n`,
      stderr: "",
    });
    service.answers["auditLogs.verify"] = () => ({
      valid: false,
      entries: 2,
      head,
      problem: { kind: "changed", sequence: 1, message: "Entry 1 is not as it was written." },
    });
    expect(await run("audit-logs", "verify", "-o", "json")).toEqual({
      status: 1,
      stdout: expect.stringContaining('"valid": false') as unknown,
      stderr: "error: The audit log failed verification. Entry 1 is not as it was written.\n",
    });
  });

  it("is downloaded in chunks into one file", async () => {
    const { Readable } = await import("node:stream");
    const chunks = ["first\n", "second\n"];
    service.answers["auditLogs.exportChunk"] = () => {
      const index = service.asked.filter(({ operationId }) => operationId === "auditLogs.exportChunk").length - 1;
      return {
        stream: Readable.from([chunks[index]]),
        headers: {
          "x-has-more": String(index === 0),
          "x-row-count": "1",
          ...(index === 0 && { "x-next-cursor": "c2" }),
        },
      };
    };
    const range = ["--start", "2026-01-01T00:00:00Z", "--end", "2026-01-02T00:00:00Z"];
    expect(await run("audit-logs", "download", ...range)).toEqual({ status: 0, stdout: "first\nsecond\n", stderr: "" });
    expect(service.asked.map(({ query }) => (query as { cursor?: string }).cursor)).toEqual([undefined, "c2"]);
    service.asked = [];
    expect((await run("audit-logs", "download", ...range, "-f", join(folder, "audit"))).stderr).toMatch(
      /^Saved \S+ \(13 B\)\. It has 2 entries\.\n$/,
    );
  });

  it("is requested again after a damaged chunk, and fails if every attempt is damaged", async () => {
    const { Readable } = await import("node:stream");
    const sum = createHash("sha256").update("whole\n").digest("hex");
    const parts = ["half", "whole\n"];
    service.answers["auditLogs.exportChunk"] = () => ({
      stream: Readable.from([parts.shift() ?? "other"]),
      headers: { "x-has-more": "false", "x-row-count": "1", "x-content-sha256": sum },
    });
    const range = ["--start", "2026-01-01T00:00:00Z", "--end", "2026-01-02T00:00:00Z"];
    expect(await run("audit-logs", "download", ...range)).toEqual({ status: 0, stdout: "whole\n", stderr: "" });
    const file = join(folder, "never");
    expect(await run("audit-logs", "download", ...range, "-f", file)).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("SHA-256 of the received bytes differs") as unknown,
    });
    expect(existsSync(file)).toBe(false);
  });
});
