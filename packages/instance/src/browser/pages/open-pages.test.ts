import { expect, it } from "vitest";
import { shownAddress } from "./open-pages.ts";

it.each([
  ["https://ada:secret@shop.example:8443/orders/1?token=x#y", "https://shop.example:8443/orders/1"],
  ["about:blank", "about:blank"],
  ["chrome://settings/passwords?q=1", "chrome://settings/passwords"],
  ["file:///home/shoal/a.html", "file:///home/shoal/a.html"],
  ["data:text/html,secret", "data:"],
  ["blob:https://shop.example/0b7c", "blob:"],
  ["javascript:alert(1)", "javascript:"],
  ["not an address", undefined],
  ["", undefined],
])("shows %j as %j", (url, shown) => {
  expect(shownAddress(url)).toBe(shown);
});

it("shortens a long address", () => {
  expect(shownAddress(`https://shop.example/${"a".repeat(9000)}`)).toHaveLength(1024);
});
