import fc from "fast-check";
import { expect, it } from "vitest";
import { itemForDomain } from "./domain-match.ts";

const item = (title: string, ...urls: string[]) => ({
  id: title,
  title,
  path: `v/${title}`,
  vault: { id: "v", name: "v" },
  urls,
});
const titleFor = (domain: string, ...items: ReturnType<typeof item>[]) => itemForDomain(items, domain)?.title;

it.each([
  ["shop.example.com", "https://shop.example.com/login?next=/"],
  ["shop.example.com", "shop.example.com"],
  ["SHOP.example.com", "http://shop.Example.com:80"],
  ["login.shop.example.co.uk", "https://shop.example.co.uk"],
  ["example.com", "https://accounts.example.com"],
  ["a.b.example.com", "*.example.com"],
  ["a.example.com", "https://*.example.com/login"],
  ["localhost:3000", "http://localhost:3000"],
  ["localhost", "http://localhost:3000"],
  ["127.0.0.1:8080", "http://127.0.0.1:8080/x"],
  ["xn--bcher-kva.example", "https://bücher.example"],
])("finds the item for %s by %s", (domain, url) => {
  expect(titleFor(domain, item("one", url))).toBe("one");
});

it.each([
  ["example.com", "*.example.com"],
  ["evil.com", "https://example.com"],
  ["example.com.evil.net", "https://example.com"],
  ["notexample.com", "https://example.com"],
  ["one.github.io", "https://two.github.io"],
  ["one.co.uk", "https://two.co.uk"],
  ["shop.com", "*.com"],
  ["a.co.uk", "*.co.uk"],
  ["127.0.0.1", "http://127.0.0.2"],
  ["localhost:3000", "http://localhost:4000"],
  ["example.com", "ftp://example.com"],
  ["example.com", "javascript:alert(1)//example.com"],
  ["example.com", ""],
])("does not offer an item for %s by %s", (domain, url) => {
  expect(titleFor(domain, item("one", url))).toBeUndefined();
});

it("prefers the same host, then a wildcard, then the same registrable domain, then the first item", () => {
  const site = item("site", "https://example.com");
  const wildcard = item("wildcard", "*.example.com");
  const host = item("host", "https://login.example.com");
  expect(titleFor("login.example.com", site, wildcard, host)).toBe("host");
  expect(titleFor("login.example.com", site, wildcard)).toBe("wildcard");
  expect(titleFor("login.example.com", site, item("later", "https://example.com"))).toBe("site");
});

it("never throws, for any texts", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.webUrl())), fc.oneof(fc.string(), fc.domain()), (urls, domain) => {
      expect([undefined, "one"]).toContain(titleFor(domain, item("one", ...urls)));
    }),
  );
});
