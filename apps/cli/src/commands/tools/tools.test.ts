import { updateAuditLogExportDestination } from "@shoal/contract";
import { type FakeShoal, startFakeShoal } from "@shoal/testing";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, shoal, shoalPath, start } from "../../testing/shoal.ts";

let fake: FakeShoal;
const folder = mkdtempSync(join(tmpdir(), "shoal-tools-"));
beforeAll(async () => {
  fake = await startFakeShoal();
  const profiles = ["shopping", "banking"];
  for (const name of profiles)
    await fetch(`${fake.baseUrl}/profiles`, {
      method: "POST",
      headers: { authorization: `Bearer ${fake.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
});
afterAll(async () => {
  await fake.close();
  rmSync(folder, { recursive: true });
});

const bare = () => ({ SHOAL_CONFIG_DIR: join(folder, "config"), SHOAL_DATA_DIR: folder, SHOAL_KEYCHAIN: "0" });
/** Completion gives up after its own time. */
const patient = { SHOAL_COMPLETION_TIMEOUT: "600" };
const keyed = () => ({ ...bare(), SHOAL_BASE_URL: fake.baseUrl, SHOAL_API_KEY: fake.apiKey, ...patient });
const run = (...args: string[]) => shoal(args, { env: keyed() });

describe("login", () => {
  const config = join(folder, "config", "config.json");
  const inContext = (...args: string[]) => shoal(args, { env: bare() });

  it("stores an accepted key in a private file and uses it", async () => {
    const kept = await shoal(["login", "--base-url", `${fake.baseUrl}/`, "--context", "work"], {
      env: bare(),
      input: `${fake.apiKey}\n`,
    });
    expect(kept).toEqual({
      status: 0,
      stdout: "",
      stderr: `Logged in to ${fake.baseUrl} as context work. The key is stored in ${join(folder, "config", "keys.json")}.\n`,
    });
    expect(JSON.parse(readFileSync(config, "utf8"))).toEqual({
      current: "work",
      contexts: { work: { base_url: fake.baseUrl, key: "file" } },
    });
    if (process.platform !== "win32")
      for (const name of ["config.json", "keys.json"])
        expect(statSync(join(folder, "config", name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(config, "utf8")).not.toContain(fake.apiKey);
    expect((await inContext("profiles", "list", "--query", "[].name | sort(@)")).stdout).toBe("banking\nshopping\n");
    const who = await inContext("whoami", "-o", "json");
    expect(JSON.parse(who.stdout)).toMatchObject({
      context: "work",
      base_url: fake.baseUrl,
      project: null,
      principal: { type: "api_key" },
    });
    expect(who.stdout).not.toContain(fake.apiKey);
  });

  it("stores no rejected key, and no key for a server that is not Shoal", async () => {
    const attempt = (baseUrl: string, input: string) =>
      shoal(["login", "--base-url", baseUrl, "--context", "other"], { env: bare(), input });
    expect(await attempt(fake.baseUrl, "sk_wrong")).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("rejected this key") as unknown,
    });
    expect(await attempt("http://127.0.0.1:9", fake.apiKey)).toMatchObject({ status: 9 });
    expect(await attempt(fake.baseUrl, "")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("The key is empty.") as unknown,
    });
    expect(await attempt("nope", "sk_x")).toMatchObject({ status: 2 });
    expect((await inContext("contexts", "list")).stdout).toBe(
      `   NAME  URL${" ".repeat(fake.baseUrl.length - 3)}  KEY\n*  work  ${fake.baseUrl}  file\n`,
    );
  });

  it("supports several services and sends each key only to its service", async () => {
    expect(
      (
        await shoal(["login", "--context", "spare", "--base-url", "http://127.0.0.1:9", "--no-check", "-q"], {
          env: bare(),
          input: "sk_spare",
        })
      ).stderr,
    ).toBe("");
    expect(await inContext("profiles", "list")).toMatchObject({ status: 9 });
    expect((await inContext("profiles", "list", "--context", "work")).status).toBe(0);
    expect((await inContext("contexts", "use", "work", "--project", "default")).stderr).toContain(fake.baseUrl);
    expect((await inContext("profiles", "get", "banking", "--dry-run")).stdout).toContain("x-shoal-project: default");
    expect(await inContext("profiles", "get", "banking", "--context", "none")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Existing contexts: work, spare.") as unknown,
    });
    expect(await inContext("profiles", "list", "--base-url", "http://127.0.0.1:9")).toMatchObject({ status: 3 });
    expect((await shoal(["whoami", "--query", "x"], { env: keyed() })).status).toBe(2);
    expect(JSON.parse((await shoal(["whoami", "-o", "json"], { env: keyed() })).stdout)).toMatchObject({
      context: null,
      key_source: "SHOAL_API_KEY",
    });
  });

  it("is reverted by logout", async () => {
    expect((await inContext("logout")).stderr).toContain("Deleted work.");
    expect(await inContext("logout", "--context", "work")).toMatchObject({ status: 4 });
    expect((await inContext("logout", "--all")).stderr).toContain("Deleted spare.");
    expect((await inContext("logout", "--all")).stderr).toBe("No stored keys.\n");
    expect(readFileSync(join(folder, "config", "keys.json"), "utf8")).toBe("{}\n");
    expect((await inContext("whoami")).status).toBe(3);
  });
});

describe("api", () => {
  it("prints the response of any path, or the part selected by --query", async () => {
    expect(JSON.parse((await run("api", "GET", "/profiles?limit=1")).stdout)).toHaveLength(1);
    expect((await run("api", "get", "/profiles", "--query", "length(@)")).stdout).toBe("2\n");
    expect((await run("api", "GET", "/profiles", "-i", "-o", "jsonl")).stderr).toMatch(
      /^200 OK\n[\s\S]*x-request-id: /,
    );
    const made = await run("api", "POST", "/profiles", "-d", '{"name":"raw"}', "-o", "yaml");
    expect(made.stdout).toMatch(/^id: \w{24}\nname: raw\n/);
    expect(await run("api", "DELETE", "/profiles/raw")).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it("prints the body of an error and exits with its status", async () => {
    const { status, stdout, stderr } = await run("api", "GET", "/profiles/none");
    expect(status).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ code: "not_found" });
    expect(stderr).toMatch(/^error: Profile none was not found.*\n {2}status 404, request \S+\n$/);
    expect(await run("api", "FETCH", "/profiles")).toMatchObject({ status: 2 });
    expect(await run("api", "GET", "profiles")).toMatchObject({ status: 2 });
    expect(await run("api", "GET", "https://evil.example/profiles")).toMatchObject({ status: 2 });
    expect(await run("api", "POST", "/profiles", "-d", "{")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--data must be JSON.") as unknown,
    });
  });
});

describe("requests", () => {
  it("are printed without the key by --dry-run, also as a curl command", async () => {
    const before = fake.calls.length;
    const { stdout } = await run("profiles", "create", "--name", "it's", "--dry-run");
    expect(stdout.replace(/[0-9a-f-]{36}/g, "UUID").replaceAll(fake.baseUrl, "BASE")).toBe(`POST BASE/profiles
accept: application/json
content-type: application/json
idempotency-key: UUID
authorization: Bearer [redacted]

{
  "name": "it's"
}

curl -X POST BASE/profiles \\
  -H 'accept: application/json' \\
  -H 'content-type: application/json' \\
  -H 'idempotency-key: UUID' \\
  -H "authorization: Bearer $SHOAL_API_KEY" \\
  -d '{"name":"it'\\''s"}'
`);
    expect(JSON.parse((await run("profiles", "delete", "shopping", "--dry-run", "-o", "json")).stdout)).toMatchObject({
      method: "DELETE",
      url: `${fake.baseUrl}/profiles/shopping`,
    });
    expect(await shoal(["profiles", "list", "--dry-run"], { env: bare() })).toMatchObject({ status: 0 });
    expect(fake.calls.length).toBe(before);
    const curl = stdout.slice(stdout.indexOf("curl "));
    const { stdout: answered } = await promisify(execFile)("bash", ["-c", `${curl.trim()} -s`], {
      env: { PATH: process.env.PATH, SHOAL_API_KEY: fake.apiKey },
    });
    expect(JSON.parse(answered)).toMatchObject({ name: "it's" });
  });

  it("are logged without keys by --debug", async () => {
    const { stdout, stderr } = await run("api-keys", "create", "--name", "debugged", "--debug", "-o", "json");
    const { key } = JSON.parse(stdout) as { key: string };
    expect(stderr).toMatch(/^> POST \S+\/org\/api_keys\n/);
    expect(stderr).toContain("> authorization: Bearer [redacted]\n");
    expect(stderr).toContain('> {"name":"debugged"}\n');
    expect(stderr).toMatch(/< 201 after \d+ ms\n/);
    expect(stderr).toContain('"key":"[redacted]"');
    for (const secret of [key, fake.apiKey]) expect(stderr).not.toContain(secret);
    const failed = await run("profiles", "get", "none", "--debug");
    expect(failed.stderr).toContain('"code":"not_found"');
    expect(failed.stderr.match(/^< 404/gm)).toHaveLength(1);
  });
});

describe("a failing call", () => {
  it("is retried if it is safe, with the same idempotency key", async () => {
    fake.failNext("profiles.create", { status: 503 });
    expect(await run("profiles", "create", "--name", "repeated")).toMatchObject({ status: 0 });
    const keys = fake.calls
      .filter(({ operationId }) => operationId === "profiles.create")
      .slice(-2)
      .map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toBe(keys[1]);
    const before = fake.calls.length;
    expect(await run("profiles", "get", "none")).toMatchObject({ status: 4 });
    expect(fake.calls.length).toBe(before + 1);
  });
});

describe("results", () => {
  it("are selected as text, lines or YAML", async () => {
    expect((await run("profiles", "get", "shopping", "--query", "name")).stdout).toBe("shopping\n");
    expect((await run("profiles", "list", "--query", "[?name=='banking'].{n: name}", "-o", "jsonl")).stdout).toBe(
      '{"n":"banking"}\n',
    );
    expect((await run("profiles", "get", "shopping", "-o", "yaml")).stdout).toMatch(/^id: \w{24}\nname: shopping\n/);
    expect(await run("profiles", "get", "shopping", "--query", "[")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--query must be a JMESPath expression") as unknown,
    });
  });

  it("are the only output of --quiet", async () => {
    expect(await run("browsers", "create", "--name", "quiet", "--quiet")).toMatchObject({ status: 0, stderr: "" });
    expect(await run("browsers", "delete", "quiet", "-q")).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it("come from as many pages as --limit needs", async () => {
    const pages = () => fake.calls.filter(({ operationId }) => operationId === "profiles.list").length;
    for (let index = 0; index < 103; index++)
      await fetch(`${fake.baseUrl}/profiles`, {
        method: "POST",
        headers: { authorization: `Bearer ${fake.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ name: `many-${String(index)}` }),
      });
    const before = pages();
    expect((await run("profiles", "list", "--limit", "102", "--query", "length(@)")).stdout).toBe("102\n");
    expect(pages() - before).toBe(2);
    const all = await run("profiles", "list", "--all", "-o", "jsonl");
    expect(all.stdout.trim().split("\n").length).toBeGreaterThan(104);
  });

  it("are printed again when a state changes, until the final state", async () => {
    await run("browsers", "create", "--name", "watched");
    const watching = shoal(["browsers", "get", "watched", "--watch", "-o", "jsonl"], { env: keyed() });
    const gets = () => fake.calls.filter(({ operationId }) => operationId === "browsers.get").length;
    await expect.poll(gets).toBeGreaterThan(0);
    await run("browsers", "update", "watched", "--tag", "stage=2");
    const before = gets();
    // A request after the change.
    await expect.poll(gets).toBeGreaterThan(before);
    await run("browsers", "delete", "watched");
    const { status, stdout } = await watching;
    expect(status).toBe(4);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { tags?: object }).tags),
    ).toEqual(expect.arrayContaining([{ stage: "2" }]));
  });

  it("are printed again when a list changes, until Ctrl-C", async () => {
    const lines = (running: Running) => running.stdout().split("\n").slice(0, -1);
    const list = ["browsers", "list", "--tag", "of=list", "--watch"];
    const watching = start([...list, "-o", "jsonl"], keyed());
    const table = start(list, keyed());
    await expect
      .poll(() => [lines(watching).length, table.stderr()])
      .toEqual([1, "No browsers. Start one: shoal browsers create\n"]);
    await run("browsers", "create", "--name", "listed", "--tag", "of=list");
    await expect
      .poll(() => [lines(watching).length, table.stdout()])
      .toEqual([2, expect.stringMatching(/ID +NAME.*\n\w+ +listed /)]);
    await run("browsers", "delete", "listed");
    await expect
      .poll(() => lines(watching).map((line) => (JSON.parse(line) as { name: string }[]).map(({ name }) => name)))
      .toEqual([[], ["listed"], []]);
    for (const running of [watching, table]) {
      running.kill("SIGINT");
      expect((await running.outcome).status).toBe(130);
    }
  });
});

