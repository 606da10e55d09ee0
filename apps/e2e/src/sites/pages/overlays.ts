import { html, json, redirect, script } from "../hosting/exchange.ts";
import { type Markup, markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Sites with something in front of the form. */
export function overlaySites(): Site[] {
  return [banner(), passkey()];
}

const bannerScript = `
const close = (id) => document.getElementById(id)?.remove();
const decide = async (choice) => {
  await fetch("/consent/" + choice, { method: "POST" });
  close("onetrust-consent-sdk");
};
document.getElementById("onetrust-accept-btn-handler")?.addEventListener("click", () => decide("all"));
document.getElementById("onetrust-reject-all-handler")?.addEventListener("click", () => decide("necessary"));
setTimeout(() => {
  if (document.cookie.includes("nl=seen")) return;
  document.body.insertAdjacentHTML("beforeend", '<div id="nl" role="dialog" aria-modal="true" aria-label="Newsletter" style="position:fixed;inset:0;z-index:50;background:#000a"><div style="background:#fff;width:360px;margin:80px auto;padding:24px"><button id="nl-x" aria-label="Close dialog" style="float:right">✕</button><h2>10% off your first order</h2><form><input type="email" name="email" placeholder="Email address"><button type="button">Sign me up</button></form><button id="nl-no">No, thanks</button></div></div>');
  for (const id of ["nl-x", "nl-no"]) document.getElementById(id).addEventListener("click", () => { document.cookie = "nl=seen"; close("nl"); });
}, 600);`;

/** A cookie banner covers the page, and a newsletter dialog appears on top of the form. `POST /consent/…` shows the choice. */
function banner(): Site {
  const page = (body: Markup, asks: boolean) =>
    markup`<html lang="en"><head><title>Linen House</title></head><body>${body}
${asks ? markup`<div id="onetrust-consent-sdk"><div class="onetrust-pc-dark-filter" style="position:fixed;inset:0;background:#0008;z-index:90"></div><div id="onetrust-banner-sdk" role="dialog" aria-label="Privacy" style="position:fixed;bottom:0;left:0;right:0;background:#fff;padding:24px;z-index:91"><h2>We value your privacy</h2><p>We and our 734 partners store and access information on your device.</p><button id="onetrust-pc-btn-handler">Cookie settings</button> <button id="onetrust-reject-all-handler">Reject all</button> <button id="onetrust-accept-btn-handler">Accept all cookies</button></div></div>` : undefined}<script src="/site.js"></script></body></html>`;
  return new Site({
    host: "banner.test",
    accounts: [{ identifier: "ada@example.com", password: "linen-Sheet-200", name: "Ada" }],
    csp: "default-src 'self'; style-src 'unsafe-inline'",
    signOut: "/customer/account/logout",
    routes: (site) => {
      const login = (asks: boolean, problem?: string) =>
        html(
          page(
            markup`<header><a href="/">Linen House</a></header><main><h1>Customer login</h1>${problem === undefined ? undefined : markup`<div role="alert" class="messages"><div class="message-error error message">${problem}</div></div>`}
<form class="form form-login" action="/customer/account/loginPost" method="post" id="login-form"><fieldset class="fieldset login"><legend>Registered customers</legend><label class="label" for="email"><span>Email</span></label><input name="login[username]" id="email" type="email" class="input-text" title="Email" autocomplete="off">
<label for="pass" class="label"><span>Password</span></label><input name="login[password]" type="password" class="input-text" id="pass" title="Password" autocomplete="off"><button type="submit" class="action login primary" name="send" id="send2"><span>Sign in</span></button></fieldset></form>
<section><h2>New customers</h2><p>Creating an account has many benefits.</p><a class="action create primary" href="/customer/account/create"><span>Create an account</span></a></section></main>`,
            asks,
          ),
        );
      return {
        "GET /": (request) => {
          const account = site.accountOf(request);
          const asks = request.cookie("consent") === undefined;
          return account === undefined
            ? login(asks)
            : html(
                page(
                  markup`<h1>My account</h1><p>Contact: ${account.name}, ${account.identifier}</p><a href="/customer/account/logout">Sign out</a>`,
                  asks,
                ),
              );
        },
        "GET /site.js": () => script(bannerScript),
        "POST /consent/all": () => json({}, { cookies: ["consent=all; Path=/; Max-Age=86400"] }),
        "POST /consent/necessary": () => json({}, { cookies: ["consent=necessary; Path=/; Max-Age=86400"] }),
        "POST /customer/account/loginPost": (request) => {
          const account = site.check(request.field("login[username]"), request.field("login[password]"));
          return typeof account === "string"
            ? login(
                request.cookie("consent") === undefined,
                "The account sign-in was incorrect or your account is disabled temporarily.",
              )
            : redirect("/", [site.signIn(account)]);
        },
      };
    },
  });
}

const passkeyScript = `
const publicKey = { challenge: crypto.getRandomValues(new Uint8Array(32)), rpId: location.hostname, userVerification: "preferred", timeout: 60000 };
const email = document.querySelector("[name=email]");
if (email) {
  const isReady = await PublicKeyCredential?.isConditionalMediationAvailable?.();
  if (isReady) navigator.credentials.get({ publicKey, mediation: "conditional" }).catch(() => undefined);
}
if (document.getElementById("passkey")) {
  navigator.credentials.get({ publicKey }).then(
    () => { document.getElementById("state").textContent = "This passkey does not belong to this account."; },
    () => { document.getElementById("state").textContent = "We couldn't use your passkey. Try again, or choose another way."; },
  );
}`;

/** An address, then a prompt for a passkey. "Try another way" leads to a password. */
function passkey(): Site {
  const page = (body: Markup) =>
    markup`<html lang="en"><head><title>Sign in – Keyring</title></head><body><main style="width: 400px; margin: auto">${body}</main><script type="module" src="/passkey.js"></script></body></html>`;
  const first = (problem?: string) =>
    html(
      page(
        markup`<h1>Sign in to Keyring</h1><form method="post" action="/start"><label for="email">Email</label><input id="email" type="email" name="email" autocomplete="username webauthn">${problem === undefined ? undefined : markup`<p role="alert">${problem}</p>`}<button>Continue</button></form>`,
      ),
    );
  const password = (problem?: string) =>
    html(
      page(
        markup`<h1>Enter your password</h1><form method="post" action="/password"><label for="pw">Password</label><input id="pw" type="password" name="password" autocomplete="current-password">${problem === undefined ? undefined : markup`<p role="alert">${problem}</p>`}<button>Sign in</button></form>`,
      ),
    );
  return new Site({
    host: "passkey.test",
    accounts: [{ identifier: "ada@example.com", password: "keyring-Brass-9", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? first()
          : html(page(markup`<h1>${account.name}’s keys</h1><a href="/logout">Sign out</a>`));
      },
      "GET /passkey.js": () => script(passkeyScript),
      "POST /start": (request) => {
        const account = site.accounts.get(request.field("email").trim().toLowerCase());
        return account === undefined
          ? first("We don't know this address.")
          : redirect("/passkey", [site.pend(account, "passkey")]);
      },
      "GET /passkey": (request) =>
        site.pending(request) === undefined
          ? redirect("/")
          : html(
              page(
                markup`<h1>Use your passkey to confirm it’s really you</h1><p id="passkey">Your device will ask for your fingerprint, face, or screen lock.</p><p id="state" role="status"></p><a href="/ways">Try another way</a>`,
              ),
            ),
      "GET /ways": () =>
        html(
          page(
            markup`<h1>Choose how you want to sign in</h1><ul><li><a href="/passkey">Use your passkey</a></li><li><a href="/password">Enter your password</a></li></ul>`,
          ),
        ),
      "GET /password": (request) => (site.pending(request) === undefined ? redirect("/") : password()),
      "POST /password": (request) => {
        const pending = site.pending(request);
        if (pending === undefined) return redirect("/");
        const account = site.check(pending.account.identifier, request.field("password"));
        return typeof account === "string" ? password("Wrong password.") : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}
