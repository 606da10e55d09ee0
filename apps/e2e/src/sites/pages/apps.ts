import { setTimeout as delay } from "node:timers/promises";
import { html, json, type Reply, script, type SiteRequest } from "../hosting/exchange.ts";
import { markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Sites whose forms are made by script. */
export function appSites(): Site[] {
  return [slowApp(), shadow(), modal()];
}

/** Like a framework with controlled inputs: values come from `input` events, and a focused field is rendered again. */
const slowAppScript = `
const root = document.getElementById("root");
const state = { email: "", password: "", busy: false, error: "", user: undefined };
let isRefocus = false;
const make = (tag, attributes, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};
const field = (name, type, label) => {
  const input = make("input", { type, name, className: "css-1x5jdmq", placeholder: " ", disabled: state.busy });
  input.value = state[name];
  input.addEventListener("input", () => { state[name] = input.value; });
  input.addEventListener("focus", () => {
    if (isRefocus) return;
    const next = field(name, type, label).querySelector("input");
    isRefocus = true;
    input.replaceWith(next);
    next.focus();
    isRefocus = false;
  });
  return make("label", { className: "css-1bn53lx" }, label, input);
};
const login = () => {
  const button = make("button", { type: "submit", disabled: state.busy }, state.busy ? "Signing in…" : "Sign in");
  const form = make("form", {}, field("email", "email", "E-mail"), field("password", "password", "Password"), button);
  form.noValidate = true;
  form.addEventListener("submit", submit);
  const parts = [make("h1", {}, "Orbit"), form];
  if (state.busy) parts.push(make("div", { className: "spinner", role: "progressbar" }));
  if (state.error) parts.push(make("div", { className: "css-alert", role: "alert" }, state.error));
  return parts;
};
const dashboard = () => {
  const out = make("button", {}, "Log out");
  out.addEventListener("click", async () => {
    await fetch("/api/logout", { method: "POST" });
    state.user = undefined;
    history.pushState({}, "", "/login");
    render();
  });
  return [make("h1", {}, "Satellites of " + state.user), out];
};
const render = () => root.replaceChildren(...(state.user ? dashboard() : login()));
async function submit(event) {
  event.preventDefault();
  Object.assign(state, { busy: true, error: "" });
  render();
  const answer = await fetch("/api/login", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ email: state.email, password: state.password }) });
  const body = await answer.json();
  state.busy = false;
  if (answer.ok) { state.user = body.name; history.pushState({}, "", "/dashboard"); }
  else Object.assign(state, { error: body.error, password: "" });
  render();
}
const me = await (await fetch("/api/me")).json();
state.user = me.name;
history.replaceState({}, "", me.name ? "/dashboard" : "/login");
render();`;

/** A single-page app: its form appears after two seconds, each focused field is replaced, and answers take a second. */
function slowApp(): Site {
  const shell = () =>
    html(
      markup`<html lang="en"><head><meta charset="utf-8"><title>Orbit</title><script type="module" src="/assets/index-4f2a.js"></script></head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"><div class="spinner" role="progressbar" aria-label="Loading"></div></div></body></html>`,
    );
  return new Site({
    host: "slow-app.test",
    accounts: [{ identifier: "ada@example.com", password: "orbit-Moon-1969", name: "Ada" }],
    csp: "default-src 'self'",
    signOut: "/api/logout",
    routes: (site) => ({
      "GET /": shell,
      "GET /login": shell,
      "GET /dashboard": shell,
      "GET /assets/index-4f2a.js": () => script(slowAppScript),
      "GET /api/me": async (request) => {
        await delay(2000);
        return json({ name: site.accountOf(request)?.name });
      },
      "POST /api/login": async (request) => {
        await delay(1000);
        const account = site.check(request.field("email"), request.field("password"));
        return typeof account === "string"
          ? json({ error: "Wrong e-mail or password" }, { status: 401 })
          : json({ name: account.name }, { cookies: [site.signIn(account)] });
      },
    }),
  });
}

const shadowScript = `
const closed = new WeakMap();
customElements.define("fl-input", class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: "closed" });
    root.innerHTML = '<style>input { padding: 8px; width: 240px; } label { display: block; }</style><label for="i"></label><input id="i">';
    root.querySelector("label").textContent = this.getAttribute("label");
    const input = root.querySelector("input");
    input.type = this.getAttribute("type");
    if (this.hasAttribute("autofocus")) input.focus();
    closed.set(this, input);
  }
});
customElements.define("fl-login", class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: "closed" });
    root.innerHTML = '<form><slot></slot><fl-input type="text" label="Member ID" autofocus></fl-input><fl-input type="password" label="Passphrase"></fl-input><p id="message" role="alert"></p><button type="submit">Enter</button></form>';
    const [member, passphrase] = root.querySelectorAll("fl-input");
    root.querySelector("form").addEventListener("submit", async (event) => {
      event.preventDefault();
      await send();
    });
    // Enter in a field of a nested shadow root does not submit the form.
    root.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.tagName === "FL-INPUT") send(); });
    const send = async () => {
      const answer = await fetch("/api/enter", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ member: closed.get(member).value, passphrase: closed.get(passphrase).value }) });
      if (answer.ok) location.reload();
      else {
        closed.get(passphrase).value = "";
        root.getElementById("message").textContent = "Member ID or passphrase not recognised.";
      }
    };
  }
});`;

/** Fields and button in closed shadow roots, two levels deep. */
function shadow(): Site {
  return new Site({
    host: "shadow.test",
    accounts: [{ identifier: "member-12", password: "flare Violet 8", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) =>
        html(
          site.accountOf(request) === undefined
            ? markup`<html lang="en-GB"><head><title>The Flare Club</title><script src="/flare.js"></script></head><body><h1>Members’ entrance</h1><fl-login><em>Members only</em></fl-login></body></html>`
            : markup`<html lang="en-GB"><head><title>The Flare Club</title></head><body><h1>The lounge</h1><form method="post" action="/logout"><button>Log out</button></form></body></html>`,
        ),
      "GET /flare.js": () => script(shadowScript),
      "POST /api/enter": (request) => {
        const account = site.check(request.field("member"), request.field("passphrase"));
        return typeof account === "string"
          ? json({ error: "unknown" }, { status: 403 })
          : json({}, { cookies: [site.signIn(account)] });
      },
    }),
  });
}

