import { html, json, redirect, script, type SiteRequest, style } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Sites that ask for a name and a password, on one page or two. */
export function plainSites(): Site[] {
  return [onePage(), identifierFirst(), toast()];
}

const bootstrap = `
  body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #212529; background: #f8f9fa; }
  .container { max-width: 420px; margin: 0 auto; padding: 48px 16px; }
  .card { background: #fff; border: 1px solid #dee2e6; border-radius: 8px; padding: 24px; }
  .mb-3 { margin-bottom: 16px; }
  .form-label { display: block; margin-bottom: 8px; }
  .form-control { width: 100%; box-sizing: border-box; padding: 6px 12px; font: inherit; border: 1px solid #ced4da; border-radius: 6px; }
  .is-invalid { border-color: #dc3545; }
  .invalid-feedback { color: #dc3545; font-size: 14px; }
  .btn { padding: 6px 12px; font: inherit; border: 1px solid transparent; border-radius: 6px; cursor: pointer; }
  .btn-primary { background: #0d6efd; color: #fff; width: 100%; }
  .visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0, 0, 0, 0); }`;

/** A server-rendered form with labels. The home page links to it. */
function onePage(): Site {
  const page = (title: string, body: Markup) =>
    markup`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Paper Boat</title><link rel="stylesheet" href="/css/bootstrap.min.css"></head>
<body><main class="container">${body}</main></body></html>`;
  const login = (identifier = "", problem?: string) =>
    page(
      "Log in",
      markup`<div class="card"><h1>Log in to Paper Boat</h1>
<form action="/login" method="post" class="needs-validation">
<div class="mb-3"><label for="inputEmail" class="form-label">Email address</label>
<input type="email" class="form-control${problem === undefined ? "" : " is-invalid"}" id="inputEmail" name="email" value="${identifier}" autocomplete="username" required${problem === undefined ? undefined : markup` aria-invalid="true" aria-describedby="problem"`}></div>
<div class="mb-3"><label for="inputPassword" class="form-label">Password</label>
<input type="password" class="form-control" id="inputPassword" name="password" autocomplete="current-password" required></div>
${problem === undefined ? undefined : markup`<div class="mb-3 invalid-feedback" role="alert" id="problem">${problem}</div>`}
<button type="submit" class="btn btn-primary">Log in</button>
<p><a href="/password/reset">Forgot your password?</a> · <a href="/signup">Create an account</a></p></form></div>`,
    );
  return new Site({
    host: "one-page.test",
    accounts: [{ identifier: "ada@example.com", password: "paper-Boat-1815", name: "Ada Lovelace" }],
    csp: "default-src 'self'; form-action 'self'; frame-ancestors 'none'",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return html(
          account === undefined
            ? page(
                "Welcome",
                markup`<h1>Paper Boat</h1><p>Fold, float, share.</p><a class="btn" href="/login">Log in</a> <a class="btn" href="/signup">Sign up</a>`,
              )
            : page(
                "Dashboard",
                markup`<h1>Welcome back, ${account.name}</h1><p>You have 3 boats afloat.</p><form action="/logout" method="post"><button class="btn">Log out</button></form>`,
              ),
        );
      },
      "GET /css/bootstrap.min.css": () => style(bootstrap),
      "GET /login": (request) => (site.accountOf(request) === undefined ? html(login()) : redirect("/")),
      "POST /login": (request) => {
        const account = site.check(request.field("email"), request.field("password"));
        return typeof account === "string"
          ? html(login(request.field("email"), "The email address or password is incorrect."), { status: 422 })
          : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

/** First the name, then the password on the next page, as large providers do. The first page hides a password field. */
function identifierFirst(): Site {
  const page = (title: string, body: Markup) =>
    markup`<html lang="en-GB"><head><title>${title} – Harbour Account</title><style nonce="hbr">
      body { font-family: Roboto, Arial, sans-serif; display: grid; place-items: center; min-height: 90vh; }
      .card { width: 448px; padding: 36px; border-radius: 28px; background: #f0f4f9; }
      .field { position: relative; margin: 24px 0; }
      .field input { width: 100%; box-sizing: border-box; height: 56px; padding: 13px 15px; border: 1px solid #747775; border-radius: 4px; font-size: 16px; background: none; }
      .field div { position: absolute; left: 12px; top: -8px; font-size: 12px; background: #f0f4f9; padding: 0 4px; }
      .error { color: #b3261e; font-size: 12px; }
      .later { position: absolute; opacity: 0; height: 0; width: 0; border: 0; padding: 0; pointer-events: none; }
      .chip { border: 1px solid #747775; border-radius: 16px; padding: 4px 12px; display: inline-block; }
      .actions { display: flex; justify-content: space-between; }
      .primary { background: #0b57d0; color: #fff; border: 0; border-radius: 20px; padding: 10px 24px; }
      .text { background: none; border: 0; color: #0b57d0; }
    </style></head><body><div class="card" role="main">${body}</div></body></html>`;
  const first = (problem?: string) =>
    page(
      "Sign in",
      markup`<h1>Sign in</h1><p>to continue to Harbour Mail</p>
<form method="post" action="/v3/signin/identifier" novalidate>
<div class="field"><input type="text" id="identifierId" name="identifier" autocomplete="username webauthn" spellcheck="false" autocapitalize="none" aria-label="Email or phone" aria-invalid="${problem === undefined ? "false" : "true"}"><div aria-hidden="true">Email or phone</div></div>
<div class="error" aria-live="assertive">${problem}</div>
<input type="password" name="hiddenPassword" class="later" tabindex="-1" aria-hidden="true" autocomplete="current-password">
<p><button type="button" class="text">Forgotten email?</button></p>
<p>Not your computer? Use a private browsing window to sign in.</p>
<div class="actions"><button type="button" class="text">Create account</button><button class="primary"><span>Next</span></button></div></form>`,
    );
  const second = (identifier: string, problem?: string) =>
    page(
      "Sign in",
      markup`<h1>Hi Ada</h1><a class="chip" href="/v3/signin/identifier" aria-label="${identifier} selected. Switch account">${identifier}</a>
<form method="post" action="/v3/signin/challenge/pwd">
<input type="email" name="identifier" value="${identifier}" class="later" tabindex="-1" aria-hidden="true" readonly>
<div class="field"><input type="password" name="Passwd" autocomplete="current-password" aria-label="Enter your password" autofocus><div aria-hidden="true">Enter your password</div></div>
<div class="error" aria-live="polite">${problem}</div>
<label><input type="checkbox" id="show"> Show password</label>
<div class="actions"><button type="button" class="text">Forgotten password?</button><button class="primary"><span>Next</span></button></div></form>`,
    );
  return new Site({
    host: "identifier-first.test",
    accounts: [{ identifier: "ada@example.com", password: "harbour-Lamp-42", name: "Ada Lovelace" }],
    csp: "default-src 'self'; style-src 'nonce-hbr'; object-src 'none'; base-uri 'self'",
    cookie: "HSID",
    signOut: "/Logout",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? redirect("/v3/signin/identifier")
          : html(
              page(
                "Inbox (2)",
                markup`<h1>Inbox</h1><p>Signed in as ${account.identifier}</p><a href="/Logout">Sign out</a>`,
              ),
            );
      },
      "GET /v3/signin/identifier": () => html(first()),
      "POST /v3/signin/identifier": (request) => {
        const account = site.accounts.get(request.field("identifier").trim().toLowerCase());
        return account === undefined
          ? html(first("Couldn’t find your Harbour Account"))
          : redirect("/v3/signin/challenge/pwd", [site.pend(account, "password")]);
      },
      "GET /v3/signin/challenge/pwd": (request) => {
        const pending = site.pending(request);
        return pending === undefined ? redirect("/v3/signin/identifier") : html(second(pending.account.identifier));
      },
      "POST /v3/signin/challenge/pwd": (request) => {
        const pending = site.pending(request);
        if (pending === undefined) return redirect("/v3/signin/identifier");
        const { identifier } = pending.account;
        const account = site.check(identifier, request.field("Passwd"));
        return typeof account === "string"
          ? html(second(identifier, "Wrong password. Try again or click Forgotten password to reset it."))
          : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

const toastApp = `
const form = document.querySelector("form");
const toast = (text) => {
  const box = document.createElement("div");
  box.className = "snackbar";
  box.setAttribute("role", "status");
  box.textContent = text;
  document.getElementById("snackbars").append(box);
  setTimeout(() => box.remove(), 4000);
};
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  const answer = await fetch("/api/v2/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: form.elements.username.value, password: form.elements.password.value }),
  });
  const { ok, message } = await answer.json();
  if (ok) location.assign("/app");
  else {
    form.elements.password.value = "";
    button.disabled = false;
    toast(message);
  }
});`;

/** A form that is sent by script. The answer to a wrong password has status 200, and a toast shows it for four seconds. */
function toast(): Site {
  const css = markup`<style>.snackbar { position: fixed; bottom: 24px; left: 24px; background: #323232; color: #fff; padding: 14px 24px; border-radius: 4px; }
    .mdc-text-field { display: block; margin: 16px 0; } .mdc-floating-label { color: #666; display: block; }</style>`;
  const signedIn = (request: SiteRequest, site: Site) => {
    const account = site.accountOf(request);
    return account === undefined
      ? redirect("/")
      : html(
          markup`<html lang="en"><head><title>Toolbox</title>${css}</head><body><header><b>${account.name}</b> <button onclick="location='/logout'" aria-label="Log out">⎋</button></header><h1>Your tools</h1></body></html>`,
        );
  };
  return new Site({
    host: "toast.test",
    accounts: [{ identifier: "ada", password: "Toast&Marmalade9", name: "Ada L." }],
    cookie: "connect.sid",
    routes: (site) => ({
      "GET /": () =>
        html(markup`<html lang="en"><head><title>Toolbox</title>${css}</head><body><h2>Toolbox</h2>
<form><div class="mdc-text-field"><input class="mdc-text-field__input" name="username" aria-labelledby="l1"><span class="mdc-floating-label" id="l1">Username</span></div>
<div class="mdc-text-field"><input class="mdc-text-field__input" name="password" type="password" aria-labelledby="l2"><span class="mdc-floating-label" id="l2">Password</span></div>
<button class="mdc-button" type="submit">LOGIN</button></form><div id="snackbars"></div><script src="/main.8f3a.js"></script></body></html>`),
      "GET /main.8f3a.js": () => script(toastApp),
      "GET /app": (request) => signedIn(request, site),
      "POST /api/v2/session": (request) => {
        const account = site.check(request.field("username"), request.field("password"));
        return typeof account === "string"
          ? json({ ok: false, message: "Invalid credentials, please try again" })
          : json({ ok: true }, { cookies: [site.signIn(account)] });
      },
    }),
  });
}
