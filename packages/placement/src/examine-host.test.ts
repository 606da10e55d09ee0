import { examineHost } from "./examine-host.ts";
import { describeWith } from "./testing/requirements.ts";
import { expect, it } from "vitest";

it("returns one sentence per finding, and resolves for a missing browser", async () => {
  const report = await examineHost({ chromium: "/nonexistent/chrome" });
  expect(report.chromium).toBeUndefined();
  expect(report.findings).toContainEqual({
    name: "chromium",
    state: "missing",
    detail: expect.stringMatching(/\.$/) as unknown,
    advice: expect.stringContaining("/nonexistent/chrome") as unknown,
  });
  for (const { detail, advice } of report.findings) {
    expect(detail).toMatch(/^\S.*\.$/);
    if (advice !== undefined) expect(advice).not.toContain("\n");
  }
});

describeWith(["chromium", "bubblewrap"], "examineHost on a complete host", () => {
  it("reports the browser, isolation and limits", async () => {
    const report = await examineHost();
    expect(report).toMatchObject({
      placement: "sandbox",
      userNamespaces: true,
      innerSandbox: true,
      bubblewrap: { version: expect.stringMatching(/^\d+\.\d+/) as unknown },
    });
    expect(report.chromium?.version).toMatch(/^\d+\./);
    expect(report.limits).toContain("at most 1024 processes and threads per session");
    // A complete host may lack the fonts of some scripts.
    expect(report.findings.filter(({ name, state }) => state !== "ok" && name !== "fonts")).toEqual([]);
  });
});
