import { bubblewrapFinding, examineHost } from "./examine-host.ts";
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

it("says for a bubblewrap that does not work whether the service starts without it", () => {
  const sandbox = { works: false, tools: undefined, reason: "It is not installed.", advice: "Install it." } as const;
  expect(bubblewrapFinding(sandbox, { isRequired: true, version: "" })).toMatchObject({
    state: "missing",
    detail: "It is not installed. The sandbox placement needs it.",
  });
  expect(bubblewrapFinding(sandbox, { isRequired: false, version: "" })).toMatchObject({
    state: "warning",
    detail: "It is not installed. Sessions would run as plain processes, without isolation.",
  });
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

  it("reports no box, no limits and no sleep for sessions that are plain processes by the setting", async () => {
    const { findings, limits, placement } = await examineHost({ placement: "process" });
    expect([placement, limits]).toEqual(["sandbox", []]);
    const text = Object.fromEntries(findings.map(({ detail, name }) => [name, detail]));
    expect(text.bubblewrap).toBe(
      "Bubblewrap works, but the setting placement is process. Sessions would run as plain processes, without isolation.",
    );
    expect(text.sleep).toContain("cannot sleep");
    expect(text.limits).toContain("is not limited");
    expect(text).not.toHaveProperty("user_namespaces");
    expect((await examineHost({ placement: "sandbox" })).findings).toEqual((await examineHost()).findings);
  });
});
