import { Shoal } from "@shoal/client";
import { CertificateAuthority } from "@shoal/primitives/certificates";
import { eventually, filesBelow } from "@shoal/testkit";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { runService } from "../testing/service.ts";
import { closeServer, recordedPages, serveRecordedPages } from "./recorded-site.ts";

let folder: string;
let site: Server;
let url: string;
let requests: () => number;
let test: Awaited<ReturnType<typeof runService>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-recorded-"));
  const authority = new CertificateAuthority("Sites of a test");
  writeFileSync(join(folder, "authority.pem"), authority.certificate);
  site = createServer({
    SNICallback: (name, done) => {
      done(null, authority.contextFor(name));
    },
  });
  requests = serveRecordedPages(site);
  await once(site.listen(0, "127.0.0.1"), "listening");
  url = `https://localhost:${String((site.address() as AddressInfo).port)}`;
  test = await runService(["--allow-private-hosts", "127.0.0.1", "--allow-private-hosts", "localhost"], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") },
  });
});
afterAll(async () => {
  await test.end();
  await closeServer(site);
  rmSync(folder, { recursive: true, force: true });
});

async function visit(id: string, path: string): Promise<string> {
  const { error } = await test.shoal.browsers.playwright.execute(id, {
    code: `await page.goto("${url}${path}"); await page.waitForSelector("#done");`,
  });
  expect(error, path).toBeUndefined();
  return (await test.shoal.browsers.observe(id)).outline;
}

async function tour(id: string): Promise<Record<string, string>> {
  const outlines: Record<string, string> = {};
  for (const name of recordedPages) outlines[name] = await visit(id, `/page/${name}`);
  return outlines;
}

async function record(work: (id: string) => Promise<unknown>, more: { readonly seed?: number } = {}): Promise<string> {
  const made = await test.shoal.browsers.create({ timeout_seconds: 600, recording: { network: true, ...more } });
  await work(made.session_id);
  await test.shoal.browsers.delete(made.session_id);
  const id = made.network_recording_id ?? "";
  await eventually("it is stored", async () => {
    const { status } = await test.shoal.networkRecordings.get(id);
    return status === "complete";
  });
  return id;
}

it("replays twenty pages twice with the same outlines, without a connection", async () => {
  const { browsers, networkRecordings } = test.shoal;
  let original: Record<string, string> = {};
  const recording = await record(async (id) => {
    original = await tour(id);
    const {
      items: [present],
    } = await networkRecordings.list({ session_id: id });
    expect(present).toMatchObject({ status: "recording", session_id: id });
    expect(await codeOf(networkRecordings.delete(present?.id ?? ""))).toBe("409 conflict");
  });
  expect(JSON.stringify(original)).not.toContain("failed:");
  const stored = await networkRecordings.get(recording);
  expect(stored).toMatchObject({ left_out: 0, truncated: false });
  expect(stored.requests).toBeGreaterThan(40);
  for (const [path, content] of filesBelow(test.folder)) expect(content.includes("hidden=secret"), path).toBe(false);
  const before = requests();
  for (const turn of [1, 2]) {
    const replay = await browsers.create({ timeout_seconds: 600, replay: { recording } });
    expect(replay.network_replay).toEqual({ recording, on_missing: "fail", clock: "real" });
    expect(await tour(replay.session_id), `replay ${String(turn)}`).toEqual(original);
    await browsers.delete(replay.session_id);
  }
  expect(requests()).toBe(before);
  await networkRecordings.delete(recording);
  expect(await codeOf(browsers.create({ replay: { recording } }))).toBe("404 not_found");
});

const run = async (id: string, code: string): Promise<unknown> => {
  const { error, result } = await test.shoal.browsers.playwright.execute(id, { code });
  expect(error).toBeUndefined();
  return result;
};

it("replays pages that request addresses with times and random numbers, with the clock and the seed of the recording", async () => {
  const { browsers, networkRecordings } = test.shoal;
  let original = "";
  const recording = await record(async (id) => (original = await visit(id, "/page/clock")), { seed: 7 });
  const { created_at, seed } = await networkRecordings.get(recording);
  expect(seed).toBe(7);
  expect(original).not.toContain("failed:");
  const before = requests();
  const agesMs = Date.now() - Date.parse(created_at);
  for (const turn of [1, 2]) {
    const replay = await browsers.create({ timeout_seconds: 600, replay: { recording, clock: "recorded" } });
    expect(replay.network_replay).toEqual({ recording, on_missing: "fail", clock: "recorded" });
    expect(await visit(replay.session_id, "/page/clock"), `replay ${String(turn)}`).toBe(original);
    const seen = await run(replay.session_id, "return page.evaluate(() => Date.now());");
    expect(seen).toBeGreaterThanOrEqual(Date.parse(created_at));
    expect(seen).toBeLessThanOrEqual(Date.now() - agesMs);
    await browsers.delete(replay.session_id);
  }
  const { session_id: id } = await browsers.create({ timeout_seconds: 600, replay: { recording } });
  expect(await visit(id, "/page/clock")).toContain("is not in the recording");
  expect(requests()).toBe(before);
});

