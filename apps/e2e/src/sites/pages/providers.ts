import { randomBytes } from "node:crypto";
import { html, redirect, type Reply, script, type SiteRequest } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { type Account, Site } from "../hosting/site.ts";

/** The host of a real provider: a login engine knows the addresses of providers. */
const providerHost = "accounts.google.com";

/** A provider with account chooser and consent, and sites that use it: in the same window, and in a new one. */
export function providerSites(): Site[] {
  const codes = new Map<string, Account>();
  return [provider(codes), withProvider(codes), popupProvider(codes)];
}

const providerPage = (title: string, body: Markup) =>
  markup`<html lang="en"><head><title>${title} - Google Accounts</title><style>.xKcayf { width: 450px; margin: 60px auto; border: 1px solid #dadce0; border-radius: 8px; padding: 40px; } .later { position: absolute; opacity: 0; width: 0; height: 0; border: 0; } li { list-style: none; border-bottom: 1px solid #ddd; } [role=link] { padding: 12px; cursor: pointer; }</style></head><body><div class="xKcayf">${body}</div></body></html>`;

/** The query of the authorisation request, which all pages carry along. */
function queryOf({ url }: SiteRequest): string {
  const kept = new URLSearchParams();
  for (const name of ["client", "redirect_uri", "state"]) kept.set(name, url.searchParams.get(name) ?? "");
  return kept.toString();
}

const accountScript = `
for (const row of document.querySelectorAll("[data-identifier]")) {
  const choose = () => { location.href = "/v3/signin/choose?account=" + encodeURIComponent(row.dataset.identifier) + "&" + location.search.slice(1); };
  row.addEventListener("click", choose);
  row.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
}`;

function chooserPage(request: SiteRequest, signedIn: Account, others: readonly Account[]): Reply {
  const row = ({ identifier, name }: Account, state?: string) =>
    markup`<li><div role="link" tabindex="0" data-identifier="${identifier}"><div>${name}</div><div data-email="${identifier}">${identifier}</div>${state === undefined ? undefined : markup`<div>${state}</div>`}</div></li>`;
  return html(
    providerPage(
      "Sign in",
      markup`<h1>Choose an account</h1><p>to continue to ${request.url.searchParams.get("client") ?? ""}</p><ul>${row(signedIn)}${others.map((account) => row(account, "Signed out"))}<li><div role="link" tabindex="0" data-identifier="">Use another account</div></li></ul><script src="/chooser.js"></script>`,
    ),
  );
}

function consentPage(request: SiteRequest, { identifier }: Account): Reply {
  const client = request.url.searchParams.get("client") ?? "";
  return html(
    providerPage(
      "Sign in",
      markup`<h1>Sign in to ${client}</h1><p>${identifier}</p><p>By continuing, Google will share your name, email address, language preference, and profile picture with ${client}.</p><form method="post" action="/signin/oauth/consent?${queryOf(request)}"><button name="approve" value="">Cancel</button><button name="approve" value="true">Continue</button></form>`,
    ),
  );
}

function identifierPage(request: SiteRequest, problem?: string): Reply {
  return html(
    providerPage(
      "Sign in",
      markup`<h1>Sign in</h1><p>to continue to ${request.url.searchParams.get("client") ?? ""}</p><form method="post" action="/v3/signin/identifier?${queryOf(request)}"><input type="email" id="identifierId" name="identifier" autocomplete="username" aria-label="Email or phone">${problem === undefined ? undefined : markup`<div aria-live="assertive">${problem}</div>`}<input type="password" name="hiddenPassword" class="later" tabindex="-1" aria-hidden="true"><div><button type="button">Forgot email?</button></div><div><button type="button">Create account</button> <button>Next</button></div></form>`,
    ),
  );
}

