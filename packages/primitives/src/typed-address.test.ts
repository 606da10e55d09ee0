import { expect, it } from "vitest";
import { renderProblem, typedAddress } from "./typed-address.ts";

it.each([
  "localhost:3000",
  "localhost",
  "app.localhost:8080/path?x#y",
  "LOCALHOST:3000",
  "127.0.0.1:7777",
  "127.9.9.9",
  "0.0.0.0:80",
  "10.1.2.3/x",
  "172.16.0.1",
  "172.31.255.1:8443",
  "192.168.1.5",
  "169.254.1.1",
  "[::1]:3000",
  "[fd00::1]",
  "[fe80::1]/x",
  "intranet",
  "intranet:8080/wiki",
  "printer.local",
  "wiki.corp.internal",
  "router.lan",
  "2130706433",
  "user@localhost:3000",
])("opens %s over http", (typed) => {
  expect(typedAddress(typed)).toBe(`http://${typed}`);
});

it.each([
  "example.com",
  "example.com:8443/path",
  "8.8.8.8",
  "172.32.0.1",
  "172.15.0.1",
  "192.169.1.1",
  "11.0.0.1",
  "[2001:db8::1]",
  "localhost.example.com",
  "notlocalhost.com",
  "10.example.com",
])("opens %s over https", (typed) => {
  expect(typedAddress(typed)).toBe(`https://${typed}`);
});

it.each([
  "https://localhost:3000",
  "http://example.com",
  "about:blank",
  "data:text/html,x",
  "file:///etc/hosts",
  "javascript:alert(1)",
  "chrome://version",
  "view-source:https://example.com",
  "mailto:a@b.example",
  "",
  " ",
  "/path",
  "../x",
  "?q",
  "a b",
  "http//x y",
])("leaves %j as it is", (text) => {
  expect(typedAddress(text)).toBe(text);
});

it.each(["https://a.example", "http://a.example", " a.example ", "HTTP://a.example", "localhost:3000"])(
  "renders %j",
  (typed) => {
    expect(renderProblem(typed)).toBeUndefined();
  },
);

it.each([
  ["file:///etc/passwd", "must be an http or https address"],
  ["about:blank", "must be an http or https address"],
  ["data:text/html,x", "must be an http or https address"],
  ["javascript:alert(1)", "addresses with javascript: cannot be opened"],
  ["/path", "not an address"],
])("does not render %j: %s", (typed, problem) => {
  expect(renderProblem(typed)?.problem).toBe(problem);
});
