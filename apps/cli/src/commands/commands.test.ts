import { eventually } from "@shoal/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RecordingProxy, startRecordingProxy } from "../testing/recording-proxy.ts";
import {
  bareEnv,
  noChromium,
  shoal,
  shoalPath,
  shoalProcess,
  start,
  startProcess,
  startTestService,
  type TestService,
} from "../testing/shoal.ts";

const missing = await noChromium();

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

const run = (...args: string[]) => test.run(...args);
const idPattern = /^[a-z0-9]{24}$/;

it.each([
  [["browser-pools", "flush", "workers"], "Replace all idle browsers of pool workers?"],
  [["browser-pools", "update", "workers", "--discard-all-idle"], "Replace all idle browsers of pool workers?"],
  [["browsers", "fs", "delete-file", "files", "/home/shoal/a"], "Delete /home/shoal/a in browser files?"],
  [["profiles", "rollback", "shopping", "--version", "1"], "Restore an earlier state of profile shopping?"],
  [
    ["profiles", "storage-state", "import", "shopping", "--cookies", "[]", "--origins", "[]"],
    "Replace the cookies and local storage of profile shopping?",
  ],
  [
    ["projects", "update", "research", "--status", "archived"],
    "Archive project research? Its keys stop working until it is active again.",
  ],
])("requires --yes without a terminal: %j", async (args, question) => {
  expect(await run(...args)).toEqual({
    status: 2,
    stdout: "",
    stderr: `error: Cannot ask for confirmation without a terminal: ${question}\n  Pass --yes to confirm.\n`,
  });
  expect((await run(...args, "--yes")).status).toBe(4);
  expect((await run(...args, "--dry-run")).status).toBe(0);
});

it.each([
  [["browser-pools", "update", "workers", "--size", "2"]],
  [["projects", "update", "research", "--status", "active"]],
  [["browsers", "delete", "research"]],
])("needs no confirmation: %j", async (args) => {
  expect((await run(...args)).status).toBe(4);
});

describe("profiles", () => {
  it("are created, listed, renamed and deleted", async () => {
    expect(await run("profiles", "list")).toEqual({
      status: 0,
      stdout: "",
      stderr: "No profiles. Create one: shoal profiles create --name NAME\n",
    });
    const made = (await test.json("profiles", "create", "--name", "shopping")) as { id: string; created_at: string };
    expect(made).toMatchObject({ id: expect.stringMatching(idPattern) as unknown, name: "shopping" });
    const shown = made.created_at.replace("T", " ").replace(/\.\d+Z/, "Z");

    expect(await run("profiles", "get", "shopping")).toEqual({
      status: 0,
      stdout: `id          ${made.id}\nname        shopping\ncreated_at  ${shown}\n`,
      stderr: "",
    });
    expect(await test.json("profile", "get", made.id)).toEqual(made);
    expect((await run("profiles", "list")).stdout).toBe(
      `ID                        NAME      CREATED\n${made.id}  shopping  ${shown}\n`,
    );

    expect(await test.json("profiles", "update", "shopping", "--name", "groceries")).toMatchObject({
      id: made.id,
      name: "groceries",
    });
    expect(await run("profiles", "delete", "groceries")).toEqual({
      status: 2,
      stdout: "",
      stderr:
        "error: Cannot ask for confirmation without a terminal: Delete profile groceries and its saved states?\n  Pass --yes to confirm.\n",
    });
    expect(await run("profiles", "delete", "groceries", "--yes")).toEqual({
      status: 0,
      stdout: "",
      stderr: "Deleted profile groceries.\n",
    });
    expect((await run("profiles", "get", "groceries")).status).toBe(4);
  });

  it("are listed by page, all at once, and as lines", async () => {
    for (const name of ["page-1", "page-2", "page-3"]) await test.json("profiles", "create", "--name", name);
    const first = await run("profiles", "list", "--limit", "2");
    expect(first).toMatchObject({ status: 0, stderr: "More items: pass --all, or --offset 2.\n" });
    expect(first.stdout.trim().split("\n")).toHaveLength(3);
    const lines = await run("profiles", "list", "--limit", "2", "--all", "-o", "jsonl");
    expect(
      lines.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { name: string }).name)
        .sort(),
    ).toEqual(["page-1", "page-2", "page-3"]);
    expect(await test.json("profiles", "list", "--all", "--limit", "1")).toHaveLength(3);
    expect(await test.json("profiles", "list", "--search", "page-2")).toMatchObject([{ name: "page-2" }]);
  });
});