describe("errors of the service", () => {
  it("are printed with code, request id and advice", async () => {
    const faults = [
      { status: 401 },
      { status: 403, message: "The key opens another project." },
      { status: 404, message: "Profile p was not found in this project. List the profiles with profiles.list." },
      { status: 409, code: "name_taken" as const, message: "body.name: there is a profile of this name." },
      { status: 429, message: "Too many requests.", retryAfterSeconds: 1, times: 3 },
      { status: 501 },
      { status: 503, message: "The service is shutting down.", times: 3 },
    ];
    let text = "";
    for (const fault of faults) {
      fake.failNext("profiles.update", fault);
      const { status, stdout, stderr } = await run("profiles", "update", "p", "--name", "n");
      text += `${String(fault.status)}: exit status ${String(status)}\n${stdout}${stderr.replace(/request \w+/, "request ID")}\n`;
    }
    await expect(text).toMatchFileSnapshot("../../testing/golden/errors.txt");
  });
});

describe("destinations of the audit log", () => {
  it("are paused and resumed", async () => {
    const statuses: unknown[] = [];
    fake.handle(updateAuditLogExportDestination, ({ body, params }) => {
      statuses.push([params.id, body]);
      const at = "2026-01-31T12:00:00.000Z";
      return {
        id: params.id,
        type: "s3",
        format: "jsonl.gz",
        bucket: "logs",
        prefix: "shoal/",
        region: "eu-central-1",
        role_arn: "arn:a",
        external_id: "e",
        kernel_role_arn: "arn:b",
        status: body.status ?? "active",
        consecutive_failures: 0,
        created_at: at,
        updated_at: at,
      };
    });
    expect((await run("audit-logs", "export", "pause", "d1", "--query", "status")).stdout).toBe("paused\n");
    expect(JSON.parse((await run("audit-logs", "export", "resume", "d1", "-o", "json")).stdout)).toMatchObject({
      id: "d1",
      status: "active",
    });
    expect(statuses).toEqual([
      ["d1", { status: "paused" }],
      ["d1", { status: "active" }],
    ]);
    expect((await run("audit-logs", "export", "pause", "d1", "--dry-run")).stdout).toContain("PATCH ");
    expect(await run("audit-logs", "export", "pause")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("shoal audit-logs export pause --help") as unknown,
    });
  });
});

