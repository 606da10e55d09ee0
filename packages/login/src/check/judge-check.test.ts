import type { PageOutline, SettledPage } from "@shoal/instance";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judgeCheck, readPage, type CheckedPlan } from "../index.ts";

const folder = join(import.meta.dirname, "../testing/outlines");
const load = (name: string): PageOutline =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as PageOutline;
const files = readdirSync(folder).map((file) => file.replace(/\.json$/, ""));
const sites = [...new Set(files.map((name) => name.replace(/-\d+$/, "")))];
const pagesOf = (site: string): string[] =>
  files
    .filter((name) => name.replace(/-\d+$/, "") === site)
    .sort((one, two) => Number(/\d+$/.exec(one)) - Number(/\d+$/.exec(two)));

function settledAt(outline: PageOutline, change: Partial<SettledPage> = {}): SettledPage {
  const [page] = outline.frames;
  return {
    quiet: true,
    url: page?.url ?? "",
    host: page?.host ?? "",
    status: 200,
    navigations: [],
    requests: [],
    dialogs: [],
    passkey_calls: [],
    changed_cookies: [],
    ...change,
  };
}

function planEndingAt(outline: PageOutline): CheckedPlan {
  const url = outline.frames[0]?.url ?? "";
  const signOut = readPage(outline).signOut?.name;
  return { start_url: url, end_url: url, steps: [], ...(signOut !== undefined && { sign_out: signOut }) };
}

const judged = (outline: PageOutline, plan: CheckedPlan, change: Partial<SettledPage> = {}) =>
  judgeCheck(
    { outline, reading: readPage(outline, settledAt(outline, change).status) },
    settledAt(outline, change),
    plan,
  );

const done = sites.flatMap((site) => {
  const last = pagesOf(site).at(-1);
  return last !== undefined && readPage(load(last)).signOut !== undefined ? [[site, last] as const] : [];
});

it("covers most of the saved sites", () => {
  expect(done.length).toBeGreaterThan(30);
});

describe.each(done)("on %s", (site, last) => {
  const plan = planEndingAt(load(last));

  it("recognizes the page of the last login", () => {
    expect(judged(load(last), plan)).toMatchObject({ status: "signed_in" });
  });

  it("recognizes that the site requires a login again", () => {
    for (const name of pagesOf(site).filter((page) => page !== last && readPage(load(page)).form !== undefined))
      expect([name, judged(load(name), plan)]).toMatchObject([name, { status: "signed_out" }]);
  });
});

const portfolio = load("expiring-2");
const login = load("expiring-1");
const plan = planEndingAt(portfolio);
const without = (outline: PageOutline, isLeftOut: (name: string) => boolean): PageOutline => ({
  ...outline,
  nodes: outline.nodes.filter(({ name }) => !isLeftOut(name)),
});
/** The page after a change of its design. */
const redesigned = without(portfolio, (name) => name === "Log out");

it.each([
  ["an unreachable site", { url: "chrome-error://chromewebdata/", host: "" }, "network_error"],
  ["an error of the site", { status: 502 }, "website_error"],
  ["too many requests", { status: 429 }, "bot_detected"],
] as const)("has no result for %s", (_what, change, code) => {
  expect(judged(redesigned, plan, change)).toMatchObject({ status: "unknown", code });
});

it("has no result for a block page, and for a captcha without a form", () => {
  expect(judged(load("blocked-1"), plan, { status: 403 })).toMatchObject({ status: "unknown", code: "bot_detected" });
  const wall = load("captcha-wall-1");
  const fields = wall.nodes.map((node) => (node.role === "textbox" ? { ...node, hidden: "not_shown" as const } : node));
  expect(judged({ ...wall, nodes: fields }, plan)).toMatchObject({ status: "unknown", code: "captcha_blocked" });
});

it.each([401, 403])("takes status %i as signed out", (status) => {
  expect(judged(redesigned, plan, { status })).toMatchObject({ status: "signed_out" });
});

it("takes HTTP authentication as signed out", () => {
  const challenge = { host: "expiring.test", scheme: "basic", realm: "" };
  expect(judged(redesigned, plan, { challenge })).toMatchObject({ status: "signed_out" });
});

it("takes a page at an identity provider as signed out, unless the site is the provider", () => {
  const at = (host: string): PageOutline => ({
    ...redesigned,
    frames: redesigned.frames.map((frame) => ({ ...frame, host, url: `https://${host}/home` })),
  });
  expect(judged(at("accounts.google.com"), plan)).toMatchObject({ status: "signed_out" });
  const github = { ...plan, end_url: "https://github.com/home" };
  expect(judged(at("github.com"), github)).toMatchObject({ status: "signed_in" });
});

it("takes another page whose address is a login as signed out, even without a form", () => {
  const nodes = login.nodes.filter(({ role }) => role === "heading");
  expect(judged({ ...login, nodes }, plan)).toMatchObject({ status: "signed_out" });
});

it("accepts the remembered page without its control, but not another page", () => {
  expect(judged(redesigned, plan)).toMatchObject({ status: "signed_in" });
  expect(judged(redesigned, { ...plan, end_url: "https://expiring.test/home" })).toMatchObject({
    status: "unknown",
    code: "navigation_confused",
  });
  const refused = [{ method: "GET", host: "expiring.test", path: "/api/session", status: 401 }];
  expect(judged(redesigned, plan, { requests: refused })).toMatchObject({ status: "unknown" });
  expect(judged({ ...redesigned, nodes: [] }, plan)).toMatchObject({ status: "unknown" });
});

it("takes a public page that offers a login instead of the sign-out as signed out", () => {
  const nodes = portfolio.nodes.map((node) => (node.name === "Log out" ? { ...node, name: "Log in" } : node));
  expect(judged({ ...portfolio, nodes }, plan)).toMatchObject({ status: "signed_out" });
  const { sign_out: _control, ...planWithout } = plan;
  expect(judged({ ...portfolio, nodes }, planWithout)).toMatchObject({ status: "unknown" });
});

it("has no result for a login form next to a control that signs out", () => {
  const control = portfolio.nodes.find(({ name }) => name === "Log out") ?? expect.fail();
  const both = { ...login, nodes: [...login.nodes, { ...control, parent: -1 }] };
  expect(judged(both, plan)).toMatchObject({ status: "unknown", code: "navigation_confused" });
});
