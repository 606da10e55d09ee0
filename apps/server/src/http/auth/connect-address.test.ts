import type { IncomingHttpHeaders } from "node:http";
import { expect, it } from "vitest";
import { isConnectAddress, refuseTwoKeys, takeKey } from "./connect-address.ts";

function taken(url: string, headers: IncomingHttpHeaders = {}) {
  const request = { url, headers: { ...headers } };
  takeKey(request, url);
  return request;
}
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

it.each([
  ["/?token=K1", "/"],
  ["/?apiKey=K1&name=a", "/?name=a"],
  ["/cdp?name=a&api_key=K1", "/cdp?name=a"],
  ["/devtools/browser?key=K1", "/devtools/browser"],
  ["/chrome?token=K1&token=K1", "/chrome"],
  ["/json/version/?%74oken=K1", "/json/version/"],
  ["/json/list?a=b&token=%4B1&", "/json/list?a=b&"],
])("takes the key out of %s", (url, left) => {
  const request = taken(url);
  expect([request.url, request.headers.authorization]).toEqual([left, "Bearer K1"]);
});

it.each([
  [{ authorization: "Bearer K1" }],
  [{ authorization: basic("anyone:K1") }],
  [{ authorization: basic("K1:") }],
  [{ authorization: basic("K1") }],
  [{ "x-api-key": "K1" }],
])("accepts the headers %j", (headers) => {
  const request = taken("/?token=K1", headers);
  expect(request.headers.authorization).toBe("Bearer K1");
  expect(() => {
    refuseTwoKeys(request);
  }).not.toThrow();
});

it.each([
  ["/?token=K1&apiKey=K2", {}],
  ["/?token=K1", { authorization: "Bearer K2" }],
  ["/?token=K1", { authorization: basic("a:K2") }],
  ["/", { authorization: "Bearer K1", "x-api-key": "K2" }],
])("refuses the different keys of %s with %j, and does not show them", (url, headers) => {
  const request = taken(url, headers);
  let message = "";
  try {
    refuseTwoKeys(request);
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain("two keys that differ");
  expect(message + request.url).not.toMatch(/K[12]/);
});

it("takes the project, and leaves other addresses alone", () => {
  expect(taken("/?project=shop&token=K1").headers["x-shoal-project"]).toBe("shop");
  const other = taken("/browsers?token=K1", { authorization: basic("a:b") });
  expect(other).toEqual({ url: "/browsers?token=K1", headers: { authorization: basic("a:b") } });
});

it.each(["\u{1F600}", "a b", "a\r\nx-evil: 1", "x".repeat(5000)])("makes no header of the key %j", (key) => {
  expect(taken(`/?token=${encodeURIComponent(key)}`).headers).toEqual({});
});

it("knows the addresses that create a session", () => {
  expect(["/", "/?a=b", "/cdp", "/devtools/browser"].every(isConnectAddress)).toBe(true);
  expect(["/json/version", "/browsers/a/cdp", "/devtools/browser/a", "/cdp/", "//"].some(isConnectAddress)).toBe(false);
});
