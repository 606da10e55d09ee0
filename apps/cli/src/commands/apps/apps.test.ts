import { contract, type Endpoint } from "@shoal/contract";
import type { Handler, MultipartPart } from "@shoal/router";
import { createHttpRouter } from "@shoal/router/http";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import { shoal, start } from "../../testing/shoal.ts";
import { noScript, onTerminal } from "../../testing/terminal.ts";

const withoutScript = noScript();
const folder = mkdtempSync(join(tmpdir(), "shoal-apps-"));
const timestamp = "2026-01-01T00:00:00.000Z";
const deployment = {
  id: "m3x1p0v2k7c9q5w8z6t4r2yh",
  status: "queued",
  region: "aws.us-east-1a",
  created_at: timestamp,
};
const invocation = {
  id: "i3x1p0v2k7c9q5w8z6t4r2yh",
  app_name: "shop",
  version: "latest",
  action_name: "buy",
  started_at: timestamp,
  status: "queued",
};

let asked: { operationId: string; params: object; query: object; body: unknown }[] = [];
let answers: Partial<Record<string, (body: unknown) => unknown>> = {};
let zip = Buffer.alloc(0);

const router = createHttpRouter({ context: () => undefined });
for (const endpoint of Object.values<Endpoint>(contract)) {
  const handler: Handler<Endpoint> = async ({ params, query, body }) => {
    const given: unknown =
      endpoint.body?.kind === "multipart" ? await fieldsOf(body as unknown as AsyncIterable<MultipartPart>) : body;
    asked.push({ operationId: endpoint.operationId, params, query, body: given });
    // The union of all answer types is useless.
    return (await answers[endpoint.operationId]?.(given)) as undefined;
  };
  router.mount(endpoint, handler);
}
const server = createServer(router.handle);
let env: Record<string, string>;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  env = {
    SHOAL_BASE_URL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    SHOAL_API_KEY: "sk_test_0123456789",
    SHOAL_CONFIG_DIR: folder,
  };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  asked = [];
  answers = {};
});

async function fieldsOf(parts: AsyncIterable<MultipartPart>): Promise<Record<string, string>> {
  const fields: Record<string, string> = {};
  for await (const part of parts) {
    if (part.kind === "field") fields[part.name] = part.value;
    else {
      fields[part.name] = part.filename;
      zip = Buffer.concat((await part.stream.toArray()) as Buffer[]);
    }
  }
  return fields;
}

async function* events(...data: object[]): AsyncGenerator<{ id: string; data: object }> {
  let id = 0;
  for (const event of data) yield { id: String(++id), data: event };
}
async function* endless(...data: object[]): AsyncGenerator<{ id: string; data: object }> {
  yield* events(...data);
  await new Promise(() => undefined);
}
const log = (message: string) => ({ event: "log", message, timestamp });
const state = (status: string, more: object = {}) => ({
  event: "deployment_state",
  deployment: { ...deployment, status, ...more },
  timestamp,
});
const run = (...args: string[]) => shoal(args, { env });

/** By name; the target of a link follows `link `. */
async function namesIn(archive: Buffer): Promise<Record<string, string>> {
  const zipFile = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: false }, (error, opened) => {
      if (error) reject(error);
      else resolve(opened);
    });
  });
  const found: Record<string, string> = {};
  const reading: Promise<void>[] = [];
  zipFile.on("entry", (entry: Entry) => {
    const text = new Promise<string>((resolve, reject) => {
      zipFile.openReadStream(entry, (error, stream) => {
        if (error) reject(error);
        else
          stream.toArray().then((chunks) => {
            resolve(Buffer.concat(chunks as Buffer[]).toString());
          }, reject);
      });
    });
    reading.push(
      text.then((content) => {
        found[entry.fileName] = (entry.externalFileAttributes >>> 28 === 0xa ? "link " : "") + content;
      }),
    );
  });
  await once(zipFile, "end");
  await Promise.all(reading);
  return found;
}

