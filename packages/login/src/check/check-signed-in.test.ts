import type { PageAct, PageActResult, PageOutline, SettledPage } from "@shoal/instance";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkSignedIn, type CheckedPlan, type LoginPage, readPage } from "../index.ts";

const load = (name: string): PageOutline =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../testing/outlines/${name}.json`), "utf8")) as PageOutline;
const login = load("expiring-1");
const portfolio = load("expiring-2");
const plan: CheckedPlan = {
  start_url: "https://expiring.test/",
  end_url: "https://expiring.test/portfolio",
  sign_out: "Log out",
  steps: [],
};

/** A page that shows the outlines one after the other, then the last one. */
function pageShowing(outlines: readonly PageOutline[], opened: PageActResult = { outcome: "done" }) {
  const acts: PageAct[] = [];
  let looks = 0;
  const shown = (): PageOutline => outlines[Math.min(looks, outlines.length - 1)] ?? expect.fail();
  const page: LoginPage = {
    act(act) {
      acts.push(act);
      return Promise.resolve(opened);
    },
    settle(): Promise<SettledPage> {
      const [frame] = shown().frames;
      const nothing = { navigations: [], requests: [], dialogs: [], passkey_calls: [], changed_cookies: [] };
      return Promise.resolve({ quiet: true, url: frame?.url ?? "", host: frame?.host ?? "", status: 200, ...nothing });
    },
    read(status) {
      const outline = shown();
      looks += 1;
      return Promise.resolve({ outline, reading: readPage(outline, status) });
    },
  };
  return { acts, page };
}

it("opens the page of the last login, and does nothing else", async () => {
  const { acts, page } = pageShowing([portfolio]);
  expect(await checkSignedIn(page, { plan, hosts: ["expiring.test"] })).toMatchObject({ status: "signed_in" });
  expect(acts).toEqual([{ kind: "goto", url: plan.end_url, hosts: ["expiring.test"] }]);
});

it("waits until two looks agree", async () => {
  const { page } = pageShowing([login, portfolio]);
  expect(await checkSignedIn(page, { plan, hosts: [] })).toMatchObject({ status: "signed_in" });
  const empty = { ...portfolio, nodes: [] };
  const late = pageShowing([empty, empty, login]);
  expect(await checkSignedIn(late.page, { plan, hosts: [] })).toMatchObject({ status: "signed_out" });
});

it("has no result for a page that keeps changing", async () => {
  const { page } = pageShowing([login, portfolio, login, portfolio, login]);
  expect(await checkSignedIn(page, { plan, hosts: [] })).toMatchObject({ status: "unknown" });
});

it("has no result when the address is refused or unreachable", async () => {
  const refused = pageShowing([portfolio], { outcome: "refused_host", detail: "evil.test" });
  expect(await checkSignedIn(refused.page, { plan, hosts: [] })).toMatchObject({ code: "domain_not_allowed" });
  const away = pageShowing([portfolio], { outcome: "unreachable", detail: "net::ERR_CONNECTION_REFUSED" });
  expect(await checkSignedIn(away.page, { plan, hosts: [] })).toMatchObject({
    status: "unknown",
    code: "network_error",
  });
});
