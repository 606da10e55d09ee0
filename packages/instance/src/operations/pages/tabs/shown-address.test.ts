import { expect, it } from "vitest";
import { withoutCredentials } from "./shown-address.ts";

it.each([
  ["http://user:p%40ss@example.com/a?b#c", "http://example.com/a?b#c"],
  ["https://token@example.com:8080", "https://example.com:8080"],
  ["ftp://a:b@c@example.com/", "ftp://example.com/"],
  ["https://example.com/@name?mail=a@b.example#@", "https://example.com/@name?mail=a@b.example#@"],
  ["https://example.com?next=//a:b@c", "https://example.com?next=//a:b@c"],
  ["data:text/html,a@b", "data:text/html,a@b"],
  ["about:blank", "about:blank"],
])("shows %s as %s", (address, shown) => {
  expect(withoutCredentials(address)).toBe(shown);
});
