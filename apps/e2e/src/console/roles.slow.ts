import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PeopleProvider, startPeopleProvider } from "../testing/people-provider.ts";
import { useService } from "../testing/service.ts";
import { fillLists, openDetails, openSection, type ShownSection, sectionsOf } from "./every-section.ts";
import { usePerson } from "./open-console.ts";

let provider: PeopleProvider;
beforeAll(async () => {
  provider = await startPeopleProvider(() => test.service.baseUrl);
});
afterAll(() => provider.close());
const test = useService(() => [
  ...provider.flags,
  ...["--credential-provider-hosts", "vault.example.com", "--allow-private-hosts", "127.0.0.1"],
]);
const person = usePerson(test);
let details: readonly ShownSection[];
beforeAll(async () => {
  const filled = await fillLists(test.shoal);
  const { session_id: id } = await test.shoal.browsers.get("shop-watch");
  const { replay_id: replay } = await test.shoal.browsers.replays.start(id);
  const { session_id: ended } = await test.shoal.browsers.create();
  await test.shoal.browsers.delete(ended);
  details = [
    ...filled,
    { name: "Recording", path: `sessions/${id}/replays/${replay}` },
    { name: "Session, ended", path: `sessions/${ended}` },
  ];
});

const roles = ["viewer", "operator", "admin"] as const;
type Role = (typeof roles)[number];
const isAtLeast = (role: Role, needed: Role) => roles.indexOf(role) >= roles.indexOf(needed);

interface Change {
  /** The button that offers it. */
  readonly button?: string;
  readonly request: `${"DELETE" | "GET" | "POST"} /${string}`;
  readonly needs: Role;
  /** Lower roles see that the page is not for them. */
  readonly isLocked?: true;
}

/** A change of every section. A new section needs its line here. */
const changes: Readonly<Record<string, Change>> = {
  Home: { button: "Start", request: "POST /browsers", needs: "operator" },
  Sessions: { button: "End session shop-watch", request: "DELETE /browsers/other", needs: "operator" },
  Profiles: { button: "New profile", request: "POST /profiles", needs: "operator" },
  Snapshots: { request: "DELETE /snapshots/other", needs: "operator" },
  "Network recordings": { request: "DELETE /network_recordings/other", needs: "operator" },
  Pools: { button: "New pool", request: "POST /browser_pools", needs: "operator" },
  Flows: { request: "POST /flows/import", needs: "operator" },
  Proxies: { button: "New proxy", request: "POST /proxies", needs: "admin" },
  Extensions: { button: "Upload", request: "DELETE /extensions/other", needs: "operator" },
  Apps: { request: "POST /deployments", needs: "admin" },
  Invocations: { request: "POST /invocations", needs: "operator" },
  Schedules: { button: "New schedule", request: "POST /schedules", needs: "operator" },
  Connections: { button: "New connection", request: "POST /auth/connections", needs: "operator" },
  Credentials: { button: "New credential", request: "POST /credentials", needs: "admin", isLocked: true },
  Providers: { button: "New provider", request: "POST /org/credential_providers", needs: "admin", isLocked: true },
  Usage: { request: "GET /usage", needs: "viewer" },
  Webhooks: { button: "New webhook", request: "POST /webhooks", needs: "admin", isLocked: true },
  Telemetry: { button: "New destination", request: "POST /telemetry/destinations", needs: "admin", isLocked: true },
  "Audit log": { button: "Verify the log", request: "GET /audit-logs/verify", needs: "admin", isLocked: true },
  Projects: { button: "New project", request: "POST /org/projects", needs: "admin" },
  "API keys": { button: "New key", request: "POST /org/api_keys", needs: "admin", isLocked: true },
};

/** A change of the page of a resource. */
const detailChanges: Readonly<Record<string, Omit<Change, "isLocked">>> = {
  "Session, live": { button: "Take control", request: "DELETE /browsers/other", needs: "operator" },
  "Session, details": { button: "Change", request: "DELETE /browsers/other", needs: "operator" },
  Profile: { button: "Delete", request: "DELETE /profiles/other", needs: "operator" },
  Pool: { button: "Acquire a browser", request: "DELETE /browser_pools/other", needs: "operator" },
  Flow: { button: "Run", request: "DELETE /flows/other", needs: "operator" },
  "Run of a flow": { request: "POST /flows/other/runs/other/cancel", needs: "operator" },
  Connection: { button: "Log in", request: "DELETE /auth/connections/other", needs: "operator" },
  Project: { button: "Rename", request: "DELETE /org/projects/other", needs: "admin" },
  Webhook: { button: "Delete", request: "DELETE /webhooks/other", needs: "admin" },
};

/** Buttons that change nothing. */
const harmless = /^(?:Age$|Copy|CSV$|Download|Export|JSON lines$|Last use$|List$|More$|Pictures$|Refresh|Session$)/;

/** Buttons that change a resource, on its page. */
const changing =
  /^(?:Acquire|Add|Change|Check|Clone|Delete|End|Extend|Flush|Import|Invoke|Kill|Lease|Log in|New|Record|Rename|Revoke|Roll back|Rotate|Run|Save|Send|Sign|Start|Stop|Take control|Turn on|Upload)\b(?! as)/;