describe("completion", () => {
  const candidates = async (...words: string[]) =>
    (await run("__complete", "--", ...words)).stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("\t")[0]);

  it("completes commands, flags, values and names of resources", async () => {
    expect(await candidates("prof")).toEqual(["profiles"]);
    expect(await candidates("profiles", "")).toEqual(expect.arrayContaining(["create", "get", "list", "delete"]));
    expect(await candidates("profiles", "get", "shop")).toEqual(["shopping"]);
    expect(await candidates("browsers", "create", "--profile-name", "bank")).toEqual(["banking"]);
    expect(await candidates("profiles", "list", "--out")).toEqual(["--output"]);
    expect(await candidates("profiles", "list", "-o", "")).toEqual(["table", "json", "jsonl", "yaml"]);
    expect(await candidates("browsers", "create", "--memory", "8")).toEqual(["8GiB"]);
    expect(await candidates("completion", ":empty")).toEqual(["bash", "zsh", "fish", "powershell"]);
    expect(await candidates("browsers", "fs", "upload", "x", "")).toEqual([":files"]);
    await run("browsers", "create", "--name", "completed");
    expect(await candidates("browsers", "fs", "watch", "comp")).toEqual(["completed"]);
    expect(await candidates("view", "comp")).toEqual(["completed"]);
    expect(await candidates("browsers", "fs", "read-file", "comp")).toEqual(["completed"]);
  });

  it("completes nothing when the service does not answer", async () => {
    await using silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const SHOAL_BASE_URL = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
    expect(
      await shoal(["__complete", "--", "profiles", "get", ""], {
        env: { ...keyed(), SHOAL_BASE_URL, SHOAL_COMPLETION_TIMEOUT: "0.2" },
      }),
    ).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(
      await shoal(["__complete", "--", "profiles", "get", ""], {
        env: { ...bare(), SHOAL_API_KEY: "sk_x", SHOAL_BASE_URL: "http://127.0.0.1:9" },
      }),
    ).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(
      await shoal(["__complete", "--", "profiles", "get", ""], {
        env: { ...bare(), SHOAL_BASE_URL: "http://127.0.0.1:9" },
      }),
    ).toEqual({
      status: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("works in bash", async () => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "shoal"), `#!/bin/sh\nexec '${process.execPath}' '${shoalPath}' "$@"\n`, { mode: 0o755 });
    const script = `source <(shoal completion bash); COMP_WORDS=(shoal profiles get shop); COMP_CWORD=3; _shoal; printf '%s\\n' "\${COMPREPLY[@]}"; COMP_WORDS=(shoal ""); COMP_CWORD=1; _shoal; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", script], {
      env: { HOME: folder, ...keyed(), PATH: `${bin}:${process.env.PATH ?? ""}` },
    });
    const [first, ...others] = stdout.trim().split("\n");
    expect(first).toBe("shopping");
    expect(others).toEqual(expect.arrayContaining(["browsers", "profiles", "serve", "login"]));
  });

  it.each(["bash", "zsh", "fish", "powershell"])("prints a script for %s", async (shell) => {
    await expect((await run("completion", shell)).stdout).toMatchFileSnapshot(
      `../../testing/golden/completion.${shell}`,
    );
    // Checks the syntax if the shell is installed.
    const check = shell === "fish" ? ["--no-execute"] : ["-n"];
    const program = spawnSync(
      shell,
      [...check, join(import.meta.dirname, `../../testing/golden/completion.${shell}`)],
      {
        encoding: "utf8",
      },
    );
    if (program.error === undefined && shell !== "powershell") expect(program.stderr).toBe("");
  });
});

describe("plugins", () => {
  const module = join(folder, "plugin.mjs");
  it("add commands that print like other commands", async () => {
    writeFileSync(
      module,
      `export function registerCommands(program, context) {
      context.addOutput(program.command("team").argument("<name>").description("Says what the team has.")).action(async (name, _options, command) => {
        await context.print(command, [{ name, version: context.version, base: (await context.connect(command)).baseUrl }], [["NAME", "name"], ["BASE", "base"]]);
      });
    }\n`,
    );
    const plugged = (...args: string[]) => shoal(args, { env: { ...keyed(), SHOAL_PLUGINS: module } });
    expect((await plugged("team", "search")).stdout).toBe(`NAME    BASE\nsearch  ${fake.baseUrl}\n`);
    expect((await plugged("team", "search", "--query", "[0].name")).stdout).toBe("search\n");
    expect((await plugged("--help")).stdout).toMatch(/\n {2}team <name> +Says what the team has\.\n/);
    expect((await plugged("team")).stderr).toBe("error: Missing required argument 'name'.\n  See: shoal team --help\n");
    mkdirSync(join(folder, "plugged"), { recursive: true });
    writeFileSync(join(folder, "plugged", "config.json"), JSON.stringify({ plugins: [module] }));
    expect(
      (await shoal(["team", "x", "-o", "json"], { env: { ...keyed(), SHOAL_CONFIG_DIR: join(folder, "plugged") } }))
        .status,
    ).toBe(0);
  });

  it("are named in the error if they cannot be loaded", async () => {
    const env = { ...keyed(), SHOAL_PLUGINS: "no-such-package" };
    expect(await shoal(["profiles", "list"], { env })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Cannot load the plugin no-such-package") as unknown,
    });
  });
});

describe("view", () => {
  it("opens the URL of a live view, or reports its absence", async () => {
    await run("browsers", "create", "--name", "viewed");
    const { status, stdout, stderr } = await run("view", "viewed", "--print");
    if (status === 0) expect(stdout).toMatch(/^https?:/);
    const readOnly = await run("browsers", "view", "viewed", "--read-only");
    if (readOnly.status === 0) expect(readOnly.stdout).not.toBe(stdout);
    else
      expect({ status, stderr }).toMatchObject({
        status: 11,
        stderr: expect.stringContaining("no live view") as unknown,
      });
    expect(existsSync(folder)).toBe(true);
  });
});
