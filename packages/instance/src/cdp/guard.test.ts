import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCdpGuard } from "./guard.ts";

const message = (value: unknown) => Buffer.from(JSON.stringify(value));

describe("in a box", () => {
  const guard = createCdpGuard("/");

  it("answers Browser.close and lets the client go", () => {
    expect(guard(message({ id: 7, method: "Browser.close" }))).toEqual({ answerAndClose: '{"id":7,"result":{}}' });
    expect(guard(message({ id: 8, method: "Browser.close", sessionId: "s" }))).toEqual({ answerAndClose: '{"id":8,"result":{},"sessionId":"s"}' });
  });

  it("passes what only mentions it", () => {
    expect(guard(message({ id: 1, method: "Runtime.evaluate", params: { expression: "'Browser.close'" } }))).toBe("pass");
    expect(guard(message({ id: 1, method: "Browser.closeTab" }))).toBe("pass");
    expect(guard(Buffer.from('{"method":"Browser.close"'))).toBe("pass");
    expect(guard(message(["Browser.close"]))).toBe("pass");
    expect(guard(message(null))).toBe("pass");
  });

  it("changes no path", () => {
    expect(guard(message({ id: 1, method: "Browser.setDownloadBehavior", params: { downloadPath: "/../x" } }))).toBe("pass");
  });
});

describe("where a directory plays the root", () => {
  let root: string;
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "shoal-guard-")));
    mkdirSync(join(root, "home"));
    symlinkSync(tmpdir(), join(root, "out"));
    symlinkSync("home", join(root, "in"));
  });
  afterAll(() => {
    rmSync(root, { recursive: true });
  });

  it("maps the paths of each command that takes some", () => {
    const guard = createCdpGuard(root);
    for (const [method, params, mapped] of [
      [
        "Browser.setDownloadBehavior",
        { behavior: "allow", downloadPath: "/home/new/dir" },
        { behavior: "allow", downloadPath: join(root, "home/new/dir") },
      ],
      ["Page.setDownloadBehavior", { downloadPath: "/in/x" }, { downloadPath: join(root, "home/x") }],
      ["DOM.setFileInputFiles", { files: ["/home/a", "/home/b"], nodeId: 1 }, { files: [join(root, "home/a"), join(root, "home/b")], nodeId: 1 }],
      ["Extensions.loadUnpacked", { path: "/" }, { path: root }],
    ] as const) {
      expect(guard(message({ id: 3, method, params, sessionId: "s" }))).toEqual({
        replace: JSON.stringify({ id: 3, method, params: mapped, sessionId: "s" }),
      });
    }
    expect(guard(message({ id: 3, method: "Browser.setDownloadBehavior", params: { behavior: "deny" } }))).toBe("pass");
  });

  it.each(["/../etc/passwd", "/home/../../etc", "relative", "", "/out/x", "/home/\0"])("refuses %j, which leaves it", (path) => {
    const verdict = createCdpGuard(root)(message({ id: 3, method: "DOM.setFileInputFiles", params: { files: ["/home/a", path] } }));
    expect(verdict).toHaveProperty("answer");
    expect(JSON.parse((verdict as { answer: string }).answer)).toMatchObject({ id: 3, error: { code: -32602 } });
  });
});