it("names a request that the recording does not have, in the page and in telemetry, and ends programs offline", async () => {
  const { browsers } = test.shoal;
  const recording = await record((id) => visit(id, "/page/static"));
  const before = requests();
  const replay = await browsers.create({
    timeout_seconds: 600,
    replay: { recording },
    telemetry: { browser: { network: { enabled: true } } },
  });
  const id = replay.session_id;
  const missing = `GET ${url}/page/fetch is not in the recording ${recording}.`;
  const page = `const answer = await page.goto("${url}/page/fetch"); return [answer.status(), await page.textContent("body")];`;
  expect(await run(id, page)).toEqual([504, expect.stringContaining(missing)]);
  await visit(id, "/page/static");
  await eventually("telemetry has it", async () => {
    const { items } = await browsers.telemetry.events(id, { limit: 100 });
    return items.some(({ event }) => event.type === "proxy_error" && event.data?.code === "not_in_recording");
  });
  const { stdout } = await browsers.process.run(id, {
    command: "bash",
    args: ["-c", "curl --silent --show-error https://site.example 2>&1"],
  });
  expect(stdout).toContain("403");
  expect(requests()).toBe(before);
  expect(await codeOf(browsers.fork(id))).toBe("409 conflict");
});

it("passes missing requests to the network within the rules of the session", async () => {
  const { browsers } = test.shoal;
  let original = "";
  const recording = await record(async (id) => (original = await visit(id, "/page/fetch")));
  const { session_id: id } = await browsers.create({
    timeout_seconds: 600,
    replay: { recording, on_missing: "pass" },
    network: { private_hosts: ["localhost", "127.0.0.1"], deny: ["denied.localhost"] },
  });
  const before = requests();
  expect(await visit(id, "/page/fetch")).toBe(original);
  expect(requests()).toBe(before);
  expect(await visit(id, "/page/posts")).toContain("posts");
  expect(requests()).toBe(before + 4);
  const denied = `return fetch("${url.replace("localhost", "denied.localhost")}/nonce", { mode: "no-cors" }).then(() => "reached", () => "denied")`;
  expect(await run(id, `return page.evaluate(() => { ${denied} });`)).toBe("denied");
  expect(requests()).toBe(before + 4);
});

it("records next to headers with stored values, without these, and keeps recording when they change", async () => {
  const { browsers, credentials, networkRecordings } = test.shoal;
  const value = `tok-${crypto.randomUUID()}`;
  await credentials.create({ name: "api", domain: url.slice("https://".length), values: { token: value } });
  const headers = [{ hosts: ["localhost"], name: "X-Api-Key", secret: { credential: "api", field: "token" } }];
  const recording = await record(async (id) => {
    await visit(id, "/page/static");
    await browsers.update(id, { network: { headers } });
    await visit(id, "/page/fetch");
    await browsers.update(id, { network: { headers: [] } });
    await visit(id, "/page/repeated");
  });
  expect(await networkRecordings.get(recording)).toMatchObject({ requests: 7 });
  const { session_id: id } = await browsers.create({ timeout_seconds: 600, replay: { recording } });
  for (const name of ["static", "fetch", "repeated"]) expect(await visit(id, `/page/${name}`)).toContain("done");
});

it("refuses a recording in a shared browser, both fields at once, and a recording that runs", async () => {
  const { browsers, networkRecordings } = test.shoal;
  const recording = { network: true };
  expect((await refusalOf(browsers.create({ isolation: "context", recording }))).message).toContain("body.recording");
  expect((await refusalOf(browsers.create({ recording, replay: { recording: "x" } }))).message).toContain(
    "body.recording: network and seed are not available with replay",
  );
  expect(await codeOf(browsers.create({ replay: { recording: "unknown" } }))).toBe("404 not_found");
  const made = await browsers.create({ recording });
  expect(await codeOf(browsers.create({ replay: { recording: made.network_recording_id ?? "" } }))).toBe(
    "409 conflict",
  );
  const { key: apiKey } = await test.shoal.apiKeys.create({ name: "limited", role: "operator" });
  const limited = new Shoal({ baseUrl: test.service.baseUrl, apiKey });
  const replay = { recording: made.network_recording_id ?? "" };
  expect(await codeOf(limited.browsers.create({ replay }))).toBe("403 forbidden");
  await browsers.delete(made.session_id);
  await eventually("it is stored", async () => {
    const { status } = await networkRecordings.get(made.network_recording_id ?? "");
    return status === "complete";
  });
});