/** Buttons in the content of the page, and the entries of the menus of its rows. */
async function offersOf(page: Page): Promise<string[]> {
  const names = await page
    .getByRole("main")
    .getByRole("button")
    .evaluateAll((buttons: HTMLElement[]) =>
      buttons.map((one) => one.getAttribute("aria-label") ?? one.innerText.trim()),
    );
  const entries: string[] = [];
  for (const name of names.filter((one) => one.startsWith("Actions for"))) {
    await page.getByRole("button", { name }).click();
    await page.getByRole("menu").waitFor();
    entries.push(...(await page.getByRole("menuitem").allInnerTexts()));
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "hidden" });
  }
  return [...names.filter((name) => !name.startsWith("Actions for")), ...entries];
}

const lockedTabs = ["console", "network", "events", "files", "terminal", "processes", "logs"];

/** Of a session, from the links in the content of the page. */
async function linkedTabsOf(page: Page): Promise<(string | null)[]> {
  const links = page.getByRole("main").getByRole("link");
  const addresses = await links.evaluateAll((all: HTMLAnchorElement[]) => all.map(({ href }) => href));
  return addresses.map((address) => new URL(address).searchParams.get("tab"));
}

async function send(page: Page, request: string): Promise<{ status: number; text: string }> {
  return page.evaluate(async ([method = "", path = ""]) => {
    const answer = await fetch(path, {
      method,
      headers: {
        "x-shoal-console": localStorage.getItem("shoal-console-page-key") ?? "",
        "content-type": "application/json",
      },
      ...(method === "POST" && { body: "{}" }),
    });
    return { status: answer.status, text: await answer.text() };
  }, request.split(" "));
}

it.for(roles)("offers on every page what the role %s may do, and the service refuses the rest", async (role) => {
  const { page: admin } = await person.openSignedIn();
  const sections = await sectionsOf(admin);
  await admin.close();
  expect(sections.map(({ name }) => name).sort()).toEqual(Object.keys(changes).sort());
  const { page, problems } = await person.open();
  const refusals: string[] = [];
  page.on("response", (answer) => {
    if (answer.status() === 401 || answer.status() === 403) refusals.push(`${answer.status()} ${answer.url()}`);
  });
  await provider.signIn(page, `${role}s`);
  // The pages of the provider ask for a font of another host.
  problems.length = 0;
  const shown = await sectionsOf(page);
  expect(shown.map(({ name }) => name)).toEqual(
    sections
      .map(({ name }) => name)
      .filter((name) => changes[name]?.isLocked !== true || isAtLeast(role, changes[name].needs)),
  );
  for (const { name, path } of sections) {
    const change = changes[name];
    if (change === undefined) throw new Error(`${name} has no change.`);
    const isAllowed = isAtLeast(role, change.needs);
    refusals.length = 0;
    await openSection(page, path);
    const isLocked = await page.getByRole("heading", { name: "You need the role admin" }).isVisible();
    expect(isLocked, `${name} is locked`).toBe(change.isLocked === true && !isAllowed);
    const { button } = change;
    if (button !== undefined)
      await expect.poll(async () => (await offersOf(page)).includes(button), { message: name }).toBe(isAllowed);
    const offers = await offersOf(page);
    if (role === "viewer")
      expect(
        offers.filter((offer) => !harmless.test(offer)),
        name,
      ).toEqual([]);
    expect(refusals, `${name} reads only what the role may`).toEqual([]);
    if (role === "admin" && change.needs === "admin") continue;
    const { status, text } = await send(page, change.request);
    expect(status === 403, `${name}: ${change.request} answered ${String(status)}`).toBe(!isAllowed);
    if (!isAllowed) expect(text).toContain(`needs the role ${change.needs}`);
  }
  for (const { name, path } of details) {
    const change = detailChanges[name];
    // Higher roles read the same as viewers. Webhooks are for administrators.
    if (role === "viewer" ? name === "Webhook" : change === undefined) continue;
    if (name === "Webhook" && role === "operator") {
      expect((await send(page, "DELETE /webhooks/other")).status).toBe(403);
      continue;
    }
    refusals.length = 0;
    await openDetails(page, path);
    const offers = await offersOf(page);
    if (role === "viewer") {
      expect(
        offers.filter((offer) => changing.test(offer)),
        name,
      ).toEqual([]);
      const locked = (await linkedTabsOf(page)).filter((tab) => tab !== null && lockedTabs.includes(tab));
      expect(locked, `${name} links to tabs that are closed to the role`).toEqual([]);
    }
    expect(refusals, `${name} reads only what the role may`).toEqual([]);
    if (change === undefined) continue;
    const isAllowed = isAtLeast(role, change.needs);
    const { button } = change;
    // Some parts of a page load after its heading.
    if (button !== undefined)
      await expect.poll(async () => (await offersOf(page)).includes(button), { message: name }).toBe(isAllowed);
    const { status } = await send(page, change.request);
    expect(status, `${name}: ${change.request}`).toBe(isAllowed ? 404 : 403);
  }
  // Chromium logs the requests that the test sends.
  expect(problems.filter((problem) => !/status of (?:400|403|404)/.test(problem))).toEqual([]);
  await page.close();
});