describe("deploy", () => {
  const app = join(folder, "app");
  beforeAll(() => {
    for (const path of ["lib/deep", "node_modules/x", ".git", "out"]) mkdirSync(join(app, path), { recursive: true });
    const files = {
      "index.ts": "code",
      ".env.example": "A=1",
      ".gitignore": "node_modules/\n*.log\n",
      "a.log": "x",
      "lib/.gitignore": "/only-here\n",
      "lib/only-here": "x",
      "lib/deep/b.ts": "b",
      "node_modules/x/i.js": "x",
      ".git/HEAD": "x",
      "out/only-here": "kept",
    };
    for (const [path, text] of Object.entries(files)) writeFileSync(join(app, path), text);
    symlinkSync("index.ts", join(app, "link.ts"));
    writeFileSync(join(folder, "vars"), "A=file\nB='two words'\n");
  });

  it("uploads the folder of the entrypoint without ignored files, and waits until it runs", async () => {
    answers["deployments.create"] = () => deployment;
    answers["deployments.follow"] = () =>
      events(state("queued"), log("building"), { event: "sse_heartbeat", timestamp }, state("running"));
    const { status, stdout, stderr } = await run(
      "deploy",
      join(app, "index.ts"),
      "--version",
      "v2",
      "--env-file",
      join(folder, "vars"),
      "--env",
      "A=flag",
      "--force",
    );
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${timestamp}  building\n`,
      stderr: `Uploaded 7 files of ${app} as deployment ${deployment.id}.\nDeployment ${deployment.id} is running.\n`,
    });
    expect(asked[0]?.body).toMatchObject({
      version: "v2",
      entrypoint_rel_path: "index.ts",
      force: "true",
      "env_vars[A]": "flag",
      "env_vars[B]": "two words",
    });
    expect(await namesIn(zip)).toEqual({
      ".env.example": "A=1",
      ".gitignore": "node_modules/\n*.log\n",
      "index.ts": "code",
      "lib/.gitignore": "/only-here\n",
      "lib/deep/b.ts": "b",
      "link.ts": "link index.ts",
      "out/only-here": "kept",
    });
  });

  it("reports why it failed and prints events as lines", async () => {
    answers["deployments.create"] = () => deployment;
    answers["deployments.follow"] = () =>
      events(log("building"), state("failed", { status_reason: "no package.json" }));
    expect(await run("deploy", join(app, "index.ts"), "-q")).toEqual({
      status: 1,
      stdout: `${timestamp}  building\n`,
      stderr: `error: Deployment ${deployment.id} failed: no package.json.\n  Print its log with: shoal deployments follow ${deployment.id}\n`,
    });
    const lines = await run("deploy", join(app, "index.ts"), "-o", "jsonl");
    expect(
      lines.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { event?: string }).event),
    ).toEqual([undefined, "log", "deployment_state"]);
    expect(await run("deploy", join(app, "none.ts"))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("<entrypoint> must be a file") as unknown,
    });
    expect((await run("deploy", join(app, "index.ts"), "--dry-run")).stdout).toContain(
      "-F entrypoint_rel_path=index.ts",
    );
  });

  it("deploys a repository of GitHub", async () => {
    answers["deployments.create"] = () => deployment;
    answers["deployments.follow"] = () => events(log("fetching"), state("running"));
    const repository = ["--url", "https://github.com/me/apps", "--ref", "main", "--entrypoint", "index.ts"];
    const { status, stdout, stderr } = await shoal(
      ["deploy", "github", ...repository, "--path", "shop", "--github-token", "-", "--version", "v2", "-e", "A=1"],
      { env, input: "ghp_secret\n" },
    );
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${timestamp}  fetching\n`,
      stderr: `Sent https://github.com/me/apps at main as deployment ${deployment.id}.\nDeployment ${deployment.id} is running.\n`,
    });
    const { source, ...others } = asked[0]?.body as Record<string, string>;
    expect(JSON.parse(source ?? "")).toEqual({
      type: "github",
      url: "https://github.com/me/apps",
      ref: "main",
      entrypoint: "index.ts",
      path: "shop",
      auth: { method: "github_token", token: "ghp_secret" },
    });
    expect(others).toMatchObject({ version: "v2", "env_vars[A]": "1" });
    const dry = await run("deploy", "github", ...repository, "--github-token", "ghp_secret", "--dry-run");
    expect(dry.stdout).toContain("-F 'source={");
    expect(dry.stdout).not.toContain("ghp_secret");
    expect(await run("deploy", "github", "--url", "https://github.com/me/apps")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--ref") as unknown,
    });
  });
});

