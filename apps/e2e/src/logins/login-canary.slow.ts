import { type AuthConnection, type CreateAuthConnection, Shoal } from "@shoal/client";
import { eventually, filesBelow } from "@shoal/testkit";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { totpCode } from "../sites/hosting/totp.ts";
import { logins } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { allProcesses, descendantsOf } from "../testing/processes.ts";
import { runService, type TestService } from "../testing/service.ts";
import { storedRows } from "../testing/stored-rows.ts";

const canary = (): string => `cnry${randomBytes(16).toString("hex")}`;
const totpSite = logins.find(({ site }) => site === "totp") ?? expect.fail();
const onePage = logins.find(({ site }) => site === "one-page") ?? expect.fail();
const identifierFirst = logins.find(({ site }) => site === "identifier-first") ?? expect.fail();
/** By the way in which they reach the service. */
const secrets = {
  "stored password": totpSite.values.password ?? expect.fail(),
  "TOTP secret": totpSite.totpSecret ?? expect.fail(),
  "provider token": canary(),
  "provider's password": identifierFirst.values.password ?? expect.fail(),
  "refused answer": canary(),
  "accepted answer": onePage.values.password ?? expect.fail(),
};
const everything = Object.fromEntries(
  ["console", "network", "page", "interaction", "screenshot", "connection", "control", "system"].map((category) => [
    category,
    { enabled: true },
  ]),
);

/** A store with one item. */
const vault = createServer((request, response) => {
  const answers: Readonly<Record<string, unknown>> = {
    "/v1/auth/token/lookup-self": { data: { ttl: 3600, renewable: false } },
    "/v1/kv/data/shop": {
      data: { data: { ...identifierFirst.values, url: `https://${identifierFirst.site}.test` }, metadata: {} },
    },
  };
  const answer = answers[request.url ?? ""];
  response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(answer ?? { errors: [] }));
});

let sites: Sites;
let test: TestService & { end(): Promise<void> };
let shoal: Shoal;
let proxyId: string;
let folder: string;
/** Each body that the service answered. */
const replies: Promise<string>[] = [];
const processes = new Set<string>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-login-canary-"));
  sites = await startSites();
  await new Promise<void>((resolve) => vault.listen(0, "127.0.0.1", resolve));
  const hosts = `${sites.privateHost},127.0.0.1:9,127.0.0.1:${String(vaultPort())}`;
  test = await runService([
    ...["--allow-private-hosts", sites.privateHost, "--credential-provider-hosts", hosts],
    ...["--log-level", "trace", "--access-log", join(folder, "access.log")],
  ]);
  const { apiKey, baseUrl } = test.service;
  shoal = new Shoal({
    baseUrl,
    apiKey,
    async fetch(request: Request) {
      const response = await fetch(request);
      const headers = JSON.stringify([...response.headers]);
      const copy = response.clone();
      replies.push(copy.arrayBuffer().then((body) => `${headers}\n${Buffer.from(body).toString("latin1")}`));
      return response;
    },
  });
  proxyId = (await shoal.proxies.create(sites.proxy)).id ?? expect.fail();
});
afterAll(async () => {
  vault.close();
  await test.end();
  await sites.close();
  rmSync(folder, { recursive: true, force: true });
});

// `listen` made the address.
const vaultPort = (): number => (vault.address() as AddressInfo).port;

function connect(login: typeof onePage, wishes: Partial<CreateAuthConnection>): Promise<AuthConnection> {
  return shoal.auth.connections.create({
    domain: `${login.site}.test`,
    profile_name: login.site,
    login_url: sites.url(login.site, login.path),
    proxy: { id: proxyId },
    health_checks: false,
    record_session: true,
    browser_telemetry: { browser: everything },
    ...wishes,
  });
}

/** Follows a login to its end, and looks at all processes of the service meanwhile. */
async function follow(id: string, onLook: (connection: AuthConnection) => Promise<void> = async () => undefined) {
  await shoal.auth.connections.login(id);
  const events = (async () => {
    for await (const event of shoal.auth.connections.follow(id)) expect(event.event).toBeDefined();
  })();
  const connection = await eventually("the login has ended", async () => {
    readProcesses();
    const present = await shoal.auth.connections.get(id);
    if (present.flow_status !== "IN_PROGRESS") return present;
    await onLook(present);
    return undefined;
  });
  await events;
  return connection;
}

function readProcesses(): void {
  const below = test.pids.flatMap((pid) => descendantsOf(pid));
  for (const { command, pid } of [...below, ...own()]) {
    processes.add(command);
    try {
      processes.add(readFileSync(`/proc/${String(pid)}/environ`, "latin1"));
    } catch {
      // It has ended.
    }
  }
}
const own = () => allProcesses().filter(({ pid }) => test.pids.includes(pid));

