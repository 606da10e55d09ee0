import { downloadReplay } from "@shoal/contract";
import { type FakeShoal, startFakeShoal } from "@shoal/testing";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bareEnv, shoal, shoalPath, start } from "../testing/shoal.ts";

let fake: FakeShoal;
const folder = mkdtempSync(join(tmpdir(), "shoal-failures-"));
beforeAll(async () => {
  fake = await startFakeShoal();
  fake.handle(downloadReplay, () => ({
    stream: Readable.from([Buffer.from("film")]),
    sizeBytes: 4,
    fileName: "k3f9-r1.mp4",
  }));
  await run("browsers", "create", "--name", "films");
});
afterAll(async () => {
  await fake.close();
  rmSync(folder, { recursive: true });
});

const env = () => ({
  SHOAL_CONFIG_DIR: join(folder, "config"),
  SHOAL_DATA_DIR: folder,
  SHOAL_KEYCHAIN: "0",
  SHOAL_BASE_URL: fake.baseUrl,
  SHOAL_API_KEY: fake.apiKey,
});
const run = (...args: string[]) => shoal(args, { env: env() });

it("rejects an unknown flag and suggests flags that contain its word", async () => {
  const { status, stderr } = await run("browsers", "update", "films", "--timeout", "600");
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr:
      "error: Unknown option '--timeout'. Did you mean --disconnect-timeout-seconds or --request-timeout?\n  See: shoal browsers update --help\n",
  });
});

it("ends every existing browser, reports the missing ones, and fails", async () => {
  await run("browsers", "create", "--name", "one");
  await run("browsers", "create", "--name", "two");
  const { status, stderr } = await run("browsers", "delete", "nope", "one", "two");
  expect(status).toBe(4);
  expect(stderr).toContain("Ended browser one.\nEnded browser two.\n");
  expect(stderr.match(/^error: .*nope.*$/gm)).toHaveLength(1);
  expect((await run("browsers", "list", "--query", "[].name")).stdout).toBe("films\n");
});

it("stops at the first browser when the service is unreachable", async () => {
  const { status, stderr } = await shoal(["browsers", "delete", "one", "two"], {
    env: { ...env(), SHOAL_BASE_URL: "http://127.0.0.1:9" },
  });
  expect(status).toBe(9);
  expect(stderr.match(/^error: /gm)).toHaveLength(1);
});

it("indents the lines of a multi-line error", async () => {
  const answer = {
    success: false,
    error: "TimeoutError: page.click\nCall log:\n  - waiting for \u001b[2mlocator('a')\u001b[22m",
    result: null,
  };
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const { status, stderr } = await shoal(["browsers", "playwright", "execute", "one", "await page.click('a')"], {
    env: { ...env(), SHOAL_BASE_URL: baseUrl },
  });
  server.close();
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: "error: TimeoutError: page.click\n  Call log:\n    - waiting for \\x1b[2mlocator('a')\\x1b[22m\n",
  });
});

