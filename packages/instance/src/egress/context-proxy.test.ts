import { expect, it } from "vitest";
import { readContextProxy } from "./context-proxy.ts";

it.each([
  ["http://proxy.example:3128", undefined, { url: "http://proxy.example:3128", bypassHosts: [] }],
  ["proxy.example:3128", "<-loopback>", { url: "http://proxy.example:3128", bypassHosts: [] }],
  ["https://proxy.example/", "", { url: "https://proxy.example", bypassHosts: [] }],
  [
    "socks5://[::1]:1080",
    ".a.example, *.b.example;C.example",
    { url: "socks5://[::1]:1080", bypassHosts: ["*.a.example", "*.b.example", "c.example"] },
  ],
  ["http://u:p%40@proxy.example:1", undefined, { url: "http://u:p%40@proxy.example:1", bypassHosts: [] }],
  [undefined, "a.example", undefined],
  ["direct://", undefined, undefined],
])("parses %j with bypass list %j", (server, bypass, expected) => {
  expect(readContextProxy(server, bypass)).toEqual(expected);
});

it.each([
  ["socks4://a:1", undefined, "proxyServer"],
  ["http=a:1;https=b:2", undefined, "proxyServer"],
  ["http://a:1,direct://", undefined, "proxyServer"],
  ["http://", undefined, "proxyServer"],
  [7, undefined, "proxyServer"],
  ["http://".padEnd(3000, "a"), undefined, "proxyServer"],
  ["http://a:1", "10.0.0.0/8", "proxyBypassList"],
  ["http://a:1", "<local>", "proxyBypassList"],
  ["http://a:1", "x,".repeat(101), "proxyBypassList"],
])("names the invalid parameter of %j with bypass list %j", (server, bypass, parameter) => {
  expect(readContextProxy(server, bypass)).toEqual({ problem: expect.stringContaining(`${parameter}: `) as unknown });
});
