import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exitAddressIn } from "./exit-address.ts";
import { fillTemplate, templateProblem, upstreamOf } from "../../config/exits.ts";

const template = "http://user-{country}[-city-{city}][-s-{session_id}]:secret@gate.example:7000";

it("fills known placeholders and omits unknown ones", () => {
  expect(fillTemplate(template, { country: "DE", session_id: "s1" })).toBe(
    "http://user-DE-s-s1:secret@gate.example:7000",
  );
  expect(fillTemplate(template, { country: "a b", city: "x/y@z" })).toBe(
    "http://user-a%20b-city-x%2Fy%40z:secret@gate.example:7000",
  );
  expect(fillTemplate("http://[::1]:80", {})).toBe("http://[::1]:80");
});

it("never lets a value change the host of the proxy", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
      fc.string(),
      (country, city) => {
        const url = new URL(fillTemplate(template, { country, city }));
        expect([url.host, url.password, url.pathname]).toEqual(["gate.example:7000", "secret", "/"]);
      },
    ),
  );
});

it("reports missing placeholders of a template", () => {
  expect(templateProblem(template)).toBeUndefined();
  expect(templateProblem("socks5://u:p@h.example:1080")).toBeUndefined();
  expect(templateProblem("http://{land}@h.example")).toMatch(/\{land\}.*\{country\}/);
  for (const wrong of ["ftp://h.example", "h.example", "http://"]) expect(templateProblem(wrong)).toMatch(/http:\/\//);
});

it("builds the URL of a custom proxy with any password", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
      fc.string({ minLength: 1 }).map((text) => text.toWellFormed()),
      (username, password) => {
        const { url } = upstreamOf(
          {
            type: "custom",
            protocol: "socks5",
            bypassHosts: [],
            config: { host: "::1", port: 1080, username },
            password,
          },
          {},
          "s",
        );
        const parsed = new URL(url);
        expect([decodeURIComponent(parsed.username), decodeURIComponent(parsed.password), parsed.host]).toEqual([
          username,
          password,
          "[::1]:1080",
        ]);
      },
    ),
  );
});

it("sets a separate country for datacenter and isp proxies", () => {
  const source = { protocol: "https", bypassHosts: [], config: {}, password: undefined };
  expect(upstreamOf({ ...source, type: "isp" }, { isp: "http://{country}@h.example" }, "s").url).toBe(
    "http://US@h.example",
  );
  expect(() => upstreamOf({ ...source, type: "isp" }, { mobile: "http://h.example" }, "s")).toThrow(
    /no isp proxies, but mobile/,
  );
});

describe("the address of an exit", () => {
  it.each([
    ["203.0.113.7\n", "203.0.113.7"],
    ['"203.0.113.7"', "203.0.113.7"],
    ['{"ip":"2001:db8::1"}', "2001:db8::1"],
    ['{"origin": "203.0.113.7, 10.0.0.1"}', "203.0.113.7"],
    ["fl=1\nip=203.0.113.7\nts=2", "203.0.113.7"],
    ["<html>", undefined],
    ['{"ip": 7}', undefined],
    ["", undefined],
  ])("is extracted from %j", (text, address) => {
    expect(exitAddressIn(text)).toBe(address);
  });
});