describe.skipIf(withoutScript)(
  `deploy on a terminal${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  () => {
    it("shows and erases its progress", async () => {
      let go: () => void = () => undefined;
      const seen = new Promise<void>((resolve) => (go = resolve));
      answers["deployments.create"] = () => deployment;
      answers["deployments.follow"] = async function* () {
        yield { id: "1", data: state("starting") };
        await seen;
        yield { id: "2", data: log("built") };
        yield { id: "3", data: state("running") };
      };
      const run = onTerminal(["deploy", join(folder, "app", "index.ts"), "--no-color"], { env });
      // eslint-disable-next-line no-control-regex -- terminal sequences start with it
      await expect.poll(() => run.screen(), { timeout: 30_000 }).toMatch(/\r\u001b\[2K[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] starting/);
      go();
      expect(await run.status).toBe(0);
      const shown = run.screen().replaceAll("\r\n", "\n").replaceAll("\u001b", "#");
      expect(shown).toContain(`\r#[2K${timestamp}  built\n`);
      expect(shown.endsWith(`\r#[2KDeployment ${deployment.id} is running.\n`)).toBe(true);
    });
  },
);

describe("invoke", () => {
  const invoked = (status: string, more: object = {}) => ({
    event: "invocation_state",
    invocation: { ...invocation, status, ...more },
    timestamp,
  });

  it("prints the log and the result of an action", async () => {
    answers["invocations.create"] = () => invocation;
    answers["invocations.follow"] = () =>
      events(log("buying"), invoked("succeeded", { output: '{"ok":true}', finished_at: timestamp }));
    expect(await run("invoke", "shop", "buy", "-p", '{"item":1}')).toEqual({
      status: 0,
      stdout: `${timestamp}  buying\n{"ok":true}\n`,
      stderr: `Started ${invocation.id}.\n`,
    });
    expect(asked[0]?.body).toMatchObject({
      app_name: "shop",
      action_name: "buy",
      version: "latest",
      payload: '{"item":1}',
      async: true,
    });
    answers["invocations.create"] = () => ({ ...invocation, status: "failed", status_reason: "sold out" });
    expect(await run("invoke", "shop", "buy", "--sync")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("failed: sold out.") as unknown,
    });
    expect(await run("invoke", "shop", "buy", "-p", "{")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--payload must be JSON.") as unknown,
    });
  });

  it("cancels the invocation on the service when it is stopped", async () => {
    answers["invocations.create"] = () => invocation;
    answers["invocations.follow"] = () => endless(log("buying"));
    answers["invocations.update"] = () => ({ ...invocation, status: "failed" });
    const running = start(["invoke", "shop", "buy"], env);
    await expect.poll(() => running.stdout(), { timeout: 30_000 }).toContain("buying");
    running.kill("SIGINT");
    expect((await running.outcome).status).toBe(130);
    expect(asked.map(({ operationId }) => operationId)).toEqual([
      "invocations.create",
      "invocations.follow",
      "invocations.update",
      "invocations.deleteBrowsers",
    ]);
    expect(asked[2]?.body).toMatchObject({ status: "failed" });
  });
});

