import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { namesIn, useAnsweringService } from "../../testing/answering-service.ts";
import { shoal, shoalProcess } from "../../testing/shoal.ts";

const service = useAnsweringService();
const { env, folder, run } = service;

describe("programs in a session", () => {
  const b64 = (text: string) => Buffer.from(text).toString("base64");

  it("print on stdout and stderr and set the exit status", async () => {
    service.answers["browsers.process.exec"] = () => ({
      exit_code: 3,
      stdout_b64: b64("out\n"),
      stderr_b64: b64("err\n"),
      duration_ms: 5,
    });
    const exec = ["browsers", "process", "exec", "research", "--", "sh", "-c", "exit 3"];
    expect(await shoalProcess(exec, { env })).toEqual({
      status: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect(service.asked[0]?.body).toMatchObject({ command: "sh", args: ["-c", "exit 3"] });
    expect(await run("browsers", "process", "exec", "research", "ls", "-o", "json")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('"exit_code": 3') as unknown,
    });
    service.answers["browsers.process.exec"] = () => ({
      exit_code: 143,
      stdout_b64: "",
      stderr_b64: "",
      duration_ms: 5,
      timed_out: true,
    });
    expect(await run("browsers", "process", "exec", "research", "sleep", "9")).toMatchObject({
      status: 10,
      stderr: expect.stringContaining("reached its timeout") as unknown,
    });
  });

  it("print the result of Playwright code from an argument or stdin", async () => {
    service.answers["browsers.playwright.execute"] = (body) => ({
      success: true,
      result: { code: (body as { code: string }).code },
      stdout: "hello\n",
    });
    expect(await run("browsers", "playwright", "execute", "research", "return 1")).toEqual({
      status: 0,
      stdout: '{\n  "code": "return 1"\n}\n',
      stderr: "hello\n",
    });
    const typed = await shoal(["browsers", "playwright", "execute", "research", "-", "--query", "result.code"], {
      env,
      input: "return 2",
    });
    expect(typed.stdout).toBe("return 2\n");
    service.answers["browsers.playwright.execute"] = () => ({ success: false, error: "line 1: no" });
    expect(await run("browsers", "playwright", "execute", "research", "throw 1")).toEqual({
      status: 1,
      stdout: "",
      stderr: "error: line 1: no\n",
    });
  });

  it("load extensions from folders", async () => {
    mkdirSync(join(folder, "extension"));
    writeFileSync(join(folder, "extension", "manifest.json"), "{}");
    expect(await run("browsers", "extensions", "upload", "research", join(folder, "extension"))).toEqual({
      status: 0,
      stdout: "",
      stderr: "Loaded 1 extension.\n",
    });
    expect(service.asked[0]?.body).toMatchObject({ "extensions[0][name]": "extension" });
    expect(await namesIn(service.zip)).toEqual({ "manifest.json": "{}" });
  });
});
