import { isAmongHosts } from "@shoal/instance";
import { expect, it } from "vitest";
import { allowedHosts } from "./hosts.ts";

const mayType = (host: string, domain = "shop.example", further: readonly string[] = []) =>
  isAmongHosts(host, allowedHosts(domain, further));

it.each([
  "evil.auth0.com",
  "evil.eu.auth0.com",
  "evil.okta.com",
  "evil.oktapreview.com",
  "evil.okta-emea.com",
  "evil.onelogin.com",
  "evil.pingone.com",
  "evil.pingidentity.com",
  "evil.auth.eu-west-1.amazoncognito.com",
  "evil.b2clogin.com",
  "evil.github.io",
])("types nothing on the tenant %s of a provider unless the connection names it", (host) => {
  expect(mayType(host)).toBe(false);
  expect(mayType(host, "shop.example", [host])).toBe(true);
  expect(mayType(`other-${host}`, "shop.example", [host])).toBe(false);
});

it.each([
  ["okta.com", "evil.okta.com"],
  ["*.okta.com", "evil.okta.com"],
  ["*.auth0.com", "evil.auth0.com"],
  ["eu.auth0.com", "evil.eu.auth0.com"],
  ["auth.eu-west-1.amazoncognito.com", "evil.auth.eu-west-1.amazoncognito.com"],
  ["*.github.io", "evil.github.io"],
  ["vercel.app", "evil.vercel.app"],
  ["co.uk", "evil.co.uk"],
  ["*.com", "evil.com"],
])("does not take %s for all names below it", (entry, host) => {
  expect(mayType(host, "shop.example", [entry])).toBe(false);
  expect(mayType(host, entry)).toBe(false);
});

it("types on the site, on named domains with their subdomains, and on providers with one host for all", () => {
  for (const host of ["shop.example", "login.shop.example", "accounts.google.com", "login.microsoftonline.com"])
    expect([host, mayType(host)]).toEqual([host, true]);
  expect(mayType("sso.acme.example", "shop.example", ["acme.example"])).toBe(true);
  expect(mayType("a.sso.acme.example", "shop.example", ["*.acme.example"])).toBe(true);
  expect(mayType("id.acme.okta.com", "shop.example", ["acme.okta.com"])).toBe(true);
});
