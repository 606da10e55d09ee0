import { html, json, redirect, script } from "../hosting/exchange.ts";
import { markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Sites where the session is special. */
export function sessionSites(): Site[] {
  return [already(), expiring()];
}

/** The network signs visitors in without a form. `/?prompt=login`, or a sign-out, shows the form. */
function already(): Site {
  const login = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Intranet</title></head><body><h1>Intranet</h1>${problem === undefined ? undefined : markup`<p class="warning">${problem}</p>`}<form method="post" action="/signin"><label>Windows user name <input name="user"></label><label>Password <input type="password" name="pw"></label><button>Sign in</button></form></body></html>`,
    );
  return new Site({
    host: "already.test",
    accounts: [{ identifier: "ada", password: "intra-Kerberos-5", name: "Ada Lovelace" }],
    routes: (site) => ({
      "GET /": (request) => {
        if (request.url.searchParams.get("prompt") === "login") return login();
        const account = site.accountOf(request);
        const [owner] = site.accounts.values();
        if (account === undefined && owner !== undefined) return redirect("/", [site.signIn(owner)]);
        return html(
          markup`<html lang="en"><title>Intranet</title><h1>News for ${account?.name ?? ""}</h1><form method="post" action="/leave"><button>Sign out</button></form></html>`,
        );
      },
      "POST /leave": (request) => redirect("/?prompt=login", [site.signOut(request)]),
      "POST /signin": (request) => {
        const account = site.check(request.field("user"), request.field("pw"));
        return typeof account === "string"
          ? login("The user name or password is incorrect.")
          : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

const watchScript = `
setInterval(async () => {
  if ((await fetch("/api/session")).status === 401) location.assign("/login?reason=timeout&next=" + encodeURIComponent(location.pathname));
}, 500);`;

/** The signed-in page notices that its session has ended, by `site.expireSessions()`, and goes to the login. */
function expiring(): Site {
  const login = (reason: string | null, problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Login | Brokerage</title></head><body><main>${reason === "timeout" ? markup`<div role="status">For your security, you have been logged out. Please log in again.</div>` : undefined}<h1>Log in to Brokerage</h1><form method="post" action="/login"><div><label for="uid">Client number</label><input id="uid" name="uid" inputmode="numeric"></div><div><label for="pin">PIN or password</label><input id="pin" name="pin" type="password"></div>${problem === undefined ? undefined : markup`<div class="field-error" role="alert">${problem}</div>`}<button>Log in securely</button></form></main></body></html>`,
    );
  return new Site({
    host: "expiring.test",
    accounts: [{ identifier: "4711882", password: "broker-Bond-3pc", name: "Ada Lovelace" }],
    routes: (site) => ({
      "GET /": () => redirect("/portfolio"),
      "GET /login": (request) => login(request.url.searchParams.get("reason")),
      "POST /login": (request) => {
        const account = site.check(request.field("uid"), request.field("pin"));
        return typeof account === "string"
          ? login(null, "We could not verify these details.")
          : redirect("/portfolio", [site.signIn(account, { remember: false })]);
      },
      "GET /watch.js": () => script(watchScript),
      "GET /api/session": (request) => {
        const account = site.accountOf(request);
        return account === undefined ? json({ error: "no_session" }, { status: 401 }) : json({ name: account.name });
      },
      "GET /portfolio": (request) =>
        site.accountOf(request) === undefined
          ? redirect("/login")
          : html(
              markup`<html lang="en"><head><title>Portfolio</title></head><body><h1>Portfolio of Ada Lovelace</h1><a href="/logout">Log out</a><script src="/watch.js"></script></body></html>`,
            ),
    }),
  });
}
