import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packProfile } from "../browser/profile-state/archive.ts";
import { findChromium } from "../testing/chromium.ts";
import { assignFiles } from "../testing/profile-browser.ts";
import { runInstance } from "../testing/run-instance.ts";

const shell = findChromium("headless_shell");
const full = findChromium("chrome");
const isSkipped = (shell === undefined || full === undefined) && process.env.SHOAL_REQUIRE_ALL !== "1";
const chromium = {
  kind: "headless_shell",
  executable: shell ?? "missing shell",
  full: { executable: full ?? "missing chromium", inner_sandbox: process.getuid?.() !== 0 },
} as const;

const seen: string[] = [];
let site: Server;
let startUrl: string;
beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url !== "/favicon.ico") seen.push(`${request.url ?? ""} ${request.headers.cookie ?? ""}`);
    response.setHeader("content-type", "text/html").end("<title>page</title>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  startUrl = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

function profileWithCookie(): Promise<Buffer> {
  const cookie = { name: "a", value: "b", domain: "127.0.0.1", path: "/", expires: -1, httpOnly: false, secure: false };
  return buffer(packProfile(undefined, { version: 1, apply: "all", cookies: [cookie], origins: [] }));
}

function fetchingExtension(): Promise<Buffer> {
  const archive = new ZipFile();
  const manifest = {
    manifest_version: 3,
    name: "fetching",
    version: "1.0",
    content_scripts: [{ matches: ["<all_urls>"], js: ["mark.js"], run_at: "document_start" }],
  };
  archive.addBuffer(Buffer.from(JSON.stringify(manifest)), "manifest.json");
  archive.addBuffer(Buffer.from("fetch('/of-extension')"), "mark.js");
  archive.end();
  return buffer(archive.outputStream);
}

describe.skipIf(isSkipped)("an assignment with files", () => {
  it("starts the browser once, and opens the first page with profile, extension and telemetry", async () => {
    seen.length = 0;
    await using instance = await runInstance({ chromium });
    await instance.ready();
    const answer = await assignFiles(instance, {
      assign: { launch: { full: true, headless: false }, telemetry: ["network"], start_url: startUrl },
      extensions: [{ name: "fetching", archive: await fetchingExtension() }],
      profile: await profileWithCookie(),
    });
    expect([answer.status, answer.body.toString()]).toEqual([200, ""]);
    await expect.poll(() => seen).toEqual(["/ a=b", "/of-extension a=b"]);
    expect(instance.events.filter(({ type }) => type === "ready").length).toBeLessThanOrEqual(2);
    const reading = await instance.call(
      "POST",
      "/process/exec",
      JSON.stringify({ command: "sh", args: ["-c", "echo $DISPLAY"] }),
    );
    const { stdout_b64 } = JSON.parse(reading.text) as { stdout_b64: string };
    expect(Buffer.from(stdout_b64, "base64").toString()).toMatch(/^:\d+\n$/);
  });

  it("names the part that it refuses, and the part that is missing", async () => {
    await using instance = await runInstance({ chromium });
    const bodyOf = async (files: Parameters<typeof assignFiles>[1]) => {
      const { body, status } = await assignFiles(instance, files);
      return { status, ...(JSON.parse(body.toString()) as object) };
    };
    expect(await bodyOf({ profile: Buffer.from("nonsense") })).toMatchObject({ status: 400, field: "profile" });
    expect(await bodyOf({ extensions: [{ name: "bad", archive: Buffer.from("nonsense") }] })).toMatchObject({
      status: 400,
      field: "extensions",
      message: expect.stringMatching(/^extensions: body\.extensions\[0\]\S+ .* Nothing was unpacked\.$/) as unknown,
      hint: "Nothing was unpacked.",
    });
    expect(await bodyOf({ assign: { timeout_seconds: 0 } })).toMatchObject({
      status: 400,
      field: "assign.timeout_seconds",
    });
    expect(await bodyOf({ assign: { session_id: "other" }, profile: await profileWithCookie() })).toMatchObject({
      status: 409,
      code: "conflict",
    });
  });
});