function passwordPage(request: SiteRequest, problem?: string): Reply {
  return html(
    providerPage(
      "Sign in",
      markup`<h1>Welcome</h1><form method="post" action="/v3/signin/challenge/pwd?${queryOf(request)}"><input type="password" name="Passwd" autocomplete="current-password" aria-label="Enter your password">${problem === undefined ? undefined : markup`<div aria-live="polite">${problem}</div>`}<label><input type="checkbox"> Show password</label><button type="button">Forgot password?</button> <button>Next</button></form>`,
    ),
  );
}

function provider(codes: Map<string, Account>): Site {
  return new Site({
    host: providerHost,
    accounts: [
      { identifier: "ada@gmail.test", password: "lantern-Wick-88", name: "Ada Lovelace" },
      { identifier: "grace@gmail.test", password: "lantern-Moth-46", name: "Grace Hopper" },
    ],
    csp: "script-src 'self'; object-src 'none'; base-uri 'self'",
    cookie: "SID",
    signOut: "/Logout",
    routes: (site) => ({
      "GET /o/oauth2/auth": (request) =>
        redirect(
          `${site.accountOf(request) === undefined ? "/v3/signin/identifier" : "/v3/signin/accountchooser"}?${queryOf(request)}`,
        ),
      "GET /chooser.js": () => script(accountScript),
      "GET /v3/signin/accountchooser": (request) => {
        const account = site.accountOf(request);
        if (account === undefined) return redirect(`/v3/signin/identifier?${queryOf(request)}`);
        return chooserPage(
          request,
          account,
          [...site.accounts.values()].filter((each) => each !== account),
        );
      },
      "GET /v3/signin/choose": (request) => {
        const chosen = site.accounts.get(request.url.searchParams.get("account") ?? "");
        if (chosen !== undefined && chosen === site.accountOf(request))
          return redirect(`/signin/oauth/consent?${queryOf(request)}`);
        return chosen === undefined
          ? redirect(`/v3/signin/identifier?${queryOf(request)}`)
          : redirect(`/v3/signin/challenge/pwd?${queryOf(request)}`, [site.pend(chosen, "password")]);
      },
      "GET /v3/signin/identifier": (request) => identifierPage(request),
      "POST /v3/signin/identifier": (request) => {
        const account = site.accounts.get(request.field("identifier").trim().toLowerCase());
        return account === undefined
          ? identifierPage(request, "Couldn’t find your Google Account")
          : redirect(`/v3/signin/challenge/pwd?${queryOf(request)}`, [site.pend(account, "password")]);
      },
      "GET /v3/signin/challenge/pwd": (request) => passwordPage(request),
      "POST /v3/signin/challenge/pwd": (request) => {
        const account = site.check(site.pending(request)?.account.identifier ?? "", request.field("Passwd"));
        return typeof account === "string"
          ? passwordPage(request, "Wrong password. Try again or click Forgot password to reset it.")
          : redirect(`/signin/oauth/consent?${queryOf(request)}`, [site.signIn(account)]);
      },
      "GET /signin/oauth/consent": (request) => {
        const account = site.accountOf(request);
        return account === undefined ? identifierPage(request) : consentPage(request, account);
      },
      "POST /signin/oauth/consent": (request) => {
        const account = site.accountOf(request);
        if (account === undefined) return identifierPage(request);
        const code = randomBytes(12).toString("hex");
        codes.set(code, account);
        return redirect(callbackOf(request, request.field("approve") === "true" ? code : undefined));
      },
    }),
  });
}

function callbackOf({ url }: SiteRequest, code: string | undefined): string {
  const callback = new URL(url.searchParams.get("redirect_uri") ?? "");
  if (!["with-provider.test", "popup-provider.test"].includes(callback.host)) throw new Error("redirect_uri_mismatch");
  callback.searchParams.set("state", url.searchParams.get("state") ?? "");
  callback.searchParams.set(code === undefined ? "error" : "code", code ?? "access_denied");
  return callback.href;
}