const modalScript = `
const dialog = document.getElementById("login-modal");
document.querySelector("[data-open=login-modal]")?.addEventListener("click", () => dialog.showModal());
dialog?.querySelector(".close").addEventListener("click", () => dialog.close());
dialog?.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = await fetch("/ajax/login", { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
  if (answer.ok) location.reload();
  else {
    const { errors } = await answer.json();
    const input = dialog.querySelector("[name=pass]");
    input.setAttribute("aria-invalid", "true");
    dialog.querySelector(".help").textContent = errors.pass;
    input.select();
  }
});`;

/** The form is in a dialog that a button opens; it has no address. The page also has a search and a basket. */
function modal(): Site {
  const page = (request: SiteRequest, site: Site): Reply => {
    const account = site.accountOf(request);
    const corner =
      account === undefined
        ? markup`<button type="button" data-open="login-modal" aria-haspopup="dialog">Sign in</button>`
        : markup`<span>Hello, ${account.name}!</span> <a href="/logout">Sign out</a>`;
    return html(
      markup`<html lang="en"><head><title>Wool &amp; Yarn</title><script defer src="/shop.js"></script></head><body><header><form action="/search" role="search"><input name="q" type="text" placeholder="Search yarn" aria-label="Search"><button>Search</button></form>${corner} <a href="/basket">Basket (0)</a></header>
<main><h1>New this week</h1><button>Add to basket</button></main>
<dialog id="login-modal" aria-labelledby="lm"><button class="close" type="button" aria-label="Close">×</button><h2 id="lm">Sign in</h2><form><p><label for="lm-user">Email or username</label><br><input id="lm-user" name="user" autocomplete="username"></p><p><label for="lm-pass">Password</label><br><input id="lm-pass" name="pass" type="password" autocomplete="current-password" aria-describedby="lm-help"></p><p class="help" id="lm-help"></p><button>Sign in</button> <a href="/register">New customer? Register</a></form></dialog></body></html>`,
    );
  };
  return new Site({
    host: "modal.test",
    accounts: [{ identifier: "ada", password: "yarn-Needle-4mm", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) => page(request, site),
      "GET /shop.js": () => script(modalScript),
      "POST /ajax/login": (request) => {
        const account = site.check(request.field("user"), request.field("pass"));
        return typeof account === "string"
          ? json({ errors: { pass: "That password isn’t right." } }, { status: 422 })
          : json({}, { cookies: [site.signIn(account)] });
      },
    }),
  });
}
