import type { Shoal } from "@shoal/client";
import type { Page } from "playwright-core";
import { zipOf } from "../testing/zip.ts";

/** One resource of every kind, so that lists have rows. Apps are missing: they need a build. @returns its pages. */
export async function fillLists(shoal: Shoal): Promise<ShownSection[]> {
  const manifest = JSON.stringify({ manifest_version: 3, name: "Blocker", version: "1.0" });
  const archive = await zipOf([{ name: "manifest.json", content: manifest }]);
  const profile = await shoal.profiles.create({ name: "buyer" });
  const pool = await shoal.browserPools.create({ name: "search", size: 1 });
  await shoal.proxies.create({
    name: "office",
    type: "custom",
    protocol: "http",
    config: { host: "proxy.example.com", port: 3128 },
  });
  await shoal.extensions.upload({ name: "blocker", file: new Blob([archive], { type: "application/zip" }) });
  const connection = await shoal.auth.connections.create({
    domain: "shop.example.com",
    profile_name: "buyer",
    health_checks: false,
  });
  await shoal.credentials.create({
    name: "ada",
    domain: "shop.example.com",
    values: { username: "ada", password: "secret" },
  });
  await shoal.credentialProviders.create({
    name: "company",
    provider_type: "vault",
    token: "hvs.example",
    settings: { address: "https://vault.example.com:8200" },
  });
  const webhook = await shoal.webhooks.create({
    url: "https://hooks.example.com/shoal",
    event_types: ["browser.ended"],
  });
  const flow = await shoal.flows.create({
    name: "order-tea",
    start_url: "about:blank",
    parameters: [{ name: "product", default: "tea" }],
    steps: [{ action: "click", target: { role: "button", name: "Order {{product}}" }, timeout_ms: 0 }],
  });
  let run = await shoal.flows.runs.create(flow.id);
  while (run.status === "running") run = await shoal.flows.runs.get(flow.id, run.id, { wait_seconds: 50 });
  await shoal.telemetry.destinations.create({ name: "collector", endpoint: "https://otlp.example.com" });
  await shoal.apiKeys.create({ name: "order-agent" });
  const { session_id: id } = await shoal.browsers.create({ name: "shop-watch", timeout_seconds: 3600 });
  const { items: projects } = await shoal.projects.list({ limit: 1 });
  const tabs = ["live", "console", "network", "events", "files", "terminal", "processes", "logs", "recordings"];
  return [
    ...[...tabs, "details"].map((tab) => ({ name: `Session, ${tab}`, path: `sessions/${id}?tab=${tab}` })),
    { name: "Profile", path: `profiles/${profile.id}` },
    { name: "Pool", path: `pools/${pool.id}` },
    { name: "Connection", path: `connections/${connection.id}` },
    { name: "Flow", path: `flows/${flow.id}` },
    { name: "Run of a flow", path: `flows/${flow.id}/runs/${run.id}` },
    { name: "Webhook", path: `webhooks/${webhook.id}` },
    { name: "Project", path: `projects/${projects[0]?.id ?? ""}` },
  ];
}

export interface ShownSection {
  /** `Pools`. */
  readonly name: string;
  /** Below `/console/`. */
  readonly path: string;
}

/** The sections that the navigation offers to the person. */
export async function sectionsOf(page: Page): Promise<ShownSection[]> {
  const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link").all();
  const sections = await Promise.all(
    links.map(async (link) => ({
      name: (await link.innerText()).trim(),
      path: new URL((await link.getAttribute("href")) ?? "", page.url()).pathname,
    })),
  );
  return sections
    .filter(({ path }) => path.startsWith("/console"))
    .map(({ name, path }) => ({ name, path: path.replace(/^\/console\/?/, "") }));
}

/** Opens the page of a resource by its address. Some of them always have a status. */
export async function openDetails(page: Page, path: string): Promise<void> {
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/console/${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector("[aria-label^=Loading], [aria-label^=Reading]") === null);
}

/** Opens a section by its address, and waits until it has read everything. */
export async function openSection(page: Page, path: string): Promise<void> {
  await openDetails(page, path);
  await page.waitForFunction(() => document.querySelector("[role=status]") === null);
}