/** Events, recordings and the profile of a login. */
async function readRemains(connection: AuthConnection): Promise<void> {
  const { items } = await shoal.auth.connections.timeline(connection.id);
  const { browser_session_id: session = "" } = items[0] ?? {};
  const events = await shoal.browsers.telemetry.events(session, {});
  expect(events.items.map(({ event }) => event.category)).toEqual(expect.arrayContaining(["network", "page"]));
  const replays = await shoal.browsers.replays.list(session);
  expect(replays).toHaveLength(1);
  for (const { replay_id } of replays) {
    const film = await eventually("the recording is complete", () =>
      shoal.browsers.replays.download(session, replay_id).catch(() => undefined),
    );
    await buffer(Readable.from(film.stream));
  }
  const archive = await shoal.profiles.download(connection.profile_name);
  if (archive !== undefined)
    archives.push(zstdDecompressSync(await buffer(Readable.from(archive.stream))).toString("latin1"));
}
const archives: string[] = [];

function expectNone(what: string, text: string): void {
  for (const [name, secret] of Object.entries(secrets)) {
    const bytes = Buffer.from(secret);
    for (const form of [
      secret,
      encodeURIComponent(secret),
      bytes.toString("hex"),
      bytes.toString("base64").slice(0, 20),
    ])
      if (text.includes(form)) expect.fail(`The ${name} is in ${what}: …${around(text, form)}…`);
  }
}
function around(text: string, form: string): string {
  const at = text.indexOf(form);
  return text.slice(Math.max(0, at - 200), at + form.length + 50);
}

it("keeps secrets of logins out of replies, events, logs, telemetry, recordings, processes, profiles and files", async () => {
  const began = Date.now();
  // Its reply contains a one-time code by design.
  await test.shoal.credentials.create({
    name: "stored",
    domain: "totp.test",
    values: { ...totpSite.values },
    totp_secret: secrets["TOTP secret"],
  });
  const first = await connect(totpSite, { credential: { name: "stored" } });
  expect(await follow(first.id)).toMatchObject({ flow_status: "SUCCESS" });
  await readRemains(first);

  // The provider cannot be reached, so that a person answers: wrong at first.
  const settings = { address: "http://127.0.0.1:9", mount: "kv" };
  await shoal.credentialProviders.create({
    provider_type: "vault",
    name: "vault",
    token: secrets["provider token"],
    settings,
  });
  const second = await connect(onePage, { credential: { provider: "vault", path: "kv/shop" } });
  const answered = new Set<string>();
  const ended = await follow(second.id, async ({ interaction_id: question }) => {
    if (question === undefined || answered.has(question)) return;
    answered.add(question);
    const password = answered.size === 1 ? secrets["refused answer"] : secrets["accepted answer"];
    await shoal.auth.connections.submit(second.id, { fields: { email: onePage.values.email ?? "", password } });
  });
  expect([ended, answered.size]).toMatchObject([{ flow_status: "SUCCESS" }, 2]);
  await readRemains(second);

  const reachable = { ...settings, address: `http://127.0.0.1:${String(vaultPort())}` };
  const token = secrets["provider token"];
  await shoal.credentialProviders.create({ provider_type: "vault", name: "second", token, settings: reachable });
  const third = await connect(identifierFirst, { credential: { provider: "second", path: "kv/shop" } });
  expect(await follow(third.id)).toMatchObject({ flow_status: "SUCCESS" });
  await readRemains(third);
  await shoal.credentials.list();
  await shoal.credentialProviders.list();
  await shoal.auditLogs.list({ start: new Date(began - 60_000).toISOString(), end: new Date().toISOString() });

  const rows = await storedRows(test.folder);
  const told = (await Promise.all(replies)).join("\n");
  await test.service.stop();
  const log = `${test.service.output()}\n${readFileSync(join(folder, "access.log"), "utf8")}`;
  // The search finds texts that are not secret.
  expect(told).toContain("post_login_url");
  expect(log).toContain("/auth/connections");
  expect(archives.join("")).toContain("Cookies");
  expect(rows).toContain("identifier-first.test");
  expectNone("a row", rows);
  expectNone("a reply", told);
  expectNone("a log", log);
  expectNone("a process", [...processes].join("\n"));
  expectNone("a profile", archives.join("\n"));
  for (let at = began - 30_000; at <= Date.now(); at += 30_000) {
    // Ids, numbers of JSON and parts of seconds contain the same six digits now and then.
    const code = new RegExp(
      String.raw`(?<![\w.-]|":)${totpCode(secrets["TOTP secret"], Math.floor(at / 30_000))}(?![\w-])`,
    );
    for (const [what, text] of Object.entries({ told, log })) expect(code.exec(text)?.input, what).toBeUndefined();
  }
  let seen = false;
  for (const [path, content] of filesBelow(test.folder)) {
    seen ||= content.includes("totp.test");
    expectNone(path, content);
  }
  expect(seen).toBe(true);
});
