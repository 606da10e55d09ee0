import fc from "fast-check";
import { expect, it } from "vitest";
import { AllowedHosts, readAllowedHosts } from "./allowed-hosts.ts";

it.each([
  [" Example.COM. ", "example.com"],
  ["*.Example.com", "*.example.com"],
  ["Bücher.example", "xn--bcher-kva.example"],
  ["localhost", "localhost"],
  ["*.a.localhost", "*.a.localhost"],
  ["*.mine.github.io", "*.mine.github.io"],
  ["github.io", "github.io"],
  ["8.8.8.8", "8.8.8.8"],
  ["8.8.4.0/24", "8.8.4.0/24"],
  ["[2001:4860:4860:0::8888]", "[2001:4860:4860::8888]"],
  ["2001:4860::/32", "2001:4860::/32"],
])("reads %j as %s", (entry, text) => {
  expect(readAllowedHosts([entry, entry])).toEqual({ entries: [text] });
});

it.each([
  ["", /not a host/],
  ["*", /not a host/],
  ["https://example.com", /not a host/],
  ["example.com/path", /not a host/],
  ["example.com:443", /not a host/],
  ["a.*.example.com", /not a host/],
  ["**.example.com", /not a host/],
  ["*.8.8.8.8", /not a host/],
  ["exa%6dple.com", /not a host/],
  ["-a.example", /not a host/],
  ["8.8.8.8:53", /not a host/],
  ["0x8.8.8.8", /not a host/],
  ["134744072", /not a host/],
  ["010.8.8.8", /not a host/],
  ["[8.8.8.8]", /not a host/],
  ["8.8.8.0/33", /not a host/],
  ["*.com", /public suffix com/],
  ["*.co.uk", /public suffix co\.uk/],
  ["*.github.io", /public suffix github\.io/],
  ["*.cloudfront.net.", /public suffix cloudfront\.net/],
  ["*.localhost", /public suffix localhost/],
  ["*.xn--p1ai", /public suffix/],
  ["10.0.0.1", /private network/],
  ["169.254.169.254", /link-local/],
  ["8.0.0.0/5", /private network/],
  ["0.0.0.0/0", /this host/],
  ["::/0", /loopback|this host/],
  ["2000::/3", /reserved|6to4/],
  ["4000::/3", /reserved/],
  ["[::1]", /loopback/],
  ["[64:ff9b::808:808]", /reserved/],
  ["[2002:a00:1::]", /6to4/],
  ["[::ffff:8.8.8.8]", /IPv4 address in IPv6 notation/],
  ["2001:4860::1", /without brackets/],
  ["8.8.4.1/24", /the range is 8\.8\.4\.0\/24/],
  ["2001:4860::1/32", /the range is 2001:4860::\/32/],
])("refuses %j", (entry, problem) => {
  expect(readAllowedHosts(["example.com", entry])).toEqual({
    index: 1,
    problem: expect.stringMatching(problem) as string,
    hint: expect.any(String) as string,
  });
});

it.each([
  ["intranet.example", "intranet.example:8080"],
  ["*.example.com", "a.example.com"],
  ["a.b.example.com", "*.example.com"],
  ["*.example.com", "*.b.example.com"],
])("refuses %s together with the private host %s", (entry, privateHost) => {
  expect(readAllowedHosts([entry], [privateHost])).toMatchObject({ index: 0, problem: /private_hosts/ });
  expect(readAllowedHosts([entry], ["other.example", "example.org", "10.0.0.0/8"])).toHaveProperty("entries");
});

it("allows exactly the listed hosts, in every notation of a host", () => {
  const hosts = new AllowedHosts([
    ...["example.com", "*.example.org", "8.8.8.8", "[2001:4860:4860::8888]", "9.9.9.0/24"],
    ...["intranet.example:8080", "10.1.0.0/16:80", "[fd00::1]:3000"],
  ]);
  const allowed = ["example.com", "EXAMPLE.com.", "a.b.example.org", "8.8.8.8", "0x8.8.8.8", "134744072", "9.9.9.255"];
  for (const host of [...allowed, "[2001:4860:4860:0::8888]", "[::ffff:8.8.8.8]", "intranet.example", "10.1.2.3"])
    expect([host, hosts.allows(host)]).toEqual([host, true]);
  const refused = ["example.org", "aexample.com", "a.example.com", "xexample.org", "8.8.8.9", "9.9.8.255", "10.2.0.1"];
  for (const host of [...refused, "", "example.com@evil.example", "example.com/", "[64:ff9b::808:808]", "::1", "*"])
    expect([host, hosts.allows(host)]).toEqual([host, false]);
  expect(hosts.allows("[fd00::1]")).toBe(true);
});

it("reads its own output again, and allows it", () => {
  const entry = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.webAuthority(), fc.string(), fc.ipV4Extended());
  fc.assert(
    fc.property(entry, (text) => {
      const read = readAllowedHosts([text]);
      if (!("entries" in read)) return;
      expect(readAllowedHosts(read.entries)).toEqual(read);
      const [host = ""] = read.entries;
      expect(new AllowedHosts(read.entries).allows(host.replace(/^\*/, "a"))).toBe(true);
    }),
  );
});