function authorisation(site: Site, client: string, state: string): string {
  const query = new URLSearchParams({ client, redirect_uri: `${site.origin}/auth/callback`, state });
  return `https://${providerHost}/o/oauth2/auth?${query.toString()}`;
}

/** The account of a code, or `undefined` if the person cancelled. Each code is accepted once, from the browser that asked. */
function redeem(request: SiteRequest, codes: Map<string, Account>): Account | undefined {
  const query = request.url.searchParams;
  const code = query.get("code") ?? "";
  if (query.get("state") !== request.cookie("oauth_state")) return undefined;
  const account = codes.get(code);
  codes.delete(code);
  return account;
}

const stateCookie = (state: string) => `oauth_state=${state}; Path=/; Secure; HttpOnly; SameSite=Lax`;

/** Buttons of providers above an own form. Its own accounts are others than those of the provider. */
function withProvider(codes: Map<string, Account>): Site {
  const login = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Sketchpad</title></head><body><div class="card"><h2>Log in or sign up</h2>${problem === undefined ? undefined : markup`<div role="alert">${problem}</div>`}
<a class="btn social" href="/auth/google"><svg width="18" height="18" aria-hidden="true"><circle cx="9" cy="9" r="8"/></svg> Continue with Google</a>
<div class="divider"><span>or</span></div><form method="post" action="/login"><input type="email" name="email" placeholder="Email"><input type="password" name="password" placeholder="Password"><button>Log in</button></form><p>By continuing, you agree to our <a href="/terms">Terms</a>.</p></div></body></html>`,
    );
  return new Site({
    host: "with-provider.test",
    accounts: [{ identifier: "ada@example.com", password: "sketch-Graphite-2B", name: "Ada (own account)" }],
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? login()
          : html(
              markup`<html lang="en"><title>Sketchpad</title><h1>Drawings of ${account.name}</h1><p>${account.identifier}</p><a href="/logout">Log out</a></html>`,
            );
      },
      "GET /auth/google": () => {
        const state = randomBytes(9).toString("hex");
        return { ...redirect(authorisation(site, "Sketchpad", state)), cookies: [stateCookie(state)] };
      },
      "GET /auth/callback": (request) => {
        const account = redeem(request, codes);
        return account === undefined ? login("Sign-in was cancelled.") : redirect("/", [site.signIn(account)]);
      },
      "POST /login": (request) => {
        const account = site.check(request.field("email"), request.field("password"));
        return typeof account === "string" ? login("Wrong email or password.") : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

const popupScript = `
document.getElementById("gsi")?.addEventListener("click", () => open("/auth/google", "gsi", "popup,width=500,height=600"));
addEventListener("message", ({ origin, data }) => { if (origin === location.origin && data === "signed-in") location.reload(); });`;

/** Only the provider's button, which opens a new window. */
function popupProvider(codes: Map<string, Account>): Site {
  return new Site({
    host: "popup-provider.test",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return html(
          account === undefined
            ? markup`<html lang="en"><head><title>Chess Hall</title></head><body><h1>Chess Hall</h1><div id="gsi" role="button" tabindex="0" aria-label="Sign in with Google"><span>Sign in with Google</span></div><script src="/gsi.js"></script></body></html>`
            : markup`<html lang="en"><title>Chess Hall</title><h1>Your games, ${account.name}</h1><a href="/logout">Sign out</a></html>`,
        );
      },
      "GET /gsi.js": () => script(popupScript),
      "GET /done.js": () => script(`opener?.postMessage("signed-in", location.origin); close();`),
      "GET /auth/google": () => {
        const state = randomBytes(9).toString("hex");
        return { ...redirect(authorisation(site, "Chess Hall", state)), cookies: [stateCookie(state)] };
      },
      "GET /auth/callback": (request) => {
        const account = redeem(request, codes);
        return html(markup`<html lang="en"><title>Signing in</title><script src="/done.js"></script></html>`, {
          cookies: account === undefined ? [] : [site.signIn(account)],
        });
      },
    }),
  });
}
