import { Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { Buffer } from "node:buffer";
import type { Sites } from "../../sites/start-sites.ts";
import { zipOf } from "../../testing/zip.ts";
import { makeApp } from "./app.ts";
import { type Shop, shopUrl } from "./shop.ts";

/** Ids of the things that the pictures show. */
export interface World {
  readonly session: string;
  readonly ended: string;
  readonly failed: string;
  readonly recording: string;
  readonly sharedRecording: string;
  readonly runningRecording: string;
  readonly profile: string;
  readonly pool: string;
  readonly webhook: string;
  readonly connection: string;
  readonly waitingConnection: string;
  readonly project: string;
  readonly deployment: string;
  readonly failedDeployment: string;
  readonly invocation: string;
  readonly failedInvocation: string;
}

interface Surroundings {
  readonly shoal: Shoal;
  readonly baseUrl: string;
  readonly shop: Shop;
  readonly sites: Sites;
}

const on = { enabled: true };
const everything = {
  browser: { console: on, network: on, page: on, control: on, connection: on, system: on, interaction: on },
};
const viewport = { width: 1280, height: 800 };

/** Makes everything through the API. Sessions before other things: they need the most time. */
export async function makeWorld(around: Surroundings): Promise<World> {
  const { shoal, shop } = around;
  const proxy = await shoal.proxies.create({ name: "shop", ...shop.proxy });
  const proxyId = proxy.id ?? "";
  const [sessions, resources, connections, apps] = await Promise.all([
    makeSessions(shoal, proxyId),
    makeResources(around, proxyId),
    makeConnections(around),
    makeApp(shoal),
  ]);
  return { ...sessions, ...resources, ...connections, ...apps };
}

async function makeSessions(shoal: Shoal, proxyId: string) {
  const create = (name: string, path: string, tags: Record<string, string>, timeoutSeconds = 900) =>
    shoal.browsers.create({
      name,
      tags,
      proxy: { id: proxyId },
      start_url: `${shopUrl}${path}`,
      timeout_seconds: timeoutSeconds,
      viewport,
      telemetry: everything,
    });
  const { session_id: id } = await create("order-agent", "/orders", { team: "sales", env: "production" });
  const other = await create("invoice-export", "/invoices", { team: "finance" });
  await create("price-watch", "/catalog", { team: "research" });
  const recording = await recordOrders(shoal, id);
  await fillSession(shoal, id);
  const running = await shoal.browsers.replays.start(other.session_id);
  const { session_id: ended } = await create("returns-2026-11-23", "/orders", { team: "sales" });
  await recordOrders(shoal, ended);
  await shoal.browsers.delete(ended);
  const { session_id: failed } = await create("checkout-agent", "/checkout", { team: "sales" });
  await shoal.browsers.playwright.execute(failed, { code: `await page.getByText("Pay now").click();` });
  await shoal.browsers.process
    .run(failed, { command: "sh", args: ["-c", "kill -9 1; kill -9 -1"] })
    .catch(() => undefined);
  await eventually("the session is lost", async () => {
    const { deleted_at } = await shoal.browsers.get(failed, { include_deleted: true });
    return deleted_at;
  });
  return {
    session: id,
    ended,
    failed,
    recording: recording.replay_id,
    sharedRecording: new URL(recording.replay_view_url ?? "").pathname,
    runningRecording: `sessions/${other.session_id}/replays/${running.replay_id}`,
  };
}

async function recordOrders(shoal: Shoal, id: string) {
  const { replays } = shoal.browsers;
  const { replay_id } = await replays.start(id);
  await replays.mark(id, replay_id, { title: "Read the orders" });
  await shoal.browsers.playwright.execute(id, {
    code: `await page.goto("${shopUrl}/orders"); await page.waitForTimeout(1500);`,
  });
  await replays.mark(id, replay_id, { title: "Ship order 1042" });
  await shoal.browsers.playwright.execute(id, {
    code: `await page.getByText("Ship the next order").click(); await page.waitForTimeout(1500);`,
  });
  await shoal.browsers.computer.moveMouse(id, { x: 640, y: 420 });
  await replays.stop(id, replay_id);
  return eventually("the film is complete", async () => {
    const found = (await replays.list(id)).find((replay) => replay.replay_id === replay_id);
    return found?.finished_at == null || found.replay_view_url === undefined ? undefined : found;
  });
}

async function fillSession(shoal: Shoal, id: string): Promise<void> {
  const { fs, process } = shoal.browsers;
  const files = {
    "orders.csv":
      "id,customer,goods,price\n1042,Ada Lovelace,Three oak chairs,447.00\n1043,Grace Hopper,One round table,620.00\n",
    "invoice-1042.pdf": "%PDF-1.7\n".padEnd(48_213, "x"),
    "notes from the long meeting about the shipping of orders in November 2026.md": "# Shipping\n",
  };
  for (const [name, content] of Object.entries(files))
    await fs.writeFile(id, Buffer.from(content), { path: `/home/shoal/Downloads/${name}` });
  await process.spawn(id, {
    command: "sh",
    args: ["-c", "for i in 1 2 3 4 5; do echo watching orders, round $i; done; sleep 3600"],
  });
  await process.run(id, {
    command: "sh",
    args: ["-c", "cat Downloads/orders.csv | wc -l; exit 3"],
    cwd: "/home/shoal",
  });
}

async function makeResources({ shoal, baseUrl, shop }: Surroundings, proxyId: string) {
  const pool = await shoal.browserPools.create({
    name: "search",
    size: 2,
  });
  const profile = await makeProfile(shoal, proxyId);
  await shoal.proxies.create({
    name: "office",
    type: "custom",
    protocol: "http",
    config: { host: "proxy.example.com", port: 3128 },
  });
  await shoal.proxies.check(proxyId, { url: `${shopUrl}/orders` }).catch(() => undefined);
  const manifest = JSON.stringify({ manifest_version: 3, name: "Blocker", version: "1.4.2" });
  const archive = await zipOf([{ name: "manifest.json", content: manifest }]);
  await shoal.extensions.upload({ name: "blocker", file: new Blob([archive], { type: "application/zip" }) });
  await shoal.credentials.create({
    name: "ada",
    domain: "shop.example.com",
    values: { username: "ada", password: "secret" },
    totp_secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
  });
  await shoal.credentialProviders.create({
    name: "company",
    provider_type: "vault",
    token: "hvs.example",
    settings: { address: "https://vault.example.com:8200" },
  });
  const hook = await shoal.webhooks.create({
    url: `http://${shop.host}/hooks`,
    event_types: ["browser.ended", "browser_pool.filled"],
  });
  await shoal.webhooks.test(hook.id);
  const broken = await shoal.webhooks.create({ url: `http://${shop.host}/broken`, event_types: ["browser.ended"] });
  await shoal.webhooks.test(broken.id).catch(() => undefined);
  await shoal.telemetry.destinations.create({
    name: "collector",
    endpoint: "https://otlp.example.com",
    headers: { authorization: "Bearer x" },
  });
  const { id: project } = await shoal.projects.create({ name: "research" });
  await shoal.projects.limits.update(project, { max_concurrent_sessions: 20 });
  await shoal.projects.create({ name: "empty" });
  const { key } = await shoal.apiKeys.create({
    name: "ci",
    days_to_expire: 30,
  });
  await new Shoal({ baseUrl, apiKey: key }).profiles.create({ name: "newsletter" });
  return { pool: pool.id, profile, webhook: hook.id, project };
}

/** A profile with cookies and two versions. */
async function makeProfile(shoal: Shoal, proxyId: string): Promise<string> {
  const { id } = await shoal.profiles.create({ name: "buyer" });
  for (const version of [1, 2]) {
    const browser = await shoal.browsers.create({
      proxy: { id: proxyId },
      profile: { id, save_changes: true },
      start_url: `${shopUrl}/orders`,
    });
    const code = `await context.addCookies([{ name: "session", value: "v${version}", url: "${shopUrl}", expires: Date.now() / 1000 + 8e6, httpOnly: true }, { name: "theme", value: "light", url: "${shopUrl}", expires: Date.now() / 1000 + 9e6 }]);`;
    await shoal.browsers.playwright.execute(browser.session_id, { code });
    await shoal.browsers.delete(browser.session_id);
  }
  return id;
}

/** A signed-in connection, and a connection whose login waits for a code. */
async function makeConnections({ shoal, sites }: Surroundings) {
  const { id: proxyId = "" } = await shoal.proxies.create({ name: "sites", ...sites.proxy });
  const connect = async (site: string, values: Record<string, string>) => {
    await shoal.credentials.create({ name: site, domain: `${site}.test`, values });
    const { id } = await shoal.auth.connections.create({
      domain: `${site}.test`,
      profile_name: site,
      login_url: sites.url(site),
      proxy: { id: proxyId },
      credential: { name: site },
      health_checks: false,
    });
    await shoal.auth.connections.login(id);
    return id;
  };
  const connection = await connect("toast", { username: "ada", password: "Toast&Marmalade9" });
  await eventually("the login has ended", async () => {
    const { flow_status } = await shoal.auth.connections.get(connection);
    return flow_status === "IN_PROGRESS" ? undefined : flow_status;
  });
  const waitingConnection = await connect("sms-code", { username: "alovelace", password: "coastal-Sum-12" });
  await eventually("the login asks a question", async () => {
    const { flow_status, interaction_id } = await shoal.auth.connections.get(waitingConnection);
    return flow_status === "IN_PROGRESS" ? interaction_id : flow_status;
  });
  return { connection, waitingConnection };
}
