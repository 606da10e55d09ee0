import fc from "fast-check";
import type { IncomingHttpHeaders } from "node:http";
import { Socket } from "node:net";
import { waitLimitMs } from "@shoal/testkit";
import { describe, expect, it } from "vitest";
import { createRequestOrigins, type OriginOptions, type RequestHead } from "./request-origin.ts";
import { addressMatcher, isAddressRange } from "../config/trusted-proxies.ts";

function from(remoteAddress: string, headers: IncomingHttpHeaders, url = "/browsers"): RequestHead {
  return { headers, url, socket: Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress }) };
}

function origins(options: Partial<OriginOptions> = {}) {
  return createRequestOrigins({
    publicUrl: undefined,
    trustedProxies: ["10.0.0.0/8", "::1"],
    headers: "x-forwarded",
    ...options,
  });
}

const proxied = {
  host: "inner:7777",
  "x-forwarded-for": "203.0.113.9",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "shoal.example",
  "x-forwarded-prefix": "/api/",
};

it("returns to an app the address that it called, and ignores its forwarding headers", () => {
  const request = from("10.1.2.3", { ...proxied, host: "127.0.0.1:61080" }, "/browsers");
  const fromBox = origins({ publicUrl: "https://shoal.example/api", deploymentOf: () => "d1" });
  expect(fromBox.baseUrlOf(request)).toBe("http://127.0.0.1:61080");
  expect(fromBox.pathInside(request)).toBe("/browsers");
  expect(fromBox.clientIpOf(request)).toBe("app d1");
});

describe("the URL of the service", () => {
  it.each<[string, RequestHead, Partial<OriginOptions>, string]>([
    ["is the request's own", from("192.0.2.1", { host: "127.0.0.1:7777" }), {}, "http://127.0.0.1:7777"],
    ["is loopback when the request's host is invalid", from("192.0.2.1", { host: 'a"b' }), {}, "http://127.0.0.1"],
    ["is loopback for a host that no URL has", from("192.0.2.1", { host: "256.1.1.1" }), {}, "http://127.0.0.1"],
    [
      "is loopback for a port that no URL has",
      from("192.0.2.1", { host: "shoal.example:99999" }),
      {},
      "http://127.0.0.1",
    ],
    ["follows the headers of a trusted proxy", from("10.1.2.3", proxied), {}, "https://shoal.example/api"],
    ["ignores the headers of an untrusted proxy", from("192.0.2.1", proxied), {}, "http://inner:7777"],
    [
      "ignores all proxy headers when no proxy is trusted",
      from("10.1.2.3", proxied),
      { trustedProxies: [] },
      "http://inner:7777",
    ],
    [
      "is the setting, regardless of headers",
      from("10.1.2.3", proxied),
      { publicUrl: "https://fixed.example/x/" },
      "https://fixed.example/x",
    ],
    [
      "uses the Host that the proxy passed on",
      from("::ffff:10.0.0.1", { host: "shoal.example", "x-forwarded-proto": "https" }),
      {},
      "https://shoal.example",
    ],
    [
      "follows the nearest of several proxies",
      from("10.0.0.1", {
        host: "h",
        "x-forwarded-host": "evil.example, shoal.example",
        "x-forwarded-proto": "http, https",
      }),
      {},
      "https://shoal.example",
    ],
    [
      "ignores invalid values of a proxy",
      from("10.0.0.1", {
        host: "h",
        "x-forwarded-host": "a/b",
        "x-forwarded-proto": "javascript",
        "x-forwarded-prefix": "//evil.example",
      }),
      {},
      "http://h",
    ],
    [
      "is read from Forwarded when the proxy sets that header",
      from("10.0.0.1", {
        ...proxied,
        forwarded: 'for=1.2.3.4;proto=http;host=evil, For="[2001:db8::1]:4711"; Proto=https ;Host="shoal.example:8443"',
      }),
      { headers: "forwarded" },
      "https://shoal.example:8443",
    ],
    [
      "ignores Forwarded when the proxy sets X-Forwarded headers",
      from("10.0.0.1", { host: "h", forwarded: "host=evil;proto=https" }),
      {},
      "http://h",
    ],
  ])("%s", (_case, request, options, expected) => {
    expect(origins(options).baseUrlOf(request)).toBe(expected);
  });
});

