import { eventually, filesBelow } from "@shoal/testkit";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { filesIn } from "../testing/zip.ts";
import { storedRows } from "../testing/stored-rows.ts";

const on = { enabled: true };
const values = {
  typed: `typed-${crypto.randomUUID()}`,
  token: `token-${crypto.randomUUID()}`,
  username: "ada",
  password: `auth-${crypto.randomUUID()}`,
};
const ofVault = `vault-${crypto.randomUUID()}`;
const requests: string[] = [];

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  requests.push(`${request.method ?? ""} ${request.rawHeaders.join(" ")}\n${body}`);
  // The page repeats what it got.
  const repeated = [...new URLSearchParams(body).values()].map((value) => `<p title="${value}">You typed ${value}</p>`);
  response
    .writeHead(200, { "content-type": "text/html" })
    .end(
      "<title>Sign in</title><form method=post><input name=p type=password><input name=code><input name=v><button>Log in</button></form>" +
        `${repeated.join("")}<script>for (const one of document.querySelectorAll("p")) console.log(one.title);</script>`,
    );
}

let folder: string;
let site: Site;
let test: Awaited<ReturnType<typeof runService>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-no-byte-"));
  site = await serveSite((request, response) => void answer(request, response));
  test = await runService([
    ...["--allow-private-hosts", site.host, "--log-level", "trace", "--access-log", join(folder, "access.log")],
  ]);
});
afterAll(async () => {
  await test.end();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As texts, addresses, JSON and headers contain it. */
const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("hex"),
  // Without the end, which depends on what follows.
  Buffer.from(secret).toString("base64").slice(0, -4),
];

const bytesOf = async (stream: ConstructorParameters<typeof Response>[0]) =>
  Buffer.from(await new Response(stream).arrayBuffer()).toString("latin1");

/** All files of the evidence, also those of its trace. */
async function bundleOf(id: string): Promise<string> {
  const { stream } = await test.shoal.browsers.evidence(id);
  const files = filesIn(new Uint8Array(await new Response(stream).arrayBuffer()));
  const trace = files.get("trace.zip");
  if (trace === undefined) throw new Error("The bundle has no trace.");
  return [...files, ...filesIn(trace)]
    .map(([name, content]) => `${name}\n${Buffer.from(content).toString("latin1")}`)
    .join("\n");
}

it("keeps a typed value, a value of a vault, a one-time code, a header and HTTP authentication out of every stored byte of a session", async () => {
  const { shoal } = test;
  const { browsers } = shoal;
  await shoal.credentials.create({
    ...{ name: "all", domain: site.host, values },
    ...{ totp_secret: "JBSWY3DPEHPK3PXP", totp_digits: 8, totp_period: 300 },
  });
  const vault = await shoal.vaults.create({ name: "all" });
  await shoal.vaults.items.put(vault.id, "shop", {
    type: "credential",
    spec: { provider: "kernel", sites: [site.host], fields: [{ name: "pin", type: "password", value: ofVault }] },
  });
  const { session_id: id } = await browsers.create({
    timeout_seconds: 600,
    vaults: [{ name: "all" }],
    recording: { network: true },
    telemetry: {
      browser: {
        console: on,
        network: on,
        page: { outlines: true },
        control: on,
        connection: on,
        interaction: on,
        screenshot: on,
      },
    },
    network: {
      headers: [{ hosts: ["127.0.0.1"], name: "X-Api-Key", secret: { credential: "all", field: "token" } }],
      http_auth: [{ hosts: ["127.0.0.1"], credential: "all" }],
    },
  });
  const replay = await browsers.replays.start(id, { framerate: 5 });
  // A client records its requests as the browser has them.
  const recorded = await browsers.playwright.execute(id, {
    code: `
      const other = await browser.newContext({ recordHar: { path: "/tmp/session.har", content: "embed" } });
      await other.tracing.start({ snapshots: true, screenshots: true });
      const tab = await other.newPage();
      await tab.goto("${site.url}recorded");
      await other.tracing.stop({ path: "/tmp/trace.zip" });
      await other.close();
      const { execFileSync } = await import("node:child_process");
      const trace = execFileSync("python3", ["-c", "import zipfile; z = zipfile.ZipFile('/tmp/trace.zip'); print([z.read(n).decode('latin-1') for n in z.namelist()])"], { maxBuffer: 1e8 });
      const { readFileSync } = await import("node:fs");
      return { har: readFileSync("/tmp/session.har", "utf8"), trace: String(trace) };`,
  });
  expect(recorded.error).toBeUndefined();
  await browsers.act(id, { type: "navigate", url: site.url });
  const { code: before } = await shoal.credentials.totpCode("all");
  for (const [selector, field] of [
    ["[name=p]", "typed"],
    ["[name=code]", "totp_code"],
  ] as const)
    await browsers.act(id, { type: "fill", selector, secret: { credential: "all", field }, observe: {} });
  // The code of the next period if one ended meanwhile.
  const { code: after } = await shoal.credentials.totpCode("all");
  const filled = await shoal.vaults.items.operate(vault.id, "shop", {
    ...{ type: "fill", browser_id: id, page_url: site.url },
    fields: [{ field: "pin", selector: "[name=v]" }],
  });
  expect(filled).toMatchObject({ status: "completed" });
  await browsers.act(id, { type: "click", role: "button", name: "Log in", observe: {} });
  const basic = Buffer.from(`ada:${values.password}`).toString("base64");
  const posted = await eventually("the form arrived", () => requests.find((each) => each.startsWith("POST")));
  const code = posted.includes(before) ? before : after;
  for (const sent of [values.typed, ofVault, code, values.token, `Basic ${basic}`]) expect(posted).toContain(sent);
  await browsers.replays.stop(id, replay.replay_id);
  await eventually("the form is in the telemetry", async () => {
    const { items } = await browsers.telemetry.events(id, { limit: 100, order: "desc" });
    return JSON.stringify(items).includes('"POST"');
  });
  const bundles = [await bundleOf(id)];
  const { flow } = await shoal.flows.record(id, { name: "sign-in" });
  const formats = ["json", "playwright_ts", "playwright_python"] as const;
  const exported = await Promise.all(
    formats.map(async (format) => bytesOf((await shoal.flows.export(flow.id, { format })).stream)),
  );
  await browsers.delete(id);
  bundles.push(await bundleOf(id));
  const film = await eventually("the recording is complete", () =>
    browsers.replays.download(id, replay.replay_id).catch(() => undefined),
  );
  const events: string[] = [];
  for await (const event of await browsers.telemetry.events(id, { limit: 100 })) events.push(JSON.stringify(event));

  const rows = await storedRows(test.folder);
  const places: [string, string][] = [
    ["HAR and trace of a client", JSON.stringify(recorded.result)],
    ["the recording", await bytesOf(film.stream)],
    ["evidence", bundles.join("\n")],
    ["the flow and its tests", exported.join("\n")],
    ["events", events.join("\n")],
    ["rows", rows],
  ];
  await test.service.stop();
  places.push(
    ["the log", test.service.output()],
    ["the access log", readFileSync(join(folder, "access.log"), "latin1")],
  );
  places.push(...filesBelow(test.folder));
  // The search finds texts that are not secret.
  for (const what of [
    "HAR and trace of a client",
    "events",
    "rows",
    "the access log",
    "evidence",
    "the flow and its tests",
  ])
    expect(places.find(([name]) => name === what)?.[1], what).toMatch(/recorded|X-Api-Key|credential/);
  expect(places.find(([name]) => name === "evidence")?.[1]).toContain("after-fill");
  for (const [where, content] of places)
    for (const secret of [values.typed, ofVault, values.token, values.password, `ada:${values.password}`, code])
      for (const form of formsOf(secret)) expect(content.includes(form), `${where} has ${form}`).toBe(false);
});
