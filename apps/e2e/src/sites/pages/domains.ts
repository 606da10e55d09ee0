import { randomBytes } from "node:crypto";
import { html, json, redirect, script } from "../hosting/exchange.ts";
import { markup } from "../hosting/markup.ts";
import { type Account, Site } from "../hosting/site.ts";

/** Sites whose login leads to other domains, good and bad. */
export function domainSites(): Site[] {
  return [...otherDomain(), openRedirect(), copy()];
}

/** The login is on another domain of the same company, which returns with a ticket. */
function otherDomain(): Site[] {
  const tickets = new Map<string, Account>();
  const shop = new Site({
    host: "other-domain.test",
    cookie: "PHPSESSID",
    accounts: [{ identifier: "ada@example.com", password: "market-Stall-31", name: "Ada Lovelace" }],
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return account === undefined
          ? html(
              markup`<html lang="en"><title>Market</title><h1>Market</h1><a href="/signin">Hello, sign in<br><b>Account &amp; Lists</b></a></html>`,
            )
          : html(
              markup`<html lang="en"><title>Market</title><p>Hello, ${account.name}</p><h1>Your orders</h1><a href="/logout">Not Ada? Sign out</a></html>`,
            );
      },
      "GET /signin": () => redirect("https://other-domain-id.test/ap/signin?return_to=market"),
      "GET /ticket": (request) => {
        const ticket = request.url.searchParams.get("ticket") ?? "";
        const account = tickets.get(ticket);
        tickets.delete(ticket);
        return redirect("/", account === undefined ? [] : [site.signIn(account)]);
      },
    }),
  });
  const login = (problem?: string) =>
    html(
      markup`<html lang="en"><head><title>Market Sign-In</title></head><body><div class="a-box">${problem === undefined ? undefined : markup`<div class="a-alert-error"><h4>There was a problem</h4><ul><li>${problem}</li></ul></div>`}<form name="signIn" method="post" action="/ap/signin"><h1>Sign in</h1><label for="ap_email">Email or mobile phone number</label><input type="text" id="ap_email" name="email" tabindex="1"><label for="ap_password">Password</label><a href="/ap/forgot">Forgot your password?</a><input type="password" id="ap_password" name="password" tabindex="2"><span class="a-button"><input id="signInSubmit" class="a-button-input" type="submit" aria-labelledby="auth-signin-button-announce"><span id="auth-signin-button-announce" aria-hidden="true">Sign in</span></span></form><a href="/ap/register">Create your Market account</a></div></body></html>`,
    );
  const id = new Site({
    host: "other-domain-id.test",
    routes: () => ({
      "GET /ap/signin": () => login(),
      "POST /ap/signin": (request) => {
        const account = shop.check(request.field("email"), request.field("password"));
        if (typeof account === "string") return login("Your password is incorrect");
        const ticket = randomBytes(12).toString("hex");
        tickets.set(ticket, account);
        return redirect(`${shop.origin}/ticket?ticket=${ticket}`);
      },
    }),
  });
  return [shop, id];
}

const forumLogin = (action: string, problem?: string) =>
  markup`<html lang="en"><head><title>Log in | Gardeners’ Forum</title></head><body><div id="wrap"><a href="/">Gardeners’ Forum</a><form method="post" action="${action}"><dl><dt><label for="username">Username:</label></dt><dd><input type="text" tabindex="1" name="username" id="username" size="25" class="inputbox autowidth"></dd></dl><dl><dt><label for="password">Password:</label></dt><dd><input type="password" tabindex="2" id="password" name="password" size="25" class="inputbox autowidth" autocomplete="off"></dd></dl>${problem === undefined ? undefined : markup`<div class="error">${problem}</div>`}<input type="submit" name="login" tabindex="6" value="Login" class="button1"></form></div></body></html>`;

/**
 * Redirects to any address: at once with `/out?to=`, and after a login with `/login?next=`. Both can lead to a copy of
 * its login page at `open-redirect-login.test`.
 */
function openRedirect(): Site {
  return new Site({
    host: "open-redirect.test",
    accounts: [{ identifier: "ada", password: "forum-Tulip-1637", name: "ada" }],
    signOut: "/ucp/logout",
    routes: (site) => ({
      "GET /": (request) => {
        const account = site.accountOf(request);
        return html(
          account === undefined
            ? markup`<html lang="en"><title>Gardeners’ Forum</title><h1>Gardeners’ Forum</h1><a href="/login">Login</a></html>`
            : markup`<html lang="en"><title>Gardeners’ Forum</title><h1>Unread posts</h1><a href="/ucp/logout">Logout [ ${account.name} ]</a></html>`,
        );
      },
      "GET /out": (request) => redirect(request.url.searchParams.get("to") ?? "/"),
      "GET /login": (request) => html(forumLogin(`/login${request.url.search}`)),
      "POST /login": (request) => {
        const account = site.check(request.field("username"), request.field("password"));
        return typeof account === "string"
          ? html(forumLogin(`/login${request.url.search}`, "You have specified an incorrect password."))
          : redirect(request.url.searchParams.get("next") ?? "/", [site.signIn(account)]);
      },
    }),
  });
}

/** The copy of an attacker. Typed characters arrive as `POST /typed`, passwords as attempts. */
function copy(): Site {
  return new Site({
    host: "open-redirect-login.test",
    routes: (site) => ({
      "GET /login": () =>
        html(
          markup`${forumLogin("/login", "Your session has expired. Please log in again.")}<script src="/typed.js"></script>`,
        ),
      "GET /typed.js": () => script(`addEventListener("input", () => fetch("/typed", { method: "POST" }));`),
      "POST /typed": () => json({}),
      "POST /login": (request) => {
        site.check(request.field("username"), request.field("password"));
        return redirect("https://open-redirect.test/");
      },
    }),
  });
}
