import type { PageAct, PageOutline, SettledPage } from "@shoal/instance";
import { expect, it } from "vitest";
import { Login, type LoginModel, type LoginOptions, type LoginState } from "../index.ts";
import { readPage } from "../reading/read-page.ts";
import { loadOutline, SavedPages } from "../testing/saved-pages.ts";
import type { LoginPage } from "./login-page.ts";

const stored: Readonly<Record<string, string>> = { username: "ada-canary", password: "pass-canary" };
const values: LoginOptions["values"] = (name) => Promise.resolve(stored[name]);

/** A page without a word, whose fields are all alike. */
function namelessForm(): PageOutline {
  const bare = loadOutline("bare-1");
  const nodes = bare.nodes.map(({ attributes: { type: _type, name: _name, ...attributes }, ...node }) => ({
    ...node,
    attributes,
  }));
  return { ...bare, nodes };
}

class RecordingModel implements LoginModel {
  readonly asked: string[] = [];
  readonly #names: Readonly<Record<string, string>>;

  constructor(names: Readonly<Record<string, string>>) {
    this.#names = names;
  }

  nameNodes(outline: PageOutline): Promise<Readonly<Record<string, string>>> {
    this.asked.push(JSON.stringify(outline));
    return Promise.resolve(this.#names);
  }
}

const fillsOf = (acts: readonly PageAct[]) =>
  acts.flatMap((act) => (act.kind === "fill" ? [[act.ref, act.value, act.visible]] : []));

function loginOn(page: LoginPage, options: Partial<LoginOptions> = {}): Login {
  return new Login({
    page,
    startUrl: "https://bare.test/",
    hosts: ["bare.test", "identifier-first.test"],
    values,
    ...options,
  });
}

it("asks a model for the fields of a page without words, with outlines that contain no values", async () => {
  const names = { e867: "username", e868: "password", e869: "submit", e999: "password", e866: "nonsense" };
  const model = new RecordingModel(names);
  const page = new SavedPages([namelessForm(), loadOutline("identifier-first-3")]);
  expect(await loginOn(page, { model }).run()).toMatchObject({ kind: "signed_in" });
  expect(fillsOf(page.acts)).toEqual([
    ["e867", "ada-canary", true],
    ["e868", "pass-canary", false],
  ]);
  expect(model.asked.length).toBeGreaterThan(0);
  for (const outline of model.asked) expect(outline).not.toContain("canary");
});

it("asks no model while it is off, and none where the engine finds the form", async () => {
  const page = new SavedPages([namelessForm()]);
  expect(await loginOn(page).run()).toMatchObject({ kind: "failed", code: "login_form_not_found" });
  expect(fillsOf(page.acts)).toEqual([]);

  const model = new RecordingModel({});
  const known = new SavedPages([loadOutline("bare-1"), loadOutline("identifier-first-3")]);
  expect(await loginOn(known, { model }).run()).toMatchObject({ kind: "signed_in" });
  expect(model.asked).toEqual([]);
});

it("ignores names of a model that are not fields of the page", async () => {
  const model = new RecordingModel({ e866: "password", e869: "password", constructor: "password" });
  const page = new SavedPages([namelessForm()]);
  expect(await loginOn(page, { model }).run()).toMatchObject({ kind: "failed", code: "login_form_not_found" });
  expect(fillsOf(page.acts)).toEqual([]);
});

/** As another server reads it from the database. */
const restored = (login: Login): LoginState => JSON.parse(JSON.stringify(login.state)) as LoginState;

it("continues an interrupted login from its state, without opening the site or typing a value again", async () => {
  const pages = ["identifier-first-1", "identifier-first-2", "identifier-first-3"].map(loadOutline);
  const page = new SavedPages(pages);
  const options: Partial<LoginOptions> = {
    startUrl: "https://identifier-first.test/",
    values: (name) => Promise.resolve(name === "email" ? "ada@example.com" : undefined),
  };
  const first = loginOn(page, options);
  expect(await first.run()).toMatchObject({ kind: "needs", fields: [{ name: "password" }] });
  const before = page.acts.splice(0);
  expect(before.map(({ kind }) => kind)).toEqual(["goto", "fill", "click"]);
  expect(JSON.stringify(first.state)).not.toContain("ada@example.com");

  const second = loginOn(page, { ...options, state: restored(first) });
  expect(await second.run({ values: { password: "pass-canary" } })).toMatchObject({
    kind: "signed_in",
    plan: { steps: [{ fields: [{ kind: "username" }] }, { fields: [{ kind: "password" }] }] },
  });
  expect(fillsOf(page.acts)).toEqual([["e635", "pass-canary", false]]);
  expect(page.acts.map(({ kind }) => kind)).toEqual(["fill", "click"]);
});

it("does not type a stored password again after an interruption", async () => {
  const page = new SavedPages([loadOutline("bare-1"), loadOutline("bare-1"), loadOutline("bare-1")]);
  const first = loginOn(page);
  await first.run();
  expect(fillsOf(page.acts.splice(0)).map(([, value]) => value)).toEqual(["ada-canary", "pass-canary"]);
  const outcome = await loginOn(page, { state: restored(first) }).run();
  expect(["needs", "failed"]).toContain(outcome.kind);
  expect(JSON.stringify(page.acts)).not.toContain("pass-canary");
});

/** A site with HTTP authentication: the looks after the values were sent, the last one again and again. */
function protectedSite(...after: readonly Partial<SettledPage>[]): { page: LoginPage; acts: PageAct[] } {
  const acts: PageAct[] = [];
  let looks = 0;
  const challenge = { host: "bare.test", origin: "https://bare.test", scheme: "basic", realm: "" };
  const outline: PageOutline = { ...loadOutline("bare-1"), nodes: [] };
  return {
    acts,
    page: {
      read: (status) => Promise.resolve({ outline, reading: readPage(outline, status) }),
      act(act) {
        acts.push(act);
        return Promise.resolve({ outcome: "done" });
      },
      settle() {
        const isSent = acts.some(({ kind }) => kind === "authenticate");
        const answered = isSent ? after[Math.min(looks++, after.length - 1)] : { status: 401, challenge };
        return Promise.resolve({
          ...{ quiet: true, url: "https://bare.test/", host: "bare.test", status: 200 },
          ...{ navigations: [], requests: [], dialogs: [], passkey_calls: [], changed_cookies: [] },
          ...answered,
        });
      },
    },
  };
}
const challenged = { challenge: { host: "bare.test", scheme: "basic", realm: "" }, status: 401 };
const cookie = { changed_cookies: [{ name: "id", http_only: true }] };

it("signs in with HTTP authentication when the site has answered", async () => {
  const { acts, page } = protectedSite({ quiet: false, status: 401 }, {});
  expect(await loginOn(page).run()).toMatchObject({ kind: "signed_in", url: "https://bare.test/" });
  expect(acts.map(({ kind }) => kind)).toEqual(["goto", "authenticate"]);
});

it.each<[string, string, readonly Partial<SettledPage>[]]>([
  ["an unreachable site", "network_error", [{ url: "chrome-error://chromewebdata/", host: "" }]],
  ["an error of the site", "website_error", [{ status: 500 }]],
  ["an error with a cookie", "website_error", [{ status: 403, ...cookie }]],
  ["another host", "domain_not_allowed", [{ host: "evil.test", url: "https://evil.test/" }]],
  ["a site that does not answer", "network_error", [{ quiet: false }]],
  ["a late refusal", "credentials_invalid", [{ quiet: false, status: 401 }, challenged]],
])("does not take %s for a login with HTTP authentication", async (_case, code, after) => {
  const { page } = protectedSite(...after);
  expect(await loginOn(page).run()).toMatchObject({ kind: "failed", code });
});

it("says that stored values are not for the site of an HTTP authentication, and sends none", async () => {
  const { acts, page } = protectedSite(challenged);
  const outcome = await loginOn(page, { storedOrigins: ["https://other.test"] }).run();
  expect(outcome).toMatchObject({ kind: "failed", code: "domain_not_allowed" });
  expect(acts.map(({ kind }) => kind)).toEqual(["goto"]);
});