describe("API keys", () => {
  it("are created, shown once, renamed, replaced and deleted", async () => {
    const made = await run("api-keys", "create", "--name", "ci", "--expires-in", "9d");
    expect(made).toMatchObject({
      status: 0,
      stderr: "\nSave the key now; it is not shown again. Programs read it from SHOAL_API_KEY.\n",
    });
    const field = (name: string) => new RegExp(`^${name} +(.*)$`, "m").exec(made.stdout)?.[1] ?? "";
    expect(field("key")).toMatch(/^sk_shoal_/);
    const env = { SHOAL_BASE_URL: test.service.baseUrl, SHOAL_API_KEY: field("key") };
    expect((await shoal(["profiles", "list", "-o", "json"], { env })).status).toBe(0);

    expect(await test.json("api-keys", "update", field("id"), "--name", "deploy")).toMatchObject({ name: "deploy" });
    expect((await run("api-keys", "list")).stdout).toMatch(
      /^ID +NAME +KEY +CREATED +EXPIRES\n\w{24} +deploy +sk_shoal_\S+ /,
    );
    expect(await test.json("api-keys", "get", field("id"))).not.toHaveProperty("key");
    const rotated = (await test.json("api-keys", "rotate", field("id"), "--yes")) as { id: string; key: string };
    expect(rotated.key).not.toBe(field("key"));
    for (const id of [field("id"), rotated.id])
      expect([0, 4]).toContain((await run("api-keys", "delete", id, "--yes")).status);
    expect(await shoal(["profiles", "list"], { env })).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("The key came from SHOAL_API_KEY.") as unknown,
    });
  });
});

describe("the service", () => {
  it("reports its health, its readiness and its OpenAPI document", async () => {
    expect(await run("health")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^status {3}ok\nversion {2}\d/) as unknown,
    });
    expect(await test.json("openapi")).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) as unknown });
    expect((await run("openapi")).stdout).toMatch(/^\{\n {2}"openapi"/);
    const elsewhere = { SHOAL_DATA_DIR: join(test.folder, "none"), SHOAL_BASE_URL: test.service.baseUrl };
    expect(await shoal(["health"], { env: elsewhere }), "without a key").toMatchObject({ status: 0 });
    expect((await run("ready")).status).toBe(missing === undefined ? 0 : 8);
  });

  it("is checked by doctor on this machine", async () => {
    const doctor = (...flags: string[]) => shoalProcess(["doctor", ...flags], { env: test.env });
    const report = await doctor("-o", "json");
    const findings = JSON.parse(report.stdout) as { name: string; state: string }[];
    expect(findings.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["isolation", "chromium", "database", "server", "data_dir"]),
    );
    expect(report.status).toBe(findings.some(({ state }) => state === "missing") ? 12 : 0);
    expect((await doctor()).stdout).toMatch(/^[✓!✗] isolation /);
  });
});

