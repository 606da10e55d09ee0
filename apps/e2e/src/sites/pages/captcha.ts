import { randomBytes, randomInt } from "node:crypto";
import { html, json, redirect, script } from "../hosting/exchange.ts";
import { markup } from "../hosting/markup.ts";
import { Site } from "../hosting/site.ts";

/** Hosts of real makers: a login engine recognises captchas by the address of their frames. */
const wallHost = "newassets.hcaptcha.com";
const badgeHost = "www.google.com";

/** A maker of captchas. The pictures to click are known to the test alone: `solution()`. */
export class CaptchaMaker extends Site {
  #boats: readonly number[] = [];
  readonly #tokens = new Set<string>();

  constructor() {
    super({
      host: wallHost,
      routes: () => ({
        "GET /1/api.js": () => script(apiScript),
        "GET /checkbox": () =>
          html(
            markup`<html lang="en"><title>hCaptcha</title><body style="margin:0;border:1px solid #ccc;height:74px"><div id="checkbox" role="checkbox" tabindex="0" aria-checked="false" aria-label="hCaptcha checkbox. Select in order to trigger the challenge." style="width:28px;height:28px;margin:20px;border:1px solid #555;float:left"></div><p id="status" style="line-height:40px">I am human</p><script src="/checkbox.js"></script></body></html>`,
          ),
        "GET /checkbox.js": () => script(checkboxScript),
        "GET /challenge": () => {
          this.#boats = [0, 3, 6].map((row) => row + randomInt(3));
          return html(
            markup`<html lang="en"><title>hCaptcha challenge</title><body><p>Please click each image containing a boat</p><div style="display:grid;grid-template-columns:repeat(3,90px);gap:6px">${Array.from({ length: 9 }, (_, tile) => markup`<div class="task-image" data-tile="${tile}" role="button" aria-label="Challenge Image ${tile + 1}" style="height:80px;border:1px solid #999">${this.#boats.includes(tile) ? boat : tree}</div>`)}</div><button id="verify">Verify</button><p id="error" role="alert"></p><script src="/challenge.js"></script></body></html>`,
          );
        },
        "GET /challenge.js": () => script(challengeScript),
        "POST /checkcaptcha": (request) => {
          if (request.field("tiles") !== this.solution().join(",")) return json({ pass: false });
          const token = randomBytes(24).toString("base64url");
          this.#tokens.add(token);
          return json({ pass: true, token });
        },
      }),
    });
  }

  /** Numbers of the pictures to click in the open challenge, the first is 0. */
  solution(): readonly number[] {
    return this.#boats;
  }

  /** Whether a solved challenge issued this token. Each is accepted once. */
  takeToken(token: string): boolean {
    return this.#tokens.delete(token);
  }
}

const boat = markup`<svg viewBox="0 0 90 80"><rect width="90" height="80" fill="#9cf"/><path d="M15 55h60l-12 15H27z" fill="#743"/><path d="M45 12v40H22z" fill="#fff"/></svg>`;
const tree = markup`<svg viewBox="0 0 90 80"><rect width="90" height="80" fill="#cec"/><path d="M45 8l25 45H20z" fill="#272"/><path d="M40 53h10v18H40z" fill="#743"/></svg>`;

const apiScript = `
const box = document.querySelector(".h-captcha");
const frame = (path, title, width, height) => {
  const made = Object.assign(document.createElement("iframe"), { src: "https://${wallHost}/" + path, title, width, height });
  made.style.border = "0";
  return made;
};
const response = Object.assign(document.createElement("textarea"), { name: "h-captcha-response" });
response.style.display = "none";
const checkbox = frame("checkbox", "Widget containing checkbox for hCaptcha security challenge", 303, 78);
box.append(checkbox, response);
let challenge;
addEventListener("message", ({ origin, data }) => {
  if (origin !== "https://${wallHost}") return;
  if (data.type === "open" && !challenge) {
    challenge = frame("challenge", "Main content of the hCaptcha challenge", 320, 400);
    box.append(challenge);
  }
  if (data.type === "solved") {
    response.value = data.token;
    challenge?.remove();
    checkbox.contentWindow.postMessage({ type: "solved" }, origin);
  }
});`;

const checkboxScript = `
const box = document.getElementById("checkbox");
box.addEventListener("click", () => parent.postMessage({ type: "open" }, "*"));
addEventListener("message", ({ data }) => {
  if (data.type !== "solved") return;
  box.setAttribute("aria-checked", "true");
  box.textContent = "✓";
});`;

const challengeScript = `
const chosen = new Set();
for (const tile of document.querySelectorAll(".task-image"))
  tile.addEventListener("click", () => {
    const number = Number(tile.dataset.tile);
    if (!chosen.delete(number)) chosen.add(number);
    tile.style.opacity = chosen.has(number) ? 0.5 : 1;
  });
document.getElementById("verify").addEventListener("click", async () => {
  const tiles = [...chosen].sort((a, b) => a - b).join(",");
  const { pass, token } = await (await fetch("/checkcaptcha", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ tiles }) })).json();
  if (pass) parent.postMessage({ type: "solved", token }, "*");
  else document.getElementById("error").textContent = "Please try again.";
});`;

/** A site behind a captcha that a person must solve, a site with a badge, and the makers. */
export function captchaSites(): Site[] {
  const maker = new CaptchaMaker();
  const badges = new Set<string>();
  return [maker, wall(maker), badgeMaker(badges), badge(badges)];
}

function wall(maker: CaptchaMaker): Site {
  const login = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Ticket Tower</title><script defer src="https://${wallHost}/1/api.js"></script></head><body><h1>Ticket Tower</h1>${problem === undefined ? undefined : markup`<p class="error" role="alert">${problem}</p>`}<form method="post" action="/login"><p><label>E-mail <input type="email" name="email" autocomplete="email"></label></p><p><label>Password <input type="password" name="password"></label></p><div class="h-captcha" data-sitekey="10000000-ffff-ffff-ffff-000000000001"></div><button>Log in</button></form></body></html>`,
    );
  return new Site({
    host: "captcha-wall.test",
    accounts: [{ identifier: "ada@example.com", password: "tower-Row-F12", name: "Ada" }],
    csp: `default-src 'self'; script-src https://${wallHost}; frame-src https://${wallHost}; style-src 'unsafe-inline'`,
    routes: (site) => ({
      "GET /": (request) =>
        site.accountOf(request) === undefined
          ? login()
          : html(
              markup`<html lang="en"><title>Ticket Tower</title><h1>Your tickets</h1><a href="/logout">Log out</a></html>`,
            ),
      "POST /login": (request) => {
        if (!maker.takeToken(request.field("h-captcha-response"))) return login("Please complete the captcha.");
        const account = site.check(request.field("email"), request.field("password"));
        return typeof account === "string" ? login("Wrong e-mail or password.") : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}

const badgeScript = `
const badge = document.createElement("div");
badge.className = "grecaptcha-badge";
badge.style.cssText = "width:256px;height:60px;position:fixed;right:-186px;bottom:14px;box-shadow:gray 0 0 5px;overflow:hidden";
badge.innerHTML = '<iframe title="reCAPTCHA" width="256" height="60" frameborder="0" scrolling="no" src="https://${badgeHost}/recaptcha/api2/anchor?size=invisible"></iframe><textarea name="g-recaptcha-response" class="g-recaptcha-response" style="display:none"></textarea>';
document.body.append(badge);
const token = new Promise((resolve) => addEventListener("message", ({ origin, data }) => origin === "https://${badgeHost}" && resolve(data.token)));
document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  form.elements.recaptcha.value = await token;
  form.submit();
});`;

/** Serves the frame of the badge, which issues a token without a person. */
function badgeMaker(tokens: Set<string>): Site {
  return new Site({
    host: badgeHost,
    routes: () => ({
      "GET /recaptcha/api.js": () => script(badgeScript),
      "GET /recaptcha/api2/anchor": () => {
        const token = randomBytes(12).toString("hex");
        tokens.add(token);
        return html(
          markup`<html lang="en"><title>reCAPTCHA</title><body><p>protected by reCAPTCHA</p><a href="/intl/en/policies/privacy/">Privacy</a><div id="token" data-token="${token}"></div><script src="/recaptcha/api2/anchor.js"></script></body></html>`,
        );
      },
      "GET /recaptcha/api2/anchor.js": () =>
        script(`parent.postMessage({ token: document.getElementById("token").dataset.token }, "*");`),
    }),
  });
}

/** Shows the badge of an invisible captcha, which needs no person. */
function badge(tokens: Set<string>): Site {
  const login = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Parcel</title></head><body><div class="flex min-h-full"><h2>Sign in to your account</h2><form class="space-y-6" action="/login" method="post"><div><label for="email-address" class="sr-only">Email address</label><input id="email-address" name="email" type="email" autocomplete="email" required class="rounded-t-md" placeholder="Email address"></div><div><label for="pw" class="sr-only">Password</label><input id="pw" name="password" type="password" autocomplete="current-password" required class="rounded-b-md" placeholder="Password"></div><input type="hidden" name="recaptcha">${problem === undefined ? undefined : markup`<p class="text-red-600">${problem}</p>`}<button type="submit" class="group">Sign in</button></form></div><script src="https://${badgeHost}/recaptcha/api.js"></script></body></html>`,
    );
  return new Site({
    host: "captcha-badge.test",
    accounts: [{ identifier: "ada@example.com", password: "parcel-Tape-50m", name: "Ada" }],
    routes: (site) => ({
      "GET /": (request) =>
        site.accountOf(request) === undefined
          ? login()
          : html(
              markup`<html lang="en"><title>Parcel</title><h1>Ada’s parcels</h1><a href="/logout">Sign out</a></html>`,
            ),
      "POST /login": (request) => {
        if (!tokens.delete(request.field("recaptcha"))) return login("Verification failed. Reload the page.");
        const account = site.check(request.field("email"), request.field("password"));
        return typeof account === "string"
          ? login("These credentials do not match our records.")
          : redirect("/", [site.signIn(account)]);
      },
    }),
  });
}