describe.skipIf(withoutScript)(
  `invoke on a terminal${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  () => {
    const interrupted = async (keys: string) => {
      answers["invocations.create"] = () => invocation;
      answers["invocations.follow"] = () => endless(log("buying"));
      answers["invocations.update"] = () => ({ ...invocation, status: "failed" });
      const run = onTerminal(["invoke", "shop", "buy", "--no-color"], { env });
      await expect.poll(() => run.screen(), { timeout: 30_000 }).toContain("buying");
      run.type("\u0003");
      await expect.poll(() => run.screen(), { timeout: 30_000 }).toContain(`Cancel invocation ${invocation.id}?`);
      run.type(keys);
      expect(await run.status).toBe(130);
      return run.screen();
    };

    it("offers to cancel the invocation on Ctrl-C", async () => {
      await interrupted("\r");
      expect(asked.map(({ operationId }) => operationId)).toContain("invocations.update");
    });

    it("leaves the invocation running on a second Ctrl-C", async () => {
      expect(await interrupted("\u0003")).toContain(`shoal invocations follow ${invocation.id}`);
      expect(asked.map(({ operationId }) => operationId)).toEqual(["invocations.create", "invocations.follow"]);
    });
  },
);

describe("logs", () => {
  it("prints the log and exits after silence", async () => {
    answers["apps.list"] = () => ({
      items: [
        {
          id: deployment.id,
          app_name: "shop",
          version: "latest",
          region: "aws.us-east-1a",
          deployment: deployment.id,
          actions: [],
          env_vars: {},
        },
      ],
      hasMore: false,
      nextOffset: undefined,
    });
    answers["deployments.follow"] = () => endless(state("running"), log("one"), log("two"));
    expect(await run("logs", "shop", "--since", "1h")).toEqual({
      status: 0,
      stdout: `${timestamp}  one\n${timestamp}  two\n`,
      stderr: "",
    });
    expect(asked[1]).toMatchObject({ params: { id: deployment.id }, query: { since: "1h" } });
    answers["apps.list"] = () => ({ items: [], hasMore: false, nextOffset: undefined });
    expect(await run("logs", "none")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("App none was not found.") as unknown,
    });
  });
});

describe("apps", () => {
  const page = (...items: object[]) => ({ items, hasMore: false, nextOffset: undefined });

  it("lists the deployments of an app", async () => {
    answers["deployments.list"] = () => page({ ...deployment, status: "running" });
    const { status, stdout } = await run("apps", "history", "shop", "--version", "v2", "--limit", "5");
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(deployment.id) as unknown });
    expect(asked[0]?.query).toMatchObject({ app_name: "shop", app_version: "v2", limit: 5 });
  });

  it("returns to the deployment before the running one", async () => {
    const [newest, current, previous] = ["n", "c", "p"].map((letter) => letter + deployment.id.slice(1));
    answers = {
      "apps.list": () =>
        page({
          id: "a",
          app_name: "shop",
          version: "v1",
          region: deployment.region,
          deployment: current,
          actions: [],
          env_vars: {},
        }),
      "deployments.list": () =>
        page(
          { ...deployment, id: newest, status: "failed" },
          { ...deployment, id: current, status: "running" },
          { ...deployment, id: "f", status: "failed" },
          { ...deployment, id: previous, status: "stopped" },
        ),
      "deployments.rollback": () => ({
        ...deployment,
        id: previous,
        status: "running",
        status_reason: "It replaced c.",
      }),
    };
    const done = await run("deploy", "rollback", "--app", "shop", "--version", "v1");
    expect(done).toMatchObject({ status: 0, stderr: `Deployment ${String(previous)} is running. It replaced c.\n` });
    expect(asked.map(({ operationId }) => operationId)).toEqual([
      "apps.list",
      "deployments.list",
      "deployments.rollback",
    ]);
    expect(asked.at(-1)).toMatchObject({ params: { id: previous } });
    const printed = await run("deploy", "rollback", deployment.id, "-o", "json");
    expect(JSON.parse(printed.stdout)).toMatchObject({ id: previous });
    expect(asked.at(-1)).toMatchObject({ params: { id: deployment.id } });
    answers["deployments.list"] = () => page({ ...deployment, id: current, status: "running" });
    const none = await run("deploy", "rollback", "--app", "shop", "--version", "v1");
    expect(none.stderr).toContain("App shop has no earlier deployment of version v1.");
    expect((await run("deploy", "rollback")).stderr).toContain("Pass either a deployment, or --app");
  });

  it("deletes an app with its deployments after a confirmation", async () => {
    const other = { ...deployment, id: "d3x1p0v2k7c9q5w8z6t4r2yh" };
    answers["deployments.list"] = () => page(deployment, other);
    expect(await run("apps", "delete", "shop")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Delete app shop with 2 deployments?") as unknown,
    });
    expect(asked.map(({ operationId }) => operationId)).toEqual(["deployments.list"]);
    asked = [];
    expect(await run("apps", "delete", "shop", "--yes")).toEqual({
      status: 0,
      stdout: "",
      stderr: "Deleted app shop with 2 deployments.\n",
    });
    expect(asked.slice(1).map(({ params }) => params)).toEqual([{ id: deployment.id }, { id: other.id }]);
    answers["deployments.list"] = () => page();
    expect(await run("apps", "delete", "shop", "--version", "v1", "--yes")).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("App shop with version v1 was not found.") as unknown,
    });
  });
});

describe("programs in a session", () => {
  const b64 = (text: string) => Buffer.from(text).toString("base64");

  it("print on stdout and stderr and set the exit status", async () => {
    answers["browsers.process.exec"] = () => ({
      exit_code: 3,
      stdout_b64: b64("out\n"),
      stderr_b64: b64("err\n"),
      duration_ms: 5,
    });
    expect(await run("browsers", "process", "exec", "research", "--", "sh", "-c", "exit 3")).toEqual({
      status: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect(asked[0]?.body).toMatchObject({ command: "sh", args: ["-c", "exit 3"] });
    expect(await run("browsers", "process", "exec", "research", "ls", "-o", "json")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('"exit_code": 3') as unknown,
    });
    answers["browsers.process.exec"] = () => ({
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
    answers["browsers.playwright.execute"] = (body) => ({
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
    answers["browsers.playwright.execute"] = () => ({ success: false, error: "line 1: no" });
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
    expect(asked[0]?.body).toMatchObject({ "extensions[0][name]": "extension" });
    expect(await namesIn(zip)).toEqual({ "manifest.json": "{}" });
  });
});

describe("the audit log", () => {
  it("is verified, and a failed verification sets the exit status", async () => {
    const head = `2:${"a".repeat(64)}`;
    answers["auditLogs.verify"] = () => ({ valid: true, entries: 2, head });
    expect(await run("audit-logs", "verify", "--known-head", head, "--query", "head")).toEqual({
      status: 0,
      stdout: `${head}\n`,
      stderr: "",
    });
    answers["auditLogs.verify"] = () => ({
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
    answers["auditLogs.exportChunk"] = () => {
      const index = asked.filter(({ operationId }) => operationId === "auditLogs.exportChunk").length - 1;
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
    expect(asked.map(({ query }) => (query as { cursor?: string }).cursor)).toEqual([undefined, "c2"]);
    asked = [];
    expect((await run("audit-logs", "download", ...range, "-f", join(folder, "audit"))).stderr).toMatch(
      /^Saved \S+ \(13 B\)\. It has 2 entries\.\n$/,
    );
  });

  it("is requested again after a damaged chunk, and fails if every attempt is damaged", async () => {
    const { Readable } = await import("node:stream");
    const sum = createHash("sha256").update("whole\n").digest("hex");
    const parts = ["half", "whole\n"];
    answers["auditLogs.exportChunk"] = () => ({
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
