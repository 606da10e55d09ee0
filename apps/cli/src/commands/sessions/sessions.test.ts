import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRecordingProxy } from "../../testing/recording-proxy.ts";
import { noChromium, shoal, shoalPath, startProcess, startTestService, type TestService } from "../../testing/shoal.ts";
import { noScript, onTerminal, type TerminalRun } from "../../testing/terminal.ts";

const missing = await noChromium();
const withoutScript = noScript();

/** Empty for a process that has ended meanwhile. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

describe.skipIf(missing)(`short commands for sessions${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  let test: TestService;
  const at = (name: string) => join(test.folder, name);
  beforeAll(async () => {
    test = await startTestService();
    await test.json("browsers", "create", "--name", "box", "--timeout-seconds", "86400");
  });
  afterAll(() => test.close());
  const exec = async (...command: string[]) =>
    (await test.run("browsers", "process", "exec", "box", "--", ...command)).stdout;

  it("cp copies files to a session and back, into directories and under new names", async () => {
    writeFileSync(at("a.txt"), "one", { mode: 0o755 });
    writeFileSync(at("b.txt"), "two");
    expect(await test.run("cp", at("a.txt"), "box:")).toEqual({
      status: 0,
      stdout: "",
      stderr: `Copied ${at("a.txt")} to /home/shoal/a.txt.\n`,
    });
    expect((await test.run("cp", at("a.txt"), at("b.txt"), "box:new/folder/")).status).toBe(0);
    expect(
      await exec("sh", "-c", "cd new/folder && cat a.txt b.txt && test -x a.txt && ! test -x b.txt && echo ok"),
    ).toBe("onetwook\n");
    mkdirSync(at("back"));
    expect((await test.run("cp", "box:a.txt", "box:new/folder/b.txt", at("back"))).status).toBe(0);
    expect(readdirSync(at("back")).sort()).toEqual(["a.txt", "b.txt"]);
    expect((await test.run("cp", "box:a.txt", at("renamed"))).status).toBe(0);
    expect(readFileSync(at("renamed"), "utf8")).toBe("one");
  });

  it("cp reads stdin and writes stdout", async () => {
    expect(await shoal(["cp", "-", "box:piped"], { env: test.env, input: "through\n" })).toMatchObject({ status: 0 });
    expect(await test.run("cp", "box:piped", "-")).toEqual({ status: 0, stdout: "through\n", stderr: "" });
    expect((await shoal(["cp", ":piped", "-"], { env: { ...test.env, SHOAL_SESSION: "box" } })).stdout).toBe(
      "through\n",
    );
  });

  it("cp -r copies directories, and merges without following links", async () => {
    mkdirSync(at("site/.git"), { recursive: true });
    mkdirSync(at("site/empty"));
    writeFileSync(at("site/.git/config"), "kept");
    writeFileSync(at("site/index.html"), "new");
    expect((await test.run("cp", at("site"), "box:")).stderr).toContain("Pass -r");
    expect((await test.run("cp", "-r", at("site"), "box:")).stderr).toBe(
      `Copied ${at("site")} (2 files) to /home/shoal/site.\n`,
    );
    expect(await exec("sh", "-c", "cd site; ln -s /etc/passwd link; ls -A")).toBe(".git\nempty\nindex.html\nlink\n");
    expect((await test.run("cp", "box:site", at("nothing"))).stderr).toContain("Pass -r");
    const copied = await test.run("cp", "-r", "box:site", at("copy"));
    expect(copied).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/Copied 2 files \(7 B\)[^]*Skipped 1 symbolic links/) as unknown,
    });
    expect(readdirSync(at("copy")).sort()).toEqual([".git", "empty", "index.html"]);
    // Again, into the directory that exists.
    mkdirSync(at("target/site"), { recursive: true });
    writeFileSync(at("target/site/index.html"), "old");
    writeFileSync(at("target/site/own"), "mine");
    const refused = await test.run("cp", "-r", "box:site", at("target"));
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("pass --force") as unknown]);
    expect(readdirSync(at("target/site")).sort()).toEqual(["index.html", "own"]);
    expect(readFileSync(at("target/site/index.html"), "utf8")).toBe("old");
    expect((await test.run("cp", "-r", "--force", "box:site", at("target"))).status).toBe(0);
    expect(readFileSync(at("target/site/index.html"), "utf8")).toBe("new");
    expect(readdirSync(at("target/site")).sort()).toEqual([".git", "empty", "index.html", "own"]);
    mkdirSync(at("outside"));
    mkdirSync(at("trap/site"), { recursive: true });
    symlinkSync(at("outside"), at("trap/site/.git"));
    expect((await test.run("cp", "-r", "--force", "box:site", at("trap"))).stderr).toContain(
      "it exists and is not a directory",
    );
    expect(readdirSync(at("outside"))).toEqual([]);
    expect(readdirSync(test.folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("cp leaves no partial file or directory when it is stopped", async () => {
    writeFileSync(at("big.bin"), Buffer.alloc(2_000_000));
    expect((await test.run("cp", at("big.bin"), "box:big/big.bin")).status).toBe(0);
    mkdirSync(at("stopped"));
    for (const args of [["box:big/big.bin"], ["-r", "box:big"]]) {
      // The download never completes.
      const proxy = await startRecordingProxy(test.service.baseUrl);
      proxy.holdBack(/\/fs\/(read_file|download_dir_zip)/);
      const copy = startProcess(["cp", ...args, at("stopped")], {
        SHOAL_BASE_URL: proxy.baseUrl,
        SHOAL_API_KEY: test.service.apiKey,
      });
      await expect.poll(() => readdirSync(at("stopped")).length).toBe(1);
      copy.kill("SIGINT");
      expect((await copy.outcome).status).toBe(130);
      proxy.close();
      expect(readdirSync(at("stopped"))).toEqual([]);
    }
  });

  it("cp explains problems of its paths", async () => {
    for (const [args, message] of [
      [["a", "b"], "Name a session in the source or in the destination"],
      [["box:a", "box:b"], "Copy between two sessions in two steps"],
      [["box:none", at("x")], "/home/shoal/none: it does not exist"],
      [[at("none"), "box:"], "it does not exist"],
      [["absent:a", at("x")], "Browser absent was not found"],
      [[at("b.txt"), "absent:"], "Browser absent was not found"],
      [["box:a.txt", at("none/x")], "does not exist"],
      [[":a", at("x")], "no current session"],
    ] as const) {
      const { status, stderr } = await test.run("cp", ...args);
      expect(status, stderr).not.toBe(0);
      expect(stderr).toContain(message);
    }
    expect(() => statSync(at("x"))).toThrow();
  });

  it("cp completes sessions and their paths", async () => {
    const offered = async (...typed: string[]) =>
      (await test.run("__complete", "--", "cp", ...typed)).stdout.trimEnd().split("\n");
    expect(await offered("x", "bo")).toEqual([":files", expect.stringMatching(/^box:\t/) as unknown]);
    expect(await offered("box:/home/sho")).toEqual(["box:/home/shoal/"]);
    expect(await offered("./")).toEqual([":files"]);
  });

  it("top prints the load once without a terminal", async () => {
    expect((await test.run("top")).stdout).toMatch(/^SESSION +CPU +MEMORY +PAGES +CLIENTS +AGE +USED +PAGE\nbox +/);
    expect(JSON.parse((await test.run("top", "-o", "json")).stdout)).toMatchObject([{ name: "box", pages: 1 }]);
  });

  describe.skipIf(withoutScript)("top on a terminal", () => {
    const leave = "\u001b[?25h\u001b[?1049l";
    const shows = (run: TerminalRun, text: string | RegExp) => expect.poll(() => run.screen()).toMatch(text);

    it("ends a session after a question, and restores the screen", async () => {
      await test.json("browsers", "create", "--name", "doomed", "--timeout-seconds", "86400");
      const run = onTerminal(["top"], { env: test.env, columns: 80 });
      await shows(run, /\?1049h/);
      await shows(run, /2 sessions/);
      run.type("ssssss\u001b[B");
      await shows(run, /> doomed/);
      run.type("k");
      await shows(run, /End session doomed\?/);
      run.type("n");
      await shows(run, /Nothing was ended/);
      run.type("ky");
      await shows(run, /Ended session doomed\./);
      run.type("q");
      expect(await run.status).toBe(0);
      expect(run.screen().endsWith(leave)).toBe(true);
      expect((await test.run("browsers", "get", "doomed")).status).toBe(4);
    });

    it("restores the screen when it is killed", async () => {
      const mark = `killed-${randomUUID()}`;
      const run = onTerminal(["top"], { env: { ...test.env, SHOAL_TEST_MARK: mark } });
      await shows(run, /> box/);
      const { stdout } = spawnSync("pgrep", ["-f", `${shoalPath} top$`], { encoding: "utf8" });
      const own = stdout.split("\n").filter((pid) => pid !== "" && environmentOf(pid).includes(mark));
      expect(own).toHaveLength(1);
      for (const pid of own) process.kill(Number(pid), "SIGTERM");
      expect(await run.status).toBe(143);
      expect(run.screen().endsWith(leave)).toBe(true);
    });
  });

  it("ps lists running processes, and ended ones with --all", async () => {
    expect((await test.run("ps", "box")).stderr).toContain(
      "No running processes. Start one: shoal browsers process spawn",
    );
    await test.json("browsers", "process", "spawn", "box", "sleep", "86400");
    await test.json("browsers", "process", "spawn", "box", "false");
    expect((await test.run("ps", "box")).stdout).toMatch(
      /^PROCESS +PID +(CPU +MEMORY +)?AGE +COMMAND\n[0-9a-f-]{36} .*sleep 86400\n(.*false\n)?$/,
    );
    await expect
      .poll(async () => (await test.run("ps", "--all", "box")).stdout)
      .toMatch(/^PROCESS +PID +EXIT .*\n.*sleep 86400\n.* 1 .*false\n$/);
    expect(JSON.parse((await test.run("ps", "box", "-o", "json")).stdout)).toMatchObject([{ command: "sleep 86400" }]);
    expect((await test.run("ps")).stderr).toContain("no current session");
  });
});