it.skipIf(process.platform === "win32")("prints the URL when the system cannot open a browser", async () => {
  const script = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${content}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const server = createServer((_request, response) => {
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ session_id: "k3f9", browser_live_view_url: "http://127.0.0.1:1/live" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const open = (opener: string) =>
    shoal(["view", "k3f9"], { env: { ...env(), SHOAL_BASE_URL: baseUrl, BROWSER: opener } });
  expect(await open(script("fails", "exit 3"))).toEqual({
    status: 0,
    stdout: "http://127.0.0.1:1/live\n",
    stderr: expect.stringMatching(
      /^Cannot open a browser on this machine\. Run this [^\n]+\n {2}ssh -N -L 1:127\.0\.0\.1:1 \S+\n$/,
    ) as unknown,
  });
  expect(await open(join(folder, "missing"))).toMatchObject({ stdout: "http://127.0.0.1:1/live\n" });
  expect(await open(script("works", `echo "$1" > '${join(folder, "opened")}'`))).toMatchObject({
    status: 0,
    stdout: "",
    stderr: expect.stringMatching(/^Opened the live view of k3f9/) as unknown,
  });
  server.close();
});

it.skipIf(!existsSync("/dev/full"))("reports in one line that stdout cannot be written", async () => {
  for (const args of [["browsers", "list", "-o", "json"], ["--help"]]) {
    const child = spawn(process.execPath, [shoalPath, ...args], {
      env: bareEnv(env()),
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await once(child, "close");
    expect({ args, status: child.exitCode, stderr }).toEqual({
      args,
      status: 1,
      stderr: "error: cannot write to stdout: the disk is full.\n",
    });
  }
});

it("warns when a session captures no telemetry", async () => {
  const follow = async (telemetry: object | null) => {
    const server = createServer((request, response) => {
      if (request.url?.includes("/telemetry/") === true)
        response.setHeader("content-type", "text/event-stream").flushHeaders();
      else
        response.setHeader("content-type", "application/json").end(JSON.stringify({ session_id: "k3f9", telemetry }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const streaming = once(server, "request").then(() => once(server, "request"));
    const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const stream = start(["browsers", "telemetry", "stream", "k3f9"], { ...env(), SHOAL_BASE_URL: baseUrl });
    await streaming;
    stream.kill("SIGINT");
    const { stderr } = await stream.outcome;
    server.closeAllConnections();
    server.close();
    return stderr;
  };
  const notice = `This session captures no telemetry, so this stream stays empty. Turn it on: shoal browsers update k3f9 --telemetry '{"enabled":true}'\n`;
  expect(await follow(null)).toBe(notice);
  expect(await follow({ browser: { console: { enabled: false } } })).toBe(notice);
  expect(await follow({ browser: { console: { enabled: true } } })).toBe("");
});

it("saves a download in a folder under the suggested name", async () => {
  const target = join(folder, "films");
  mkdirSync(target);
  const { status, stderr } = await run("browsers", "replays", "download", "films", "r1", "-f", target);
  expect({ status, stderr }).toEqual({ status: 0, stderr: `Saved ${join(target, "k3f9-r1.mp4")} (4 B).\n` });
  expect(readdirSync(target)).toEqual(["k3f9-r1.mp4"]);
});

it("removes only abandoned parts of the same file", async () => {
  const { pid: ended } = spawnSync(process.execPath, ["--version"]);
  const left = `.film.mp4.${String(ended)}-0123abcd.part`;
  const kept = [
    `.film.mp4.${String(process.pid)}-0123abcd.part`,
    `.other.mp4.${String(ended)}-0123abcd.part`,
    ".film.mp4.part",
  ];
  const target = join(folder, "downloads");
  mkdirSync(target);
  for (const name of [left, ...kept]) writeFileSync(join(target, name), "");
  expect((await run("browsers", "replays", "download", "films", "r1", "-f", join(target, "film.mp4"))).status).toBe(0);
  expect(readdirSync(target).sort()).toEqual([...kept, "film.mp4"].sort());
});

it("keeps watching with --wait while the service is down", async () => {
  const first = await startFakeShoal();
  const { port } = new URL(first.baseUrl);
  const watching = start(["browsers", "list", "--watch", "--wait", "-o", "jsonl"], {
    ...env(),
    SHOAL_BASE_URL: first.baseUrl,
    SHOAL_API_KEY: first.apiKey,
  });
  await expect.poll(() => watching.stdout()).toBe("[]\n");
  await first.close();
  await expect
    .poll(() => watching.stderr())
    .toContain("The service does not answer. Waiting for it; press Ctrl-C to stop.\n");
  await using _second = await startFakeShoal({ port: Number(port), apiKey: first.apiKey });
  await shoal(["browsers", "create", "--name", "later"], {
    env: { ...env(), SHOAL_BASE_URL: first.baseUrl, SHOAL_API_KEY: first.apiKey },
  });
  await expect.poll(() => watching.stdout()).toContain("later");
  watching.kill("SIGINT");
  expect((await watching.outcome).status).toBe(130);
});

it.skipIf(process.platform !== "linux")("reports local file names that are not UTF-8", async () => {
  const target = join(folder, "names");
  mkdirSync(target);
  writeFileSync(Buffer.concat([Buffer.from(`${target}/`), Buffer.from([0x62, 0xff])]), "");
  const packed = await run("browsers", "fs", "upload-zip", "films", target, "--to", "/home/shoal");
  expect(packed.status).toBe(2);
  // The shell passes the raw bytes, and Node decodes them.
  const child = spawnSync(
    "sh",
    ["-c", `exec "$0" "$1" browsers fs upload silent "$2"/* --to /home/shoal`, process.execPath, shoalPath, target],
    {
      env: bareEnv(env()),
      encoding: "utf8",
    },
  );
  expect({ status: child.status, stderr: child.stderr }).toEqual({
    status: 2,
    stderr: `error: Cannot read ${target}/b\ufffd: its name is not valid UTF-8.\n  Rename the file, or send its content through stdin with -.\n`,
  });
  const extension = await run("browsers", "extensions", "upload", "films", target);
  expect(extension).toMatchObject({
    status: 2,
    stderr: `error: Cannot pack ${target}: it contains a file whose name is not valid UTF-8.\n  Rename the file.\n`,
  });
});
