import { randomBytes } from "node:crypto";
import { html, json, script } from "../hosting/exchange.ts";
import { markup } from "../hosting/markup.ts";
import { type Account, Site } from "../hosting/site.ts";

/** A site whose form is in a frame of another site. */
export function frameSites(): Site[] {
  const tokens = new Map<string, Account>();
  const main = new Site({
    host: "frame.test",
    accounts: [{ identifier: "ada@example.com", password: "frame-Glass-3x4", name: "Ada Lovelace" }],
    csp: "default-src 'self'; frame-src https://auth-widget.test",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return html(
          account === undefined
            ? markup`<html lang="en"><head><title>Developer Portal</title><script defer src="/portal.js"></script></head><body><h1>Developer Portal</h1><iframe id="aid-auth-widget-iFrame" title="Sign In with your account" src="https://auth-widget.test/embed" width="480" height="420" frameborder="0" scrolling="no"></iframe><footer>Copyright</footer></body></html>`
            : markup`<html lang="en"><head><title>Developer Portal</title></head><body><h1>Certificates of ${account.name}</h1><a href="/logout">Sign out</a></body></html>`,
        );
      },
      "GET /portal.js": () => script(portalScript),
      "POST /session": (request) => {
        const token = request.field("token");
        const account = tokens.get(token);
        tokens.delete(token);
        return account === undefined
          ? json({ error: "invalid_token" }, { status: 401 })
          : json({}, { cookies: [site.signIn(account)] });
      },
    }),
  });
  const widget = new Site({
    host: "auth-widget.test",
    csp: "default-src 'self'; style-src 'unsafe-inline'; frame-ancestors https://frame.test",
    routes: () => ({
      "GET /embed": () =>
        html(
          markup`<html lang="en"><head><title>Sign In</title><script defer src="/widget.js"></script><style>.si-field { display: block; margin: 8px; } .fat { color: #c00; }</style></head><body><div id="signin"><h2>Sign In</h2>
<input class="si-field" id="account_name_text_field" type="text" can-field="accountName" autocomplete="username" aria-required="true" placeholder="Account" aria-label="Account"><input class="si-field" id="password_text_field" type="password" aria-label="Password" placeholder="Password" autocomplete="current-password">
<button id="sign-in" aria-label="Sign In"><i class="icon"></i></button><div class="fat" role="alert"></div></div></body></html>`,
        ),
      "GET /widget.js": () => script(widgetScript),
      "POST /api/signin": (request) => {
        const account = main.check(request.field("name"), request.field("password"));
        if (typeof account === "string") return json({ code: "-20101" }, { status: 401 });
        const token = randomBytes(12).toString("hex");
        tokens.set(token, account);
        return json({ token });
      },
    }),
  });
  return [main, widget];
}

const portalScript = `
addEventListener("message", async ({ origin, data }) => {
  if (origin !== "https://auth-widget.test" || data.type !== "signed-in") return;
  const answer = await fetch("/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token: data.token }) });
  if (answer.ok) location.reload();
});`;

const widgetScript = `
const field = (id) => document.getElementById(id);
const send = async () => {
  const answer = await fetch("/api/signin", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: field("account_name_text_field").value, password: field("password_text_field").value }) });
  if (answer.ok) parent.postMessage({ type: "signed-in", token: (await answer.json()).token }, "https://frame.test");
  else document.querySelector("[role=alert]").textContent = "Check the account information you entered and try again.";
};
field("sign-in").addEventListener("click", send);
field("password_text_field").addEventListener("keydown", (event) => { if (event.key === "Enter") send(); });`;