describe("errors", () => {
  const code = (name: string, status: number) => `  code ${name}, status ${String(status)}, request `;

  it("name flags and commands in their advice", async () => {
    expect((await run("profiles", "get", "nope")).stderr).toMatch(
      new RegExp(
        `^error: Profile nope was not found in this project\\.\n  List the profiles with \`shoal profiles list\`, or create it with \`shoal profiles create\`\\.\n${code("not_found", 404)}\\S+\n$`,
      ),
    );
    expect(await run("browsers", "create", "--timeout-seconds", "1")).toMatchObject({
      status: 6,
      stderr: expect.stringContaining("error: --timeout-seconds: expected at least 10\n") as unknown,
    });
    expect(await run("browsers", "create", "--region", "eu")).toMatchObject({
      status: 6,
      stderr: expect.stringContaining("error: --region: region eu has no running server") as unknown,
    });
    expect(await run("browsers", "create", "--invocation-id", "i")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("error: --invocation-id: ") as unknown,
    });
    expect(await run("auth", "connections", "login", "none")).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(/`shoal auth connections list`[^]*not_found/) as unknown,
    });
    await test.json("profiles", "create", "--name", "taken");
    expect(await run("profiles", "create", "--name", "taken")).toMatchObject({
      status: 5,
      stderr: expect.stringContaining(code("name_taken", 409)) as unknown,
    });
    expect(await run("profiles", "list", "--project", "nope")).toMatchObject({ status: 4 });
  });

  it("distinguish an unreachable service, a slow service and a missing key", async () => {
    const env = { SHOAL_API_KEY: "sk_x" };
    expect(await shoal(["profiles", "list", "--base-url", "http://user:hunter2@127.0.0.1:9"], { env })).toMatchObject({
      status: 2,
      stderr: expect.not.stringContaining("hunter2") as unknown,
    });
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const address = `http://127.0.0.1:${String((closed.address() as AddressInfo).port)}`;
    await once(closed.close(), "close");
    expect(await shoal(["profiles", "list", "--base-url", address], { env })).toMatchObject({
      status: 9,
      stderr: expect.stringContaining("Start the service with `shoal serve`") as unknown,
    });
    // It never answers.
    await using silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const toSilent = ["--base-url", `http://127.0.0.1:${String(port)}`, "--request-timeout", "0.2"];
    expect(await shoal(["profiles", "list", ...toSilent], { env })).toMatchObject({
      status: 10,
      stderr: expect.stringContaining("Raise --request-timeout") as unknown,
    });
    expect(await shoal(["profiles", "list"], { env: { SHOAL_DATA_DIR: join(test.folder, "none") } })).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("set SHOAL_API_KEY") as unknown,
    });
    expect(await run("profiles", "list", "--base-url", "http://127.0.0.1:9")).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("is only for") as unknown,
    });
  });
});