describe("the client", () => {
  it.each<[string, string, string, string]>([
    ["is the peer", "192.0.2.1", "203.0.113.9", "192.0.2.1"],
    ["is the address that a trusted proxy names", "10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["is the last address that is not a trusted proxy", "::1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
    ["is the first address when the whole chain is trusted", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["is the last proxy before an address that is invalid", "10.0.0.1", "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"],
    ["may have a port", "10.0.0.1", "203.0.113.9:50000", "203.0.113.9"],
    ["may be an IPv6 address with a port", "10.0.0.1", "[2001:db8::1]:50000", "2001:db8::1"],
    ["is IPv4 on a dual-stack socket too", "::ffff:192.0.2.1", "", "192.0.2.1"],
    ["is the proxy itself when it sends no header", "10.0.0.1", "", "10.0.0.1"],
  ])("%s", (_case, peer, said, expected) => {
    expect(origins().clientIpOf(from(peer, { "x-forwarded-for": said }))).toBe(expected);
  });

  it("is read from Forwarded too, and only trusted proxies can change it", () => {
    expect(
      origins({ headers: "forwarded" }).clientIpOf(
        from("10.0.0.1", { forwarded: 'for=6.6.6.6, for="203.0.113.9:1", for=10.0.0.7' }),
      ),
    ).toBe("203.0.113.9");
    expect(origins({ headers: "forwarded" }).clientIpOf(from("10.0.0.1", { forwarded: "for=_hidden" }))).toBe(
      "10.0.0.1",
    );
    fc.assert(
      fc.property(fc.string(), (invented) => {
        expect(origins().clientIpOf(from("192.0.2.1", { "x-forwarded-for": invented }))).toBe("192.0.2.1");
        expect(origins().clientIpOf(from("10.0.0.1", { "x-forwarded-for": `${invented}, 203.0.113.9` }))).toBe(
          "203.0.113.9",
        );
        expect(
          origins({ headers: "forwarded" }).clientIpOf(
            from("10.0.0.1", { forwarded: `for=${JSON.stringify(invented)}, for=203.0.113.9` }),
          ),
        ).toBe("203.0.113.9");
        for (const added of ["for=203.0.113.9", 'for="203.0.113.9:1";by="[2001:db8::1]"', 'For = "203\\.0.113.9"'])
          expect(
            origins({ headers: "forwarded" }).clientIpOf(from("10.0.0.1", { forwarded: `${invented}, ${added}` })),
          ).toBe("203.0.113.9");
      }),
    );
  });

  it.each(['for=6.6.6.6;x="', 'for=6.6.6.6;host=evil.example;proto=https;by="\\', 'for=6.6.6.6;"', '"""', 'x="a\\"'])(
    "is not chosen by a client that leaves a quote open: %s",
    (invented) => {
      const request = from("10.0.0.1", {
        host: "inner:7777",
        forwarded: `${invented}, for="[2001:db8::9]";host="shoal.example";proto=http`,
      });
      const behindProxy = origins({ headers: "forwarded" });
      expect(behindProxy.clientIpOf(request)).toBe("2001:db8::9");
      expect(behindProxy.baseUrlOf(request)).toBe("http://shoal.example");
    },
  );

  it.each(['\\"', "a", 'a="', ",", "\\", ";="])("is read in time from a header that repeats %s", (part) => {
    const request = from("10.0.0.1", { forwarded: `${part.repeat(400_000)}, for=203.0.113.9` });
    // Time that grows with the square of the length would exceed the limit.
    const beganMs = performance.now();
    expect(origins({ headers: "forwarded" }).clientIpOf(request)).toBe("203.0.113.9");
    expect(performance.now() - beganMs).toBeLessThan(waitLimitMs);
  });
});

it.each<[string, string, string]>([
  ["/api", "/api/browsers?x=/api/y", "/browsers?x=/api/y"],
  ["/api/", "/api", "/"],
  ["/api", "/api?x", "/?x"],
  ["/api", "/apiary", "/apiary"],
  ["/api", "/browsers", "/browsers"],
  ["/a/b", "/a/b/browsers", "/browsers"],
  ["", "/api/browsers", "/api/browsers"],
])("removes the prefix %s from %s", (prefix, url, expected) => {
  expect(origins().pathInside(from("10.0.0.1", { "x-forwarded-prefix": prefix }, url))).toBe(expected);
  expect(origins({ publicUrl: `https://shoal.example${prefix}` }).pathInside(from("192.0.2.1", {}, url))).toBe(
    expected,
  );
});

it("recognizes addresses and ranges", () => {
  for (const entry of ["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8"])
    expect(isAddressRange(entry)).toBe(true);
  for (const entry of ["", "10.0.0", "10.0.0.0/33", "::1/129", "localhost", "10.0.0.0/", "10.0.0.0/-1"])
    expect(isAddressRange(entry)).toBe(false);
  const matches = addressMatcher(["10.0.0.0/8", "fd00::/8"]);
  expect(["10.255.0.1", "fd12::1", "11.0.0.1", "fe80::1", "", "x"].map(matches)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