describe.skipIf(missing)(`browsers${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  beforeAll(async () => {
    await test.json("browsers", "create", "--name", "files", "--timeout-seconds", "86400");
  });

  it("are started, found, changed and ended, with next steps", async () => {
    const made = await run(
      "browsers",
      "create",
      "--name",
      "research",
      "--tag",
      "team=search",
      "--viewport",
      "800x600",
      "-t",
      "7200",
    );
    expect(made.status, made.stderr).toBe(0);
    expect(made.stdout).toMatch(/^session_id +\w{24}\nname +research\n/);
    expect(made.stdout).toMatch(/^cdp_ws_url +ws:\/\/\S+jwt=\S+$/m);
    expect(made.stdout).toMatch(/^viewport +800x600$/m);
    expect(made.stderr).toBe(
      "\nConnect with Playwright: chromium.connect(playwright_ws_url) or chromium.connectOverCDP(cdp_ws_url), or Puppeteer: puppeteer.connect({ browserWSEndpoint: cdp_ws_url }).\nThe session ends after 7200 idle seconds, or with: shoal browsers delete research\n",
    );
    const id = /\w{24}/.exec(made.stdout)?.[0] ?? "";
    expect(await test.json("browsers", "get", "research")).toMatchObject({ session_id: id, tags: { team: "search" } });
    await expect
      .poll(async () => (await run("browsers", "list", "--tag", "team=search")).stdout)
      .toMatch(
        new RegExp(`^ID +NAME +STATUS +PAGE +AGE +LAST USED\n${id}  research  (idle|in use) +about:blank +\\d+ \\w+ +`),
      );
    expect(
      await test.json("browsers", "update", "research", "--tag", "team=other", "--name", "null"),
    ).not.toHaveProperty("name");
    expect((await run("browsers", "update", id)).stderr).toContain("Nothing to change. Pass --name");
    expect(await run("browsers", "view", id)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`/browser/live/${id}.`) as unknown,
    });
    expect(await run("browsers", "delete", id)).toEqual({ status: 0, stdout: "", stderr: `Ended browser ${id}.\n` });
    expect((await run("browsers", "get", id)).status).toBe(4);
    expect((await run("browsers", "list", "--status", "deleted")).stdout).toMatch(/STATUS.*\n.*ended: deleted/);
    const { stderr } = await run("browsers", "create", "-o", "json");
    expect(stderr).toBe("");
  });

  it("have files to write, read, describe, move and delete", async () => {
    const fs = (...args: string[]) => run("browsers", "fs", ...args);
    expect(await fs("create-directory", "files", "/home/shoal/w")).toEqual({
      status: 0,
      stdout: "",
      stderr: "Created /home/shoal/w.\n",
    });
    expect(
      await shoal(["browsers", "fs", "write-file", "files", "/home/shoal/w/a.txt", "--mode", "600"], {
        env: test.env,
        input: "hello\n",
      }),
    ).toMatchObject({ status: 0, stderr: "Wrote /home/shoal/w/a.txt.\n" });
    expect(await fs("read-file", "files", "/home/shoal/w/a.txt")).toEqual({ status: 0, stdout: "hello\n", stderr: "" });
    expect((await fs("list-files", "files", "/home/shoal/w")).stdout).toMatch(
      /^MODE +SIZE +CHANGED +NAME\n-rw------- +6 +\S+ \S+ +a\.txt\n$/,
    );
    expect(await test.json("browsers", "fs", "file-info", "files", "/home/shoal/w/a.txt")).toMatchObject({
      size_bytes: 6,
      mode: "-rw-------",
    });
    const offered = async (typed: string) =>
      (await run("__complete", "--", "browsers", "fs", "read-file", "files", typed)).stdout.split("\n");
    expect(await offered("/home/shoal/w/")).toEqual(["/home/shoal/w/a.txt", ""]);
    expect(await offered("/home/sho")).toEqual(["/home/shoal/", ""]);
    // Local file names would be wrong here.
    expect(await offered("no-such")).toEqual([""]);
    expect((await fs("set-permissions", "files", "/home/shoal/w/a.txt", "644")).stderr).toBe(
      "Changed /home/shoal/w/a.txt.\n",
    );
    expect((await fs("set-permissions", "files", "/home/shoal/w/a.txt", "rwx")).stderr).toContain("error: <mode>: ");
    expect((await fs("move", "files", "/home/shoal/w/a.txt", "/home/shoal/w/b.txt")).stderr).toBe(
      "Moved /home/shoal/w/a.txt to /home/shoal/w/b.txt.\n",
    );
    expect(await fs("read-file", "files", "/home/shoal/w/a.txt")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("`shoal browsers fs list-files`") as unknown,
    });
    expect((await fs("delete-file", "files", "/home/shoal/w/b.txt", "--yes")).stderr).toBe(
      "Deleted /home/shoal/w/b.txt.\n",
    );
    expect((await fs("list-files", "files", "/home/shoal/w")).stderr).toBe("The directory is empty.\n");
    expect((await fs("delete-directory", "files", "/home/shoal/w")).stderr).toContain("Pass --yes");
    expect((await fs("delete-directory", "files", "/home/shoal/w", "--yes")).stderr).toBe("Deleted /home/shoal/w.\n");
    expect(await fs("delete-directory", "files", "/home/shoal/w", "--yes")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("--missing-ok") as unknown,
    });
    expect((await fs("delete-directory", "files", "/home/shoal/w", "--yes", "--missing-ok")).status).toBe(0);
    expect(await fs("list-files", "files", "relative")).toMatchObject({
      status: 6,
      stderr: expect.stringContaining("error: <path>: must be absolute") as unknown,
    });
  });

  it("exchange files with local files and pipes", async () => {
    const at = (name: string) => join(test.folder, name);
    writeFileSync(at("a.bin"), Buffer.alloc(300_000, 7));
    writeFileSync(at("ü b.txt"), "text");
    const fs = (...args: string[]) => run("browsers", "fs", ...args);
    expect((await fs("upload", "files", at("a.bin"), at("ü b.txt"), "--to", "/home/shoal/up")).stderr).toBe(
      "Uploaded 2 files (300.0 kB) to /home/shoal/up.\n",
    );
    expect((await fs("read-file", "files", "/home/shoal/up/a.bin", "-f", at("back.bin"))).stderr).toBe(
      `Saved ${at("back.bin")} (300.0 kB).\n`,
    );
    expect(readFileSync(at("back.bin"))).toEqual(readFileSync(at("a.bin")));
    // Names of the session replace no local file.
    mkdirSync(at("saved"));
    writeFileSync(at("saved/a.bin"), "mine");
    for (const name of ["a (2).bin", "a (3).bin"])
      expect((await fs("read-file", "files", "/home/shoal/up/a.bin", "-f", at("saved/"))).stderr).toBe(
        `Saved ${at(join("saved", name))} (300.0 kB).\n`,
      );
    expect(readdirSync(at("saved")).sort()).toEqual(["a (2).bin", "a (3).bin", "a.bin"]);
    expect(readFileSync(at("saved/a.bin"), "utf8")).toBe("mine");
    expect((await fs("download-dir-zip", "files", "/home/shoal/up", "-f", at("up.zip"))).status).toBe(0);
    expect((await fs("upload-zip", "files", at("up.zip"), "--to", "/home/shoal/unpacked")).stderr).toBe(
      `Unpacked ${at("up.zip")} in /home/shoal/unpacked.\n`,
    );
    expect((await fs("read-file", "files", "/home/shoal/unpacked/ü b.txt")).stdout).toBe("text");

    const zip = startProcess(["browsers", "fs", "upload-zip", "files", "-", "--to", "/home/shoal/piped"], test.env);
    zip.stdin.end(readFileSync(at("up.zip")));
    expect(await zip.outcome).toMatchObject({ status: 0, stderr: "Unpacked the archive in /home/shoal/piped.\n" });
    expect((await fs("read-file", "files", "/home/shoal/piped/ü b.txt", "-f", "-")).stdout).toBe("text");

    expect(await fs("upload", "files", at("none"), "--to", "/")).toEqual({
      status: 2,
      stdout: "",
      stderr: `error: Cannot read ${at("none")}: it does not exist.\n`,
    });
    expect((await fs("upload", "files", test.folder, "--to", "/")).stderr).toContain("is a directory.");
    mkdirSync(at("other"));
    writeFileSync(at("other/a.bin"), "");
    expect((await fs("upload", "files", at("a.bin"), at("other/a.bin"), "--to", "/")).stderr).toContain("same name");
    expect((await fs("read-file", "files", "/home/shoal/up/a.bin", "-f", at("none/x"))).stderr).toBe(
      `error: Cannot write ${at("none/x")}: ${at("none")} does not exist.\n`,
    );
    expect((await fs("read-file", "files", "/home/shoal/none", "-f", at("never"))).status).toBe(4);
    expect(readdirSync(test.folder).filter((name) => name.includes("never") || name.includes(".part"))).toEqual([]);
  });

  const write = (name: string) =>
    shoal(["browsers", "fs", "write-file", "files", `/home/shoal/${name}`], { env: test.env, input: name });

  describe.skipIf(process.platform === "win32")("that are watched", () => {
    let proxy: RecordingProxy;
    let env: Record<string, string>;
    beforeAll(async () => {
      proxy = await startRecordingProxy(test.service.baseUrl);
      env = { SHOAL_BASE_URL: proxy.baseUrl, SHOAL_API_KEY: test.service.apiKey };
    });
    afterAll(() => {
      proxy.close();
    });
    const stopped = () =>
      proxy.exchanges.filter((exchange) => /^DELETE \/browsers\/files\/fs\/watch\/\w{24} 204$/.test(exchange)).length;

    it("are watched until Ctrl-C, which also stops the watch", async () => {
      const before = stopped();
      const run = startProcess(["browsers", "fs", "watch", "files", "/home/shoal"], env);
      await expect.poll(() => run.stderr()).toBe("Watching /home/shoal.\n");
      await write("one");
      await expect.poll(() => run.stdout()).toContain("CREATE  /home/shoal/one\n");
      run.kill("SIGINT");
      expect((await run.outcome).status).toBe(130);
      expect(stopped()).toBe(before + 1);
    });

    it("are printed as JSON lines without other output", async () => {
      const before = stopped();
      const run = startProcess(["browsers", "fs", "watch", "files", "/home/shoal", "-o", "json", "--recursive"], env);
      const lines = () =>
        run
          .stdout()
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line) as { readonly name: string });
      // Chromium may write to its home as well.
      const own = await eventually("an event of an own file", async () => {
        await write(`try-${String(Math.random())}`);
        return lines().find(({ name }) => name.startsWith("try-"));
      });
      expect(own).toMatchObject({ type: "CREATE", is_dir: false });
      run.kill("SIGTERM");
      const { status, stderr } = await run.outcome;
      expect({ status, stderr }).toEqual({ status: 143, stderr: "" });
      expect(lines().length).toBeGreaterThan(0);
      expect(stopped()).toBe(before + 1);
    });

    it("stops the watch when the reader of the output exits", async () => {
      const before = stopped();
      const command = `"${process.execPath}" "${shoalPath}" browsers fs watch files /home/shoal -o jsonl`;
      const piped = spawn("sh", ["-c", `{ ${command}; echo "status $?" >&2; } | head -n 1`], { env: bareEnv(env) });
      let output = "";
      for (const stream of [piped.stdout, piped.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (output += text));
      let isOver = false;
      piped.on("close", () => (isOver = true));
      // Writing the second event fails.
      await eventually("the command ends", async () => {
        await write(`pipe-${String(Math.random())}`);
        return isOver;
      });
      expect(output).toMatch(/^\{[^\n]+\}\nstatus 0\n$/);
      expect(stopped()).toBe(before + 1);
    });
  });

  it("are watched with single commands", async () => {
    const { watch_id } = (await test.json("browsers", "fs", "watch", "start", "files", "/home/shoal")) as {
      watch_id: string;
    };
    const events = start(["browsers", "fs", "watch", "events", "files", watch_id, "-o", "jsonl"], test.env);
    await write("step");
    await expect.poll(() => events.stdout()).toContain('"name":"step"');
    expect(await run("browsers", "fs", "watch", "stop", "files", watch_id)).toMatchObject({
      status: 0,
      stderr: `Stopped watch ${watch_id}.\n`,
    });
    expect((await events.outcome).status).toBe(0);
    expect((await run("browsers", "fs", "watch", "stop", "files", watch_id)).status).toBe(4);
  });

  it.skipIf(process.platform === "win32")("remove a partial download when it is stopped", async () => {
    const name = join(test.folder, "big.bin");
    writeFileSync(join(test.folder, "source.bin"), Buffer.alloc(2_000_000));
    expect(
      (await run("browsers", "fs", "upload", "files", join(test.folder, "source.bin"), "--to", "/home/shoal/big"))
        .status,
    ).toBe(0);
    // The download never completes.
    const proxy = await startRecordingProxy(test.service.baseUrl);
    proxy.holdBack(/\/fs\/read_file/);
    const download = startProcess(["browsers", "fs", "read-file", "files", "/home/shoal/big/source.bin", "-f", name], {
      SHOAL_BASE_URL: proxy.baseUrl,
      SHOAL_API_KEY: test.service.apiKey,
    });
    await expect.poll(() => readdirSync(test.folder).some((entry) => entry.startsWith(".big.bin"))).toBe(true);
    download.kill("SIGINT");
    expect((await download.outcome).status).toBe(130);
    proxy.close();
    expect(readdirSync(test.folder).filter((entry) => entry.includes("big.bin"))).toEqual([]);
    expect(existsSync(name)).toBe(false);
  });
});
